"""How the axes of each operation's result are labelled."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tracer.decoder.axes import Axis, numbered
from tracer.decoder.elementwise import (
    Activate,
    Add,
    Cos,
    Divide,
    Elementwise,
    Exp,
    Mask,
    Multiply,
    Normalize,
    Outer,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
)
from tracer.decoder.operations import (
    Append,
    ArgMax,
    Concat,
    Copy,
    Cumulate,
    DivTerm,
    Dot,
    Forward,
    Given,
    Interleave,
    Join,
    Largest,
    MatMul,
    Mean,
    MeanOf,
    Operation,
    Pick,
    Pinned,
    Reused,
    Rotate,
    Select,
    Total,
)
from tracer.decoder.training_operations import OfTraining

TOKEN, KEY = Axis("token", ("i", "like")), Axis("key", ("i", "like"))
FEATURE, QUERY = Axis("feature", ("spicy", "cheap", "cozy")), Axis("query", ("q₁", "q₂"))
WORD = Axis("word", ("x", "y", "z"))

AXES: list[tuple[Any, list[Any], Any]] = [
    (Add(), [(TOKEN, FEATURE), (TOKEN, FEATURE)], (TOKEN, FEATURE)),
    (Mask(), [(TOKEN, KEY), (TOKEN, KEY)], (TOKEN, KEY)),
    (Subtract(), [(TOKEN, FEATURE), (TOKEN,)], (TOKEN, FEATURE)),
    (MatMul(), [(TOKEN, FEATURE), (FEATURE, QUERY)], (TOKEN, QUERY)),
    (MatMul(), [(TOKEN, FEATURE), (FEATURE, QUERY), (QUERY,)], (TOKEN, QUERY)),
    (Dot(), [(TOKEN, QUERY), (TOKEN, QUERY)], (TOKEN, KEY)),
    (SquareRoot(), [()], ()),
    (SquareRoot(), [(TOKEN,)], (TOKEN,)),
    (Divide(), [(TOKEN, KEY), ()], (TOKEN, KEY)),
    (Share(), [(TOKEN, KEY), (TOKEN,)], (TOKEN, KEY)),
    (Exp(), [(TOKEN, KEY)], (TOKEN, KEY)),
    (Square(), [(TOKEN, FEATURE)], (TOKEN, FEATURE)),
    (Activate("relu"), [(TOKEN, QUERY)], (TOKEN, QUERY)),
    (Multiply(), [(TOKEN, QUERY)] * 2, (TOKEN, QUERY)),
    (Rotate("halves"), [(TOKEN, QUERY), (TOKEN, FEATURE), (TOKEN, FEATURE)], (TOKEN, QUERY)),
    (Largest(), [(TOKEN, KEY)], (TOKEN,)),
    (Total(), [(TOKEN, KEY)], (TOKEN,)),
    (Mean(), [(TOKEN, FEATURE)], (TOKEN,)),
    (MeanOf((0,)), [(TOKEN,)], ()),
    (Normalize(gain=True), [(TOKEN, FEATURE), (TOKEN,), (FEATURE,)], (TOKEN, FEATURE)),
    (Surprise((0, None), ("x", "—")), [(TOKEN, WORD)], (Axis("target", ("x", "—")),)),
    (Cumulate(), [(TOKEN, WORD)], (TOKEN, WORD)),
    (ArgMax(WORD.labels), [(TOKEN, WORD), (TOKEN, WORD)], (TOKEN,)),
    (Pick(WORD.labels), [(TOKEN, WORD), ()], (TOKEN,)),
    (
        Concat(),
        [(TOKEN, FEATURE), (TOKEN, QUERY)],
        (TOKEN, Axis("concat", ("spicy", "cheap", "cozy", "q₁", "q₂"))),
    ),
    (
        Append(),
        [(TOKEN, QUERY), (Axis("token", ("pizza",)), QUERY)],
        (Axis("token", ("i", "like", "pizza")), QUERY),
    ),
    (
        Join(),
        [(Axis("target", ("x",)),), (Axis("target", ("y", "—")),)],
        (Axis("target", ("x", "y", "—")),),
    ),
    (
        Select((2, 0)),
        [(TOKEN, WORD)],
        (Axis("token", ("like",)), Axis("word", ("z", "x"))),
    ),
    (Copy(), [(TOKEN, FEATURE)], (TOKEN, FEATURE)),
    (Reused(), [(TOKEN, QUERY)], (TOKEN, QUERY)),
    (DivTerm(3), [], (Axis("pair", ("ω₀", "ω₁")),)),
    (Outer(), [(TOKEN,), (QUERY,)], (TOKEN, QUERY)),
    (Sin(), [(TOKEN, QUERY)], (TOKEN, QUERY)),
    (Cos(), [(TOKEN, QUERY)], (TOKEN, QUERY)),
    (Interleave(FEATURE.labels), [(TOKEN, QUERY)] * 2, (TOKEN, FEATURE)),
]


@pytest.mark.parametrize(
    ("operation", "inputs", "expected"), AXES, ids=[type(case[0]).__name__ for case in AXES]
)
def test_axes(operation: Any, inputs: list[Any], expected: Any) -> None:
    assert operation.axes(*inputs) == expected


def test_each_operation_is_tried() -> None:
    tried = {type(case[0]) for case in AXES if not isinstance(case[0], Elementwise)}
    assert tried == set(get_args(Forward)) - {Elementwise, Mask}
    others = set(get_args(Operation)) - {*get_args(Forward), *get_args(OfTraining)}
    assert others == {Given, Pinned}


@pytest.mark.parametrize(
    ("layout", "pairs"),
    [
        ("pairs", [(0, 0, 1), (0, 0, 1), (1, 2, 3), (1, 2, 3)]),
        ("halves", [(0, 0, 2), (1, 1, 3), (0, 0, 2), (1, 1, 3)]),
    ],
)
def test_the_pairs_of_columns_that_are_turned(layout: Any, pairs: list[Any]) -> None:
    assert [Rotate(layout).pair_of(column, 4) for column in range(4)] == pairs


def test_numbered() -> None:
    assert numbered("h", 1, 3) == ("h₁", "h₂", "h₃")
    assert numbered("d", 9, 3) == ("d₉", "d₁₀", "d₁₁")
    assert numbered("d", 0, 0) == ()
