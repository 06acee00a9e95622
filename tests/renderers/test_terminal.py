"""A page of the terminal: titles, parts, matrices beside each other, what is marked."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from rich.cells import cell_len

from tests.helpers.command import printed, run
from tests.helpers.continuity import misplaced, two_forms, violations
from tests.helpers.random_scenarios import Scenario, odd_tokens, printed_or_rejected, scenarios
from tests.helpers.truth import equations, false_equations, unreadable
from tracer.lesson.document import Name, Table
from tracer.renderers import tables

WIDE = 160
FFN = """
tokens: [a]
embeddings: [[1]]
layers: [{ffn: {W_1: [[0.5]], b_1: [0.25], W_2: [[1]]}}]
"""


def test_a_title_has_number_place_name_and_formula_over_a_rule() -> None:
    lines = printed("step", "scores", "--head", "1").split("\n")
    title, rule = lines[2:4]
    assert re.split(" {2,}", title) == [
        "7 · Head 1 · Attention scores",
        "S¹ (4 × 4) = Q¹ (4 × 2) · K¹ᵀ (2 × 4) / √d_k",
    ]
    assert rule == "─" * 80 and cell_len(title) == 80
    assert sum("S¹ (4 × 4) =" in line for line in lines) == 1


def test_a_formula_that_does_not_fit_beside_the_title_stands_below() -> None:
    lines = printed("step", "scores", "--head", "1", width=60).split("\n")
    assert lines[2] == "7 · Head 1 · Attention scores"
    assert "  S¹ (4 × 4) = Q¹ (4 × 2) · K¹ᵀ (2 × 4) / √d_k" in lines


def test_parts_have_titles_above_those_of_their_steps() -> None:
    lines = printed("run", "pizza").split("\n")
    parts = [above for above, line in pairwise(lines) if set(line) == {"═"}]
    assert parts == [
        "Inputs",
        *(
            f"Layer {layer}: {name}"
            for layer in (1, 2)
            for name in ("masked self-attention", "cross-attention", "feed-forward network")
        ),
        "Output",
        "Summary",
    ]
    titles = [line for line in lines if re.match("[0-9]+ · ", line)]
    assert not any("ayer 1" in title or "ayer 2" in title for title in titles)


def test_a_part_is_named_where_a_step_alone_would_not_say_it() -> None:
    assert "Layer 2: feed-forward network\n═" in printed("step", "ffn", "-s", "pizza", "-l", "2")
    assert "═" not in printed("step", "scores", "--head", "1")


def test_the_followed_row_is_marked_without_color() -> None:
    for name in ("query", "scores", "norm"):
        lines = printed("step", name, "--token", "Emma").split("\n")
        marked = [line for line in lines if line.startswith("▸")]
        assert marked and all(line.startswith("▸ Emma ") for line in marked)


def test_a_bias_is_named_by_its_symbol() -> None:
    shown = printed("step", "hidden", "-s", "-", stdin=FFN)
    assert re.search("^       +h₁ *\n  b₁  0.25$", shown.replace("e₁", "h₁"), re.MULTILINE), shown
    assert '""' not in shown


@pytest.mark.parametrize("scenario", ["alex", "science", "pizza", "comics"])
def test_a_wide_page_is_true_too(scenario: str) -> None:
    page = printed("run", scenario, width=WIDE)
    assert [line for line in page.split("\n") if cell_len(line) > WIDE] == []
    assert (unreadable(page), false_equations(page)) == ([], [])
    assert (violations(page), misplaced(page), two_forms(page)) == ([], [], [])
    assert len(equations(page)) == len(equations(printed("run", scenario)))


def test_matrices_stand_beside_each_other_with_their_operators() -> None:
    page = printed("run", "alex", width=WIDE)
    assert re.search(r"^  X′ .* ·  W_Q¹ .* =  Q¹ ", page, re.MULTILINE)
    assert re.search(r"^  Q¹ .* ·  K¹ᵀ .* / √d_k  =  S¹ ", page, re.MULTILINE)
    assert re.search(r"^  X  .* \+  P  .* =  X′ ", page, re.MULTILINE)
    assert not re.search(r"  =  Q¹ ", printed("run", "alex", width=80))
    assert "=  S¹" not in printed("step", "scores", width=WIDE)  # Q and K do not stand there


@pytest.mark.parametrize("name", ["W_Q¹", "Q¹", "X′"])
def test_a_wrong_digit_in_a_matrix_beside_others_is_found(name: str) -> None:
    """The judge reads each of them: the first number below its symbol is made another."""
    page = printed("run", "alex", width=WIDE)
    start, _, end = page.partition("4 · Head 1 · Query")
    lines = end.split("\n")
    header = next(i for i, line in enumerate(lines) if "=  Q¹" in line)
    at = lines[header].index(name) + len(name)
    row = header + 1 if name == "W_Q¹" else header + 4
    number = re.compile(r"-?[0-9]+\.[0-9]+")
    found = number.search(lines[row], at)
    assert found
    lines[row] = f"{lines[row][: found.start()]}{'9' * len(found[0])}{lines[row][found.end() :]}"
    wrong = "4 · Head 1 · Query".join([start, "\n".join(lines)])
    if name == "X′":
        wrong = wrong.replace("    street-stall: 0.223", "    street-stall: 99999")
    assert [*violations(wrong), *misplaced(wrong), *two_forms(wrong)] != []


def test_a_wrong_digit_in_a_column_of_results_is_found() -> None:
    for width in (40, 80, WIDE):
        page = printed("step", "scores", "--head", "1", width=width)
        wrong = re.sub(r"≈  7\.957", "≈  7.958", page)
        assert wrong != page and len(false_equations(wrong)) == 1


@pytest.mark.parametrize("width", [80, WIDE, 500])
def test_prose_keeps_to_a_measure_that_can_be_read(width: int) -> None:
    page = printed("tutorial", "science", "--format", "terminal", width=width)
    prose = [line for line in page.split("\n") if line[:1].strip() and line[0] != "▸"]
    assert 60 < max(map(cell_len, prose)) <= min(width, 100)


def test_the_largest_shares_stand_out_without_a_background() -> None:
    shown = run(
        *("step", "softmax", "--head", "1"), FORCE_COLOR="1", NO_COLOR="", TERM="xterm-256color"
    ).stdout
    table = shown[shown.index("A¹", shown.index("Frank:")) :]
    found = re.findall(r"\x1b\[([0-9;]+)m *(0\.529|0\.324|0\.147)", table)
    styles = {share: style.split(";") for style, share in found}
    assert {"1", "7"} <= set(styles["0.529"])  # bold and turned round
    assert "1" in styles["0.324"] and "7" not in styles["0.324"]
    assert not {"1", "7"} & set(styles["0.147"])
    assert not re.search(r"\x1b\[[0-9;]*\b4[0-8]\b", shown)  # no background of its own


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios(carry="step", names=odd_tokens(), epsilons=("0.1",)))
def test_random_pages_fit_and_are_true(scenario: Scenario) -> None:
    for width in (40, WIDE):
        page = printed_or_rejected(scenario, "run", "-", width=width)
        assert [line for line in page.split("\n") if cell_len(line) > width] == []
        assert (unreadable(page), false_equations(page)) == ([], [])


def test_a_whole_table_has_whole_names_of_columns() -> None:
    table = Table(("address", "TransformerLens", "Hugging Face"), (), is_whole=True)
    for width in (40, 80):
        text = " ".join(row.plain for row in tables.table_rows(table, width))
        assert text.split() == ["address", "TransformerLens", "Hugging", "Face"]


def test_a_long_table_takes_no_more_time_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = list[str]()

    def counted(text: str) -> int:
        measured.append(text)
        return cell_len(text)

    monkeypatch.setattr(tables, "cells", counted)
    rows = tuple((Name(f"row {i}"), Name("1")) for i in range(1000))
    assert len(tables.table_rows(Table(("name", "number"), rows), 80)) == 1001
    assert len(measured) < 10_000
