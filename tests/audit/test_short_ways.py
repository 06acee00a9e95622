"""What is decided in a short way is decided as it is at length."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import pytest

from tracer.audit.judging import agreement, plain
from tracer.audit.judging.evaluation import USUAL, evaluate, face
from tracer.audit.judging.findings import audit
from tracer.audit.judging.intervals import CONTEXT, point
from tracer.audit.judging.judgement import agree_at_face, judge
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import equations
from tracer.audit.reading.passages import passages
from tracer.audit.reading.texts import Markup, Text

PRINTED = ("2", "3", "10", "46", "600", "1200", "0.5", "0.67", "1.25", "2.50", "46.0", "0", "1e3")


def drawn(random_: random.Random, depth: int) -> ex.Expression:
    """Return an expression of numbers, sums, products and powers."""

    def part() -> ex.Expression:
        return drawn(random_, depth - 1)

    printed = random_.choice(PRINTED)
    number = ex.Number(Decimal(printed), printed, 0, len(printed))
    kinds = (
        lambda: number,
        lambda: ex.Negative(part()),
        lambda: ex.Sum((part(), part())),
        lambda: ex.Product((("*", part()), (random_.choice("*/"), part()))),
        lambda: ex.Power(part(), ex.Number(Decimal(2), "2", 0, 1)),
    )
    return random_.choice(kinds)() if depth else number


@pytest.mark.parametrize("seed", range(100))
def test_sides_that_are_apart_agree_in_no_reading(seed: int) -> None:
    random_ = random.Random(seed)
    with localcontext(CONTEXT):
        for _ in range(20):
            left, right = drawn(random_, 2), drawn(random_, random_.choice((0, 1, 2)))
            found = judge(left, right)
            agrees = found is not None and found.verdict.at_face
            assert agree_at_face(left, right) == agrees, (left, right)


def test_what_rounding_explains_is_not_apart() -> None:
    near, far = (ex.Number(Decimal(digits), digits, 0, 4) for digits in ("0.67", "0.69"))
    two, three = (ex.Number(Decimal(digits), digits, 0, 1) for digits in "23")
    quotient = ex.Product((("*", two), ("/", three)))
    with localcontext(CONTEXT):
        assert not agreement.are_apart(quotient, near)
        assert agreement.are_apart(quotient, far)
        assert agreement.are_apart(far, quotient)


@pytest.mark.parametrize("seed", range(100))
def test_plain_arithmetic_has_the_value_of_its_interval(seed: int) -> None:
    random_ = random.Random(seed)
    with localcontext(CONTEXT):
        for _ in range(10):
            expression = drawn(random_, 3)
            try:
                expected = evaluate(expression, face, USUAL)
            except ArithmeticError:
                expected = None
            value = plain.value(expression)
            assert value is None or point(value) == expected, expression


def test_a_repeated_equation_is_reported_at_each_of_its_places() -> None:
    found = audit(Text("text", "6 × 2 = 13\n\nso 6 × 2 = 13\n", Markup.MARKDOWN)).findings
    assert [finding.place[2:6] for finding in found] == [(1, 1, 1, 11), (3, 4, 3, 14)]


def test_equal_numbers_may_have_different_places() -> None:
    text = Text("text", "1 + 2 = 3, 1 + 2 = 4", Markup.MARKDOWN)
    [one, other] = [each for passage in passages(text) for each in equations(passage).equations]
    assert one.sides[0].expression == other.sides[0].expression
    assert one.sides[1].expression != other.sides[1].expression


def test_an_expression_is_copied_only_if_a_part_of_it_changes() -> None:
    one, two = (ex.Number(Decimal(digit), digit, 0, 1) for digit in "12")
    whole = ex.Sum((ex.Product((("*", one), ("/", two))), ex.Power(one, one)))
    assert ex.mapped(whole, lambda part: part) is whole
    changed = ex.mapped(whole, lambda part: one if part is two else part)
    assert isinstance(changed, ex.Sum)
    assert changed.terms[0] == ex.Product((("*", one), ("/", one)))
    assert changed.terms[1] is whole.terms[1]
