"""Relative biases: a learned number for the distance of two tokens is added to their score.

Raffel et al. 2020, section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from tracer.decoder import roles
from tracer.decoder.attention_inputs import OfTower
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import Add, BucketOfDistance
from tracer.decoder.operations import LookUp, Rows
from tracer.decoder.part import HeadContext, Part
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.relative_bias.scenario import Buckets, PositionKeys, RelativeBias
from tracer.scenario.fields import shape_of
from tracer.scenario.model import Scenario, Tower
from tracer.scenario.part import keys_of

FAR = Role("position.far", RoundingRule.WHOLE)
LOGARITHMIC = Role("position.logarithmic", RoundingRule.WORKING)
TABLE = Role("positions.relative_bias.table", parameter=True)
OF_OFFSETS = Role("position.bias")
BIAS = Role("relative_bias", to_weights=True)
BIASED = Role("scores_and_bias", to_weights=True)


def relative_bias(tower: Tower) -> tuple[RelativeBias, Buckets] | None:
    """Return the relative biases of a tower, and its buckets; None if it has none."""
    own = tower.positions and keys_of(tower.positions, PositionKeys).relative_bias
    if not own:
        return None
    both = own.bidirectional
    if both is None:
        both = not isinstance(tower, Scenario) or tower.mask == "none"
    number, _ = shape_of(own.table)
    return own, Buckets(number // 2 if both else number, own.max_distance, both)


@dataclass(frozen=True)
class SharedBiases:
    """What the layers of a tower share: the biases of all offsets (offsets, heads).

    `offsets` are those of key and query, later tokens last. `of_heads` are the biases (n, m) of
    each head by its number, once a layer has looked them up.
    """

    offsets: range
    of_offsets: Value
    of_heads: dict[int, Value] = field(default_factory=dict)

    def row(self, offset: int) -> int:
        """The row of an offset; later tokens have that of the token itself, if not their own."""
        return self.offsets.index(min(offset, self.offsets[-1]))


def shared(tape: Tape, tower: Tower, queries: Axis) -> OfTower:
    """The bucket of each offset, and its bias for each head (offsets, heads); or nothing."""
    found = relative_bias(tower)
    if found is None or not any(layer.attention for layer in tower.layers):
        return {}
    own, buckets = found
    n, m = len(queries.labels), len(tower.tokens)
    far = range(buckets.exact, min(m, buckets.max_distance))
    if far:
        numbers = [Decimal(distance) for distance in far]
        distances = tape.given(FAR, numbers, (Axis("distance", tuple(map(str, far))),))
        by = BucketOfDistance(buckets.exact, buckets.number, buckets.max_distance)
        tape.record(LOGARITHMIC, by, distances)
    offsets = range(1 - m, n if buckets.bidirectional else 1)
    axis = Axis("offset", tuple(map(signed, offsets)))
    rows, columns = shape_of(own.table)
    heads = Axis("head", tuple(f"head {number}" for number in range(1, columns + 1)))
    table_axes = (Axis("bucket", tuple(f"bucket {number}" for number in range(rows))), heads)
    table = tape.given(TABLE, own.table, table_axes)
    look_up = Rows(tuple(map(buckets.of_offset, offsets)))
    of_offsets = tape.record_as(OF_OFFSETS, look_up, (axis, heads), table)
    return {OF_OFFSETS: SharedBiases(offsets, of_offsets)}


def signed(offset: int) -> str:
    """Return an offset as it is printed: −2, 0, +1."""
    return f"{offset:+d}".replace("-", "−") if offset else "0"


def biased(tape: Tape, scores: Value, at: HeadContext) -> Value:
    """S + B: (n, m) → (n, m), where B has the bias of each offset; S without relative biases.

    The first layer looks up the biases of its heads, and all others use them.
    """
    own: SharedBiases | None = at.attention.inputs.of_tower.get(OF_OFFSETS)
    if own is None:
        return scores
    if at.number not in own.of_heads:
        n, m = scores.shape
        look_up = LookUp(tuple(map(own.row, range(1 - m, m))), at.number - 1, n)
        bias = tape.record_as(BIAS, look_up, scores.axes, own.of_offsets)
        own.of_heads[at.number] = bias
    return tape.record(BIASED, Add(), scores, own.of_heads[at.number])


PART = Part(
    roles={
        roles.POSITION: (FAR, LOGARITHMIC, TABLE, OF_OFFSETS),
        roles.SCORES: (BIAS, BIASED),
    },
    tower=shared,
    scores=biased,
)
