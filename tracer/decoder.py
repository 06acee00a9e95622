"""The forward pass of a decoder, in the papers' names; every line is recorded on the tape.

Vaswani et al. 2017 (attention, FFN, positions, post-norm), Ba et al. 2016 (LayerNorm),
Xiong et al. 2020 (pre-norm).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from tracer.loss import cross_entropy
from tracer.operations import (
    Add,
    Append,
    ArgMax,
    Axes,
    Axis,
    Concat,
    Copy,
    Cos,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Interleave,
    MatMul,
    Mean,
    Normalize,
    Outer,
    Relu,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Total,
    numbered,
)
from tracer.sampling import Sampling, sample
from tracer.scenario.model import (
    FFN,
    Attention,
    Encoder,
    Head,
    Matrix,
    Names,
    Norm,
    Row,
    Scenario,
    SubLayer,
)
from tracer.tape import Step, Tape, Value

SEEN, HIDDEN = Decimal(0), Decimal("-Infinity")


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

    def value(self, address: str) -> Value:
        """The value at an address; a KeyError where there is none."""
        return {step.output.address: step.output for step in self.steps}[address]


def trace(
    name: str,
    scenario: Scenario,
    *,
    unmasked: bool = False,
    loss: bool = False,
    sampling: Sampling | None = None,
    cache: Trace | None = None,
) -> Trace:
    """Run the decoder; `name` is the scenario's short name.

    With `unmasked`, each head's softmax is worked a second time, on the scores without the mask.
    With `loss`, the cross-entropy at all positions is worked. With `sampling`, a word is drawn
    after the last token. With `cache`, a trace of the first tokens, only the tokens behind them
    are computed; their keys and values come from the cache.

    Raises:
        TracerError: the scenario's numbers lead to a division by zero or beyond all bounds, or
            what it pins is not there.
    """
    tape = Tape(scenario.rounding, pinned=scenario.given)
    x = input_vectors(tape, scenario, first=len(cache.tokens) if cache else 0)
    encoder = encoder_output(tape, scenario.encoder) if scenario.encoder else None
    mask = attention_mask(tape, scenario, x)

    def self_attention(parameters: Attention) -> Callable[[Value], Value]:
        source = Source(cache=cache, mask=mask, unmasked=unmasked)
        return lambda x: attention(tape, x, x, source, parameters)

    def cross_attention(parameters: Attention) -> Callable[[Value], Value]:
        assert encoder
        source = Source(cache=cache, mask=None, unmasked=False)
        return lambda x: attention(tape, x, encoder, source, parameters)

    for number, layer in enumerate(scenario.layers, start=1):
        with tape.scope(f"layer{number}"):
            if part := layer.attention:
                x = sub_layer(tape, "attention", x, part, layer.norm_of(part), self_attention(part))
            if part := layer.cross_attention:
                compute = cross_attention(part)
                x = sub_layer(tape, "cross_attention", x, part, layer.norm_of(part), compute)
            if network := layer.ffn:
                compute = feed_forward(tape, network)
                x = sub_layer(tape, "ffn", x, network, layer.norm_of(network), compute)
    output = tape.record("output", Copy(), x)
    probabilities = predict(tape, output, scenario)
    if loss:
        cross_entropy(tape, probabilities, scenario)
    if probabilities and sampling:
        sample(tape, sampling)
    tape.check_pinned()
    return Trace(name, scenario, tuple(tape.steps))


def input_vectors(tape: Tape, scenario: Scenario, *, first: int) -> Value:
    """X′ = X + P: the tokens' embeddings with the positions' vectors, from the `first` token on."""
    tokens = Axis("token", scenario.tokens[first:])
    tape.given("tokens", tokens.labels, (tokens,))
    if scenario.token_ids is not None:
        ids = [Decimal(number) for number in scenario.token_ids[first:]]
        tape.given("token_ids", ids, (tokens,))
    width = len(scenario.embedding[0])
    features = Axis("feature", scenario.features or numbered("d", 0, width))
    x = tape.given("embedding", scenario.embedding[first:], (tokens, features))
    positions = scenario.positions
    if "position" in tape.pinned:
        # Nothing of it is computed; the embedding has the shape, should the pinned numbers not.
        p = tape.given("position", scenario.embedding[first:], (tokens, features))
        return tape.record("input", Add(), x, p)
    if positions is None:
        return tape.record("input", Copy(), x)
    if positions.sinusoidal:
        p = sinusoidal(tape, positions.sinusoidal.start + first, tokens, features)
    else:
        assert positions.table
        table = positions.table[first : len(scenario.tokens)]
        p = tape.given("position", table, (tokens, features))
    return tape.record("input", Add(), x, p)


def sinusoidal(tape: Tape, start: int, tokens: Axis, features: Axis) -> Value:
    """P: sin(pos · 10000^(-2k/d)) in column 2k, cos of the same in column 2k + 1."""
    indices = [Decimal(start + i) for i in range(len(tokens.labels))]
    with tape.scope("position"):
        index = tape.given("position.index", indices, (tokens,))
        div_term = tape.record("div_term", DivTerm(len(features.labels)))
        angle = tape.record("angle", Outer(), index, div_term)
        sin = tape.record("sin", Sin(), angle)
        cos = tape.record("cos", Cos(), angle)
    return tape.record("position", Interleave(features.labels), sin, cos)


def encoder_output(tape: Tape, encoder: Encoder) -> Value:
    """The encoder's vectors, which are given."""
    features = encoder.features or numbered("e", 0, len(encoder.vectors[0]))
    axes = (Axis("encoder token", encoder.tokens), Axis("encoder feature", features))
    return tape.given("encoder.output", encoder.vectors, axes)


def attention_mask(tape: Tape, scenario: Scenario, x: Value) -> Value:
    """M: -∞ where the key is later than the query, or only fills up the sequence; else 0."""
    tokens = scenario.tokens

    def entry(query: int, key: int) -> Decimal:
        return HIDDEN if key > query or tokens[key] == scenario.padding else SEEN

    n = len(tokens)
    queries = x.axes[0]
    first = n - len(queries.labels)
    rows = [[entry(query, key) for key in range(n)] for query in range(first, n)]
    return tape.given("mask", rows, (queries, Axis("key", tokens)))


def sub_layer(
    tape: Tape,
    name: str,
    x: Value,
    parameters: SubLayer,
    norm: Norm | None,
    compute: Callable[[Value], Value],
) -> Value:
    """LayerNorm(x + f(x)), or x + f(LayerNorm(x)), or as much of it as the scenario asks for."""
    with tape.scope(name):
        before = norm is not None and norm.placement == "pre"
        change = compute(layer_norm(tape, x, norm) if norm and before else x)
        if parameters.residual:
            change = tape.record("residual", Add(), x, change)
        return layer_norm(tape, change, norm) if norm and not before else change


@dataclass(frozen=True)
class Source:
    """What attention reads beside vectors: the mask, and a trace with earlier keys and values."""

    cache: Trace | None
    mask: Value | None
    unmasked: bool


def attention(tape: Tape, x: Value, memory: Value, source: Source, parameters: Attention) -> Value:
    """MultiHead = [O¹ O² …] W_O; without W_O, the heads side by side.

    Queries come from x, keys and values from `memory`: x itself, or the encoder's output.
    """
    heads = []
    for number, head in enumerate(parameters.heads, start=1):
        with tape.scope(f"head{number}"):
            heads.append(attention_head(tape, x, memory, source, head))
    concat = tape.record("concat", Concat(), *heads)
    if parameters.W_O is None:
        return tape.record("output", Copy(), concat)
    w_o = weights(tape, "W_O", parameters.W_O, concat, features_of(x, len(parameters.W_O[0])))
    b_o = bias(tape, "b_O", parameters.b_O, w_o)
    return tape.record("output", MatMul(), concat, w_o, *b_o)


def attention_head(tape: Tape, x: Value, memory: Value, source: Source, head: Head) -> Value:
    """softmax(Q Kᵀ / √d_k + M) V."""
    d_k, d_v = len(head.W_Q[0]), len(head.W_V[0])
    labels = head.labels
    w_q = weights(tape, "W_Q", head.W_Q, x, labels.query or numbered("q", 1, d_k), "query")
    w_k = weights(tape, "W_K", head.W_K, memory, labels.key or numbered("k", 1, d_k), "key")
    w_v = weights(tape, "W_V", head.W_V, memory, labels.value or numbered("v", 1, d_v), "value")
    q = tape.record("query", MatMul(), x, w_q, *bias(tape, "b_Q", head.b_Q, w_q))
    k = remembered(tape, "key", memory, source, w_k, bias(tape, "b_K", head.b_K, w_k))
    v = remembered(tape, "value", memory, source, w_v, bias(tape, "b_V", head.b_V, w_v))
    dot = tape.record("dot", Dot(), q, k)
    width = tape.given(tape.address("d_k"), Decimal(d_k), ())
    scale = tape.record("scale", SquareRoot(), width)
    scores = tape.record("scores", Divide(), dot, scale)
    masked = tape.record("masked", Add(), scores, source.mask) if source.mask else scores
    attention_weights = softmax(tape, masked)
    if source.mask and source.unmasked:
        with tape.scope("unmasked"):
            softmax(tape, scores)
    return tape.record("output", MatMul(), attention_weights, v)


def remembered(
    tape: Tape, name: str, memory: Value, source: Source, w: Value, b: tuple[Value, ...]
) -> Value:
    """The keys, or the values, of all that may be attended to: `memory` W + b.

    Those of tokens that were computed before come from the cache; the encoder's all do.
    """
    if source.cache is None:
        return tape.record(name, MatMul(), memory, w, *b)
    if not memory.per_token:
        return tape.record(name, Copy(), source.cache.value(tape.address(name)))
    new = tape.record(name, MatMul(), memory, w, *b)
    every = f"{name}s"
    addresses = {step.output.address for step in source.cache.steps}
    grown = tape.address(every) in addresses
    old = source.cache.value(tape.address(every if grown else name))
    return tape.record(every, Append(), old, new)


def softmax(tape: Tape, scores: Value) -> Value:
    """e^scores / Σ e^scores, row by row."""
    exponentials = tape.record("exp", Exp(), scores)
    total = tape.record("exp_sum", Total(), exponentials)
    return tape.record("weights", Share(), exponentials, total)


def feed_forward(tape: Tape, parameters: FFN) -> Callable[[Value], Value]:
    """FFN(x) = ReLU(x W_1 + b_1) W_2 + b_2."""

    def ffn(x: Value) -> Value:
        units = parameters.labels or numbered("h", 1, len(parameters.W_1[0]))
        w_1 = weights(tape, "W_1", parameters.W_1, x, units, "hidden")
        hidden = tape.record("hidden", MatMul(), x, w_1, *bias(tape, "b_1", parameters.b_1, w_1))
        nonlinearity = Relu() if parameters.activation == "relu" else Copy()
        active = tape.record("activation", nonlinearity, hidden)
        w_2 = weights(tape, "W_2", parameters.W_2, active, features_of(x, len(parameters.W_2[0])))
        b_2 = bias(tape, "b_2", parameters.b_2, w_2)
        return tape.record("output", MatMul(), active, w_2, *b_2)

    return ffn


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


def predict(tape: Tape, output: Value, scenario: Scenario) -> Value | None:
    """p = softmax(y W_U + b_U), and the most probable word; nothing without a vocabulary."""
    if not scenario.unembedding or not scenario.vocabulary:
        return None
    w_u = weights(tape, "W_U", scenario.unembedding.W_U, output, scenario.vocabulary)
    b_u = bias(tape, "b_U", scenario.unembedding.b_U, w_u)
    logits = tape.record("logits", MatMul(), output, w_u, *b_u)
    with tape.scope("probabilities"):
        exponentials = tape.record("exp", Exp(), logits)
        total = tape.record("exp_sum", Total(), exponentials)
    probabilities = tape.record("probabilities", Share(), exponentials, total)
    tape.record("prediction", ArgMax(scenario.vocabulary), probabilities)
    return probabilities


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
