"""The script of a page, run in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tracer.renderers.page
from tracer.renderers.page.as_html import ON_TAPE

SCRIPT = Path(tracer.renderers.page.__file__).parent / "script"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="needs Node")


def command_of(runner: str) -> list[str]:
    """How Node runs the script of a page, and behind it a runner that uses it."""
    assert NODE
    files = [(SCRIPT / f"{name}.js").read_text(encoding="utf-8") for name in ON_TAPE]
    return [NODE, "--input-type=module", "--eval", "\n".join([*files, runner])]


def run_script(runner: str, given: str) -> str:
    """What a runner prints that reads all it is given."""
    ran = subprocess.run(
        command_of(runner), input=given, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


class Script:
    """A running script, which answers one question after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def answer(self, question: Any) -> Any:
        """Return the answer to a question; both are JSON in a line."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        written = self.process.stdout.readline()
        assert written, "the script has ended with an error"
        return json.loads(written)


@contextmanager
def running(runner: Path) -> Iterator[Script]:
    """The script with a runner that reads lines, as long as it is asked."""
    pipe = subprocess.PIPE
    command = command_of(runner.read_text(encoding="utf-8"))
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield Script(process)
        assert process.stdin
        process.stdin.close()
