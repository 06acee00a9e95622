"""Draws many random cases and collects what is wrong with any of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

T = TypeVar("T")


def faults_of_all(
    cases: st.SearchStrategy[T],
    judge: Callable[[T], list[str]],
    most: int,
    number: int | None = None,
) -> list[str]:
    """The faults of at most so many cases, and behind them the case that has them.

    The cases are new ones in each run, or follow from `number`.
    """
    found: list[str] = []

    @settings(
        max_examples=most,
        derandomize=False,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def judge_one(case: T) -> None:
        try:
            faults = judge(case)
        except AssertionError as error:
            faults = [str(error)]
        if faults:
            found.extend([*faults, f"of {case}"])

    (judge_one if number is None else seed(number)(judge_one))()
    return found
