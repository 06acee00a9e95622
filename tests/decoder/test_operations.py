"""How the axes of each operation's result are labeled."""

from __future__ import annotations

from typing import Any

import pytest

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.axes import Axis, numbered

TOKEN, KEY = Axis("token", ("i", "like")), Axis("key", ("i", "like"))
FEATURE, QUERY = Axis("feature", ("spicy", "cheap", "cozy")), Axis("query", ("q₁", "q₂"))
WORD = Axis("word", ("x", "y", "z"))

AXES: list[tuple[Any, list[Any], Any]] = [
    (el.Add(), [(TOKEN, FEATURE), (TOKEN, FEATURE)], (TOKEN, FEATURE)),
    (el.Subtract(), [(TOKEN, FEATURE), (TOKEN,)], (TOKEN, FEATURE)),
    (el.SquareRoot(), [()], ()),
    (
        el.NegativeLogLikelihood((0, None), ("x", "—")),
        [(TOKEN, WORD)],
        (Axis("target", ("x", "—")),),
    ),
    (el.Outer(), [(TOKEN,), (QUERY,)], (TOKEN, QUERY)),
    (op.MatMul(), [(TOKEN, FEATURE), (FEATURE, QUERY), (QUERY,)], (TOKEN, QUERY)),
    (op.Dot(), [(TOKEN, QUERY), (TOKEN, QUERY)], (TOKEN, KEY)),
    (op.Total(), [(TOKEN, KEY)], (TOKEN,)),
    (op.MeanOf((0,)), [(TOKEN,)], ()),
    (op.Rotate("halves"), [(TOKEN, QUERY), (TOKEN, FEATURE), (TOKEN, FEATURE)], (TOKEN, QUERY)),
    (op.Largest(), [(TOKEN, KEY)], (TOKEN,)),
    (op.LargestSoFar(), [(TOKEN, KEY), (TOKEN,)], (TOKEN,)),
    (op.Cumulate(), [(TOKEN, WORD)], (TOKEN, WORD)),
    (op.ArgMax(WORD.labels), [(TOKEN, WORD), (TOKEN, WORD)], (TOKEN,)),
    (op.Pick(WORD.labels), [(TOKEN, WORD), ()], (TOKEN,)),
    (op.MixExperts(((0, 1),)), [(TOKEN, WORD), (TOKEN, FEATURE)], (TOKEN, FEATURE)),
    (op.DivTerm(3), [], (Axis("pair", ("ω₀", "ω₁")),)),
    (op.PowerOfTwo(-8, 4), [], ()),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), AXES, ids=[type(case[0]).__name__ for case in AXES]
)
def test_axes(operation: Any, inputs: list[Any], expected: Any) -> None:
    assert operation.axes(*inputs) == expected


@pytest.mark.parametrize(
    ("layout", "pairs"),
    [
        ("pairs", [(0, 0, 1), (0, 0, 1), (1, 2, 3), (1, 2, 3)]),
        ("halves", [(0, 0, 2), (1, 1, 3), (0, 0, 2), (1, 1, 3)]),
    ],
)
def test_the_pairs_of_columns_that_are_turned(layout: Any, pairs: list[Any]) -> None:
    assert [op.Rotate(layout).pair_of(column, 4) for column in range(4)] == pairs


def test_numbered() -> None:
    assert numbered("h", 1, 3) == ("h₁", "h₂", "h₃")
    assert numbered("d", 9, 3) == ("d₉", "d₁₀", "d₁₁")
    assert numbered("d", 0, 0) == ()
