"""What goes into the first layer: embeddings, positions, the encoder's vectors, the mask."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from tracer.decoder.operations import (
    Add,
    Axis,
    Copy,
    Cos,
    DivTerm,
    Interleave,
    Outer,
    Sin,
    numbered,
)
from tracer.decoder.roles import (
    ANGLE,
    COS,
    DIV_TERM,
    EMBEDDING,
    ENCODER_OUTPUT,
    INPUT,
    MASK,
    POSITION,
    POSITION_INDEX,
    SIN,
    TOKEN_IDS,
    TOKENS,
)
from tracer.decoder.tape import Tape, Value
from tracer.scenario.model import Encoder, Scenario

SEEN, HIDDEN = Decimal(0), Decimal("-Infinity")


def input_vectors(tape: Tape, scenario: Scenario, *, first: int) -> Value:
    """X′ = X + P: the tokens' embeddings with the positions' vectors, from the `first` token on."""
    tokens = Axis("token", scenario.tokens[first:])
    tape.given(TOKENS, tokens.labels, (tokens,))
    if scenario.token_ids is not None:
        tape.given(TOKEN_IDS, [Decimal(n) for n in scenario.token_ids[first:]], (tokens,))
    rows = scenario.embedding[first:]
    features = Axis("feature", scenario.features or numbered("d", 0, len(rows[0])))
    x = tape.given(EMBEDDING, rows, (tokens, features))
    positions = scenario.positions
    if tape.address(POSITION) in tape.pinned:
        # Nothing of it is computed; the embedding has the shape, should the pinned numbers not.
        p = tape.given(POSITION, rows, (tokens, features))
    elif positions is None:
        return tape.record(INPUT, Copy(), x)
    elif positions.sinusoidal:
        p = sinusoidal(tape, positions.sinusoidal.start + first, tokens, features)
    else:
        assert positions.table is not None
        p = tape.given(POSITION, positions.table[first : len(scenario.tokens)], (tokens, features))
    return tape.record(INPUT, Add(), x, p)


def sinusoidal(tape: Tape, start: int, tokens: Axis, features: Axis) -> Value:
    """P: sin(pos · 10000^(-2k/d)) in column 2k, cos of the same in column 2k + 1."""
    indices = [Decimal(start + i) for i in range(len(tokens.labels))]
    index = tape.given(POSITION_INDEX, indices, (tokens,))
    div_term = tape.record(DIV_TERM, DivTerm(len(features.labels)))
    angle = tape.record(ANGLE, Outer(), index, div_term)
    sin = tape.record(SIN, Sin(), angle)
    cos = tape.record(COS, Cos(), angle)
    return tape.record(POSITION, Interleave(features.labels), sin, cos)


def encoder_output(tape: Tape, encoder: Encoder) -> Value:
    """The encoder's vectors, which are given."""
    features = encoder.features or numbered("e", 0, len(encoder.vectors[0]))
    axes = (Axis("encoder token", encoder.tokens), Axis("encoder feature", features))
    return tape.given(ENCODER_OUTPUT, encoder.vectors, axes)


def attention_mask(tape: Tape, scenario: Scenario, x: Value) -> Value:
    """M: -∞ where the key is later than the query, or only fills up the sequence; else 0."""
    tokens, queries = scenario.tokens, x.axes[0]
    n, first = len(tokens), len(tokens) - len(queries.labels)
    fills = np.array([token == scenario.padding for token in tokens])
    hidden = ~np.tri(n, dtype=bool) | fills
    rows = [[HIDDEN if each else SEEN for each in row] for row in hidden[first:].tolist()]
    return tape.given(MASK, rows, (queries, Axis("key", tokens)))
