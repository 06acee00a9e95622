"""The path of a word: what the lens reads of it at each point of a pass.

nostalgebraist 2020 reads the output of each layer; a path also has that of each sub-layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tracer.decoder import roles
from tracer.decoder.forward import Trace
from tracer.decoder.lens_of_rows import lens_of_rows, residual_points, to_words_of
from tracer.decoder.value import Value


@dataclass(frozen=True)
class PathPoint:
    """A word at a point: its rank among all words, its logit and its probability.

    The rank is 1 and the number of words with a larger logit. The leader is the most probable
    word. Logit and probabilities are single numbers.
    """

    value: Value
    rank: int
    logit: Value
    probability: Value
    leader: str
    of_leader: Value
    """The probability of the leader."""


@dataclass(frozen=True)
class WordPath:
    """A word after a token, counted from 0, at each point of a pass."""

    word: str
    token: int
    points: tuple[PathPoint, ...]
    left_out: int
    """The number of sub-layers whose output has another width, so that the lens cannot read it."""

    @property
    def ranks(self) -> list[int]:
        """The rank at each point."""
        return [point.rank for point in self.points]

    @property
    def first_lead(self) -> PathPoint | None:
        """The first point at which no word has a larger logit."""
        return next((point for point in self.points if point.rank == 1), None)

    @property
    def lead_kept(self) -> PathPoint | None:
        """The first point from which on no word has a larger logit."""
        behind = [i for i, rank in enumerate(self.ranks) if rank > 1]
        since = behind[-1] + 1 if behind else 0
        return self.points[since] if since < len(self.points) else None

    @property
    def largest_move(self) -> tuple[PathPoint, PathPoint] | None:
        """The points around the sub-layer that changes the rank by the largest factor.

        None where the lens cannot read each sub-layer, or no factor is larger than all others.
        """
        if self.left_out:
            return None
        moves = sorted(pairwise(self.points), key=_factor, reverse=True)
        factors = [*map(_factor, moves[:2]), Fraction(1)]
        return moves[0] if moves and factors[0] > factors[1] else None


def _factor(move: tuple[PathPoint, PathPoint]) -> Fraction:
    """The larger rank divided by the smaller one."""
    low, high = sorted(point.rank for point in move)
    return Fraction(high, low)


def word_path(found: Trace, token: int, column: int) -> WordPath:
    """Read the word of a column of the logits, after a token, at each point of a pass.

    Raises:
        TracerError: there is no vocabulary or no layer, or a layer leaves vectors of another width.
    """
    w_u, *_ = to_words_of(found)
    every, width = residual_points(found), found[roles.OUTPUT.name].shape[1]
    readable = [(value, token) for value in every if value.shape[1] == width]
    path = [
        PathPoint(
            *(row.of, row.rank(column), row.logit(column), row.probability(column)),
            *(row.leader, row.probability(row.leader_column)),
        )
        for row in lens_of_rows(found, readable)
    ]
    return WordPath(w_u.axes[1].labels[column], token, tuple(path), len(every) - len(path))
