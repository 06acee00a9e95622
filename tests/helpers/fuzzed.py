"""Draws many random cases and collects what is wrong with any of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

T = TypeVar("T")


OF_A_SHARD = 10
"""Cases that are drawn from one seed: of more, Hypothesis repeats most with slight changes."""


def faults_of_all(
    cases: st.SearchStrategy[T],
    judge: Callable[[T], list[str]],
    most: int,
    number: int | None = None,
) -> list[str]:
    """The faults of at most so many different cases, and behind them the case that has them.

    The cases are new ones in each run, or follow from `number`.
    """
    rng, found = random.Random(number), list[str]()
    drawn: list[T] = []

    def draw(case: T) -> None:
        drawn.append(case)

    for start in range(0, most, OF_A_SHARD):
        few = settings(
            max_examples=min(OF_A_SHARD, most - start),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        seed(rng.getrandbits(64))(few(given(cases)(draw)))()
    for case in {repr(each): each for each in drawn}.values():
        try:
            faults = judge(case)
        except AssertionError as error:
            faults = [str(error)]
        if faults:
            found.extend([*faults, f"of {case}"])
    return found
