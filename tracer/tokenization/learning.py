"""Merges learned from the counts of words (Sennrich et al. 2016, algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from tracer.tokenization.bpe import bpe, merged

Pair = tuple[str, str]


@dataclass(frozen=True)
class LearnedMerge:
    """A merge that was learned: the counts before it, and the words after it."""

    pair: Pair
    """The most frequent pair of neighbors; of several, the first in the corpus."""
    counts: Mapping[Pair, tuple[int, ...]]
    """For each pair of neighbors, the count of a word for every place that has the pair."""
    before: tuple[tuple[str, ...], ...]
    """The symbols of each word before the merge."""
    after: tuple[tuple[str, ...], ...]
    """The symbols of each word after the merge."""

    @property
    def count(self) -> int:
        """How often the merged pair occurs."""
        return sum(self.counts[self.pair])


def symbols_to_read(corpus: Mapping[str, int], merges: int) -> int:
    """Return the most symbols that are read to learn so many merges: each time all of them.

    Each merge leaves one symbol less, so there are fewer merges than symbols.
    """
    symbols = sum(map(len, corpus))
    return symbols * min(merges, symbols)


def learn(corpus: Mapping[str, int], merges: int) -> tuple[LearnedMerge, ...]:
    """Return the merges in order, from words with their counts; fewer if no pair remains."""
    return _learned(tuple(corpus.items()), merges)


@lru_cache(maxsize=1)  # a scenario asks several times while it is loaded
def _learned(corpus: tuple[tuple[str, int], ...], merges: int) -> tuple[LearnedMerge, ...]:
    return tuple(_learn(dict(corpus), merges))


def _learn(corpus: Mapping[str, int], merges: int) -> Iterator[LearnedMerge]:
    words = tuple(map(tuple, corpus))
    for _ in range(merges):
        found: dict[Pair, list[int]] = {}
        for symbols, count in zip(words, corpus.values(), strict=True):
            for pair in pairwise(symbols):
                found.setdefault(pair, []).append(count)
        if not found:
            return
        counts = {pair: tuple(each) for pair, each in found.items()}
        best = max(counts, key=lambda pair: sum(counts[pair]))
        after = tuple(merged(symbols, bpe(symbols, {best: 1})) for symbols in words)
        yield LearnedMerge(best, counts, words, after)
        words = after
