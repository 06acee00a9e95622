"""A layer whose attention and FFN read the same vectors, and to which both are added."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.part import ComputeAttention, Part
from tracer.decoder.sub_layers import added, feed_forward, normalized
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.parallel.scenario import is_parallel
from tracer.scenario.layers import Layer
from tracer.scenario.networks import FFN, SubLayer


def parallel_layer(tape: Tape, x: Value, layer: Layer, attention: ComputeAttention) -> Value | None:
    """x + Attention(n) + FFN(n): x (n, d_model) → (n, d_model); None for other layers.

    n is Norm(x), or x without a norm (GPT-J). An FFN with a norm of its own reads Norm′(x) (Black
    et al. 2022, GPT-NeoX).
    """
    if not is_parallel(layer):
        return None
    assert layer.attention and isinstance(layer.ffn, FFN)
    with tape.at(sub_layer="attention"):
        read = norm_before(tape, x, layer, layer.attention)
        change = norm_after(tape, attention(tape, read, layer.attention), layer, layer.attention)
        with_attention = added(tape, x, change, layer.attention)
    with tape.at(sub_layer="ffn"):
        read = read if layer.shares_norm else norm_before(tape, x, layer, layer.ffn)
        change = norm_after(tape, feed_forward(tape, read, layer.ffn), layer, layer.ffn)
        return added(tape, with_attention, change, layer.ffn)


def norm_before(tape: Tape, x: Value, layer: Layer, part: SubLayer) -> Value:
    """Norm(x), or x without a norm: (n, d_model)."""
    norm = layer.norm_of(part)
    return normalized(tape, x, norm) if norm else x


def norm_after(tape: Tape, change: Value, layer: Layer, part: SubLayer) -> Value:
    """Norm(f), or f without a norm after the sub-layer: (n, d_model)."""
    after = layer.norm_after_of(part)
    return normalized(tape, change, after, roles.NORM_AFTER) if after else change


PART = Part(roles={}, layer=parallel_layer)
