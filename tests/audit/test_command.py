"""`audit` on the command line: files, exit codes, what is silenced, what cannot be read."""

from __future__ import annotations

import json
import os
from decimal import InvalidOperation
from pathlib import Path
from typing import Any

import pytest

from tests.audit.conftest import found
from tests.helpers.command import run
from tracer.audit import auditing
from tracer.audit.judging.findings import Audit, audit
from tracer.audit.project.configuration import settings
from tracer.audit.reading import texts
from tracer.audit.reading.texts import Text

FALSE = "2 + 2 = 5\n"


pytestmark = pytest.mark.usefixtures("here")


def test_it_exits_1_for_errors_and_with_strict_for_warnings() -> None:
    Path("false.md").write_text(FALSE)
    Path("warned.md").write_text("7 / 6 = 1.18\n")
    Path("noted.md").write_text("7 / 6 = 1.16\n")
    Path("true.md").write_text("2 + 2 = 4\n")
    exits = [
        run("audit", f"{name}.md", *strict).exit_code
        for name in ("false", "warned", "noted", "true")
        for strict in ((), ("--strict",))
    ]
    assert exits == [1, 1, 0, 1, 0, 0, 0, 0]


def test_strict_notes_what_only_unrounded_numbers_give() -> None:
    unrounded = "11.254 / 1.414 = 7.956\n"  # 7.959; 11.2535 / 1.4145 is 7.9558
    assert found("-", stdin=unrounded) == []
    assert found("-", "--strict", stdin=unrounded) == ["-:1 A08"]
    assert run("audit", "-", "--strict", stdin=unrounded).exit_code == 0


def test_standard_input_is_read() -> None:
    assert found("-", stdin=FALSE) == ["-:1 A01"]
    assert found("-", "--exclude", "*", stdin=FALSE) == ["-:1 A01"]


def test_what_cannot_be_read_is_told_and_the_others_are_judged() -> None:
    Path("false.md").write_text(FALSE)
    Path("binary.md").write_bytes(b"\0\1\2")
    Path("not.ipynb").write_text("[]")
    Path("empty").mkdir()
    ran = run("audit", "binary.md", "not.ipynb", "missing.md", "empty", "false.md")
    assert ran.exit_code == 2
    assert "A01" in ran.stdout
    assert ran.stderr.splitlines() == [
        "binary.md:1: a NUL character, expected text",
        "not.ipynb: no notebook: expected JSON with cells",
        "missing.md: cannot be read: No such file or directory",
        "empty: a folder without texts, expected .md, .markdown, .mdx, .qmd, .rmd, .tex, .ltx, "
        ".rst, .rest, .html, .htm, .xhtml, .txt, .text, .ipynb",
    ]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InvalidOperation(), "cannot be computed with: InvalidOperation"),
        (KeyError("x"), "internal error, please report it: KeyError in test_command.py:"),
    ],
)
def test_a_file_that_fails_is_told_and_the_others_are_judged(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def failing(text: Text, **options: Any) -> Audit:
        if text.name == "a.md":
            raise error
        return audit(text, **options)

    monkeypatch.setattr(auditing, "audit", failing)
    for name in ("a.md", "b.md"):
        Path(name).write_text(FALSE)
    failed, judged = auditing.audited(["a.md", "b.md"], settings())
    assert str(failed.problems[0]).startswith(f"a.md: {told}")
    assert [finding.code for finding in judged.findings] == ["A01"]


def test_what_is_too_large_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST", 1_000_000)
    Path("a.md").write_text(FALSE + "." * 1_000_000)
    Path("b.ipynb").write_text(json.dumps({"cells": [], "metadata": "." * 1_000_000}))
    said = "a.md: more than 1 million characters, expected less\n"
    ran = run("audit", "a.md", "b.ipynb")
    assert (ran.exit_code, ran.stderr) == (2, said)


def test_a_name_that_no_file_has_is_told() -> None:
    Path("b.md").write_text(FALSE)
    ran = run("audit", "a" * 5000, "b.md")
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (2, 1)
    assert "b.md:1:1: A01" in ran.stdout


def test_a_folder_that_cannot_be_listed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("docs/closed").mkdir(parents=True)
    Path("docs/a.md").write_text(FALSE)
    listed = os.scandir

    def scandir(path: str) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.chdir("docs")
    ran = run("audit", ".")
    assert (ran.exit_code, ran.stderr) == (2, "closed: cannot be read: Permission denied\n")
    assert "A01" in ran.stdout


@pytest.mark.skipif(os.name == "nt", reason="names are text")
@pytest.mark.parametrize("form", ["terminal", "json", "sarif", "github"])
def test_a_name_acts_on_no_terminal_and_need_not_be_utf8(form: str) -> None:
    for name in (b"\xff.md", "\x1b]0;x\x9b\x7f\u202e\u2028.md".encode()):
        Path(os.fsdecode(name)).write_text(FALSE)
    ran = run("audit", ".", "-f", form)
    assert (ran.exit_code, ran.stderr) == (1, "")
    assert ran.stdout.count("A01") >= 2
    assert ran.stdout.replace("\n", "").isprintable()
    if form == "json":
        names = {each["file"] for each in json.loads(ran.stdout)["findings"]}
        assert names == set(map(str, Path().iterdir()))
    if form == "sarif":
        assert '"uri": "%FF.md"' in ran.stdout


def test_a_report_is_written_and_never_over_what_is_read() -> None:
    Path("false.md").write_text(FALSE)
    assert run("audit", "false.md", "-f", "sarif", "-o", "out.sarif").exit_code == 1
    assert json.loads(Path("out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    refused = run("audit", "false.md", "-o", "false.md")
    assert (refused.exit_code, Path("false.md").read_text()) == (2, FALSE)


def test_what_only_weak_evidence_confirms_is_reported_on_request() -> None:
    around = "A sentence about something else altogether.\n\n" * 30
    weak = f"{around}It is $5 × (-2) = 10$, and 3000 × 0.5 = 1.5.\n"
    assert found("-", stdin=weak) == []
    assert [each.split()[1] for each in found("-", "--all", stdin=weak)] == ["A01", "A03"]
