"""Whatever a text holds, auditing it ends soon, and longer texts take longer in proportion."""

from __future__ import annotations

import random
import time

import pytest

from tests.audit.conftest import audited
from tracer.audit.reading.texts import Markup

LENGTH = 8_000

SIGNS = {
    "equal": "=",
    "equal apart": "= ",
    "powers": "^",
    "braces": "{",
    "chains": "1=",
    "chains in brackets": "(1=",
    "bullets": "- ",
    "lists": "[1,",
    "dollars": "$",
    "displays": "$$ a ",
    "norms": "‖1",
    "comments": "<!--",
    "stars": "**a",
    "fences": "`",
    "lines": "1 +\n",
    "false sums": "1.55 + 2.55 = 3\n",
    "large powers": "9^9999 = 3 ",
    "units": "1\\ \\text{kg}\\cdot\\text{m}",
    "commas": "0,5 + 1,25 = ",
}

OPENED = ("", "2 * ", "max(", "[", "x_1 = [", "[3 more: 1.5×10", "softmax(x) = [", "√", "e^", "‖")
DIGITS = ("1", "20", "000", ".5", "٣", "2e5", "3e-999", " ")
NOTATIONS = ("½", " km/h", "\\frac12", "$", " + … + ", "万")
_SIGNS = [",", "{,}", "\\,", "×10", "³", "⁻⁶", "^", "+", "-", "/", "%", "°", "!", "_"]
BETWEEN = (*NOTATIONS, *_SIGNS, "\u202f", " * 10^", "⁹" * 30, "\n")
"""What numbers, and what is computed with them, are put together of."""
CLOSED = (" = 1", ") = 1", "] = 1", "]", "‖ ≈ 0.5", "] = [1, 2]")


@pytest.mark.parametrize(
    "markup", [Markup.MARKDOWN, Markup.LATEX, Markup.HTML, Markup.RESTRUCTURED]
)
@pytest.mark.parametrize("name", SIGNS)
def test_it_ends_without_an_error(name: str, markup: Markup) -> None:
    sign = SIGNS[name]
    audited(sign * (LENGTH // len(sign)) + "\n1 = 1 = 2", markup)


@pytest.mark.parametrize("seed", range(20))
def test_no_mixture_of_digits_and_signs_raises_anything(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(200):
        parts = (drawn.choice(each) for each in (OPENED, *(DIGITS, BETWEEN) * 2, DIGITS, CLOSED))
        text = "".join(parts)
        audited(text, drawn.choice((Markup.MARKDOWN, Markup.LATEX, Markup.PLAIN)))


_FUNCTIONS = r"""
sin cos tan \sin \tan^{-1} sin⁻¹ arccos arctan sinh cosh atanh π \pi ° ^\circ ^{\circ} \frac
( ) { } [ ] / * - + = ≈ ≠ ! !! _ | · % M 2 3 0.5 229 1,000 3e+14 <br/> \bigl( \bigr) =- mod
"""
FUNCTIONS = _FUNCTIONS.split()


@pytest.mark.parametrize("seed", range(10))
def test_no_mixture_of_functions_and_angles_raises_anything(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(100):
        parts = drawn.choices([*FUNCTIONS, "\n"], k=drawn.randint(3, 60))
        text = drawn.choice(("", " ")).join(parts)
        audited(text, drawn.choice((Markup.MARKDOWN, Markup.LATEX, Markup.PLAIN)))


@pytest.mark.parametrize(
    ("written", "holds"),
    [
        ("max(1{,}000, 2) = 1000", True),
        ("max(1{,}000, 2) = 300", False),
        ("max(1\\,000,200) = 1200", False),
        ("min(2, 10,000) = 2", True),
        ("max(2, 10,000) = 10,001", False),
        ("Note \\emph{2,500 \\times 0.7 = 1750}", True),
        ("2 * 1e5 * 10^3 = 2e8", True),
        ("2 * 1.5e5 × 10³ = 3.1e8", False),
        ("(stride $2 * 5000 = 10{,}000$)", True),
        ("2 + [3 more: 1.5×10⁻²] = 2.015", True),
    ],
)
def test_numbers_with_separators_and_powers_are_read(written: str, holds: bool) -> None:
    found = audited(written)
    assert (found.read, found.hold) == (1, holds)


def test_brackets_in_brackets_are_left_alone_from_some_depth_on() -> None:
    for depth, read in ((10, 1), (1000, 0)):
        content = f"{'(' * depth}1 + 1{')' * depth} = 2"
        assert audited(content).read == read


def seconds(content: str) -> float:
    """Of this process, the least of two times."""
    times = []
    for _ in range(2):
        start = time.process_time()
        audited(content)
        times.append(time.process_time() - start)
    return min(times)


DIFFERENT = "".join(f"{i}+1.1={i}.3\n" for i in range(10_000, 12_000))
"""False, each with figures of its own."""


@pytest.mark.parametrize("name", ["equal apart", "chains", "displays", "different"])
def test_four_times_the_text_takes_four_times_as_long(name: str) -> None:
    text = SIGNS[name] * 20_000 if name in SIGNS else DIFFERENT
    once = 5_000 if name in SIGNS else len(DIFFERENT) // 4
    assert seconds(text[: 4 * once]) < 4 * 2 * seconds(text[:once]) + 0.05
