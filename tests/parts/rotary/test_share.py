"""Queries and keys of which only the first columns are rotated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.helpers.figures import checked
from tests.helpers.part_tests import refusals
from tests.helpers.traces import traced

TURNED = """\
tokens: [a, b]
embeddings: [[1, 2, 3, 4], [0.5, -1, 0.25, 2]]
positions: {rotary: {share: 0.5, layout: LAYOUT, base: 100}}
layers:
  - attention:
      heads: [{W_Q: identity, W_K: identity, W_V: identity}]
rounding: {carry: never}
"""


def test_a_text_that_rotates_all_columns_is_recognized(tmp_path: Path) -> None:
    scenario = TURNED.replace("LAYOUT", "pairs")
    address = "layer1.attention.head1.rotated_query"
    theirs = traced(scenario.replace("share: 0.5, ", ""))[address].numbers[1]
    figure = {"address": address, "row": 2, "printed": [f"{number:.5f}" for number in theirs]}
    found = checked(tmp_path, scenario, figure).findings
    held = {(str(finding.verdict), finding.by) for finding in found} - {("agrees", "")}
    assert held == {("variant", "with all columns rotated")}


def rotated(rows: NDArray[np.float64], width: int, base: float) -> NDArray[np.float64]:
    """The first columns in pairs across their halves, as complex numbers; positions from 0."""
    pairs = (width + 1) // 2
    angles = np.outer(np.arange(len(rows)), base ** (-2 * np.arange(pairs) / width))
    turned = (rows[:, :pairs] + 1j * rows[:, pairs : 2 * pairs]) * np.exp(1j * angles)
    return np.hstack([turned.real, turned.imag, rows[:, 2 * pairs :]])


@pytest.mark.parametrize("width", [6, 12, 26, 96])
def test_a_share_of_any_width_is_its_float_rounded_down(width: int) -> None:
    rows = np.random.default_rng(width).integers(-9, 9, (2, width)) / 4
    for pairs in {1, width // 3, width // 2}:
        share = 2 * pairs / width  # 2/3 is typed as 0.6666666666666666
        assert int(width * share) == 2 * pairs
        text = TURNED.replace("[[1, 2, 3, 4], [0.5, -1, 0.25, 2]]", str(rows.tolist()))
        found = traced(text.replace("0.5, layout: LAYOUT", f"{share!r}, layout: halves"))
        query = found["layer1.attention.head1.rotated_query"].numbers.astype(float)
        np.testing.assert_allclose(query, rotated(rows, 2 * pairs, 100), atol=1e-12)


PAIRS, TYPED = TURNED.replace("LAYOUT", "pairs"), "0.5, layout: pairs"

test_a_share_without_pairs_is_refused = refusals(
    PAIRS,
    (TYPED, "0.25", 6, "4 columns, of which 1 are rotated, expected an even number of them"),
    (TYPED, "0.3", 6, "4 columns, of which 1.2 are rotated, expected an even number of them"),
    (TYPED, "0", 3, "positions.rotary.share: expected more than 0, got '0'"),
    (TYPED, "1.5", 3, "positions.rotary.share: expected at most 1, got '1.5'"),
    (TYPED, "0.5, factors: [1, 2]", 3, "positions.rotary.factors: 2 numbers, expected 1 (one per"),
)
