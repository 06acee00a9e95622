"""A typed number is judged by the rule that all numbers are rounded with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.renderers.page.script.conftest import SCRIPT

RIGHT, LAST_DIGIT, WRONG = "correct", "last digit off", "wrong"

JUDGED = [
    *(("11.563", typed, RIGHT) for typed in ("11.563", "11.5631", "11.5625", "11.56250", "11,563")),
    *(("11.563", typed, LAST_DIGIT) for typed in ("11.564", "11.56249", "11.5635")),
    *(
        ("11.563", typed, WRONG)
        for typed in ("-11.563", "11.57", "11.6", "about 11", "", ".", "1e")
    ),
    *(("-0.352", typed, RIGHT) for typed in ("-0.352", "−.352", " - 0.3525 ".replace("5 ", " "))),
    *(("-0.352", typed, LAST_DIGIT) for typed in ("-0.3525", "-0.351")),
    ("-0.352", "0.352", WRONG),
    *(("2.1×10⁻⁵", typed, RIGHT) for typed in ("2.1×10⁻⁵", "0.000021", "2.1e-5", "2.1 * 10^-5")),
    *(("2.1×10⁻⁵", typed, LAST_DIGIT) for typed in ("2.2e-5", "0.00002")),
    ("2.1×10⁻⁵", "2.1", WRONG),
    *(("-∞", typed, RIGHT) for typed in ("-∞", "−∞", "-inf", "∞")),
    ("-∞", "0", WRONG),
    *(("20", typed, verdict) for typed, verdict in (("19.5", RIGHT), ("19.49", LAST_DIGIT))),
]
"""The number printed, what is typed, and what is said of it: rounded half away from zero."""


@pytest.fixture(scope="module")
def verdicts(browser: Any) -> list[str]:
    """All at once."""
    page = browser.new_page()
    judging = (SCRIPT / "judging.js").read_text(encoding="utf-8")
    said: list[str] = page.evaluate(
        f"pairs => {{ {judging}; return pairs.map(pair => verdict(...pair)) }}",
        [[typed, printed] for printed, typed, _ in JUDGED],
    )
    page.close()
    return said


@pytest.mark.parametrize("i", range(len(JUDGED)))
def test_what_is_typed_is_judged(i: int, verdicts: list[str]) -> None:
    printed, typed, verdict = JUDGED[i]
    assert (printed, typed, verdicts[i]) == (printed, typed, verdict)
