"""A worksheet and its key fit together; nothing that is left out stands elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import Scenario, odd_tokens, scenarios, words
from tests.helpers.student import worked_out
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tests.helpers.truth import equations, false_equations, unreadable
from tests.helpers.worksheets import FILLED, answers, filled, forms, rooms, told
from tracer.decoder.forward import Trace
from tracer.errors import TracerError
from tracer.formula.expression import Blank, Expression, Number
from tracer.lesson import document as doc
from tracer.lesson.entries import labels
from tracer.lesson.texts.blanks import (
    GOALS,
    LINES,
    MATRIX,
    PRODUCTS,
    RESULTS,
    WHAT_IF,
    key,
    with_blanks,
)
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.worksheet import Worksheet, worksheet
from tracer.node import found, rewritten
from tracer.renderers import Format, render
from tracer.scenario.carry import Carry

LEVELS = (RESULTS, PRODUCTS, MATRIX)
TEXTS: dict[str, dict[str, Any]] = {
    "terminal": {"format": Format.TERMINAL, "width": 80},
    "markdown": {"format": Format.MARKDOWN},
    "mathematics": {"format": Format.MARKDOWN, "math": True},
    "latex": {"format": Format.LATEX, "standalone": True},
}


@pytest.fixture(scope="module")
def alex() -> doc.Document:
    return told(bundled("alex"))


@pytest.fixture(scope="module")
def science() -> doc.Document:
    return told(bundled("science"))


def blanks(part: object) -> list[int]:
    """The blanks in the order of reading, each as often as it stands."""
    return [blank.number for blank in found(part, Blank)]


def fit(plain: doc.Document, sheet: doc.Document, texts: Iterable[str]) -> None:
    """The key fills the sheet, digit for digit; only illustrations are left out of both."""
    plain = doc.without_illustrations(plain)
    text = render(key(sheet), Format.MARKDOWN)
    assert rooms(render(sheet, Format.MARKDOWN)) == forms(text)
    known = answers(text)
    assert sorted(known) == sorted(set(blanks(sheet)))
    assert filled(sheet, known) == plain
    for text_form in texts:
        how = TEXTS[text_form]
        assert render(filled(sheet, known), **how) == render(plain, **how)


def hidden(sheet: doc.Document) -> None:
    """No number that is left out stands elsewhere as the same, nor where it is taken over."""
    left_out = [blank.answer.entry for blank in found(sheet, Blank) if blank.answer.entry]
    entries = {(entry.value.address, entry.at) for entry in left_out}
    alike = {
        (labels(b.answer.entry), b.answer.value) for b in found(sheet, Blank) if b.answer.entry
    }
    for number in remaining(sheet.sections):
        assert number.entry
        assert (number.entry.value.address, number.entry.at) not in entries
        assert (labels(number.entry), number.value) not in alike


def remaining(part: object) -> Iterator[Number]:
    """The numbers of traces that are not left out."""
    left_out = {id(blank.answer) for blank in found(part, Blank)}
    for number in found(part, Number):
        if number.entry and not number.entry.value.role.parameter and id(number) not in left_out:
            yield number


def in_order(sheet: doc.Document) -> None:
    """Each blank first stands where it is worked out, behind those that it needs."""
    met: list[int] = []
    for section in sheet.sections:
        for block in section.blocks:
            for part in found(block, doc.Line) if any(found(block, doc.Line)) else [block]:
                new = [number for number in dict.fromkeys(blanks(part)) if number not in met]
                met += new
                if new and isinstance(part, doc.Line):
                    put_in = next(side for side in part.chain.sides if any(found(side, Number)))
                    assert not set(new) & set(blanks(put_in))
                assert not new or isinstance(part, doc.Line | doc.Matrix)
    assert met == list(range(1, len(met) + 1))


# --- one scenario --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["alex", "science"])
def test_bundled_scenarios(name: str, level: int, request: pytest.FixtureRequest) -> None:
    plain: doc.Document = request.getfixturevalue(name)
    sheet = with_blanks(plain, level, seed=4)
    fit(plain, sheet, [sorted(TEXTS)[level - 1 - (name == "alex")]])
    hidden(sheet)
    in_order(sheet)


@pytest.mark.parametrize("level", [RESULTS, PRODUCTS])
@pytest.mark.parametrize("name", ["alex", "science"])
def test_a_student_comes_to_the_key(name: str, level: int, request: pytest.FixtureRequest) -> None:
    """With a calculator and nothing but the text. Level 4 leaves out rows without lines, too."""
    solvable(with_blanks(request.getfixturevalue(name), level, seed=5))


def solvable(sheet: doc.Document) -> None:
    known = answers(render(key(sheet), Format.MARKDOWN))
    assert worked_out(render(sheet, Format.MARKDOWN)) == known


def test_each_level_leaves_out_more(alex: doc.Document) -> None:
    counted = [len(set(blanks(with_blanks(alex, level, seed=1)))) for level in LEVELS]
    assert 20 < counted[0] < counted[1] < counted[2]


def test_level_2_leaves_products_level_3_does_not(alex: doc.Document) -> None:
    results, products = (with_blanks(alex, level, seed=1) for level in (RESULTS, PRODUCTS))
    texts = [" ".join(render(sheet, Format.MARKDOWN).split()) for sheet in (results, products)]
    sums = [re.findall(r"Frank: \(.*?Emma: ", text)[0] for text in texts]
    assert "≈ (13.647 + 2.706) / √2 = 16.353 / √2" in sums[0]
    assert not {"13.647", "2.706", "16.353"} & set(re.findall(r"[\d.]+", sums[1]))


def test_level_4_leaves_out_a_matrix_and_its_lines(alex: doc.Document) -> None:
    for seed in range(6):
        sheet = with_blanks(alex, MATRIX, seed)
        assert any(is_left_out(section) for section in sheet.sections)


def is_left_out(section: doc.Section) -> bool:
    """Whether a matrix has no number any more, and no line for a column of it a result."""
    cells = [[c for row in m.cells for c in row] for m in found(section.blocks, doc.Matrix)]
    empty = [each for each in cells if all(isinstance(cell, Blank) for cell in each)]
    lines = [line for line in found(section.blocks, doc.Line) if line.label]
    return bool(empty and lines) and all(blanks(line.chain.sides[-1:]) for line in lines)


def test_the_seed_chooses(alex: doc.Document) -> None:
    assert with_blanks(alex, PRODUCTS, 1) == with_blanks(alex, PRODUCTS, 1)
    sheets = [render(with_blanks(alex, PRODUCTS, seed), Format.MARKDOWN) for seed in range(4)]
    assert len(set(sheets)) == 4


def test_every_line_of_the_key_is_true(alex: doc.Document) -> None:
    text = render(key(with_blanks(alex, PRODUCTS, 1)), Format.TERMINAL, width=80)
    lines = FILLED.sub(lambda blank: negative(blank[2]), text)
    assert (unreadable(lines), false_equations(lines)) == ([], [])
    assert len(equations(lines)) > 20


def negative(said: str) -> str:
    return f"({said})" if said.startswith("-") else said


def test_a_sentence_does_not_tell_what_a_line_leaves_out(alex: doc.Document) -> None:
    for seed in range(4):
        sheet = with_blanks(alex, PRODUCTS, seed)
        scores = next(s for s in sheet.sections if s.title == "Head 1 · Attention scores")
        frank = next(line for line in found(scores.blocks, doc.Line) if line.label == "Frank")
        claim = scores.blocks[-1]
        assert isinstance(claim, doc.Paragraph)
        assert (len(blanks(frank)) > 2) == (len(blanks(claim)) > 1)


def test_a_line_does_not_show_what_it_only_carries_on(science: doc.Document) -> None:
    """Where 1.4 is left out of 1.4×1 + 0 = 1.4 + 0, it is in both places, in every line."""
    for seed in range(4):
        for line in found(with_blanks(science, RESULTS, seed), doc.Line):
            put_in, *others = (side for side in line.chain.sides if any(found(side, Number)))
            left_out = {blank.answer.value for blank in found(put_in, Blank)}
            on_the_way = {n.value for n in found(visible(*others), Number) if n.entry is None}
            assert not on_the_way & left_out - {n.value for n in found(visible(put_in), Number)}


def visible(*sides: Expression) -> object:
    return rewritten(sides, Blank, lambda _: None)


def test_a_heat_map_does_not_show_what_is_left_out(alex: doc.Document) -> None:
    sheet = with_blanks(alex, RESULTS, 1)
    softmax = next(s for s in sheet.sections if s.title.startswith("Head 1 · Softmax"))
    weights = next(m for m in found(softmax.blocks, doc.Matrix) if m.figure)
    written = render(doc.Document("", "", (), (doc.Section(None, "", (weights,)),)), Format.LATEX)
    last = next(row for row in written.split("\n") if row.startswith(r"\textbf{Alex}"))
    assert blanks(weights)
    for cell, number in zip(last.split(" & ")[1:], weights.cells[-1], strict=True):
        assert isinstance(number, Number) or "cellcolor" not in cell


# --- many ----------------------------------------------------------------------------------------

MANY = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def random_sheet(scenario: Scenario, level: int, seed: int) -> tuple[doc.Document, doc.Document]:
    plain = told(traced_or_rejected(scenario))
    try:
        return plain, with_blanks(plain, level, seed)
    except TracerError:
        reject()


@MANY
@given(
    scenario=scenarios(
        names=words() | odd_tokens(), epsilons=("0.1",), max_layers=1, max_tokens=3, all_digits=True
    ),
    level=st.sampled_from(LEVELS),
    seed=st.integers(0, 9),
    form=st.sampled_from(sorted(TEXTS)),
)
def test_random_scenarios(scenario: Scenario, level: int, seed: int, form: str) -> None:
    plain, sheet = random_sheet(scenario, level, seed)
    fit(plain, sheet, [form])
    hidden(sheet)
    in_order(sheet)


@settings(MANY, max_examples=4)
@given(
    scenario=scenarios(names=words(), epsilons=("0.1",), max_layers=1, max_tokens=3),
    level=st.sampled_from([RESULTS, PRODUCTS]),
    seed=st.integers(0, 9),
)
def test_a_student_works_out_random_scenarios(scenario: Scenario, level: int, seed: int) -> None:
    solvable(random_sheet(scenario, level, seed)[1])


# --- exercises -----------------------------------------------------------------------------------


def exercises(of: Trace, level: int, seed: int, pages: int = 6) -> Worksheet:
    teacher = Teacher(of, full=False)
    return worksheet(teacher, teacher.steps, level=level, seed=seed, pages=pages)


def without_questions(sheet: doc.Document) -> doc.Document:
    """Their answers are nowhere on paper."""
    sections = [
        replace(s, blocks=tuple(b for b in s.blocks if not isinstance(b, doc.Question)))
        for s in sheet.sections
    ]
    return replace(sheet, sections=tuple(sections))


def has_what_it_needs(made: Worksheet, level: int) -> None:
    """The key fills the sheet, and a student who has nothing else comes to the key."""
    sheet = without_questions(made.sheet)
    hidden(sheet)
    key = render(made.key, Format.MARKDOWN)
    if level <= PRODUCTS:
        in_order(sheet)
        assert worked_out(render(sheet, Format.MARKDOWN)) == answers(key)
    assert set(blanks(sheet)) == answers(key).keys()


@pytest.mark.parametrize("name", ["alex", "science", "pizza"])
def test_exercises_have_what_they_need(name: str) -> None:
    for level in range(RESULTS, GOALS + 1):
        has_what_it_needs(exercises(bundled(name), level, seed=level), level)


@MANY
@given(
    scenario=scenarios(names=words(), epsilons=("0.1",), max_layers=2, max_tokens=3),
    level=st.integers(RESULTS, GOALS),
    seed=st.integers(0, 9),
)
def test_random_exercises_have_what_they_need(scenario: Scenario, level: int, seed: int) -> None:
    of = traced_or_rejected(scenario)
    try:
        made = exercises(of, level, seed)
    except TracerError:
        reject()
    has_what_it_needs(made, level)


def test_each_row_that_lines_read_is_shown_once(alex: doc.Document) -> None:
    sheet = exercises(bundled("alex"), RESULTS, 1).sheet
    rows = [
        (number.entry.value.address, number.entry.at)
        for section in sheet.sections
        for matrix in found(section.blocks, doc.Matrix)
        for row in matrix.cells
        for cell in row
        for number in [cell.answer if isinstance(cell, Blank) else cell]
        if number.entry
    ]
    assert len(rows) == len(set(rows)) > 50


def test_at_level_4_the_rows_of_all_tokens_are_shown() -> None:
    of = bundled("alex")
    for matrix in found(exercises(of, MATRIX, 1).sheet.sections, doc.Matrix):
        (cell, *_) = matrix.cells[0]
        number = cell.answer if isinstance(cell, Blank) else cell
        assert number.entry
        assert not number.entry.value.per_token or len(matrix.rows) == len(of.tokens)


def test_at_level_5_no_line_is_shown_and_at_6_no_formula() -> None:
    for level in (LINES, GOALS):
        sheet, key = vars(exercises(bundled("alex"), level, 1)).values()
        worked = [line for line in found(sheet.sections[0].blocks, doc.Line) if line.label]
        assert worked == []
        assert any(found(sheet, doc.Formula)) == (level == LINES)
        assert any(line.label for line in found(key.sections[0].blocks, doc.Line))


def test_every_exercise_has_a_blank() -> None:
    for seed in range(4):
        for section in exercises(bundled("alex"), RESULTS, seed).sheet.sections:
            assert blanks(section) or section.title == WHAT_IF


@pytest.mark.parametrize("carry", Carry)
def test_every_carry_mode_has_something_to_work_out(carry: Carry) -> None:
    plain = told(bundled("science", carry))
    for level in LEVELS:
        sheet = with_blanks(plain, level, 1)
        assert len(set(blanks(sheet))) > 8
        fit(plain, sheet, ["markdown"])


def test_a_text_without_lines_is_told() -> None:
    yaml = "tokens: [a]\nembeddings: {a: [1, 2]}\n"
    traced(yaml)
    ran = run("tutorial", "-", "--blanks", stdin=yaml)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "--blanks: nothing to leave out: no worked line here has a result\n"


def test_the_page_begins_with_what_it_is() -> None:
    page = printed("tutorial", "science", "--blanks", "--level", "2", "--seed", "3")
    assert page.startswith("# What follows")
    assert "Fill in the missing numbers" in page[:200]
    assert "Level 2, seed 3." in page
