"""`weave` and `value` on the command line: what is written, what is refused, what is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.helpers.command import Ran, printed, run
from tests.helpers.small_scenario import SMALL

END = "<!-- /decoder-trace -->"
WEIGHTS = "layer1.attention.head1.weights"
SCENARIO = """\
title: Two words
tokens: [a, b, a]
features: [x, y]
embeddings: {a: [1, 2], b: [0.5, 4]}
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1], [1]]}]
      W_O: [[1, 0.5]]
"""


def block(command: str, content: str = "old") -> str:
    return f"<!-- decoder-trace: {command} -->\n{content}\n{END}\n"


def number(command: str, content: str = "0") -> str:
    return f"It is <!-- decoder-trace: {command} -->{content}{END}.\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A file to weave, with a scenario beside it."""
    (tmp_path / "mine.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path / "page.md"


def woven(page: Path, text: str) -> str:
    """The file after weaving, which must go well, and which a second time changes nothing."""
    once = woven_once(page, text)
    assert run("weave", str(page), "--check") == Ran(0, "", "")
    assert woven_once(page, once) == once
    return once


def woven_once(page: Path, text: str) -> str:
    """The file after weaving, which must go well."""
    page.write_bytes(text.encode())
    assert run("weave", str(page)) == Ran(0, "", "")
    return page.read_bytes().decode()


def folder(path: Path) -> dict[str, bytes]:
    """Every file of a folder with what it holds."""
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def refused(page: Path, text: str) -> str:
    """What is said of the file, without its name; nothing in its folder has changed."""
    page.write_bytes(text.encode())
    before = folder(page.parent)
    for options in [(), ("--check",)]:
        ran = run("weave", str(page), *options)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert folder(page.parent) == before
    lines = ran.stderr.splitlines()
    assert all(line.startswith(f"{page}:") for line in lines)
    return "\n".join(line.removeprefix(f"{page}:") for line in lines)


# --- weaving -------------------------------------------------------------------------------------


def test_a_block_is_the_output_of_its_command(page: Path) -> None:
    command = ("step", "softmax", "--head", "1", "--token", "Alex")
    text = woven(page, f"# Title\n\n{block(' '.join(command))}\nEnd.\n")
    start, end = f"# Title\n\n<!-- decoder-trace: {' '.join(command)} -->\n\n", f"\n{END}\n\nEnd.\n"
    assert text == start + printed(*command, "--format", "markdown") + end


@pytest.mark.parametrize(
    "command",
    [
        "run mine.yaml",
        "tutorial mine.yaml --math",
        "step residual -s mine.yaml -f markdown",
        "loss pizza",
        "steps mine.yaml",
        "generate pizza --max-tokens 1",
        "why layer1.attention.head1.weights[b,b] -s mine.yaml",
    ],
)
def test_commands_that_make_markdown(page: Path, command: str) -> None:
    text = woven(page, block(command))
    assert text.count("\n```") % 2 == text.count("\n$$") % 2 == 0
    assert re.search(r"\n\n(```text|\$\$|\| (position|step) .*)\n", text)
    assert "\nold\n" not in text


@pytest.mark.parametrize("form", ["terminal", "latex", "json"])
def test_other_formats_are_fenced(page: Path, form: str) -> None:
    text = woven(page, block(f"step query -s mine.yaml --format {form}"))
    shown = printed("step", "query", "-s", str(page.with_name("mine.yaml")), "--format", form)
    same = shown.replace(str(page.with_name("mine.yaml")), "mine.yaml").strip("\n")
    assert f"-->\n\n```text\n{same}\n```\n\n{END}\n" in text


def test_a_number_within_a_sentence(page: Path) -> None:
    one = f"value {WEIGHTS}[Alex,Frank] as percent"
    two = "value embedding[2,y] -s mine.yaml"
    text = woven(page, number(one) + number(two, "4 of 5"))
    assert text == number(one, "96.4 %") + number(two, "4")


def test_a_number_of_thousands_of_digits_is_no_position(page: Path) -> None:
    told = refused(page, number(f"value embedding[{'9' * 5_000},1] -s mine.yaml"))
    assert told.startswith("1:7: embedding: no token '999")


def test_a_problem_on_the_way_has_its_place_in_the_scenario(page: Path) -> None:
    page.with_name("mine.yaml").write_text(f"{SMALL}final_norm: {{}}\ngiven: {{output: [[1]]}}\n")
    told = "1:1: mine.yaml:16:9: output: given as"
    assert refused(page, block("run mine.yaml")).startswith(told)


def test_all_else_stays_as_it_is(page: Path) -> None:
    command = "value embedding[2,y] -s mine.yaml"
    shown = f"```md\n{number(command)}```\nno end of line"
    text = f"\ufeffa \r\n{number(command)}\tb\r\rc\x0c\n\n\n{shown}"
    changed = text.replace(number(command), number(command, "4"), 1)
    assert woven(page, text) == changed


def test_line_endings_are_those_of_the_file(page: Path) -> None:
    text = woven(page, f"a\n{block('run mine.yaml')}b\n".replace("\n", "\r\n"))
    assert text.count("\n") == text.count("\r\n") > 50
    assert "\r\r" not in text


def test_paths_are_relative_to_the_file(
    page: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "value embedding[b,y] -s mine.yaml"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert woven(page, number(command)) == number(command, "4")
    monkeypatch.chdir(page.parent.parent)
    page.write_text(number(command))
    assert run("weave", f"{page.parent.name}/{page.name}") == Ran(0, "", "")
    assert page.read_text() == number(command, "4")
    assert Path.cwd() == page.parent.parent


def test_check_shows_what_would_change(page: Path) -> None:
    fresh = page.with_name("fresh.md")
    fresh.write_text(number("value embedding[b,y] -s mine.yaml", "4"))
    page.write_text("a\n" + number("value embedding[b,y] -s mine.yaml", "3"))
    before = folder(page.parent)
    ran = run("weave", "--check", str(fresh), str(page))
    assert (ran.exit_code, ran.stderr) == (1, "")
    assert folder(page.parent) == before
    old, new = (number("value embedding[b,y] -s mine.yaml", entry) for entry in "34")
    assert ran.stdout == f"--- {page}\n+++ {page}\n@@ -1,2 +1,2 @@\n a\n-{old}+{new}"


# --- what goes wrong -----------------------------------------------------------------------------

WRONG = {
    "stp softmax": "2:1: no command 'stp' to weave; did you mean 'step' or 'steps'?",
    "weave page.md": "2:1: no command 'weave' to weave",
    "page alex": "2:1: no command 'page' to weave",
    "run missing.yaml": "2:1: missing.yaml: no such file or scenario",
    "run mine.yaml --nope": "2:1: No such option: --nope",
    "step nothing -s mine.yaml": "2:1: no step 'nothing'",
    "step": "2:1: Missing argument 'NAME'.",
    "run --help": "2:1: No such option: --help",
    "why input[c,1] -s mine.yaml": "2:1: input: no token 'c'",
    "run mine.yaml --token c": "2:1: no token 'c', expected 1 to 3 or its text",
    "run mine.yaml -o out.md": "2:1: a woven command writes no files",
    "run mine.yaml --output=out.md": "2:1: a woven command writes no files",
    "tutorial mine.yaml --figures .": "2:1: a woven command writes no files",
    "run mine.yaml -h": "2:1: No such option: -h",
    "step query -s mine.yaml --version": "2:1: No such option: --version",
    "run mine.yaml --install-completion": "2:1: No such option: --install-completion",
    "--help": "2:1: no command '--help' to weave",
    "run -": "2:1: a mark reads files, not standard input",
    "run mine.yaml --heading 7": "2:1: Invalid value for '--heading': got '7', expected 1, 2, 3, "
    "4, 5, 6 or none",
    "run mine.yaml -f json --heading 3": "2:1: --heading: works only with --format markdown or "
    "latex, not json",
    "run 'mine.yaml": "2:1: run 'mine.yaml: no closing quotation",
}


@pytest.mark.parametrize("command", WRONG)
def test_a_command_that_fails(page: Path, command: str) -> None:
    assert refused(page, f"a\n{block(command)}").startswith(WRONG[command])


def test_a_mark_without_a_scenario_is_told_which_one_it_is_about(page: Path) -> None:
    told = f"1:1: {WEIGHTS}: no token 'b', expected 1 to 4 or a label, such as 'Frank'"
    without = refused(page, block(f"value {WEIGHTS}[b,a]"))
    assert without == f"{told}; the mark names no scenario, so it is about alex"
    assert refused(page, block(f"value {WEIGHTS}[b,a] -s alex")) == told


def test_a_path_that_starts_in_the_current_folder_is_told_apart(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = page.parent / "docs"
    docs.mkdir()
    monkeypatch.chdir(page.parent)
    told = "1:1: mine.yaml: no such file or scenario"
    where = "its path starts at the folder of the text that names it"
    assert refused(docs / "page.md", block("run mine.yaml")) == f"{told}; {where}"
    page.with_name("mine.yaml").unlink()
    assert refused(docs / "page.md", block("run mine.yaml")) == told


@pytest.mark.parametrize("command", ["run mine.yaml -oout.md", "step query -s mine.yaml -oout.md"])
def test_a_command_that_writes_with_an_attached_value(page: Path, command: str) -> None:
    assert refused(page, block(command)) == "1:1: a woven command writes no files"


FORMATS = {
    "step query -s mine.yaml": "markdown",
    "step query -s mine.yaml --format=markdown": "markdown",
    "step query -s mine.yaml -fjson": "json",
    "step query --format json -s mine.yaml --format latex": "latex",
    "step query -f json -f markdown -s mine.yaml": "markdown",
    "run -f json markdown.yaml": "json",
    "run markdown.yaml": "markdown",
    "run -- -f.yaml": "markdown",
    "tutorial ./--format=json.yaml": "markdown",
}


@pytest.mark.parametrize("command", FORMATS)
def test_the_format_is_that_of_the_command_line_else_markdown(page: Path, command: str) -> None:
    for name in ("markdown.yaml", "-f.yaml", "--format=json.yaml"):
        page.with_name(name).write_text(SCENARIO, encoding="utf-8")
    text = woven(page, block(command))
    begin = text.partition("\n")[2].strip("\n").splitlines()[:2]
    form = FORMATS[command]
    if form == "markdown":
        assert begin[0].startswith("#")
    else:
        assert begin[0] == "```text"
        assert begin[1].startswith(
            {"json": "{", "latex": "% A document that includes this needs:"}[form]
        )


def test_a_fence_is_longer_than_any_in_it(page: Path) -> None:
    page.with_name("mine.yaml").write_text(SCENARIO.replace("Two words", "'a ```` b'"))
    text = woven(page, block("run mine.yaml -f terminal"))
    assert "\n\n`````text\na ```` b\n" in text
    assert text.endswith(f"\n`````\n\n{END}\n")


def test_paths_are_relative_to_the_real_file(
    page: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    command = "value embedding[b,y] -s mine.yaml"
    page.write_text(number(command))
    link = tmp_path_factory.mktemp("elsewhere") / "link.md"
    link.symlink_to(page)
    (link.parent / "mine.yaml").write_text(SCENARIO.replace("[0.5, 4]", "[0.5, 7]"))
    here = Path.cwd()
    assert run("weave", str(link)) == Ran(0, "", "")
    assert page.read_text() == number(command, "4")
    assert Path.cwd() == here


PREFIXES = ["> ", ">", ">> ", "> > ", "  ", "   ", "> - ", "1. ", "- 1. > ", "-\t", " 10) "]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_block_in_a_list_or_a_quotation_is_as_one_outside(
    page: Path, prefix: str, end: str
) -> None:
    """Another parser sees the same code and tables, and nothing of it elsewhere."""
    command = "step query -s mine.yaml"
    within = re.sub("[^>\\s]", " ", prefix)
    start = f"<!-- decoder-trace: {command} -->"
    lines = [f"{prefix}{start}", f"{within}old", within.rstrip(), f"{within}{END}", "", "after"]
    text = woven(page, end.join(lines))
    assert text.count("\n") == text.count(end)
    assert not [line for line in text.split(end) if line != line.rstrip()]
    inside, outside = (contents(part) for part in (text, woven(page, block(command))))
    assert inside[:-1] == outside
    assert inside[-1] == ("inline", "after")


def contents(text: str) -> list[tuple[str, str]]:
    """The code, tables and texts of Markdown, from the outside in."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [(t.type, t.content) for t in tokens if t.content and t.type != "html_block"]


def test_a_block_after_tabs_in_a_list(page: Path) -> None:
    mark = "<!-- decoder-trace: step query -s mine.yaml -f terminal -->"
    text = woven(page, f"-\ta\n\n\t{mark}\n\t{END}\n")
    assert f"\t{mark}\n\n\t```text\n\tTwo words\n\n\t" in text
    assert contents(text)[1][0] == "fence"


def test_a_byte_order_mark_stays(page: Path) -> None:
    assert woven(page, f"\ufeff{block('step query -s mine.yaml')}").startswith("\ufeff<!-- dec")
    one = number("value embedding[2,y] -s mine.yaml")
    assert woven(page, f"\ufeff{one}") == f"\ufeff{one.replace('0<', '4<')}"


def test_a_file_without_marks_is_told(page: Path) -> None:
    for text in ("", "a\n", f"```md\n{block('run mine.yaml')}```\n"):
        page.write_text(text)
        for options in [(), ("--check",)]:
            told = f"{page}: no marks to weave, expected <!-- decoder-trace: … -->\n"
            assert run("weave", str(page), *options) == Ran(0, "", told)
        assert page.read_text() == text
    paper = page.with_suffix(".TEX")
    paper.write_text("50\\% of it")
    told = f"{paper}: no marks to weave, expected % decoder-trace: …\n"
    assert run("weave", str(paper)) == Ran(0, "", told)


def test_problems_of_a_scenario_keep_their_place(page: Path) -> None:
    page.with_name("mine.yaml").write_text(SCENARIO.replace("[1, 2]", "[1, x]"))
    told = refused(page, block("run mine.yaml") + number("value input[1,1] -s mine.yaml"))
    first, second = told.splitlines()
    assert first.startswith("1:1: mine.yaml:4:21: embeddings.a")
    assert second.startswith("4:7: mine.yaml:4:21: embeddings.a")


def test_every_problem_is_told_and_no_file_touched(page: Path) -> None:
    good, bad = page.with_name("good.md"), page.with_name("bad.md")
    good.write_text(number("value embedding[b,y] -s mine.yaml"))
    bad.write_text(f"{END}\n\n{number('value nothing')}{block('run missing.yaml')}")
    before = folder(page.parent)
    ran = run("weave", str(good), str(bad), str(good))
    assert (ran.exit_code, ran.stdout) == (2, "")
    places = [line.split(": ")[0] for line in ran.stderr.splitlines()]
    assert places == [f"{bad}:1:1", f"{bad}:3:7", f"{bad}:4:1"]
    assert folder(page.parent) == before


def test_files_that_cannot_be_read(page: Path) -> None:
    good, binary = page.with_name("good.md"), page.with_name("binary.md")
    good.write_text(number("value embedding[b,y] -s mine.yaml"))
    binary.write_bytes(b"a\xff")
    before = folder(page.parent)
    for path, reason in {
        page: ": cannot be read: No such file or directory",
        page.parent: ": cannot be read: Is a directory",
        binary: ":1:2: not UTF-8: byte 0xFF",
    }.items():
        assert run("weave", str(good), str(path)) == Ran(2, "", f"{path}{reason}\n")
        assert folder(page.parent) == before


def test_a_write_that_fails_leaves_the_file(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_text(number("value embedding[b,y] -s mine.yaml"))
    before = folder(page.parent)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    ran = run("weave", str(page))
    assert ran == Ran(2, "", f"{page}: cannot be written: No space left on device\n")
    assert folder(page.parent) == before


def test_what_somebody_writes_meanwhile_stays(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_text(number("value embedding[b,y] -s mine.yaml"))

    def slow(*_: object) -> Callable[[object, object], str]:
        page.write_text("theirs")
        return lambda *_: "4"

    monkeypatch.setattr("tracer.weave.files.renderer", slow)
    told = f"{page}: cannot be written: it has changed since it was read\n"
    assert run("weave", str(page)) == Ran(2, "", told)
    assert page.read_text() == "theirs"


def test_permissions_and_links_stay(page: Path) -> None:
    page.write_text(number("value embedding[b,y] -s mine.yaml"))
    page.chmod(0o640)
    link = page.with_name("link.md")
    link.symlink_to(page.name)
    assert run("weave", str(link)) == Ran(0, "", "")
    assert link.is_symlink()
    assert page.read_text() == number("value embedding[b,y] -s mine.yaml", "4")
    assert page.stat().st_mode & 0o777 == 0o640
