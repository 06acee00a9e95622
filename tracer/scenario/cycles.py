"""Layers that repeat: runs of equal ones, and groups of runs that follow each other again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any


@dataclass(frozen=True)
class Cycle:
    """Runs of equal layers, which follow each other `times` times; layers count from 0."""

    runs: tuple[range, ...]
    """The layers of each run, the first time."""
    times: int = 1

    @property
    def period(self) -> int:
        """The number of layers until the first one comes again."""
        return self.runs[-1].stop - self.runs[0].start

    def all_of(self, run: range) -> tuple[int, ...]:
        """Return the layers of a run, each time."""
        starts = range(0, self.times * self.period, self.period)
        return tuple(start + layer for start in starts for layer in run)


def cycles(kinds: Sequence[Any]) -> list[Cycle]:
    """Return the cycles of layers of these kinds with the fewest different runs.

    Sliding and full attention in turn are a cycle of two runs, five sliding layers and a full one
    also; thirty equal layers are one run.
    """
    runs: list[range] = []
    for _, run in groupby(range(len(kinds)), lambda layer: kinds[layer]):
        first, *others = run
        runs.append(range(first, first + 1 + len(others)))
    keys = [(kinds[run.start], len(run)) for run in runs]
    best: list[list[Cycle]] = [[] for _ in range(len(runs) + 1)]
    for start in reversed(range(len(runs))):
        found = [[Cycle((runs[start],)), *best[start + 1]]]
        for period in range(2, (len(runs) - start) // 2 + 1):
            cycle = keys[start : start + period]
            end = start + period
            while keys[end : end + period] == cycle:
                end += period
            if (times := (end - start) // period) > 1:
                found.append([Cycle(tuple(runs[start : start + period]), times), *best[end]])
        # Of equally good ones, the last begins to repeat first.
        best[start] = min(reversed(found), key=lambda each: sum(len(c.runs) for c in each))
    return best[0]
