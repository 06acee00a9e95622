"""Byte-pair encoding (Sennrich et al. 2016): of all neighbours, those learned first are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Merge:
    """Two neighbours that are joined, and what stands there then."""

    left: str
    right: str
    rank: int
    """Its place in the list of merges, counted from 1: the smallest goes first."""
    symbols: tuple[str, ...]
    """The whole piece behind this merge."""

    @property
    def joined(self) -> str:
        """The new symbol."""
        return self.left + self.right


def ranks(merges: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The rank of each pair, in the order in which they were learned."""
    return {pair: rank for rank, pair in enumerate(merges, 1)}


def bpe(symbols: Sequence[str], ranks: Mapping[tuple[str, str], int]) -> Iterator[Merge]:
    """The merges in their order, until no neighbours are known; of equal ones the leftmost."""
    symbols = tuple(symbols)
    while known := [
        (ranks[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in ranks
    ]:
        rank, at = min(known)
        left, right = symbols[at : at + 2]
        symbols = (*symbols[:at], left + right, *symbols[at + 2 :])
        yield Merge(left, right, rank, symbols)
