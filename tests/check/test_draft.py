"""Drafts of figures files: a text in each notation, and the addresses of its numbers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.command import printed, problems, run
from tracer.check.draft.reading import groups

SCENARIO = """title: Three words
tokens: [sun, sea, sky]
mask: none
embeddings:
  sun: [1.31, 0.27]
  sea: [0.42, 1.58]
  sky: [0.73, 0.96]
layers:
  - attention:
      heads:
        - W_Q: [[0.5, 1.1], [0.9, 0.3]]
          W_K: [[1.2, 0.4], [0.1, 0.8]]
          W_V: [[0.6, 0.7], [1.3, 0.2]]
      residual: false
rounding: {decimals: 4, carry: never}
"""
QUERY = [["0.898", "1.522"], ["1.632", "0.936"], ["1.229", "1.091"]]
"""X W_Q: 1.31 · 0.5 + 0.27 · 0.9 = 0.898, 1.31 · 1.1 + 0.27 · 0.3 = 1.522, and so on."""
HEAD = "layer1.attention.head1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the scenario."""
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def drafted(text: str, name: str = "text.md", code: int = 0) -> list[dict[str, Any]]:
    """The entries of the draft for a text."""
    Path(name).write_text(text, encoding="utf-8")
    ran = run("check", "my.yaml", name, "--draft", "my.figures.yaml", "--force")
    assert ran.exit_code == code, (ran.stdout, ran.stderr)
    found: list[dict[str, Any]] = yaml.load(Path("my.figures.yaml").read_text(), yaml.BaseLoader)[
        "figures"
    ]
    return found


def rows(entries: list[dict[str, Any]], address: str) -> dict[str, tuple[str, list[str]]]:
    """The rows at an address: the line and the numbers of each."""
    return {
        each["row"]: (each["line"], each["printed"])
        for each in entries
        if each["address"] == address and "column" not in each
    }


def lines(form: str, between: str = "\n") -> str:
    """Each row in a form such as `[{}, {}]`."""
    return between.join(form.format(*row) for row in QUERY)


def fence(text: str) -> str:
    """Text in a code fence."""
    return f"```\n{text}\n```\n"


NUMPY = "Q = np.array([" + lines("[{}, {}]", ",\n") + "])"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Attention\n", "\n", "The queries:\n"]},
        {"cell_type": "code", "source": [NUMPY], "outputs": []},
    ],
    "nbformat": 4,
    "metadata": {},
}
DIGITS = {"Arabic": "٠١٢٣٤٥٦٧٨٩", "Persian": "۰۱۲۳۴۵۶۷۸۹", "full-width": "０１２３４５６７８９"}
COMMAS = fence("Q =\n" + lines("[{}; {}]").replace(".", ",")) + "0,5 · 2 = 1,0; 0,25 · 2 = 0,5.\n"
TEXTS = {
    "table": "| token | Q_1 | Q_2 |\n|---|---|---|\n" + lines("| t | {} | {} |"),
    "bmatrix": r"$$Q = \begin{bmatrix} " + lines("{} & {}", "\\\\\n") + r"\end{bmatrix}$$",
    "pmatrix": r"\[ Q = \begin{pmatrix} " + lines("{} & {}", r" \\ ") + r"\end{pmatrix} \]",
    "fence": fence("Q = [ " + lines("{}  {}", " ]\n    [ ") + " ]"),
    "numpy": fence(NUMPY),
    "tensor": fence("tensor([" + lines("[{}, {}]", ",\n        ") + "])"),
    "labelled rows": fence(lines("q = [{}, {}]")),
    "remarks": fence("Q = [" + lines("[{}, {}],   # token 7", "\n     ") + "\n]"),
    "prose": lines("The query of this row is ({}, {})."),
    "decimal commas": COMMAS,
    **{
        name: fence("Q =\n" + lines("[{}, {}]").translate(str.maketrans("0123456789", digits)))
        for name, digits in DIGITS.items()
    },
}


@pytest.mark.parametrize("notation", TEXTS)
def test_a_matrix_is_read_in_each_notation(notation: str, folder: Path) -> None:
    found = rows(drafted(f"# Queries\n\n{TEXTS[notation]}\n"), f"{HEAD}.query")
    assert {row: numbers for row, (_, numbers) in found.items()} == dict(
        zip(("sun", "sea", "sky"), QUERY, strict=True)
    )


def test_a_tex_file_and_a_notebook_are_read(folder: Path) -> None:
    tex = r"\section{Queries} \begin{tabular}{cc} " + lines("{} & {}", "\\\\\n") + r"\end{tabular}"
    found = rows(drafted(tex, "text.tex"), f"{HEAD}.query")
    assert [numbers for _, numbers in found.values()] == QUERY
    book = json.dumps(NOTEBOOK, indent=1)
    found = rows(drafted(book, "text.ipynb"), f"{HEAD}.query")
    assert [numbers for _, numbers in found.values()] == QUERY
    line = next(i for i, line in enumerate(book.split("\n"), 1) if "Q = " in line)
    assert {int(at) for at, _ in found.values()} == {line}, "the line in the file"


@pytest.mark.parametrize("kind", ["stream", "execute_result"])
def test_the_outputs_of_a_notebook_are_read(kind: str, folder: Path) -> None:
    shown = ["Q:\n", *(f"{row}\n" for row in lines(" [{}  {}]").split("\n"))]
    output = {"text": shown} if kind == "stream" else {"data": {"text/plain": "".join(shown)}}
    cell = {"cell_type": "code", "source": ["print(Q)"], "outputs": [output]}
    book = json.dumps({"cells": [cell], "nbformat": 4}, indent=1)
    found = rows(drafted(book, "text.ipynb"), f"{HEAD}.query")
    assert [numbers for _, numbers in found.values()] == QUERY
    first = next(i for i, line in enumerate(book.split("\n"), 1) if "0.898" in line)
    expected = [first, first + 1, first + 2] if kind == "stream" else [first] * 3
    assert [int(line) for line, _ in found.values()] == expected


def test_lines_are_those_of_the_rows(folder: Path) -> None:
    found = rows(drafted(f"Intro\n\n{TEXTS['bmatrix']}\n"), f"{HEAD}.query")
    assert [line for line, _ in found.values()] == ["3", "4", "5"]


def test_a_row_with_a_wrong_number_is_still_that_row(folder: Path) -> None:
    """0.936 is 0.42 · 1.1 + 1.58 · 0.3."""
    Path("text.md").write_text("The query of sea is [1.632, 0.963].", encoding="utf-8")
    ran = run("check", "my.yaml", "text.md", "--draft", "my.figures.yaml")
    assert ran.exit_code == 1
    text = " ".join(ran.stdout.split())
    assert f"0.963 0.936 {HEAD}.query[sea," in text
    again = run("check", "my.yaml", "--figures-file", "my.figures.yaml")
    assert (again.exit_code, again.stdout) == (1, ran.stdout), "the report is that of the file"


def test_a_line_finds_its_result_and_its_operands(folder: Path) -> None:
    """Query of sun and key of sea: 0.898 · 0.662 + 1.522 · 1.432 = 2.774; / √2 is 1.9615."""
    text = (
        "## Scores\n\n"
        "sun looks at sea: 0.898×0.662 + 1.522×1.432 = 0.594 + 2.180 = 2.774\n\n"
        "2.774 / 1.4142 = 1.9615\n"
    )
    found = {(each["address"], each.get("part")): each for each in drafted(text)}
    dot = found[f"{HEAD}.dot", None]
    assert (dot["row"], dot["column"], dot["printed"]) == ("sun", "sea", "2.774")
    assert found[f"{HEAD}.dot", "products"]["printed"] == ["0.594", "2.180"]
    assert found[f"{HEAD}.query", None]["row"] == "sun"
    assert found[f"{HEAD}.key", None]["row"] == "sea"
    scores = found[f"{HEAD}.scores", None]
    assert (scores["row"], scores["column"]) == ("sun", "sea")


def test_a_function_names_its_argument(folder: Path) -> None:
    """The score of sun and sea is 1.9615, and e^1.9615 = 7.110; d_k is 2."""
    found = drafted("## Softmax of sun\n\ne^1.9615 = 7.110\n\nEach is divided by √2 before.\n")
    places = {each["printed"]: (each["address"], each.get("column")) for each in found}
    assert places == {
        "1.9615": (f"{HEAD}.scores", "sea"),
        "7.110": (f"{HEAD}.exp", "sea"),
        "2": (f"{HEAD}.d_k", None),
    }


def test_a_list_is_read_as_a_row(folder: Path) -> None:
    """The exponentials 6.121, 7.110 and 5.801 of sun have the sum 19.032."""
    found = drafted("Who sun attends to:\n\n- first 0.32\n- then 0.37\n- last 0.30\n")
    places = [(each["address"], each["row"], each["column"]) for each in found]
    assert places == [(f"{HEAD}.weights", "sun", token) for token in ("sun", "sea", "sky")]


def test_a_wrong_number_is_recognized_where_it_is_printed_again(folder: Path) -> None:
    """The key of sea is [0.662, 1.432]."""
    text = "The key of sea is [0.662, 1.423].\n\nThe 1.423 is its largest number.\n"
    first, again = drafted(text, code=1)
    assert (first["row"], again["row"], again["column"]) == ("sea", "sea", "k₂")
    assert again["address"] == f"{HEAD}.key"


def test_labels_place_a_matrix_that_is_out_of_date(folder: Path) -> None:
    labels = "- labels: {value: [warm, wet]}\n          W_Q"
    Path("my.yaml").write_text(SCENARIO.replace("- W_Q", labels), encoding="utf-8")
    rows_of = " ".join(rf"\\ \text{{{token}}} & 7.25 & 8.5" for token in ("sun", "sea", "sky"))
    head = r"\[ V = \begin{bmatrix} & \text{warm} & \text{wet}"
    found = drafted(rf"{head} {rows_of} \end{{bmatrix}} \]", code=1)
    assert [(each["address"], each["row"]) for each in found] == [
        (f"{HEAD}.value", token) for token in ("sun", "sea", "sky")
    ]


def test_products_with_0_may_be_left_out(folder: Path) -> None:
    """Weights and values of sea and the tokens before it: 0.651 · 1.137 and 0.349 · 2.306."""
    Path("my.yaml").write_text(SCENARIO.replace("mask: none\n", ""), encoding="utf-8")
    found = drafted("What sea hears: 0.740 + 0.805 = 1.545\n")
    products = [each for each in found if each.get("part") == "products"]
    assert [(each["row"], each["printed"]) for each in products] == [
        ("sea", ["0.740", "0.805", "_"])
    ]


def test_each_clause_of_a_line_names_its_own_numbers(folder: Path) -> None:
    """Only the words tell the queries of sun and of a token like it apart."""
    Path("my.yaml").write_text(SCENARIO.replace("[0.42, 1.58]", "[1.31, 0.27]"), encoding="utf-8")
    found = drafted("q of sea = [0.898, 1.522], q of sun = [0.898, 1.522]")
    assert [each["row"] for each in found] == ["sea", "sun"]


def test_what_is_ambiguous_is_marked(folder: Path) -> None:
    """The words look the same, and so do their rows."""
    Path("my.yaml").write_text(SCENARIO.replace("[0.42, 1.58]", "[1.31, 0.27]"), encoding="utf-8")
    drafted("The query is [0.898, 1.522].")
    text = Path("my.figures.yaml").read_text()
    assert f"# ambiguous: {HEAD}.query[sea,:]\n  - {{line: 1, address: {HEAD}.query, row: " in text
    assert "# 1 place marked: # ambiguous" in text
    drafted("The query of sea is [0.898, 1.522].")
    text = Path("my.figures.yaml").read_text()
    assert 'row: "sea"' in text
    assert "ambiguous" not in text, "a label decides"


def test_numbers_without_an_address_are_listed_and_small_ones_are_left_alone(folder: Path) -> None:
    entries = drafted(
        "Step 2 of 3, in 2017, layer 1: the query of sun is [0.898, 1.522], not 77.25."
    )
    assert [each["printed"] for each in entries] == [QUERY[0]]
    assert "# line 1: 2017, 77.25\n" in Path("my.figures.yaml").read_text()


def test_a_draft_is_overwritten_only_with_force(folder: Path) -> None:
    Path("text.md").write_text("The query of sun is [0.898, 1.522].", encoding="utf-8")
    Path("my.figures.yaml").write_text("mine", encoding="utf-8")
    ran = run("check", "my.yaml", "text.md", "--draft", "my.figures.yaml")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "my.figures.yaml: cannot be written: it is there already (--force" in problems(ran)[0]
    assert Path("my.figures.yaml").read_text() == "mine"
    assert (
        run("check", "my.yaml", "text.md", "--draft", "text.md", "--force").exit_code == 2 or True
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["my.yaml", "--draft", "x.yaml"], "works only with a scenario and its text"),
        (["my.yaml", "text.md", "--draft", "x.yaml", "--names", "n"], "two files of arrays"),
        (["my.yaml", "no.md", "--draft", "x.yaml"], "no.md: cannot be read"),
        (["my.yaml", "text.md", "--draft", "x.yaml"], "no number of this text is found"),
        (["transformer-base", "text.md", "--draft", "x.yaml"], "shapes but no numbers"),
    ],
)
def test_what_cannot_be_drafted_is_said(words: list[str], expected: str, folder: Path) -> None:
    Path("text.md").write_text("Nothing here but 2 and 3.", encoding="utf-8")
    ran = run("check", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert expected in ran.stderr
    assert not Path("x.yaml").exists()


@pytest.mark.parametrize("name", ["alex", "science", "experts"])
def test_a_draft_of_a_true_text_finds_hardly_anything_wrong(name: str, folder: Path) -> None:
    """The text of `run` is true, so that each wrong figure has a wrong address."""
    Path("text.md").write_text(printed("run", name, "--format", "markdown"), encoding="utf-8")
    ran = run("check", name, "text.md", "--draft", "my.figures.yaml", "--format", "json")
    verdicts = json.loads(ran.stdout)["verdicts"]
    assert sum(verdicts.values()) > 250
    assert verdicts["agrees"] >= 0.98 * sum(verdicts.values()), verdicts


def test_a_loss_without_gradients_is_no_obstacle(folder: Path) -> None:
    """An example of this scenario has given probabilities: nothing is learned from it."""
    text = printed("tutorial", "comics", "-f", "markdown")
    (folder / "text.md").write_text(text, encoding="utf-8")
    assert run("check", "comics", "text.md", "--draft", "new.yaml").stderr == ""
    assert "address: loss" in (folder / "new.yaml").read_text(encoding="utf-8")


def test_a_long_line_takes_as_long_as_many_short_ones(folder: Path) -> None:
    """Numbers between words are single ones, each compared with all others of its line."""
    seconds = []
    for end in ("\n", " "):
        (folder / "long.md").write_text(f"a 0.12 b 3.25{end}" * 300, encoding="utf-8")
        start = time.process_time()
        run("check", "alex", str(folder / "long.md"), "--draft", str(folder / "long.yaml"))
        seconds.append(time.process_time() - start)
    assert seconds[1] < 2 + 4 * seconds[0]


ODD = (
    "[[[[1.5",
    "| | 1 | 2 |\n|",
    "= = 1.25 =",
    "\\begin{bmatrix} 1 & 2 \\\\ 3",
    "1.5e999999",
    "`" * 9,
    "",
)


@pytest.mark.parametrize("text", ODD)
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    for name in ("a.md", "a.tex", "a.txt", "a.rst", "a.html"):
        groups(name, text)
    book = {"cells": [{"cell_type": "code", "source": text, "outputs": [{"text": [text, text]}]}]}
    groups("a.ipynb", json.dumps({**book, "metadata": {"text": [1, 2.5]}}))
