"""The input of the first layer: embeddings, positions, the mask. n counts the tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import roles
from tracer.decoder.attention_inputs import OfTower
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.elementwise import Add, Cos, Outer, Sin, SquareRoot, Times
from tracer.decoder.operations import Copy, DivTerm, Interleave
from tracer.decoder.parameters import columns
from tracer.decoder.part import parts
from tracer.decoder.sub_layers import normalized
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value, tokens_of
from tracer.formula.arithmetic import SHAPES
from tracer.scenario.fields import Matrix, Names, Scale, Window
from tracer.scenario.model import Scenario, Tower
from tracer.tokenization.learning import LearnedMerge
from tracer.tokenization.tokenization import Tokenization

SEEN, HIDDEN = Decimal(0), Decimal("-Infinity")


def input_vectors(tape: Tape, tower: Tower, *, first: int) -> tuple[Value | Axis, OfTower]:
    """X′ = X + P (n, d_model) from the `first` token on, or X; and what all layers share.

    X may be multiplied by a number first, and the sum normalized. Of typed queries, keys and
    values, only the tokens.
    """
    tokens = Axis(tokens_of(tape.place), tower.tokens[first:])
    if tower.embeddings is None:
        return tokens, shared_by_layers(tape, tower, tokens)
    if isinstance(tower, Scenario):
        if tower.tokenization and tower.corpus:
            learned_merges(tape, tower.corpus, tower.tokenization.learned)
        text_in_pieces(tape, tower.tokenization)
    tape.given(roles.TOKENS, tokens.labels, (tokens,))
    if isinstance(tower, Scenario) and tower.token_ids is not None:
        tape.given(roles.TOKEN_IDS, [Decimal(n) for n in tower.token_ids[first:]], (tokens,))
    rows = tower.embedding[first:]
    letter = "e" if tape.place.encoder else "d"
    features = Axis("feature", tower.features or numbered(letter, 0, columns(rows)))
    x = scaled(tape, tape.given(roles.EMBEDDING, rows, (tokens, features)), tower.embedding_scale)
    for part in parts():
        if part.embedded:
            x = part.embedded(tape, tower, x)
    of_tower = shared_by_layers(tape, tower, tokens)
    p = added_positions(tape, tower, x, rows, first)
    if not tower.embedding_norm:
        return tape.record(roles.INPUT, *((Add(), x, p) if p else (Copy(), x))), of_tower
    if p:
        x = tape.record(roles.SUMMED_EMBEDDING, Add(), x, p)
    with tape.at(tower_norm="embedding_norm"):
        x = normalized(tape, x, tower.embedding_norm)
    return tape.record(roles.INPUT, Copy(), x), of_tower


def added_positions(tape: Tape, tower: Tower, x: Value, rows: Matrix, first: int) -> Value | None:
    """P (n, d_model), which is added to the embeddings X (n, d_model); None if nothing is.

    `rows` are the numbers of the embeddings.
    """
    (tokens, features), positions = x.axes, tower.positions
    if tape.address(roles.POSITION) in tape.pinned:
        # Pinned, not computed; the embedding's rows replace pinned numbers of a wrong shape.
        return tape.given(roles.POSITION, rows, (tokens, features))
    if positions and positions.sinusoidal:
        return sinusoidal(tape, positions.sinusoidal.start + first, tokens, features)
    if positions and positions.table is not None:
        table = positions.table[first : len(tower.tokens)]
        return tape.given(roles.POSITION, table, (tokens, features))
    return None


def shared_by_layers(tape: Tape, tower: Tower, tokens: Axis) -> OfTower:
    """What the parts of the model record for all layers, such as distances of tokens."""
    recorded: dict[roles.Role, Any] = {}
    for part in parts():
        if part.tower:
            recorded |= part.tower(tape, tower, tokens)
    return recorded


def learned_merges(tape: Tape, corpus: Mapping[str, int], learned: Sequence[LearnedMerge]) -> None:
    """Record the merges with their counts, each pair that was counted, and the corpus."""
    merges = [
        (str(rank), *each.pair, "".join(each.pair), str(each.count))
        for rank, each in enumerate(learned, 1)
    ]
    of_merge = Axis("of it", ("rank", "left", "right", "joined", "count"))
    tape.given(roles.CORPUS_MERGES, merges, (Axis("merge", _counted(len(merges))), of_merge))
    pairs = [
        (str(rank), *pair, str(sum(counts)))
        for rank, each in enumerate(learned, 1)
        for pair, counts in each.counts.items()
    ]
    of_pair = Axis("of it", ("rank", "left", "right", "count"))
    tape.given(roles.CORPUS_PAIRS, pairs, (Axis("pair", _counted(len(pairs))), of_pair))
    words = [(word, str(count)) for word, count in corpus.items()]
    axes = Axis("entry", _counted(len(words))), Axis("of it", ("word", "count"))
    # Last, because the step takes its position from it.
    tape.given(roles.CORPUS, words, axes)


def scaled(tape: Tape, x: Value, scale: Scale) -> Value:
    """X √d_model (Vaswani et al. 2017, section 3.4), or X times a number: (n, d_model)."""
    if scale == "none":
        return x
    if isinstance(scale, Decimal):
        factor = tape.given(roles.EMBEDDING_SCALE, scale, ())
    else:
        d_model = tape.given(roles.EMBEDDING_WIDTH, Decimal(x.shape[1]), ())
        factor = tape.record(roles.EMBEDDING_SCALE, SquareRoot(), d_model)
    return tape.record(roles.SCALED_EMBEDDING, Times(), x, factor)


def text_in_pieces(tape: Tape, tokenization: Tokenization | None) -> None:
    """Record the pieces of a text, and the merges that turn each into tokens."""
    if tokenization is None:
        return
    pieces = tokenization.pieces
    merges = [
        (str(number), str(merge.rank), *map(tokenization.read, merge.symbols))
        for number, piece in enumerate(pieces, 1)
        for merge in piece.merges
    ]
    if merges:
        columns = Axis("of it", ("piece", "rank", "left", "right", "joined"))
        tape.given(roles.TEXT_MERGES, merges, (Axis("merge", _counted(len(merges))), columns))
    # Last, because the step takes its position from it.
    tape.given(
        roles.TEXT, [piece.text for piece in pieces], (Axis("piece", _counted(len(pieces))),)
    )


def _counted(number: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(1, number + 1))


def sinusoidal(tape: Tape, start: int, tokens: Axis, features: Axis) -> Value:
    """P (n, d): sin(pos · 10000^(-2k/d)) in column 2k, cos in 2k + 1 (Vaswani et al. 2017)."""
    waves, width = roles.ADDED_WAVES, len(features.labels)
    sin, cos = waves_at(
        tape, waves, start, tokens, lambda: tape.record(waves.div_term, DivTerm(width))
    )
    return tape.record(roles.POSITION, Interleave(features.labels), sin, cos)


def waves_at(
    tape: Tape,
    waves: roles.WaveRoles,
    start: int,
    tokens: Axis,
    frequencies: Callable[[], Value],
) -> tuple[Value, Value]:
    """sin and cos of pos · frequency: (n,) positions, (d/2,) frequencies → twice (n, d/2).

    `frequencies` records the frequencies, after the positions.
    """
    indices = [Decimal(start + i) for i in range(len(tokens.labels))]
    index = tape.given(waves.index, indices, (tokens,))
    angle = tape.record(waves.angle, Outer(), index, frequencies())
    return tape.record(waves.sin, Sin(), angle), tape.record(waves.cos, Cos(), angle)


def attention_mask(tape: Tape, scenario: Scenario, asked: Any, queries: Axis) -> Value | None:
    """M (n, m): -∞ where a query must not attend to a key, else 0; None without a mask.

    The mask is causal, a causal window, or typed. Padding is always hidden. A typed mask may also
    contain other numbers.
    """
    tokens = scenario.tokens
    n, first = len(tokens), len(tokens) - len(queries.labels)
    axes = (queries, Axis("key", tokens))
    if hasattr(asked, "shape"):  # of a scenario without numbers
        return tape.given(roles.MASK, asked[first:], axes)
    if isinstance(asked, tuple):
        fills = [token == scenario.padding for token in tokens]
        typed = [[HIDDEN if f else x for f, x in zip(fills, row, strict=False)] for row in asked]
        return tape.given(roles.MASK, typed[first:n], axes)
    if asked == "none" and scenario.padding not in tokens:
        return None
    if tape.arithmetic is SHAPES:  # without the (n, n) numbers, which may be many
        return tape.given(roles.MASK, np.broadcast_to(0.0, (n - first, n)), axes)
    unseen = hidden_positions(tokens, scenario.padding, asked)[first:].tolist()
    return tape.given(
        roles.MASK, [[HIDDEN if each else SEEN for each in row] for row in unseen], axes
    )


def hidden_positions(
    tokens: Names, padding: str | None, asked: Literal["causal", "none"] | Window
) -> NDArray[np.bool_]:
    """(n, n): whether the token of a row must not attend to the token of a column."""
    n = len(tokens)
    fills = np.array([token == padding for token in tokens])
    back = np.subtract.outer(np.arange(n), np.arange(n))
    later = (back < 0) & (asked != "none")
    far = back >= (asked.window if isinstance(asked, Window) else n)
    return np.asarray(later | far | fills)


def only_hides(mask: Value | None) -> bool:
    """Return whether a mask is None or has only 0 and -∞; other numbers are added to scores."""
    if mask is None or not any(
        mask.numbers.strides
    ):  # of shapes alone, (n, n) numbers are not kept
        return True
    return bool(((mask.array == 0) | np.isneginf(mask.array)).all())
