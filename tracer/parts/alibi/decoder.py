"""Attention with linear biases (ALiBi, Press et al. 2022): scores fall with the distance."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from tracer.decoder import roles
from tracer.decoder.attention_inputs import OfTower
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import Penalize
from tracer.decoder.operations import PowerOfTwo
from tracer.decoder.part import HeadContext, Part
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.formula.arithmetic import SHAPES
from tracer.parts.alibi.scenario import PositionKeys
from tracer.scenario.model import Tower
from tracer.scenario.part import keys_of

DISTANCE = Role("position.distance", RoundingRule.WHOLE)
SLOPE = Role("slope", RoundingRule.ALL)
BIASED = Role("biased", to_weights=True)


def distances(tape: Tape, tower: Tower, queries: Axis) -> OfTower:
    """|i - j| for the query's position i and the key's position j: (n, m); nothing without ALiBi.

    BLOOM adds slope · j instead of subtracting slope · (i - j). Both give the same weights, since
    they differ by the same number in the whole row.
    """
    has_attention = any(layer.attention for layer in tower.layers)
    positions = tower.positions
    if not (positions and keys_of(positions, PositionKeys).alibi and has_attention):
        return {}
    keys = Axis("key", tower.tokens)
    n, m = len(queries.labels), len(keys.labels)
    if tape.arithmetic is SHAPES:  # without the (n, m) numbers, which may be many
        return {DISTANCE: tape.given(DISTANCE, np.broadcast_to(0.0, (n, m)), (queries, keys))}
    rows = [[Decimal(abs(i - j)) for j in range(m)] for i in range(m - n, m)]
    return {DISTANCE: tape.given(DISTANCE, rows, (queries, keys))}


def penalized(tape: Tape, scores: Value, at: HeadContext) -> Value:
    """S - slope · distance: (n, m) → (n, m); S without distances."""
    distance = at.attention.inputs.of_tower.get(DISTANCE)
    if distance is None:
        return scores
    slope = tape.record(SLOPE, PowerOfTwo(*exponent(at.number, len(at.attention.parameters.heads))))
    return tape.record(BIASED, Penalize(), scores, slope, distance)


def exponent(head: int, heads: int) -> tuple[int, int]:
    """Return the exponent of a head's slope as (over, under): -8 · head / heads.

    With a number of heads that is no power of two, the largest power of two n below it replaces
    it; each head from n + 1 on has a slope from the middle between those of 2n heads.
    """
    n = 1 << (heads.bit_length() - 1)
    return (-8 * head, n) if head <= n else (-8 * (2 * (head - n) - 1), 2 * n)


PART = Part(
    roles={roles.POSITION: (DISTANCE,), roles.SCORES: (SLOPE, BIASED)},
    tower=distances,
    scores=penalized,
)
