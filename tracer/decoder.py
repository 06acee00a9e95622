"""The forward pass of a decoder, in the papers' names; every line is recorded on the tape.

Vaswani et al. 2017 (attention, FFN, positions, post-norm), Ba et al. 2016 (LayerNorm).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tracer.operations import (
    Add,
    ArgMax,
    Axes,
    Axis,
    Concat,
    Copy,
    Divide,
    DivTerm,
    Dot,
    Exp,
    MatMul,
    Mean,
    Normalize,
    Outer,
    Relu,
    SinCos,
    Square,
    SquareRoot,
    Subtract,
    Total,
    numbered,
)
from tracer.scenario.model import (
    FFN,
    Attention,
    Head,
    Matrix,
    Names,
    Norm,
    Row,
    Scenario,
)
from tracer.tape import Step, Tape, Value


@dataclass(frozen=True)
class Trace:
    """A forward pass on record."""

    name: str
    scenario: Scenario
    steps: tuple[Step, ...]

    @property
    def tokens(self) -> Names:
        """The tokens, one per position."""
        return self.scenario.tokens


def trace(name: str, scenario: Scenario) -> Trace:
    """Run the decoder; `name` is the scenario's short name.

    Raises:
        TracerError: the scenario's numbers lead to a division by zero or beyond all bounds.
    """
    tape = Tape(scenario.rounding)
    x = input_vectors(tape, scenario)
    mask = causal_mask(tape, scenario.tokens)
    for number, layer in enumerate(scenario.layers, start=1):
        with tape.scope(f"layer{number}"):
            if layer.attention:
                with tape.scope("attention"):
                    attended = attention(tape, x, mask, layer.attention)
                    x = add_and_norm(
                        tape, x, attended, layer.attention.residual, layer.norm_of(layer.attention)
                    )
            if layer.ffn:
                with tape.scope("ffn"):
                    thought = ffn(tape, x, layer.ffn)
                    x = add_and_norm(tape, x, thought, layer.ffn.residual, layer.norm_of(layer.ffn))
    output = tape.record("output", Copy(), x)
    if scenario.unembedding and scenario.vocabulary:
        w_u = weights(tape, "W_U", scenario.unembedding.W_U, output, scenario.vocabulary)
        b_u = bias(tape, "b_U", scenario.unembedding.b_U, w_u)
        logits = tape.record("logits", MatMul(), output, w_u, *b_u)
        with tape.scope("probabilities"):
            exponentials = tape.record("exp", Exp(), logits)
            total = tape.record("exp_sum", Total(), exponentials)
        probabilities = tape.record("probabilities", Divide(), exponentials, total)
        tape.record("prediction", ArgMax(scenario.vocabulary), probabilities)
    return Trace(name, scenario, tuple(tape.steps))


def input_vectors(tape: Tape, scenario: Scenario) -> Value:
    """X′ = X + P: the tokens' embeddings with the positions' vectors."""
    tokens = Axis("token", scenario.tokens)
    tape.given("tokens", scenario.tokens, (tokens,))
    if scenario.token_ids is not None:
        tape.given("token_ids", [Decimal(number) for number in scenario.token_ids], (tokens,))
    width = len(scenario.embedding[0])
    features = Axis("feature", scenario.features or numbered("d", 0, width))
    x = tape.given("embedding", scenario.embedding, (tokens, features))
    positions = scenario.positions
    if positions is None:
        return tape.record("input", Copy(), x)
    if positions.table:
        table = positions.table[: len(scenario.tokens)]
        p = tape.given("position", table, (tokens, features))
    else:
        assert positions.sinusoidal
        start = positions.sinusoidal.start
        indices = [Decimal(start + i) for i in range(len(scenario.tokens))]
        with tape.scope("position"):
            index = tape.given("position.index", indices, (tokens,))
            div_term = tape.record("div_term", DivTerm(width))
            angle = tape.record("angle", Outer(), index, div_term)
        p = tape.record("position", SinCos(features.labels), angle)
    return tape.record("input", Add(), x, p)


def causal_mask(tape: Tape, tokens: Names) -> Value:
    """M: 0 where the key is not later than the query, else -∞."""
    see, blocked = Decimal(0), Decimal("-Infinity")
    n = len(tokens)
    rows = [[see if key <= query else blocked for key in range(n)] for query in range(n)]
    return tape.given("mask", rows, (Axis("token", tokens), Axis("key", tokens)))


def attention(tape: Tape, x: Value, mask: Value, parameters: Attention) -> Value:
    """MultiHead(x) = [O¹ O² …] W_O; without W_O, the heads side by side."""
    heads = []
    for number, head in enumerate(parameters.heads, start=1):
        with tape.scope(f"head{number}"):
            heads.append(attention_head(tape, x, mask, head))
    concat = tape.record("concat", Concat(), *heads)
    if parameters.W_O is None:
        return tape.record("output", Copy(), concat)
    w_o = weights(tape, "W_O", parameters.W_O, concat, features_of(x, len(parameters.W_O[0])))
    b_o = bias(tape, "b_O", parameters.b_O, w_o)
    return tape.record("output", MatMul(), concat, w_o, *b_o)


def attention_head(tape: Tape, x: Value, mask: Value, head: Head) -> Value:
    """softmax(Q Kᵀ / √d_k + M) V."""
    d_k, d_v = len(head.W_Q[0]), len(head.W_V[0])
    labels = head.labels
    w_q = weights(tape, "W_Q", head.W_Q, x, labels.query or numbered("q", 1, d_k), "query")
    w_k = weights(tape, "W_K", head.W_K, x, labels.key or numbered("k", 1, d_k), "key")
    w_v = weights(tape, "W_V", head.W_V, x, labels.value or numbered("v", 1, d_v), "value")
    q = tape.record("query", MatMul(), x, w_q, *bias(tape, "b_Q", head.b_Q, w_q))
    k = tape.record("key", MatMul(), x, w_k, *bias(tape, "b_K", head.b_K, w_k))
    v = tape.record("value", MatMul(), x, w_v, *bias(tape, "b_V", head.b_V, w_v))
    dot = tape.record("dot", Dot(), q, k)
    width = tape.given(tape.address("d_k"), Decimal(d_k), ())
    scale = tape.record("scale", SquareRoot(), width)
    scores = tape.record("scores", Divide(), dot, scale)
    masked = tape.record("masked", Add(), scores, mask)
    exponentials = tape.record("exp", Exp(), masked)
    total = tape.record("exp_sum", Total(), exponentials)
    attention_weights = tape.record("weights", Divide(), exponentials, total)
    return tape.record("output", MatMul(), attention_weights, v)


def ffn(tape: Tape, x: Value, parameters: FFN) -> Value:
    """FFN(x) = ReLU(x W_1 + b_1) W_2 + b_2."""
    units = parameters.labels or numbered("h", 1, len(parameters.W_1[0]))
    w_1 = weights(tape, "W_1", parameters.W_1, x, units, "hidden")
    hidden = tape.record("hidden", MatMul(), x, w_1, *bias(tape, "b_1", parameters.b_1, w_1))
    nonlinearity = Relu() if parameters.activation == "relu" else Copy()
    active = tape.record("activation", nonlinearity, hidden)
    w_2 = weights(tape, "W_2", parameters.W_2, active, features_of(x, len(parameters.W_2[0])))
    b_2 = bias(tape, "b_2", parameters.b_2, w_2)
    return tape.record("output", MatMul(), active, w_2, *b_2)


def add_and_norm(tape: Tape, x: Value, change: Value, residual: bool, norm: Norm | None) -> Value:
    """LayerNorm(x + change), or as much of it as the scenario asks for."""
    if residual:
        change = tape.record("residual", Add(), x, change)
    return layer_norm(tape, change, norm) if norm else change


def layer_norm(tape: Tape, x: Value, norm: Norm) -> Value:
    """(x - μ) / √(σ² + ε) · γ + β, over the features of each token."""
    parameters = []
    with tape.scope("norm"):
        for name, row in (("gain", norm.gain), ("shift", norm.shift)):
            if row is not None:
                address = f"weights.{tape.address(name)}"
                parameters.append(tape.given(address, row, x.axes[1:]))
        mean = tape.record("mean", Mean(), x)
        deviation = tape.record("deviation", Subtract(), x, mean)
        squared = tape.record("squared", Square(), deviation)
        variance = tape.record("variance", Mean(), squared)
        std = tape.record("std", SquareRoot(norm.epsilon), variance)
    normalize = Normalize(gain=norm.gain is not None, shift=norm.shift is not None)
    return tape.record("norm", normalize, deviation, std, *parameters)


def weights(
    tape: Tape, name: str, matrix: Matrix, x: Value, columns: Names, axis: str = "feature"
) -> Value:
    """Record a parameter matrix: its rows are the columns of x."""
    axes: Axes = (x.axes[1], Axis(axis, columns))
    return tape.given(f"weights.{tape.address(name)}", matrix, axes)


def bias(tape: Tape, name: str, row: Row | None, w: Value) -> tuple[Value, ...]:
    """Record a bias, if there is one: its entries are the columns of W."""
    if row is None:
        return ()
    return (tape.given(f"weights.{tape.address(name)}", row, w.axes[1:]),)


def features_of(x: Value, width: int) -> Names:
    """The labels of x for another vector of its width; numbered ones where the width changes."""
    labels = x.axes[1].labels
    return labels if len(labels) == width else numbered("d", 0, width)
