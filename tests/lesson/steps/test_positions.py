"""The dot products of position vectors, computed from the sines and cosines without rounding."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.helpers.command import printed

TABLE = r"position vectors depends only on their distance\..*?\n\n(.*?)\n\n"


@pytest.mark.parametrize("options", [(), ("--carry", "line"), ("--carry", "never")])
@pytest.mark.parametrize("name, width, tokens", [("alex", 6, 4), ("pizza", 6, 5), ("comics", 4, 4)])
def test_dot_products_are_those_without_rounding(
    name: str, width: int, tokens: int, options: tuple[str, ...]
) -> None:
    text = printed("run", name, *options, "-f", "markdown")
    angles = np.outer(np.arange(3, 3 + tokens), 10000 ** (-np.arange(0, width, 2) / width))
    vectors = np.hstack([np.sin(angles), np.cos(angles)])
    [table] = re.findall(TABLE, text, re.DOTALL)
    rows = [row.strip("| ").split(" | ") for row in table.split("\n")[2:]]
    assert [int(distance) for distance, _ in rows] == list(range(tokens))
    for distance, shown in rows:
        half = 0.5 * 10.0 ** -len(shown.partition(".")[2])
        assert abs(float(shown) - vectors[0] @ vectors[int(distance)]) <= half + 1e-12
