"""Byte-pair encoding (Sennrich et al. 2016): of all neighbours, those learned first are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from tracer.frozen import frozen


@frozen
class Merge:
    """Two neighbours that are joined."""

    left: str
    right: str
    rank: int
    """Its place in the list of merges, counted from 1: the smallest goes first."""
    at: tuple[int, int]
    """Where both begin, among the symbols that the piece had at first, counted from 0."""

    @property
    def joined(self) -> str:
        """The new symbol."""
        return self.left + self.right

    @property
    def symbols(self) -> tuple[str, str, str]:
        """Those that are joined, and the new one."""
        return (self.left, self.right, self.joined)


def ranks(merges: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The rank of each pair, in the order in which they were learned."""
    return {pair: rank for rank, pair in enumerate(merges, 1)}


def bpe(symbols: Sequence[str], ranks: Mapping[tuple[str, str], int]) -> Iterator[Merge]:
    """The merges in their order, until no neighbours are known; of equal ones the leftmost."""
    now = list(symbols)
    before = [at - 1 for at in range(len(now))]
    behind = [at + 1 for at in range(len(now))]

    def rank(at: int) -> int | None:
        """That of a symbol and the one behind it; none where it is joined already, or the last."""
        last = not 0 <= at < len(now) or behind[at] == len(now)
        return None if last else ranks.get((now[at], now[behind[at]]))

    known = [(found, at) for at in range(len(now)) if (found := rank(at))]
    heapify(known)
    while known:
        first, at = heappop(known)
        if rank(at) != first:
            continue  # one of the two was joined with another neighbour
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
    """What symbols become by merges."""
    now = list(symbols)
    for merge in merges:
        first, second = merge.at
        now[first], now[second] = merge.joined, ""
    return tuple(filter(None, now))
