"""A typed number is judged by the rule that all numbers are rounded with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

import pytest

from tests.renderers.page.script.conftest import SCRIPT

RIGHT, LAST_DIGIT, WRONG = "correct", "last digit off", "wrong"
SHORT, UNREADABLE = "correct so far", "not a number"

JUDGED = [
    *(("11.563", typed, RIGHT) for typed in ("11.563", "11.5631", "11.5625", "11.56250", "11,563")),
    *(("11.563", typed, LAST_DIGIT) for typed in ("11.564", "11.56249", "11.5635")),
    *(("11.563", typed, WRONG) for typed in ("-11.563", "11.57", "0", "11.570", "21.563")),
    *(("11.563", typed, SHORT) for typed in ("11.6", "11.56", "12", "10")),
    *(("11.563", typed, UNREADABLE) for typed in ("about 11", "", ".", "1e", "½", "1/2", "0x1")),
    *(("-0.352", typed, RIGHT) for typed in ("-0.352", "−.352", " - 0.3525 ".replace("5 ", " "))),
    *(("-0.352", typed, LAST_DIGIT) for typed in ("-0.3525", "-0.351")),
    ("-0.352", "0.352", WRONG),
    *(
        ("2.1×10⁻⁵", typed, RIGHT)
        for typed in ("2.1×10⁻⁵", "0.000021", "2.1e-5", "2.1 * 10^-5", "2.1×10^(-5)", "21E−6")
    ),
    ("2.1×10⁻⁵", "2.2e-5", LAST_DIGIT),
    ("2.1×10⁻⁵", "0.00002", SHORT),
    ("2.1×10⁻⁵", "2.1", WRONG),
    *(("-∞", typed, RIGHT) for typed in ("-∞", "−∞", "-inf", "∞")),
    ("-∞", "0", WRONG),
    *(("20", typed, verdict) for typed, verdict in (("19.5", RIGHT), ("19.49", LAST_DIGIT))),
    *(("105135", typed, SHORT) for typed in ("105000", "105100", "1.05e5")),
    *(("105135", typed, WRONG) for typed in ("106000", "105200")),
    *(("0.046416", typed, SHORT) for typed in ("0.046", "0.05", "0.0464")),
    ("0.046416", "0.047", WRONG),
]
"""The number printed, what is typed, and what is said of it: rounded half away from zero."""

WANTED = {
    "11.563": "3 decimals",
    "-0.5": "1 decimal",
    "20": "a whole number",
    "2.1×10⁻⁵": "2 significant digits",
    "1.069×10¹³": "4 significant digits",
    "2×10⁻⁹": "1 significant digit",
    "-∞": "a number or ∞",
}


def drawn(seed: int) -> tuple[str, str]:
    """A printed number and one near it that somebody types, of other places."""
    random = Random(seed)
    places = random.randrange(5)
    printed = random.randrange(-3000, 3000)
    typed = printed * 1000 + random.choice([0, 499, 500, 501, -499, -500, -501, 999, 1500])
    return f"{Decimal(printed).scaleb(-places):f}", f"{Decimal(typed).scaleb(-places - 3):f}"


def is_right(printed: str, typed: str) -> bool:
    """Python's decimal rounding, half away from zero."""
    wanted = Decimal(printed)
    return Decimal(typed).quantize(wanted, ROUND_HALF_UP) == wanted


@pytest.fixture(scope="module")
def judged(browser: Any) -> Iterator[Callable[[str, Sequence[Any]], list[str]]]:
    """Calls a function of the script for each of several arguments."""
    page = browser.new_page()
    judging = (SCRIPT / "judging.js").read_text(encoding="utf-8")

    def call(function: str, arguments: Sequence[Any]) -> list[str]:
        each = f"all => {{ {judging}; return all.map(each => {function}(...each)) }}"
        said: list[str] = page.evaluate(each, arguments)
        return said

    yield call
    page.close()


def test_what_is_typed_is_judged(judged: Callable[[str, Sequence[Any]], list[str]]) -> None:
    said = judged("verdict", [[typed, printed] for printed, typed, _ in JUDGED])
    assert [(*each[:2], is_said) for each, is_said in zip(JUDGED, said, strict=True)] == JUDGED


def test_it_is_right_if_it_rounds_to_the_printed_number(
    judged: Callable[[str, Sequence[Any]], list[str]],
) -> None:
    pairs = [drawn(seed) for seed in range(500)]
    said = judged("verdict", [[typed, printed] for printed, typed in pairs])
    right = [each == RIGHT for each in said]
    assert right == [is_right(*pair) for pair in pairs]
    assert 100 < sum(right) < 400


def test_how_many_digits_are_wanted(judged: Callable[[str, Sequence[Any]], list[str]]) -> None:
    said = judged("digitsWanted", [[printed] for printed in WANTED])
    assert dict(zip(WANTED, said, strict=True)) == WANTED
