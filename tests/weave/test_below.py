"""Marks above code and formulas, and marks of LaTeX: what they rewrite, and what stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.helpers.command import printed, run, run_json
from tests.weave.test_files import END, SCENARIO, block, page, refused, woven
from tracer.errors import TracerError
from tracer.weave.woven import weave

__all__ = ["page"]  # the fixture

WEIGHTS = "layer1.attention.head1.weights"
FRIENDS = ("Frank", "Emma", "Daniel", "Alex")
OF_ALEX = ["0.964", "0.026", "0.004", "0.006"]
ROW = f"value {WEIGHTS}[Alex] as row"
ONE = f"value {WEIGHTS}[Alex,Frank]"


def above(command: str, below: str) -> str:
    return f"<!-- decoder-trace: {command} -->\n{below}\n"


def bmatrix(rows: Sequence[Sequence[str]], between: str = "\n") -> str:
    lines = [" & ".join(row) for row in rows]
    body = f" \\\\{between}".join(lines)
    return f"\\begin{{bmatrix}}{between}{body}{between}\\end{{bmatrix}}"


@pytest.fixture
def paper(page: Path) -> Path:
    """A LaTeX file to weave, with a scenario beside it."""
    return page.with_suffix(".tex")


# --- the numbers of a row, a column, a matrix ----------------------------------------------------


def test_rows_and_columns_are_those_of_the_trace() -> None:
    """Each layout has the numbers that the trace prints, whatever the value."""
    for value in run_json("alex")["values"]:
        address, numbers = value["address"], value["printed"]
        if len(value["shape"]) == 2:
            last = [row[-1] for row in numbers]
            assert layouts(f"{address}[1]") == [numbers[0]] * 2, address
            assert layouts(f"{address}[,{len(numbers[0])}]") == [last] * 2, address
        elif value["shape"]:
            assert layouts(address) == [numbers] * 2, address


def layouts(asked: str) -> list[list[str]]:
    """The numbers as a row, and as a column."""
    row = printed("value", f"{asked} as row").strip()
    assert (row[0], row[-1]) == ("[", "]")
    return [row[1:-1].split(", "), printed("value", f"{asked} as column").splitlines()]


def test_a_matrix_has_the_numbers_of_its_table(page: Path) -> None:
    numbers = next(v["printed"] for v in run_json("alex")["values"] if v["address"] == WEIGHTS)
    assert printed("value", f"{WEIGHTS} as bmatrix") == f"{bmatrix(numbers)}\n"
    lines = printed("value", f"{WEIGHTS} as table").splitlines()
    assert lines[4].split() == ["Alex", *numbers[3]]
    table = content(page, f"{WEIGHTS} as table").splitlines()
    assert table[0] == "| A¹ | Frank | Emma | Daniel | Alex |"
    assert [line.strip("| ").split(" | ")[1:] for line in table[2:]] == numbers


def content(file: Path, asked: str) -> str:
    """What a mark between lines of a file becomes."""
    mark = in_latex if file.suffix == ".tex" else block
    _, *lines, _ = woven(file, mark(f"value {asked}")).splitlines()
    return "\n".join(lines).strip()


EMMAS = bmatrix([["0"], ["0.019"], ["0.147"], ["0.026"]])
OTHERS = {
    (f"{WEIGHTS}[Alex] as bmatrix", "md"): f"$$\n{bmatrix([OF_ALEX])}\n$$",
    (f"{WEIGHTS}[Alex] as column", "md"): "```text\n{}\n```".format("\n".join(OF_ALEX)),
    ("tokens as row", "md"): "[Frank, Emma, Daniel, Alex]",
    (f"{WEIGHTS}[,Emma] as column", "tex"): rf"\ensuremath{{{EMMAS}}}",
    (f"{WEIGHTS}[,Emma] as bmatrix", "tex"): EMMAS,
    ("layer1.attention.head1.masked[Frank,Alex]", "tex"): r"\ensuremath{-\infty}",
    (f"{WEIGHTS}[Alex,Frank]", "tex"): "0.964",
    ("tokens[2]", "tex"): "Emma",
    ("tokens as row", "tex"): f"[{', '.join(FRIENDS)}]",
}


@pytest.mark.parametrize("asked", OTHERS)
def test_layouts_in_texts(asked: tuple[str, str], page: Path) -> None:
    entry, ending = asked
    assert content(page.with_suffix(f".{ending}"), entry) == OTHERS[asked]


REFUSED = {
    f"{WEIGHTS} as row": "got a matrix, expected a row or a column of it",
    f"{WEIGHTS}[1,2] as row": f"{WEIGHTS}: no token '1,2'",
    f"{WEIGHTS}[,5] as row": f"{WEIGHTS}: no key '5'",
    f"{WEIGHTS}[Alxe] as table": f"{WEIGHTS}: no token 'Alxe'; did you mean 'Alex'?",
    "layer1.attention.head1.d_k as row": "got a single number, expected a value with rows",
    "layer1.attention.norm.mean[1] as row": "got [1], expected ADDRESS",
    "tokens as table": "tokens: these are words, which have no table",
}


@pytest.mark.parametrize("asked", REFUSED)
def test_what_has_no_such_layout(asked: str) -> None:
    ran = run("value", asked)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert REFUSED[asked] in ran.stderr


# --- above code and formulas ---------------------------------------------------------------------

IN_LINE = bmatrix([OF_ALEX], " ")
IN_LINES = bmatrix([OF_ALEX])
FORMULAS = {
    "all of it": (ROW, "$$\nx\n$$", f"$$\n{IN_LINES}\n$$"),
    "in one line": (ROW, "$$ x $$", f"$$ {IN_LINE} $$"),
    "without spaces": (ROW, "$$x$$", f"$${IN_LINE}$$"),
    "an empty one": (ROW, "$$\n$$", f"$$\n{IN_LINES}\n$$"),
    "an empty one in a line": (ROW, "$$$$", f"$${IN_LINE}$$"),
    "its matrix": (
        ROW,
        "$$\na_4 =\n\\begin{pmatrix}\n1 \\\\\n2\n\\end{pmatrix}, \\tag{3}\n$$ {#eq-a}",
        f"$$\na_4 =\n{IN_LINES}, \\tag{{3}}\n$$ {{#eq-a}}",
    ),
    "behind a sign": (ROW, "\\[ a_4 = \\]", f"\\[ a_4 = {IN_LINE}\\]"),
    "a number": (ONE, "$$\\alpha_{4,1} = 0.5$$", r"$$\alpha_{4,1} = 0.964$$"),
    "the last number": (ONE, "$$\nx = 1.5 \\approx 2.\n$$", "$$\nx = 1.5 \\approx 0.964\n$$"),
    "a number as all": (f"{ONE} as percent", "$$\n1\n$$", "$$\n96.4\\,\\%\n$$"),
    "a fence": (ROW, "```math\nx\n```", f"```math\n{IN_LINES}\n```"),
    "a directive": (
        ROW,
        "```{math}\n:label: eq\n\nx\n```",
        f"```{{math}}\n:label: eq\n\n{IN_LINES}\n```",
    ),
    "behind an empty line": (ROW, "\n$$x$$", f"\n$${IN_LINE}$$"),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("prefix", ["", "> ", "- > "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mark_above_a_formula(name: str, prefix: str, end: str, page: Path) -> None:
    command, old, new = FORMULAS[name]
    before, after = (
        f"a\n\n{prefix}"
        + f"\n{prefix.replace('-', ' ')}".join(f"{above(command, text)}b".split("\n"))
        for text in (old, new)
    )
    assert woven(page, before.replace("\n", end)) == after.replace("\n", end)


CODE = {
    "text": ("step query -s mine.yaml", "terminal"),
    "": ("step query -s mine.yaml", "terminal"),
    "markdown": ("step query -s mine.yaml", "markdown"),
    "latex": ("step query -s mine.yaml", "latex"),
    "json": ("run mine.yaml", "json"),
    "{code-block} python": ("run mine.yaml --code numpy -f code", "code"),
}


@pytest.mark.parametrize("language", CODE)
@pytest.mark.parametrize("fence", ["```", "~~~~~"])
def test_a_mark_above_code(language: str, fence: str, page: Path) -> None:
    command, form = CODE[language]
    words = [str(page.with_name(w)) if w == "mine.yaml" else w for w in command.split()]
    shown = printed(*words, *(() if "-f" in words else ("-f", form))).strip("\n")
    shown = shown.replace(str(page.with_name("mine.yaml")), "mine.yaml")
    before = above(command, f"{fence}{language}\nold\n\nold\n{fence}")
    if f"\n{fence}" in shown:
        told = "1:1: the output contains text that would be read as the end of the code"
        assert refused(page, before) == told
        return
    text = woven(page, before)
    if form == "latex":
        shown = shown.partition("\n\n")[2]  # without a comment about packages
    assert text == above(command, f"{fence}{language}\n{shown}\n{fence}")


def test_titles_without_numbers(page: Path) -> None:
    text = woven(page, block("step attention -s mine.yaml --heading 4 --no-numbers"))
    titles = re.findall("^#.*", text, re.MULTILINE)
    assert "#### Query" in titles
    assert all(re.fullmatch("#### [A-Z][^0-9]*", title) for title in titles)
    assert not re.search(r"\bstep [0-9]", text)
    with_numbers = woven(page, block("step attention -s mine.yaml --heading 4"))
    assert [re.sub(r"[0-9]+\. ", "", t) for t in re.findall("^#.*", with_numbers, re.M)] == titles


def test_a_sentence_names_a_step_without_its_number() -> None:
    text = printed("step", "attention", "-s", "alex", "--no-numbers", "-f", "markdown")
    assert "As in “Head 1 · " in text


def test_titles_in_latex() -> None:
    levels = {
        each: re.findall(r"\\(\w+)\*\{", printed("step", "ffn", "-f", "latex", "--heading", each))
        for each in ("1", "2", "4", "6", "none")
    }
    assert {each: set(found) - {"alignat"} for each, found in levels.items()} == {
        **{"1": {"section"}, "2": {"subsection"}, "4": {"paragraph"}, "6": {"subparagraph"}},
        "none": set(),
    }


def test_text_without_titles_has_the_same_blocks() -> None:
    whole, plain = (printed("step", "softmax", *options) for options in ((), ("--heading", "none")))
    assert "Softmax" in whole and "Alex decides where to eat" in whole
    assert "Softmax" not in plain and "Alex decides where to eat" not in plain
    for line in plain.splitlines():
        assert line.strip() in whole


NOT_WOVEN = {
    "a text in a formula": (
        above("step query", "$$\nx\n$$"),
        "1:1: in a formula, only the command",
    ),
    "a table in a formula": (
        above(f"value {WEIGHTS} as table", "$$x$$"),
        "1:1: as table: a formula has no labels; try as bmatrix",
    ),
    "what would end the code": (
        above("run mine.yaml", "~~~\n~~~"),
        "1:1: the output contains text that would be read as the end of the code",
    ),
}


@pytest.mark.parametrize("name", NOT_WOVEN)
def test_what_cannot_be_woven_below(name: str, page: Path) -> None:
    page.with_name("mine.yaml").write_text(SCENARIO.replace("Two words", '"~~~"'))
    text, told = NOT_WOVEN[name]
    assert refused(page, text).startswith(told)


def test_text_in_an_admonition_is_no_code(page: Path) -> None:
    mark = f"<!-- decoder-trace: {ROW} -->"
    note = ['!!! note "Title"', "", f"    {mark}", "    $$x$$", "", '    ??? tip "More"', ""]
    tab = [f"        a {mark}{END}.", '=== "Tab"', "", f"    {mark}", f"    {END}", "", "end"]
    text = woven(page, "\n".join([*note, *tab]))
    row = f"[{', '.join(OF_ALEX)}]"
    assert f"    $${IN_LINE}$$\n" in text
    assert f"        a {mark}{row}{END}.\n" in text
    assert text.endswith(f"    {mark}\n\n    {row}\n\n    {END}\n\nend")


# --- LaTeX ---------------------------------------------------------------------------------------


def in_latex(command: str, content: str = "") -> str:
    return f"% decoder-trace: {command}\n{content}% /decoder-trace\n"


def test_marks_of_latex(paper: Path) -> None:
    mark = in_latex("step query -s mine.yaml --heading none", "old\n")
    number = f"  % decoder-trace: {ONE} as percent\n  % /decoder-trace\n"
    text = f"\\section{{A}}\n{mark}It is\n{number}of it.\n"
    found = woven(paper, text)
    query = printed("step", "query", "-s", str(paper.with_name("mine.yaml")), "-f", "latex")
    body = query.partition("\n\n")[2].partition("\n\n")[2].strip()
    assert f"--heading none\n{body}\n% /decoder-trace\nIt is\n" in found
    assert "as percent\n  96.4\\,\\%\n  % /decoder-trace\nof it.\n" in found


OF_PAPERS = {
    "\\[ a = \\]": f"\\[ a = {IN_LINE}\\]",
    "\\begin{equation}\\label{a}\nx\n\\end{equation}": (
        f"\\begin{{equation}}\\label{{a}}\n{IN_LINES}\n\\end{{equation}}"
    ),
    "\\begin{align*}\n  a &= \\begin{pmatrix}\n0\n\\end{pmatrix}\n\\end{align*}": (
        f"\\begin{{align*}}\n  a &= {IN_LINES}\n\\end{{align*}}"
    ),
    "$$\nx\n$$": f"$$\n{IN_LINES}\n$$",
    "\\begin{lstlisting}[frame=single]\nold\n\\end{lstlisting}": (
        f"\\begin{{lstlisting}}[frame=single]\n[{', '.join(OF_ALEX)}]\n\\end{{lstlisting}}"
    ),
}


@pytest.mark.parametrize("old", OF_PAPERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mark_of_latex_above_a_formula_or_code(old: str, end: str, paper: Path) -> None:
    texts = (f"a\n%% decoder-trace: {ROW}\n{below}\nb\n" for below in (old, OF_PAPERS[old]))
    before, after = (text.replace("\n", end) for text in texts)
    assert woven(paper, before) == after


OTHER = "no mark of LaTeX, expected % decoder-trace: … alone on its line"
NO_END = (
    "no end, expected % /decoder-trace on a line before the next mark; or code or a formula below "
    "the start"
)
WRONG_PAPERS = {
    "a % decoder-trace: step a": [f"1:3: {OTHER}"],
    "<!-- decoder-trace: step a -->\n<!-- /decoder-trace -->": [f"1:1: {OTHER}", f"2:1: {OTHER}"],
    "% decoder-trace: step a\nb": [f"1:1: {NO_END}"],
    "% /decoder-trace": ["1:1: an end without a start"],
    f"{in_latex('value x')}% /decoder-trace": ["3:1: an end without a start"],
    "% decoder-trace: step a\n\\[ a": [f"1:1: {NO_END}"],
    "\\begin{verbatim}\n% decoder-trace: step a\n\\end{verbatim}": [
        "2:1: a mark in code, where nothing is woven: place it above the code"
    ],
    "% decoder-trace: step a\n\\begin{verbatim}\n\\end{verbatim} b": [],
    "\\% decoder-trace: step a": [],
    "\\verb|% decoder-trace: step a|": [],
}


@pytest.mark.parametrize("text", WRONG_PAPERS)
def test_wrong_marks_of_latex(text: str, paper: Path) -> None:
    try:
        weave(text, "a.tex", lambda words, _: "output")
        problems = []
    except TracerError as error:
        problems = [str(each).removeprefix("a.tex:") for each in error.problems]
    assert problems == WRONG_PAPERS[text]


PIECES = [
    *("% decoder-trace: value x", "% decoder-trace: value x as row", "% /decoder-trace", "\\[ a"),
    *(
        "\\]",
        "$$",
        "\\begin{verbatim}",
        "\\end{verbatim}",
        "a = 1",
        "",
        "  ",
        "%",
        "\\begin{equation}",
    ),
    *(
        "\\end{equation}",
        "\\begin{bmatrix} 1 \\end{bmatrix}",
        "<!-- decoder-trace: value x -->",
        "```",
    ),
    *(
        "<!-- /decoder-trace -->",
        "<!-- decoder-trace: value x as column -->",
        "```math",
        ":label: a",
    ),
    *('!!! note "a"', "    <!-- decoder-trace: value x -->", "    $$", "> $$", "> b", "\r"),
]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=12),
    st.sampled_from(["a.md", "a.tex"]),
    st.sampled_from(["0.5", "\\begin{bmatrix}\n1 & 2\n\\end{bmatrix}", "-1", "a\n\nb"]),
)
def test_weaving_twice_changes_nothing(pieces: list[str], file: str, output: str) -> None:
    """Any text is refused with a line, or woven so that only content changes, and only once."""
    text = "\n".join(pieces)
    try:
        once = weave(text, file, lambda *_: output)
    except TracerError as error:
        assert all(problem.line for problem in error.problems)
        return
    assert weave(once.text, file, lambda *_: output) == once
    signs = re.compile("^.*decoder-trace.*$", re.MULTILINE)
    assert signs.findall(once.text) == signs.findall(text)
