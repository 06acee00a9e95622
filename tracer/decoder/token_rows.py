"""One token's rows of a pass: where they come from, as far as the operations are linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axes
from tracer.decoder.forward import Trace
from tracer.decoder.part import all_norms, parts
from tracer.decoder.roles import Derivation, Role, derived
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import ENCODER_TOKEN, Value, has_token_rows
from tracer.scenario.model import Tower

HEAD_OUTPUTS = (roles.HEAD_OUTPUT, *(role for part in parts() for role in part.head_outputs))
ENDS = (*HEAD_OUTPUTS, *roles.HIDDEN_LAYERS)
"""Where an attribution ends, although the operation may be linear."""

LINEAR = (
    *(op.Copy, op.MatMul, op.Concat, op.MixExperts, op.Rotate),
    *(el.Add, el.Scale, el.Normalize, el.Subtract),
)
"""The operations that are linear if the divisors of norms are held."""


@dataclass(frozen=True)
class OneToken:
    """Records an attribution for one token, counted from 0 in the tower of each value."""

    tape: Tape
    found: Trace
    token: int

    def record(
        self, of: Value, role: Role, operation: op.Recorded, axes: Axes, *inputs: Value
    ) -> Value:
        """Record a result at the place of a value."""
        with self.tape.within(replace(of.place, phase="attribution")):
            return self.tape.record_as(role, operation, axes, *inputs)

    def derive(
        self, of: Value, derivation: Derivation, operation: op.Recorded, axes: Axes, *inputs: Value
    ) -> Value:
        """The same for a result that is derived from the value."""
        return self.record(of, derived(of.role, derivation), operation, axes, *inputs)

    def tower(self, value: Value) -> Tower:
        """The decoder, or the encoder for a value with a row for each of its tokens."""
        scenario = self.found.scenario
        in_encoder = bool(value.axes) and value.axes[0].name == ENCODER_TOKEN
        return scenario.encoder if in_encoder and scenario.encoder else scenario

    def producer(self, value: Value) -> Record:
        """The record that the token's row of a value comes from."""
        record = self.found.producers[value]
        return record.of_row(self.row_of(value)) if has_token_rows(value) else record

    def row_of(self, value: Value) -> int:
        """The row of the token in a value."""
        return value.row(self.token, len(self.tower(value).tokens))

    def experts(self, mixture: Record) -> list[tuple[int, Value]]:
        """The experts that the token goes to, counted from 0, and their outputs."""
        assert isinstance(mixture.operation, op.MixExperts)
        each = zip(mixture.operation.rows, mixture.inputs[1:], strict=True)
        return [(expert, y) for expert, (own, y) in enumerate(each) if self.token in own]

    def is_end(self, record: Record) -> bool:
        """Whether an attribution goes no further than the value of a record."""
        if isinstance(record.operation, el.Subtract) and not self.is_centered(record):
            return True
        return record.output.role in ENDS or not isinstance(record.operation, LINEAR)

    def is_centered(self, deviation: Record) -> bool:
        """Whether d is x minus the mean of x, not minus a given number."""
        x, mean = deviation.inputs
        computed = self.found.producers[mean]
        return isinstance(computed.operation, op.Mean) and computed.inputs[0] is x


def starts(adjacent: Sequence[Value]) -> Iterator[tuple[int, Value]]:
    """Yield each of the values that are side by side, with its first column."""
    start = 0
    for value in adjacent:
        yield start, value
        start += value.shape[1]


def label(value: Value) -> str:
    """`layer 2, head 1`, `layer 2, cross, head 1`, `embedding`: what a part belongs to."""
    place, role = value.place, value.role
    words = [f"layer {place.layer}"] if place.layer else []
    if place.tower_norm:
        words.append(place.tower_norm.replace("_", " "))
    if place.sub_layer == "ffn":
        words.append("FFN")
    elif place.sub_layer == "cross_attention":
        words.append("cross")
    elif place.sub_layer and role not in (*HEAD_OUTPUTS, roles.B_O):
        words.append(place.sub_layer)
    if place.head:
        words.append(f"head {place.head}")
    if place.network:
        words.append(place.network.name)
    if role not in (*ENDS, roles.ATTENTION_OUTPUT):
        words.append(_NAMES.get(role, role.name))
    return ", ".join(words)


_NAMES = {
    roles.SCALED_EMBEDDING: "embedding",
    roles.POSITION: "positions",
    roles.B_2: "b₂",
    roles.B_U: "b_U",
    **{norm.shift: "β" for norm in all_norms()},
    roles.NORM_AFTER.shift: "β of the norm after it",
    **{role: words for part in parts() for role, words in part.labels.items()},
}
"""How parts are labeled, where it is not the name of the role."""
