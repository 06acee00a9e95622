"""An earlier report as a baseline: its findings are not reported again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.audit.conftest import Write, found
from tests.helpers.command import run


def test_known_findings_are_counted_wherever_they_have_moved(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [{"cell_type": "markdown", "source": "3 + 3 = 7"}]
    write("docs/a.md", content="2 + 2 = 5\n\nThen 2 + 2 = 5, and 7 / 6 = 1.18.\n")
    write("docs/b.ipynb", content=json.dumps({"cells": cells}))
    assert run("audit", "docs", "-f", "json", "-o", "known.json").exit_code == 1
    assert found(".", "--baseline", "known.json") == []
    ran = run("audit", "docs", "--baseline", "known.json", "--strict")
    assert (ran.exit_code, ran.stdout) == (
        0,
        "4 equations read: 0 hold, 4 in the baseline; 0 signs not read\n",
    )
    moved = "New.\n\n2 + 2 = 5 and 2+2\n= 5\n\n2 + 2 = 5; 2 + 2 = 5\n\n7 / 6 = 1.18, 8 / 6 = 1.18\n"
    write("docs/a.md", content=moved)
    write("docs/b.ipynb", content=json.dumps({"cells": [*cells, *cells]}))
    places = ("a.md:3", "a.md:6", "a.md:8", "b.ipynb:cell 2:1")
    assert found("docs", "--baseline", "known.json") == [f"docs/{each} A01" for each in places]
    monkeypatch.chdir("docs")
    assert len(found("a.md", "--baseline", "../known.json")) == 6  # its names are other ones


def test_what_follows_from_something_known_is_reported_for_itself(write: Write) -> None:
    write("a.md", content="7 × 8 = 58\n")
    run("audit", "a.md", "-f", "json", "-o", "known.json")
    write("a.md", content="7 × 8 = 58\n\n8 × 7 = 58\n")
    assert run("audit", "a.md", "--baseline", "known.json").stdout.startswith("a.md:3:1: A01")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "no report of audit, expected one that --format json wrote"),
        ("[]", "no report of audit, expected one that --format json wrote"),
        ('{"findings": [{}]}', "no report of audit, expected one that --format json wrote"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_baseline_is_told(write: Write, content: str | None, told: str) -> None:
    write("a.md")
    if content is not None:
        Path("known.json").write_text(content)
    ran = run("audit", "a.md", "--baseline", "known.json")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", f"known.json: {told}\n")
