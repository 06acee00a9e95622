"""Worked lines: the result stands last, in one column."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tracer.formula import expression as ex
from tracer.lesson.document import Line, Working
from tracer.renderers.rows import cells
from tracer.renderers.working import working_rows


def n(number: str) -> ex.Number:
    return ex.Number(Decimal(number))


EQUAL: ex.Relation = "="


def line(label: str, *sides: ex.Expression) -> Line:
    return Line(label, ex.Chain(sides, tuple(EQUAL for _ in sides[1:])))


def shown(*lines: Line, width: int = 60) -> list[str]:
    return [row.plain for row in working_rows(Working(lines), width, colored=False)]


SHORT = line("a", ex.Sum((n("1"), n("2"))), n("3"))
LONG = line("bb", ex.Sum((n("10.25"), n("0.5"))), n("10.75"))
TERMS = ex.Sum(tuple(ex.Product((n("0.125"), n(str(i)))) for i in range(1, 6)))


def test_results_stand_below_each_other_by_their_points() -> None:
    assert shown(SHORT, LONG) == [
        "    a:  1 + 2        =  3",
        "    bb: 10.25 + 0.5  = 10.75",
    ]


def test_a_line_alone_needs_no_column() -> None:
    assert shown(LONG) == ["    bb: 10.25 + 0.5 = 10.75"]


def test_the_result_stands_at_the_end_of_the_last_row() -> None:
    both = (line("xx", TERMS, ex.Sum((n("0.125"), n("1.75"))), n("1.875")), SHORT)
    assert shown(*both, width=44) == [
        "    xx: 0.125×1 + 0.125×2 + 0.125×3",
        "          + 0.125×4 + 0.125×5",
        "        = 0.125 + 1.75      = 1.875",
        "    a:  1 + 2               = 3",
    ]


@pytest.mark.parametrize("width", range(40, 100))
def test_the_column_is_one_and_no_row_too_wide(width: int) -> None:
    lines = (line("x", TERMS, ex.Sum((n("0.125"), n("1.75"))), n("1.875")), SHORT, LONG)
    rows = shown(*lines, width=width)
    assert max(map(cells, rows)) <= width
    ends = [row for row in rows if row.endswith(("1.875", " 3", "10.75"))]
    assert len(ends) == 3
    assert len({row.rindex("=") for row in ends}) == 1


def test_without_room_the_result_has_a_row_of_its_own_in_the_column() -> None:
    wide = line("label", ex.Product((n("0.12345678901234"), n("0.5"))), n("0.06172839450617"))
    rows = shown(wide, SHORT, width=40)
    assert [row.strip() for row in rows[:2]] == [
        "label: 0.12345678901234×0.5",
        "= 0.06172839450617",
    ]
    assert rows[1].rindex("=") == rows[2].rindex("=")
