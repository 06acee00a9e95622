"""A gradient that is written by hand is the slope of the operation's formula.

A field that is new in the operation, such as a gain of 1 + γ, is tried here without being named.
"""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from tests.decoder.test_roles import tape
from tracer.decoder import elementwise as el, roles
from tracer.decoder.axes import Axis
from tracer.decoder.gradients import _BackwardPass
from tracer.decoder.value import Value

TOKENS, FEATURES = Axis("token", ("a", "b")), Axis("feature", ("x", "y"))
FLAGS = [field.name for field in fields(el.Normalize) if field.type == "bool"]
WAYS = [dict(zip(FLAGS, each, strict=True)) for each in product((False, True), repeat=len(FLAGS))]


@pytest.mark.parametrize("flags", WAYS, ids=str)
def test_a_norm(flags: dict[str, bool]) -> None:
    operation = el.Normalize(**flags)
    on = tape()

    def given(role: roles.Role, numbers: object, *axes: Axis) -> Value:
        return on.given(role, np.vectorize(Decimal)(numbers), axes)

    with on.computing(), on.at(layer=1, sub_layer="ffn"):
        deviation = given(roles.DEVIATION, [["0.5", "-1.25"], ["2", "0.75"]], TOKENS, FEATURES)
        std = given(roles.STD, ["1.5", "0.5"], TOKENS)
        learned = [
            *([given(roles.GAIN, ["2", "-0.5"], FEATURES)] if operation.gain else []),
            *([given(roles.SHIFT, ["1", "3"], FEATURES)] if operation.shift else []),
        ]
        operands = (deviation, std, *learned)
        on.record(roles.NORM, operation, *operands)
        record = on.records[-1]
        g = given(roles.HIDDEN, [["1", "2"], ["-1", "0.5"]], TOKENS, FEATURES)
        back = _BackwardPass(on, {each.output: each for each in on.records}, {deviation, *learned})
        way = dict(back.to_operands(record, g))[deviation]
        found = back.along(deviation, way)
        slope = on.record_as(roles.NORM, el.GradientOf(operation, 0), g.axes, g, *operands)
    assert np.allclose(found.numbers.astype(float), slope.numbers.astype(float), atol=0.01)
