"""Hues can be read on black and on white, and those that meet are told apart by everybody."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.color import Color

from tests.helpers.traces import bundled, records, writer
from tracer.decoder.value import Entry
from tracer.formula.expression import Number, entries_in
from tracer.renderers.palette import BLUE, CLAY, GRAY, GREEN, MAGENTA, hue, hues
from tracer.renderers.text import number_text, text

HUES = (BLUE, CLAY, MAGENTA, GREEN)
SIGHTS = {
    "all colors": np.eye(3),
    # Machado, Oliveira and Fernandes 2009, of somebody who does not see one of three colors.
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                        [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                          [-0.011820, 0.042940, 0.968881]]),
    "no blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                         [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
APART = 20
"""So far colors lie apart in CIELAB that nobody takes for one; 2.3 can just be seen."""


def light(style: str) -> NDArray[np.float64]:
    """Red, green and blue of a style, as amounts of light."""
    share = np.array(Color.parse(style).get_truecolor()) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(of: NDArray[np.float64]) -> NDArray[np.float64]:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ np.clip(of, 0, 1) / to_xyz.sum(axis=1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("style", [*HUES, GRAY])
def test_contrast_on_black_and_on_white(style: str) -> None:
    luminance = float(light(style) @ [0.2126, 0.7152, 0.0722])
    assert (luminance + 0.05) / 0.05 >= 4.5
    assert 1.05 / (luminance + 0.05) >= 4.5


def met() -> set[tuple[str, str]]:
    """The hues of numbers that one side of a line puts in, in all bundled scenarios."""
    found: set[tuple[str, str]] = set()
    for name in ("alex", "science", "pizza", "comics"):
        of = bundled(name)
        write = writer(of)
        for record in records(of).values():
            for line in write.lines(record, len(of.tokens) - 1):
                for side in line.chain.sides[:-1]:
                    numbers = (
                        Number(entry.value.numbers.flat[0], entry) for entry in entries_in(side)
                    )
                    found |= set(combinations(sorted({hue(n) for n in numbers} - {""}), 2))
    return found


@pytest.mark.parametrize("sight", SIGHTS)
def test_hues_that_meet_in_a_line_are_told_apart(sight: str) -> None:
    pairs = met()
    assert tuple(sorted((MAGENTA, GREEN))) in pairs
    for a, b in pairs:
        seen = [lab(SIGHTS[sight] @ light(style)) for style in (a, b)]
        assert float(np.linalg.norm(seen[0] - seen[1])) >= APART, (a, b)


def test_a_number_has_the_hue_of_its_matrix() -> None:
    of = bundled("alex")
    made = records(of)
    at = "layer1.attention.head1."
    line = writer(of).lines(made[f"{at}scores"], 3)[0].chain
    written = text(line.sides[0])
    found = {written[a:b]: style for a, b, style in hues(line.sides[0])}
    assert found == {"2.589": MAGENTA, "1.589": MAGENTA, "5.271": GREEN, "1.703": GREEN}
    weight = made[f"{at}query"].inputs[1]
    assert hue(Number(weight.numbers[0, 0], Entry(weight, (0, 0)))) == ""


@pytest.mark.parametrize("name", ["alex", "pizza"])
def test_each_number_that_is_put_in_has_its_hue_where_it_stands(name: str) -> None:
    of = bundled(name)
    for record in records(of).values():
        for line in writer(of).lines(record, 0):
            for side in line.chain.sides:
                written = text(side)
                colored = [written[a:b] for a, b, _ in hues(side)]
                assert all(re.fullmatch(r"-?[0-9.]+(×10⁻?[⁰-⁹¹²³]+)?|-?∞", one) for one in colored)
                if isinstance(side, Number) and hue(side):
                    assert colored == [number_text(side)]
