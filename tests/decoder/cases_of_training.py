"""Operations of training with small operands, and results worked by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from tests.helpers.traces import array
from tracer.decoder import elementwise as el, operations as op
from tracer.formula.arithmetic import Array

CASES: list[tuple[Any, list[Array], Array]] = [
    (  # less 1 for the right word, over the two that count; nothing where there is none
        el.SoftmaxCrossEntropyGrad((1, None, 0), 2),
        [array(["0.75", "0.25"], ["0.5", "0.5"], ["1", "0"])],
        array(["0.375", "-0.375"], ["0", "0"], ["0", "0"]),
    ),
    (el.SquaredErrorGrad(4), [array(["1", "-2"])], array(["0.5", "-1"])),
    (el.SquaredErrorGrad(1), [array(["1", "-2"])], array(["2", "-4"])),
    (
        el.BinaryCrossEntropyGrad(2),
        [array(["0.75", "0.25"]), array(["1", "0"])],
        array(["-0.125", "0.125"]),
    ),
    (
        el.TimesRow(),
        [array(["1", "2"], ["3", "4"]), array("10", "-0.5")],
        array(["10", "-1"], ["30", "-2"]),
    ),
    (el.RootSlope(), [array("1", "3"), array("0.5", "-2")], array("1", "-0.75")),
    (el.RootSlope(Decimal("0.1")), [array("1"), array("0.6")], array("1")),
    (el.AdaptGrad(Decimal(3), 2), [array(["1", "-2"])], array(["1.5", "-3"])),
    (el.TwiceProduct(), [array(["1", "-2"]), array(["0.5", "3"])], array(["1", "-12"])),
    (el.Slope("relu"), [array(["-1.5", "0", "3"])], array(["0", "0", "1"])),
    (  # Φ(1) + φ(1), φ(1) = e^(-½)/√(2π) = 0.24197072451914337
        el.Slope("gelu"),
        [array(["0", "1", "-1"])],
        array(["0.5", "1.0833154705876863", "-0.0833154705876863"]),
    ),
    (  # s + x s (1 - s) with s = 0.7310585786300049, s (1 - s) = 0.19661193324148185
        el.Slope("silu"),
        [array(["0", "1", "-1"])],
        array(["0.5", "0.92767051187148675", "0.07232948812851325"]),
    ),
    (el.Slope("gelu_tanh"), [array(["0"])], array(["0.5"])),
    (el.BroadcastDivide(4, 3), [array("2", "-1")], array(["0.5"] * 3, ["-0.25"] * 3)),
    (  # a quarter turn back, and half of one: (-2, 1) → (1, 2), (-3, -4) → (3, 4)
        op.RotateBack("pairs"),
        [array(["-2", "1", "-3", "-4"]), array(["0", "-1"]), array(["1", "0"])],
        array(["1", "2", "3", "4"]),
    ),
    (
        op.RotateBack("halves"),
        [array(["-2", "-3", "1", "-4"]), array(["0", "-1"]), array(["1", "0"])],
        array(["1", "3", "2", "4"]),
    ),
    (  # (1, 2) · (5, 6) of the only expert's only token
        op.ExpertDots(((1,), ())),
        [array(["9", "9"], ["1", "2"]), array(["5", "6"]), np.empty((0, 2), object)],
        array(["0", "0"], ["17", "0"]),
    ),
    (
        el.TimesExpertWeight((2, 0), 1),
        [array(["1", "2"], ["9", "9"], ["3", "4"]), array(["0", "10"], ["5", "5"], ["0", "0.5"])],
        array(["1.5", "2"], ["10", "20"]),
    ),
    (
        op.AccumulateGradients(),
        [array(["1", "2"]), array(["0.5", "-2"]), array(["3", "0"])],
        array(["4.5", "0"]),
    ),
    (
        op.ByWord((2, 0, 2), 4),
        [array(["1", "2"], ["3", "4"], ["5", "-2"])],
        array(["3", "4"], ["0", "0"], ["6", "0"], ["0", "0"]),
    ),
    (
        el.Combine(Decimal(1), Decimal("-0.1")),
        [array(["1", "2"]), array(["5", "20"])],
        array(["0.5", "0"]),
    ),
    (el.BiasCorrection(Decimal("0.5"), 2), [array("3", "-6")], array("4", "-8")),
    (el.Ratio(Decimal("0.5")), [array("3", "-1"), array("4", "0")], array("1.2", "-2")),
    (op.SumOfSquares(), [array(["1", "-2"], ["0.5", "0"])], np.array(Decimal("5.25"))),
]
