"""The program as a person starts it, but in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

from tracer import cli

SERVED = ("serve",)
"""Commands that go on until Ctrl-C; tests/serve runs them."""

NOT_FROM_OUTSIDE = ("FORCE_COLOR", "DECODER_TRACE_SCENARIO")


@dataclass(frozen=True)
class Ran:
    """How a run ended and what it said."""

    exit_code: int
    stdout: str
    stderr: str


def run(*arguments: str, width: int = 80, stdin: str = "", **environment: str) -> Ran:
    """Run `decoder-trace …` in a terminal of a width, without color.

    An internal error is a failure, whatever the test expects.
    """
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    outer = {k: v for k, v in os.environ.items() if k not in NOT_FROM_OUTSIDE}
    here = {**outer, "COLUMNS": str(width), "NO_COLOR": "1", "TERM": "dumb", **environment}
    with (
        mock.patch.dict(os.environ, here, clear=True),
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.start(list(arguments))
        except SystemExit as end:
            code = end.code
    assert "internal error" not in err.getvalue(), err.getvalue()
    return Ran(int(code or 0), out.getvalue(), err.getvalue())


def problems(ran: Ran) -> list[str]:
    """The errors, without the usage above them and the line of the file that they point at."""
    beside = re.compile(r"Usage: |Try '|  *[0-9]* \| |$")
    return [line for line in ran.stderr.splitlines() if not beside.match(line)]


def printed(*arguments: str, width: int = 80, stdin: str = "") -> str:
    """What it prints; it must have gone well."""
    ran = run(*arguments, width=width, stdin=stdin)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def run_json(*arguments: str, stdin: str = "") -> Any:
    """What `run … --format json` prints, read back."""
    return json.loads(printed("run", *arguments, "--format", "json", stdin=stdin))


def generated(*arguments: str, stdin: str = "") -> Any:
    """What `generate --worked --format json` prints, read back."""
    return json.loads(printed("generate", *arguments, "--worked", "--format", "json", stdin=stdin))


def turns(document: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each turn with its values by address."""
    for turn in document["turns"]:
        yield turn, {value["address"]: value["data"] for value in turn["values"]}
