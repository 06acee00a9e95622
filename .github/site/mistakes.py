"""Mistakes in print, each with its right value, which the program computes."""

from __future__ import annotations

import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import yaml  # noqa: TID251
from outputs import as_code
from pages import HERE, Page, folded

from tests.helpers.command import run

FILE = "text.md"
FALSE = re.compile(r"^text\.md:.*(?:\n  .*)*", re.MULTILINE)


def pages() -> list[Page]:
    """One page with all of them."""
    return [Page("Mistakes", "Mistakes in print", "mistakes.md", mistakes)]


def mistakes() -> str:
    """Each mistake as it is printed, and what the program says about it."""
    text = (
        "# Mistakes in print\n\nEverybody who prints numbers prints a wrong one at times. These lines come from public "  # noqa: E501
        "books, courses and notes,\nand most of their other numbers are right. "
        "[The audit](guides/audit.md) and [the check of a text](guides/own-text.md) found them.\n"
        "Each right value below was computed while this site was built.\n"
    )
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for each in yaml.safe_load((HERE / "mistakes.yaml").read_text(encoding="utf-8")):
            text += f"\n## {each['title']}\n\n{each['where']}:\n\n{judged(each)}\n{each['about']}\n"
    return text


def judged(each: dict[str, Any]) -> str:
    """The line, the command that finds its mistake, and what it prints."""
    if "check" in each:
        words = [
            "check",
            "alex",
            *(word for figure in each["check"] for word in ("--figure", figure)),
        ]
        command = " ".join(f"'{word}'" if "[" in word else word for word in words)
        quoted, said = "", run(*words).stdout
    else:
        Path(FILE).write_text(f"{each['line']}\n", encoding="utf-8")
        command = f"audit {FILE}"
        quoted = f"```text\n{each['line']}\n```\n\n"
        ran = run("audit", FILE)
        found = FALSE.search(ran.stdout)
        if ran.exit_code != 1 or not found:
            raise SystemExit(f"{each['title']}: the audit finds no mistake\n{ran.stdout}")
        said = found[0]
    return f"{quoted}{as_code(['decoder-trace ' + command])}{folded('It prints', said)}"
