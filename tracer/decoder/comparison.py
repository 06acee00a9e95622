"""Two passes side by side: which tokens belong together, and how far apart the values are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.forward import Trace
from tracer.decoder.lazy import LazyResult, LazyTensor
from tracer.decoder.value import ENCODER_TOKEN, WORD, Entry, Index, Value, has_token_rows
from tracer.errors import Problem, TracerError
from tracer.scenario.fields import Names

TOLERANCE = 1e-9
"""The relative difference that does not count: it may be the rounding of floats."""

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int_]
Pairs: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Gap:
    """The largest difference of two arrays, its index, and its share of our largest number."""

    at: Index
    largest: float
    relative: float


def differences(ours: Floats, theirs: Floats) -> Floats:
    """Return how far apart the numbers of two arrays are; an equal ∞ is no difference."""
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.array(np.abs(ours - theirs))
    off[np.isnan(off)] = np.inf
    off[ours == theirs] = 0.0
    return off


def gap(ours: Floats, theirs: Floats) -> Gap:
    """Return how far apart two arrays of the same shape are."""
    off = differences(ours, theirs)
    at = tuple(map(int, np.unravel_index(int(np.argmax(off)), off.shape)))
    size = float(np.max(np.abs(ours), where=np.isfinite(ours), initial=0)) or 1.0
    return Gap(at, float(off[at]), float(off[at]) / size)


@dataclass(frozen=True)
class Alignment:
    """The tokens of two texts that are compared: so many from the left and from the right."""

    first: Names
    second: Names
    left: int
    right: int

    @property
    def pairs(self) -> Pairs:
        """The positions of each pair, counted from 0."""
        ends = range(-self.right, 0)
        of_right = ((len(self.first) + end, len(self.second) + end) for end in ends)
        return (*((i, i) for i in range(self.left)), *of_right)

    @property
    def is_complete(self) -> bool:
        """Whether each token has a counterpart."""
        return len(self.first) == len(self.second)


def align(first: Names, second: Names) -> Alignment:
    """Align texts of equal length by position, others by the tokens that they share at the ends.

    Raises:
        TracerError: their lengths differ, and they share no token at either end.
    """
    if len(first) == len(second):
        return Alignment(first, second, len(first), 0)
    left = _shared(first, second)
    most = min(len(first), len(second)) - left
    right = min(_shared(first[::-1], second[::-1]), most)
    if not left + right:
        lengths = f"{len(first)} and {len(second)} tokens"
        message = f"the texts have {lengths} and share none at the beginning or at the end"
        raise TracerError(Problem(message, yaml_path=("tokens",)))
    return Alignment(first, second, left, right)


def _shared(first: Names, second: Names) -> int:
    equal = (a == b for a, b in zip(first, second, strict=False))
    return sum(takewhile(bool, equal))


@dataclass(frozen=True)
class Difference:
    """A value of both passes: the two entries that are furthest apart, and how far.

    `largest` is the largest absolute difference of two entries, `relative` its share of the
    largest absolute number of the first pass's value. `of_row` is the largest over the rows of
    tokens of the same share, of the row's own largest number: some tokens have rows that are far
    larger than all others (Sun et al. 2024, massive activations).
    """

    first: Entry
    second: Entry
    largest: float
    relative: float
    of_row: float

    @property
    def counts(self) -> bool:
        """Whether it exceeds what the rounding of floats can explain."""
        return not self.relative <= TOLERANCE


@dataclass(frozen=True)
class Comparison:
    """Two passes, and the tokens that are compared.

    `followed` is the token after which predictions are compared, by its position in each text.
    """

    first: Trace
    second: Trace
    tokens: Alignment
    encoder_tokens: Alignment | None
    followed: tuple[int, int] = (-1, -1)

    @property
    def runs(self) -> tuple[Trace, Trace]:
        """Both passes."""
        return self.first, self.second

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """The difference of each value that both passes have, in the order of computation."""
        return {each.first.value.address: each for each in self._differences()}

    @cached_property
    def not_compared(self) -> tuple[str, ...]:
        """The addresses of numbers that only one pass has, or with another shape."""
        both = {**self.first.values, **self.second.values}
        known = self.differences
        return tuple(a for a, value in both.items() if a not in known and _has_numbers(value))

    @cached_property
    def first_difference(self) -> Difference | None:
        """The difference of the first value that differs."""
        return next((each for each in self.differences.values() if each.counts), None)

    def _differences(self) -> Iterator[Difference]:
        for address, ours in self.first.values.items():
            theirs = self.second.values.get(address)
            if theirs is None or not _has_numbers(ours):
                continue
            if _is_same_tensor(ours, theirs):
                start = tuple(0 for _ in ours.axes)
                yield Difference(Entry(ours, start), Entry(theirs, start), 0.0, 0.0, 0.0)
                continue
            axes = self._indices(ours, theirs)
            if axes is not None and all(len(own) for own, _ in axes):
                own, other = ([each[i] for each in axes] for i in (0, 1))
                yield _difference(ours, theirs, own, other)

    def _indices(self, ours: Value, theirs: Value) -> list[tuple[Indices, Indices]] | None:
        """Return the indices to compare along each axis, in both; None for other shapes."""
        if len(ours.axes) != len(theirs.axes):
            return None
        found = []
        for i, (a, b) in enumerate(zip(ours.axes, theirs.axes, strict=True)):
            if i == 0 and has_token_rows(ours) and has_token_rows(theirs):
                pairs = self._rows(ours, theirs)
            elif of := self._of_tokens(a, b):
                pairs = of.pairs
            elif len(a.labels) != len(b.labels) or (a.name == WORD and a.labels != b.labels):
                return None
            else:
                every = np.arange(len(a.labels))
                found.append((every, every))
                continue
            indices = np.array(pairs, int).reshape(-1, 2)
            found.append((indices[:, 0], indices[:, 1]))
        return found

    def _of_tokens(self, a: Axis, b: Axis) -> Alignment | None:
        """Return the alignment of two axes whose labels are texts of different length."""
        for each in (self.tokens, self.encoder_tokens):
            if each and not each.is_complete and (a.labels, b.labels) == (each.first, each.second):
                return each
        return None

    def _rows(self, ours: Value, theirs: Value) -> Pairs:
        """Return the pairs of rows of two values with a row for each token, or for some."""
        of = self.alignment(ours)
        n, m = len(of.first), len(of.second)
        return tuple(
            (ours.row(i, n), theirs.row(j, m))
            for i, j in of.pairs
            if ours.has_row(i, n) and theirs.has_row(j, m)
        )

    def alignment(self, value: Value) -> Alignment:
        """Return the alignment of the tokens of a value that has a row for each."""
        found = self.encoder_tokens if value.axes[0].name == ENCODER_TOKEN else self.tokens
        assert found
        return found

    # --- what the passes predict -----------------------------------------------------------------

    @cached_property
    def answers(self) -> tuple[int, int] | None:
        """The columns of the words that the passes predict, in the same vocabulary.

        None without predictions, for equal words, and if their logits are as far apart in both.
        """
        ours, theirs = self.predicted(self.first), self.predicted(self.second)
        if ours is None or theirs is None or ours.at[1] == theirs.at[1]:
            return None
        if ours.value.axes[1].labels != theirs.value.axes[1].labels:
            return None
        answers = ours.at[1], theirs.at[1]
        own, other = (_margin(each.value, each.at[0], answers) for each in (ours, theirs))
        return answers if own != other else None

    def margin(self, found: Trace) -> float:
        """Return the logit of the second pass's word minus that of the first's."""
        assert self.answers
        logits, tokens = found[roles.LOGITS.name], len(found.tokens)
        row = logits.row(self.followed[found is self.second] % tokens, tokens)
        return _margin(logits, row, self.answers)

    def predicted(self, found: Trace) -> Entry | None:
        """Return the logit of the word that a pass, or a patched one, predicts after the token."""
        return predicted(found, self.followed[found is self.second])


def predicted(found: Trace, token: int = -1) -> Entry | None:
    """Return the logit of the word predicted after a token; None without a vocabulary.

    The token is counted from 0, by default it is the last.
    """
    words = found.values.get(roles.PREDICTION.name)
    if words is None:
        return None
    logits = found[roles.LOGITS.name]
    tokens = len(found.tokens)
    row = words.row(token % tokens, tokens)
    return Entry(logits, (row, logits.axes[1].labels.index(words.read((row,)))))


def _has_numbers(value: Value) -> bool:
    """Return whether numbers are compared: a token's id is a name, like its text."""
    return not value.role.words and value.role is not roles.TOKEN_IDS


def _is_same_tensor(ours: Value, theirs: Value) -> bool:
    """Return whether both are the same tensor of a checkpoint, which need not be read."""
    if isinstance(ours, LazyTensor) and isinstance(theirs, LazyTensor):
        return ours.stored is theirs.stored
    return False


def _difference(ours: Value, theirs: Value, own: list[Indices], other: list[Indices]) -> Difference:
    a, b = _part(ours, own), _part(theirs, other)
    found = gap(a, b)
    here, there = (
        tuple(int(of[i]) for of, i in zip(indices, found.at, strict=True))
        for indices in (own, other)
    )
    entries = Entry(ours, here), Entry(theirs, there)
    of_row = found.relative
    if has_token_rows(ours) and a.ndim > 1:
        of_row = max(map(_share_of_row, a, b))
    return Difference(*entries, found.largest, found.relative, of_row)


def _share_of_row(ours: Floats, theirs: Floats) -> float:
    """The largest difference of a row as a share of its largest number; 0 if it may be noise."""
    found = gap(ours, theirs)
    return found.relative if found.relative > TOLERANCE else 0.0


def _part(value: Value, indices: list[Indices]) -> Floats:
    """Return some rows and columns as floats; a layer's weights are read, and not kept."""
    numbers = np.asarray(value.stored if isinstance(value, LazyTensor) else value.numbers)
    return np.asarray(numbers[np.ix_(*indices)] if indices else numbers, np.float64)


def _margin(logits: Value, row: int, answers: tuple[int, int]) -> float:
    """The second answer's logit minus the first's, in a row."""
    if isinstance(logits, LazyResult):
        own, other = logits.read_words(row, list(answers))
    else:
        own, other = (logits.read((row, word)) for word in answers)
    return float(other - own)


def compare(first: Trace, second: Trace, token: int | None = None) -> Comparison:
    """Return two passes side by side, followed at a token of the first, by default the last.

    Raises:
        TracerError: their texts cannot be aligned, or the second has no such token.
    """
    towers = first.scenario.encoder, second.scenario.encoder
    encoders = align(towers[0].tokens, towers[1].tokens) if towers[0] and towers[1] else None
    tokens = align(first.tokens, second.tokens)
    if token is None and first.scenario.fills_in:
        masks = tuple(each.scenario.followed(each.tokens) for each in (first, second))
        return Comparison(first, second, tokens, encoders, (masks[0], masks[1]))
    if token is None:
        return Comparison(first, second, tokens, encoders)
    pair = next((pair for pair in tokens.pairs if pair[0] == token), None)
    if pair is None:
        message = f"the token {first.tokens[token]!r} has no counterpart in the second text"
        raise TracerError(Problem(message, address="--token"))
    return Comparison(first, second, tokens, encoders, pair)
