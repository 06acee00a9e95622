"""Byte-pair encoding (Sennrich et al. 2016): neighbors are merged, pairs learned first first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Literal, Protocol, TypeAlias

from tracer.tokenization.alphabets import Alphabet

Method: TypeAlias = Literal["merges", "scores", "unigram", "longest"]
"""How a piece becomes tokens: pairs are merged in the order of a list, or in the order of the
scores of the joined tokens; or a unigram language model chooses the tokens; or the longest token is
taken first."""


@dataclass(frozen=True)
class Merge:
    """Two neighboring symbols that are merged."""

    left: str
    right: str
    rank: int
    """The position in the order of merges, counted from 1; the lowest rank is merged first."""
    at: tuple[int, int]
    """The starts of both symbols, among the piece's first symbols, counted from 0."""

    @property
    def joined(self) -> str:
        """The merged symbol."""
        return self.left + self.right

    @property
    def symbols(self) -> tuple[str, str, str]:
        """The two symbols and the merged one."""
        return (self.left, self.right, self.joined)


class Ranks(Protocol):
    """The order of the merges."""

    def get(self, pair: tuple[str, str], /) -> int | None:
        """Return the rank of a pair; None if it is never merged."""


@dataclass(frozen=True)
class Merging:
    """Byte-pair encoding as a trained model's tokenizer does it."""

    ranks: Ranks
    alphabet: Alphabet
    whole: Collection[str] = ()
    """The pieces that need no merges."""
    method: Method = "merges"

    def split(self, piece: str) -> tuple[tuple[str, ...], tuple[Merge, ...]]:
        """Return the symbols of a piece before any merge, and its merges in order."""
        symbols = tuple(self.alphabet.symbols(piece))
        return symbols, tuple(bpe(symbols, self.ranks))

    def explained(
        self, tokens: Sequence[str], unknown: str | None
    ) -> tuple[tuple[str, ...], tuple[Merge, ...]]:
        """Return the symbols of a piece with these tokens before any merge, and its merges.

        `unknown`: the token for unknown characters, which is never merged.
        """
        if len(tokens) == 1 and tokens[0] in self.whole:
            return (tokens[0],), ()
        parts = (
            [token] if token == unknown else self.alphabet.symbols_of_token(token)
            for token in tokens
        )
        symbols = tuple(chain.from_iterable(parts))
        return symbols, tuple(bpe(symbols, self.ranks))


def ranks(merges: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the rank of each pair, in the order in which the pairs were learned."""
    return {pair: rank for rank, pair in enumerate(merges, 1)}


def bpe(symbols: Sequence[str], ranks: Ranks) -> Iterator[Merge]:
    """Yield the merges in order, until no pair is known; of equal pairs, the leftmost first."""
    now = list(symbols)
    before = [at - 1 for at in range(len(now))]
    behind = [at + 1 for at in range(len(now))]

    def rank(at: int) -> int | None:
        """Return the rank of a symbol and the next one; None if there is no such pair."""
        last = not 0 <= at < len(now) or behind[at] == len(now)
        return None if last else ranks.get((now[at], now[behind[at]]))

    known = [(found, at) for at in range(len(now)) if (found := rank(at))]
    heapify(known)
    while known:
        first, at = heappop(known)
        if rank(at) != first:
            continue  # one of the two was merged with another neighbor
        other = behind[at]
        yield Merge(now[at], now[other], first, (at, other))
        now[at], now[other] = now[at] + now[other], ""
        behind[at] = behind[other]
        if behind[at] < len(now):
            before[behind[at]] = at
        for changed in (before[at], at):
            if found := rank(changed):
                heappush(known, (found, changed))


def merged(symbols: Sequence[str], merges: Iterable[Merge]) -> tuple[str, ...]:
    """Return the symbols after some merges."""
    now = list(symbols)
    for merge in merges:
        first, second = merge.at
        now[first], now[second] = merge.joined, ""
    return tuple(filter(None, now))
