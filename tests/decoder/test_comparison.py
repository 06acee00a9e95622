"""Which tokens of two texts are compared, and how far apart two arrays are."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.traces import bundled
from tracer.decoder.comparison import align, compare, gap
from tracer.decoder.forward import trace
from tracer.errors import TracerError

ALIGNED = {
    ("a b c", "x y z"): [(0, 0), (1, 1), (2, 2)],
    ("a b c", "a b"): [(0, 0), (1, 1)],
    ("a b c", "b c"): [(1, 0), (2, 1)],
    ("b c", "a b c"): [(0, 1), (1, 2)],
    ("a b c d", "a x y c d"): [(0, 0), (2, 3), (3, 4)],
    ("a a", "a a a"): [(0, 0), (1, 1)],
    ("a b a", "a b b a"): [(0, 0), (1, 1), (2, 3)],
    ("a", "a a"): [(0, 0)],
}


@pytest.mark.parametrize("texts", ALIGNED, ids=" | ".join)
def test_shared_tokens_are_aligned_from_both_ends(texts: tuple[str, str]) -> None:
    first, second = (tuple(text.split()) for text in texts)
    assert list(align(first, second).pairs) == ALIGNED[texts]


def test_texts_that_share_no_end_are_refused() -> None:
    with pytest.raises(TracerError, match="2 and 3 tokens and share none"):
        align(("a", "b"), ("x", "a", "y"))


def test_the_largest_difference_is_relative_to_the_first() -> None:
    ours, theirs = np.array([[1.0, -4.0], [0.0, 2.0]]), np.array([[1.0, -4.0], [3.0, 1.0]])
    assert gap(ours, theirs) == gap(ours, theirs)
    found = gap(ours, theirs)
    assert (found.at, found.largest, found.relative) == ((1, 0), 3.0, 0.75)


def test_equal_infinities_are_no_difference() -> None:
    hidden = np.array([-np.inf, 1.0])
    assert gap(hidden, hidden).largest == 0
    assert gap(hidden, np.array([0.0, 1.0])).largest == np.inf


def test_an_experts_rows_are_compared_by_token() -> None:
    first = bundled("experts")
    tokens = (*first.tokens[1:], first.tokens[0])
    second = trace("experts", first.scenario.reading(tokens))
    both = compare(first, second)
    for address, found in both.differences.items():
        rows = [value[address].axes[0] for value in (first, second) if value[address].axes]
        if rows and rows[0].positions is not None:
            ours, theirs = (axis.positions for axis in rows)
            assert ours and theirs
            assert ours[found.first.at[0]] == theirs[found.second.at[0]]
