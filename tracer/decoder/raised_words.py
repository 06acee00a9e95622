"""Which words a vector raises: what it adds to each logit (nostalgebraist 2020, Dar et al. 2022).

A vector v that is added to the stream of a token, the vectors that the final norm reads, adds
v γ / σ W_U to the logits, if the norm's divisor σ is held as computed. LayerNorm also subtracts the
mean of v. A vector that passes through another norm, or an activation, on its way is not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axis
from tracer.decoder.comparison import Floats
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.lazy import LazyTensor
from tracer.decoder.sub_layers import normalized
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Value


@dataclass(frozen=True)
class RaisedWords:
    """Reads vectors of a pass with a final norm, or without one, as words."""

    found: Trace

    @cached_property
    def norm(self) -> Record | None:
        """The record of the final norm, if there is one."""
        record = self.found.producers[self.found[roles.OUTPUT.name]]
        while isinstance(record.operation, op.Copy):
            record = self.found.producers[record.inputs[0]]
        return record if isinstance(record.operation, el.Normalize) else None

    @cached_property
    def stream(self) -> Value:
        """The vectors that the final norm reads."""
        if self.norm is None:
            return self.found[roles.OUTPUT.name]
        read = self.norm.inputs[0]
        return self.found.producers[read].inputs[0] if self.centers else read

    @property
    def centers(self) -> bool:
        """Whether the final norm subtracts the mean."""
        if self.norm is None:
            return False
        read = self.found.producers[self.norm.inputs[0]]
        return isinstance(read.operation, el.Subtract)

    def is_added(self, value: Value) -> bool:
        """Return whether a value is added, as it is, to the stream, which W_U reads."""
        is_read = self.product[0].inputs[0] is self.found[roles.OUTPUT.name]
        waiting = [self.stream] if is_read else []
        while waiting:
            record = self.found.producers[waiting.pop()]
            if record.output is value:
                return True
            if isinstance(record.operation, el.Add | op.Copy):
                waiting += record.inputs
        return False

    def of(self, token: int, vectors: Floats) -> Floats:
        """What vectors (k, d_model), added to a token's stream, add to each logit: (k, words)."""
        if self.norm:
            _, divisor, *parameters = self.norm.inputs
            operation = self.norm.operation
            assert isinstance(operation, el.Normalize)
            if self.centers:
                vectors = vectors - vectors.mean(axis=1, keepdims=True)
            vectors = vectors / divisor.array[divisor.row(token, len(self.found.tokens))]
            if operation.gain:
                vectors = vectors * (parameters[0].array + operation.unit_offset)
        product, divides = self.product
        return np.asarray(vectors @ matrix(product.inputs[1]) / divides)

    @cached_property
    def product(self) -> tuple[Record, float]:
        """The record of the product with W_U, and what the logits are divided by behind it."""
        record, divisors = self.found.producers[self.found[roles.LOGITS.name]], [1.0]
        while not isinstance(record.operation, op.MatMul):  # before a division and a soft cap
            if isinstance(record.operation, el.DivideBy):
                divisors.append(float(record.operation.divisor))
            record = self.found.producers[record.inputs[0]]
        return record, float(np.prod(divisors))


def matrix(value: Value) -> Any:
    """Return a matrix as an operand of @; one of a file need not be in memory as a whole."""
    return value.stored if isinstance(value, LazyTensor) else value.array


def values_of(found: Trace, value: Value, vectors: Floats) -> Floats | None:
    """What a head of the decoder computes as its value of vectors of the stream: (k, d_v).

    None unless its values are a product of W_V and the stream, normalized or not.
    """
    record, place = found.producers[value], value.place
    attention = found.scenario.layers[(place.layer or 1) - 1].attention
    if not isinstance(record.operation, op.MatMul) or attention is None:
        return None
    norm = found.scenario.layers[(place.layer or 1) - 1].norm_of(attention)
    read = vectors
    if norm and norm.placement == "pre":
        tape = Tape(arithmetic_of(found.scenario), found.pencil)
        rows = Axis("row", tuple(map(str, range(len(vectors)))))
        with tape.computing(), tape.at(layer=place.layer, sub_layer="lens"):
            x = tape.given(roles.OUTPUT, vectors, (rows, record.inputs[0].axes[1]))
            read = normalized(tape, x, norm).array
    _, w_v, *biases = record.inputs
    computed = np.asarray(read @ matrix(w_v))
    return computed + biases[0].array if biases else computed
