"""Layers that repeat."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from tracer.scenario.cycles import cycles


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("", []),
        ("a", [("a", 1)]),
        ("aaaa", [("aaaa", 1)]),
        ("abababab", [("ab", 4)]),
        ("ababa", [("ab", 2), ("a", 1)]),
        ("sssf" * 8, [("sssf", 8)]),
        ("sssssf" * 4 + "ss", [("sssssf", 4), ("ss", 1)]),
        ("fsss" * 2, [("fsss", 2)]),
        ("a" + "bc" * 3, [("a", 1), ("bc", 3)]),
        ("abab" + "cc" + "dede", [("ab", 2), ("cc", 1), ("de", 2)]),
        ("abcacb", [("a", 1), ("b", 1), ("c", 1), ("a", 1), ("c", 1), ("b", 1)]),
    ],
)
def test_what_repeats_is_a_cycle(kinds: str, expected: list[tuple[str, int]]) -> None:
    found = cycles(kinds)
    assert [("".join(kinds[i] for r in c.runs for i in r), c.times) for c in found] == expected


def test_each_layer_is_in_one_run_and_as_few_runs_as_possible_are_drawn() -> None:
    for kinds in product("abc", repeat=7):
        found = cycles(kinds)
        groups = [cycle.all_of(run) for cycle in found for run in cycle.runs]
        assert sorted(i for group in groups for i in group) == list(range(len(kinds)))
        assert all(len({kinds[i] for i in group}) == 1 for group in groups)
        neighbors = 1 + sum(a != b for a, b in pairwise(kinds))
        assert len(groups) <= neighbors
