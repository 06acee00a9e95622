"""A forward pass with GPT-2 small's dimensions in plain NumPy, and the same on the tape.

Random weights in float64: what is measured is what keeping a tape costs, not the text. The plain
side does the arithmetic of the tape, operation by operation and head by head, and keeps every
intermediate array as the tape does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.decoder.forward import Trace
from tracer.lesson.texts.selection import select
from tracer.lesson.texts.teacher import Teacher
from tracer.renderers.text import text
from tracer.scenario import (
    layers as scenario_layers,
    model as scenario_model,
    networks as scenario_networks,
    norms as scenario_norms,
)
from tracer.scenario.carry import Carry
from tracer.scenario.model import Scenario
from tracer.scenario.rounding import Rounding

Array: TypeAlias = NDArray[np.float64]

WIDTH, LAYERS, HEADS, HEAD_WIDTH, HIDDEN = 768, 12, 12, 64, 3072
WORDS, POSITIONS = 50_257, 1024
EPSILON = 1e-5
SEED = 20190214
LARGEST_WEIGHT = 0.035


@dataclass(frozen=True)
class Norm:
    """LayerNorm's parameters, each of shape (d,)."""

    gain: Array
    shift: Array


@dataclass(frozen=True)
class Head:
    """W of shape (d, d_k), b of shape (d_k,)."""

    W_Q: Array
    W_K: Array
    W_V: Array
    b_Q: Array
    b_K: Array
    b_V: Array


@dataclass(frozen=True)
class Layer:
    """One pre-norm layer."""

    attention_norm: Norm
    heads: tuple[Head, ...]
    W_O: Array
    b_O: Array
    ffn_norm: Norm
    W_1: Array
    b_1: Array
    W_2: Array
    b_2: Array


@dataclass(frozen=True)
class Model:
    """Embeddings of words and positions, the layers, the projection to the words."""

    embeddings: Array
    positions: Array
    layers: tuple[Layer, ...]
    W_U: Array


def random_model() -> Model:
    """The same weights each time: 163 million numbers, 1.3 GB."""
    rng = np.random.default_rng(SEED)

    def weights(*shape: int) -> Array:
        numbers = rng.random(shape)
        numbers -= 0.5
        numbers *= 2 * LARGEST_WEIGHT
        return numbers

    def norm() -> Norm:
        return Norm(1 + weights(WIDTH), weights(WIDTH))

    def head() -> Head:
        w_q, w_k, w_v = (weights(WIDTH, HEAD_WIDTH) for _ in range(3))
        return Head(w_q, w_k, w_v, *(weights(HEAD_WIDTH) for _ in range(3)))

    def layer() -> Layer:
        return Layer(
            attention_norm=norm(),
            heads=tuple(head() for _ in range(HEADS)),
            W_O=weights(HEADS * HEAD_WIDTH, WIDTH),
            b_O=weights(WIDTH),
            ffn_norm=norm(),
            W_1=weights(WIDTH, HIDDEN),
            b_1=weights(HIDDEN),
            W_2=weights(HIDDEN, WIDTH),
            b_2=weights(WIDTH),
        )

    return Model(
        embeddings=weights(WORDS, WIDTH),
        positions=weights(POSITIONS, WIDTH),
        layers=tuple(layer() for _ in range(LAYERS)),
        W_U=weights(WIDTH, WORDS),
    )


def random_tokens(number: int) -> tuple[int, ...]:
    """Numbers of words."""
    return tuple(np.random.default_rng(SEED).integers(0, WORDS, number).tolist())


def plain(model: Model, tokens: tuple[int, ...]) -> list[Array]:
    """Every array of the forward pass, in the order computed; the last are the probabilities."""
    kept: list[Array] = []

    def keep(array: Array) -> Array:
        kept.append(array)
        return array

    def normalized(x: Array, norm: Norm) -> Array:
        mean = keep(x.sum(axis=1) / x.shape[1])
        deviation = keep(x - mean[:, np.newaxis])
        squared = keep(deviation * deviation)
        variance = keep(squared.sum(axis=1) / x.shape[1])
        std = keep(np.sqrt(variance + EPSILON))
        return keep(deviation / std[:, np.newaxis] * norm.gain + norm.shift)

    def softmax(scores: Array) -> Array:
        exponentials = keep(np.exp(scores))
        total = keep(exponentials.sum(axis=1))
        return keep(exponentials / total[:, np.newaxis])

    n = len(tokens)
    embedding = keep(model.embeddings[list(tokens)])
    position = keep(model.positions[:n])
    x = keep(embedding + position)
    mask = keep(np.triu(np.full((n, n), -np.inf), k=1))
    for layer in model.layers:
        normed = normalized(x, layer.attention_norm)
        outputs = []
        for head in layer.heads:
            q = keep(normed @ head.W_Q + head.b_Q)
            k = keep(normed @ head.W_K + head.b_K)
            v = keep(normed @ head.W_V + head.b_V)
            dot = keep(q @ k.T)
            scores = keep(dot / np.sqrt(HEAD_WIDTH))
            masked = keep(scores + mask)
            outputs.append(keep(softmax(masked) @ v))
        concat = keep(np.concatenate(outputs, axis=1))
        x = keep(x + keep(concat @ layer.W_O + layer.b_O))
        hidden = keep(normalized(x, layer.ffn_norm) @ layer.W_1 + layer.b_1)
        active = keep(np.maximum(hidden, 0))
        x = keep(x + keep(active @ layer.W_2 + layer.b_2))
    softmax(keep(x @ model.W_U))
    return kept


def scenario(model: Model, tokens: tuple[int, ...]) -> Scenario:
    """The model as a scenario whose weights are arrays."""

    def norm(of: Norm) -> scenario_norms.Norm:
        return scenario_norms.Norm.model_construct(
            placement="pre", epsilon=Decimal(str(EPSILON)), gain=of.gain, shift=of.shift
        )

    layers = tuple(
        scenario_layers.Layer.model_construct(
            attention=scenario_layers.Attention.model_construct(
                heads=tuple(scenario_layers.Head.model_construct(**vars(h)) for h in layer.heads),
                W_O=layer.W_O,
                b_O=layer.b_O,
                norm=norm(layer.attention_norm),
            ),
            ffn=scenario_networks.FFN.model_construct(
                W_1=layer.W_1,
                b_1=layer.b_1,
                W_2=layer.W_2,
                b_2=layer.b_2,
                norm=norm(layer.ffn_norm),
            ),
        )
        for layer in model.layers
    )
    return Scenario.model_construct(
        title="random weights",
        tokens=tuple(map(str, tokens)),
        embeddings=model.embeddings[list(tokens)],
        positions=scenario_model.Positions.model_construct(table=model.positions),
        layers=layers,
        vocabulary=tuple(map(str, range(WORDS))),
        unembedding=scenario_model.Unembedding.model_construct(W_U=model.W_U),
        rounding=Rounding(carry=Carry.NEVER),
        arithmetic="float64",
    )


def line_writer(run: Trace) -> Callable[[], str]:
    """What writes one worked line of 768 products, everything before the line being done."""
    writer = Teacher(run).writer
    record = run.producers[run["layer5.attention.head3.query"]]

    def write() -> str:
        return " ".join(map(text, writer.chain(record, (3, 7)).sides))

    return write


def step_writer(run: Trace) -> Callable[[], object]:
    """What writes `step scores --layer 5 --head 3`, the pass being done."""

    def write() -> object:
        teacher = Teacher(run)
        return [teacher.section(step) for step in select(teacher.steps, "scores", 5, 3)]

    return write
