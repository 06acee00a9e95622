"""The project's configuration, and options that go before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.conftest import Write, found
from tests.helpers.command import problems, run

EACH_CODE = "2 + 2 = 5\n\n7 / 6 = 1.18\n\n7 / 6 = 1.16\n\n11.254 / 1.414 = 7.956\n"
"""A01, A02, A04 and A08."""

SECTION = "[tool.decoder-trace.audit]\n"


def configure(*lines: str, name: str = "pyproject.toml") -> None:
    Path(name).write_text(f"[project]\nname = 'mine'\n\n{SECTION}" + "\n".join(lines))


@pytest.mark.parametrize(
    ("configured", "words", "codes"),
    [
        ((), "", "A01 A02 A04"),
        (("strict = true",), "", "A01 A02 A04 A08"),
        (("select = ['A01', 'A02']",), "", "A01 A02"),
        (("ignore = ['A02']",), "", "A01 A04"),
        (("ignore = ['A02']",), "--ignore A04", "A01"),
        (("ignore = ['A02']",), "--select A02,A01", "A01 A02"),
        (("select = ['A02']",), "--select A04 --select A01", "A01 A04"),
        (("select = ['A02']", "ignore = ['A02']"), "", ""),
        ((), "--select A08", "A08"),
        (('per-file-ignores = {"*.md" = ["A01"]}',), "", "A02 A04"),
        (('per-file-ignores = {"*.md" = ["A01"]}',), "--select A01", ""),
    ],
)
def test_codes_are_selected_as_in_ruff(
    write: Write, configured: tuple[str, ...], words: str, codes: str
) -> None:
    write("a.md", content=EACH_CODE)
    configure(*configured)
    assert [each.split()[1] for each in found("a.md", *words.split())] == codes.split()


def test_what_is_not_reported_decides_no_exit_code_and_is_counted(write: Write) -> None:
    write("a.md", content=EACH_CODE)
    ran = run("audit", "a.md", "--ignore", "A01,A02,A04")
    assert (ran.exit_code, ran.stdout) == (
        0,
        "4 equations read: 1 hold (1 of them only with unrounded numbers), 3 ignored; "
        "0 signs not read\n",
    )


def test_what_follows_from_something_ignored_is_reported(write: Write) -> None:
    write("a.md", content="7 × 8 = 58 <!-- audit: ignore -->\n\n58 + 1 = 60; 7 × 8 = 58\n")
    shown = run("audit", "a.md").stdout
    assert shown.count("A01 false") == 2
    assert "follows" not in shown


@pytest.mark.parametrize(
    ("exclude", "words", "files"),
    [
        ("", ".", "a.md docs/a.md docs/old/b.md docs/old/c.rst"),
        ("'old'", ".", "a.md docs/a.md"),
        ("'a.md'", ".", "docs/old/b.md docs/old/c.rst"),
        ("'old/*.md'", ".", "a.md docs/a.md docs/old/b.md docs/old/c.rst"),
        ("'/*.md'", ".", "docs/a.md docs/old/b.md docs/old/c.rst"),
        ("'*.md', '!b.md'", ".", "docs/old/b.md docs/old/c.rst"),
        ("'old'", ". --exclude *.rst,docs/a.md", "a.md docs/old/b.md"),
        ("'*.md'", "a.md docs", "a.md docs/old/c.rst"),
        ("'*.md'", "a.md docs --force-exclude", "docs/old/c.rst"),
        ("'[a].md'", ".", "docs/old/b.md docs/old/c.rst"),
    ],
)
def test_files_are_excluded_as_in_gitignore(
    write: Write, exclude: str, words: str, files: str
) -> None:
    write("a.md", "docs/a.md", "docs/old/b.md", "docs/old/c.rst")
    configure(f"exclude = [{exclude}]")
    assert [each.split(":")[0] for each in found(*words.split())] == files.split()


def test_patterns_begin_at_the_file_that_has_them(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/old/a.md", "docs/b.md", "old/[c]/d.md")
    configure("exclude = ['docs/old', 'old/[[]c]']")
    monkeypatch.chdir("docs")
    assert found(".", "../old", "--ignore", "A02") == ["b.md:1 A01"]
    assert found(".", "--exclude", "b.md") == ["old/a.md:1 A01"]


def test_the_nearest_configuration_counts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("docs/deep/a.md", content=EACH_CODE)
    configure("select = ['A01']")
    configure("select = ['A02']", name="docs/.decoder-trace.toml")
    configure("select = ['A04']", name="docs/pyproject.toml")
    Path("docs/deep/pyproject.toml").write_text("[tool.other]\n")
    assert found("docs") == ["docs/deep/a.md:1 A01"]
    monkeypatch.chdir("docs/deep")
    assert found(".") == ["a.md:3 A02"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"{SECTION}strict = 'yes'", "2: {}strict: expected true or false, got 'yes'"),
        (f"{SECTION}\nexclude = 'x'", "3: {}exclude: expected a list of texts, got 'x'"),
        (f"{SECTION}select = ['A01',\n'A1']", "3: {}select: unknown code 'A1', expected A01 to "),
        (f"{SECTION}ignores = []", "2: {}ignores: unknown key; did you mean 'ignore'"),
        (f"{SECTION}x = 1", "2: {}x: unknown key, expected exclude, select, ignore, strict, per-"),
        (
            f"{SECTION}per-file-ignores = {{'a.md' = ['B'], 'b.md' = 'A01'}}",
            "2: {}per-file-ignores.a.md: unknown code 'B', expected",
        ),
        ("[tool.decoder-trace.audi]", "1: tool.decoder-trace.audi: unknown table, expected audit"),
        ("[tool]\ndecoder-trace = 1", "2: tool.decoder-trace: expected a table"),
        ("[tool.decoder-trace]\naudit = 1", "2: {}expected a table, got 1"),
        ("\nselect == 1", "2:9: not TOML: Invalid value"),
        ("[audit]", "1: expected [tool.decoder-trace.audit]"),
        (f"{SECTION}exclude = [0x{'f' * 5000}]", "2: {}exclude: expected text, got a large number"),
        (f"{SECTION}exclude = {'[' * 900}", " cannot be read: nested too deeply"),
        (f"[tool.x]\na = 1{'0' * 4300}", " cannot be read: a number with too many digits"),
    ],
)
def test_what_is_wrong_in_it_has_its_line_and_its_key(
    write: Write, content: str, told: str
) -> None:
    write("a.md")
    Path(".decoder-trace.toml").write_text(content)
    ran = run("audit", "a.md")
    key = "tool.decoder-trace.audit."
    wanted = f".decoder-trace.toml:{told.format(key)}".replace("audit.expected", "audit: expected")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(wanted)


def test_all_problems_are_told_at_once(write: Write) -> None:
    write("a.md")
    configure("strict = 1", "select = ['B']", "old = ''")
    told = run("audit", "a.md").stderr.splitlines()
    assert [line.split(":")[1] for line in told] == ["5", "6", "7"]


@pytest.mark.parametrize("pattern", ["!", "[z-a]"])
def test_a_wrong_pattern_is_told(write: Write, pattern: str) -> None:
    write("a.md")
    ran = run("audit", ".", "--exclude", pattern)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("not a pattern as in .gitignore: ")


def test_an_unknown_code_on_the_command_line_is_told(write: Write) -> None:
    write("a.md")
    ran = run("audit", "a.md", "--select", "A01,A1O", width=200)
    assert ran.exit_code == 2
    assert problems(ran) == [
        "Error: Invalid value for '--select': unknown code 'A1O', expected A01 to A09, or a "
        "prefix such as A0; did you mean 'A01'?"
    ]
