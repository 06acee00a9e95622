"""A model of 64 × 64 with random weights: its pass on the tape, and the same with the way back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from tracer.decoder.forward import PassOptions, trace
from tracer.scenario.carry import Carry
from tracer.scenario.layers import Attention, Head, Layer
from tracer.scenario.model import Scenario, Unembedding
from tracer.scenario.networks import FFN
from tracer.scenario.norms import Norm
from tracer.scenario.rounding import Rounding

TOKENS, WIDTH, LAYERS, HEADS, WORDS = 64, 64, 2, 4, 64
SEED, LARGEST_WEIGHT = 19860910, 0.2


def scenario() -> Scenario:
    """The same weights each time; the tokens are the words, each with the next one to guess."""
    rng = np.random.default_rng(SEED)

    def weights(*shape: int) -> Any:
        return rng.uniform(-LARGEST_WEIGHT, LARGEST_WEIGHT, shape)

    def norm() -> Norm:
        return Norm.model_construct(
            epsilon=Decimal("0.00001"), gain=1 + weights(WIDTH), shift=weights(WIDTH)
        )

    def head() -> Head:
        columns = WIDTH // HEADS
        matrices = {f"W_{letter}": weights(WIDTH, columns) for letter in "QKV"}
        return Head.model_construct(**matrices, **{f"b_{kind}": weights(columns) for kind in "QKV"})

    def layer() -> Layer:
        attention = Attention.model_construct(
            heads=tuple(head() for _ in range(HEADS)),
            W_O=weights(WIDTH, WIDTH),
            b_O=weights(WIDTH),
            norm=norm(),
        )
        ffn = FFN.model_construct(
            W_1=weights(WIDTH, 4 * WIDTH),
            b_1=weights(4 * WIDTH),
            W_2=weights(4 * WIDTH, WIDTH),
            b_2=weights(WIDTH),
            norm=norm(),
        )
        return Layer.model_construct(attention=attention, ffn=ffn)

    words = tuple(map(str, range(WORDS)))
    return Scenario.model_construct(
        title="random weights",
        tokens=words[:TOKENS],
        embeddings=weights(TOKENS, WIDTH),
        layers=tuple(layer() for _ in range(LAYERS)),
        vocabulary=words,
        unembedding=Unembedding.model_construct(W_U=weights(WIDTH, WORDS)),
        rounding=Rounding(carry=Carry.NEVER),
        arithmetic="float64",
    )


def passes() -> tuple[Callable[[], object], Callable[[], object]]:
    """The pass up to the loss; and the same with the way back."""
    model = scenario()
    return (
        lambda: trace("random", model, PassOptions(loss=True)),
        lambda: trace("random", model, PassOptions(gradients=True)),
    )
