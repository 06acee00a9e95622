"""A worksheet on the command line: both files are written, or none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.command import Ran, printed, run
from tests.helpers.worksheets import answers

SHEET = ("tutorial", "science", "--blanks", "--level", "2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_sheet_and_its_key_are_two_files(folder: Path) -> None:
    assert run(*SHEET, "-o", "sheet.md", "--key", "key.md") == Ran(0, "", "")
    sheet, key = ((folder / name).read_text(encoding="utf-8") for name in ("sheet.md", "key.md"))
    known = answers(key)
    assert key.startswith("# Key: What follows")
    assert all(f"[{number}:_" in sheet.replace("\\", "") for number in known)


def test_the_key_alone_is_no_reason_to_hide_the_sheet(folder: Path) -> None:
    assert printed(*SHEET, "--key", "key.md") == printed(*SHEET)
    assert (folder / "key.md").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("-o a.md --key a.md", "a.md: cannot be written: a.md is to be written there too"),
        ("-o a.md --key no/key.md", "no/key.md: cannot be written: "),
    ],
)
def test_where_one_cannot_be_written_none_is(words: str, told: str, folder: Path) -> None:
    ran = run(*SHEET, *words.split())
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(told)
    assert list(folder.iterdir()) == []


def test_the_key_is_not_written_over_the_scenario(folder: Path) -> None:
    yaml = "tokens: [a, b]\nembeddings: {a: [1], b: [2]}\npositions: {sinusoidal: {}}\n"
    (folder / "mine.yaml").write_text(yaml)
    ran = run("tutorial", "mine.yaml", "--blanks", "--key", "mine.yaml")
    assert ran.exit_code == 2
    assert "the command reads it" in ran.stderr
    assert (folder / "mine.yaml").read_text() == yaml


def test_the_level_is_at_most_6() -> None:
    ran = run("tutorial", "science", "--blanks", "--level", "7")
    assert ran.exit_code == 2
    assert "'7', expected a whole number from 1 to 6" in ran.stderr


def test_without_a_level_the_scenarios_own_numbers_stay() -> None:
    assert printed(*SHEET[:3]) == printed(*SHEET)
    assert "with whole numbers" not in printed(*SHEET)


def test_level_1_has_whole_numbers_and_one_head() -> None:
    sheet = printed("tutorial", "alex", "--blanks", "--level", "1")
    weights = re.findall(r"\| W_Q \|.*?\n\n", sheet.replace("\\", ""), re.DOTALL)
    assert weights and not re.search(r"\d\.\d", weights[0])
    assert "Head 2" not in sheet
    others = printed("tutorial", "alex", "--blanks", "--level", "1", "--vary", "3")
    assert others != sheet == printed("tutorial", "alex", "--blanks", "--level", "1")


def test_level_1_needs_typed_numbers() -> None:
    ran = run("tutorial", "gpt2-small", "--blanks", "--level", "1")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("--level: level 1 draws numbers typed in the scenario")


def test_a_step_has_a_worksheet_and_a_key(folder: Path) -> None:
    sheet = printed("step", "softmax", "--blanks", "--key", "key.txt")
    key = (folder / "key.txt").read_text(encoding="utf-8")
    assert {f"[{number}:_" in sheet for number in answers(key)} == {True}
    assert "Q1. " in sheet and "Q1. " in key
    assert sheet.count("\n") < 70
    ran = run("step", "embedding", "--blanks")
    assert ran.stderr == "--blanks: nothing to leave out: no worked line here has a result\n"


def test_a_mark_writes_no_key(folder: Path) -> None:
    mark = (
        "<!-- decoder-trace: tutorial science --blanks --key key.md -->\n<!-- /decoder-trace -->\n"
    )
    (folder / "text.md").write_text(mark)
    ran = run("weave", "text.md")
    assert (ran.exit_code, ran.stderr) == (2, "text.md:1:1: a woven command writes no files\n")
    assert (folder / "text.md").read_text() == mark
