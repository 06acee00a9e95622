"""The evidence that two sides that do not agree are read as they are meant.

A slip usually comes near the correct result, and often has a name; a misreading gives any number.
In texts by others, four in five of the findings with such evidence were true, and fewer than half
of the others: tests/audit/judged.csv.
"""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reading.texts import Text

_SLIP = Decimal("0.2")
"""A slip seldom changes a result by more than this share."""

_NAMED, _LONG, _ALONE = 3, 10, 100
"""What follows an equals sign, what is long, and what is in a short text are seldom off by more."""

_SHORT = 1000
"""A text with fewer characters has nothing around an equation that could be evidence."""

_REVERSED = Decimal("0.01")

_MANY = 6
"""At least so many numbers, with signs between them, are nearly always one computation."""

_SEVERAL = 4
"""A formula with fewer numbers may be one of symbols, or another notation."""

_SPACE = r"(?:[^\S\n]|[${*`&~€£¥\0]|\\[,;:! ]|\\displaystyle|<[^<>]*>)*"
_NAME = re.compile(rf"(?:[=≈]|\\approx(?:eq)?|\\simeq){_SPACE}\n?{_SPACE}\Z")
_OPENS = re.compile(r"(?:\$|\\[(\[])[\s{]*(?:\\(?:displaystyle|phantom\{[^$]*\}|[,;!])\s*)*\Z")
_CLOSES = re.compile(r"(?:[\s}.,;]|\\(?:quad|[,;! ])|\\text\s?\{[^{}$]*\})*(?:\$|\\[)\]])")


def is_confirmed(pair: Pair, cause: str | None) -> bool:
    """Return whether there is such evidence at the place of two sides; `cause` explains them."""
    if pair.found.verdict is Verdict.SCALE:
        return is_short(pair.text) or not any(map(_changes_units, pair.parts))
    return (
        (pair.ratio is not None and abs(pair.ratio - 1) <= _SLIP)
        or (cause is not None and not _is_negated(pair))
        or (_follows_a_sign(pair) and _is_within(pair, _NAMED) and not _is_negated(pair))
        or (is_short(pair.text) and _is_within(pair, _ALONE))
        or ((len(pair.numbers) >= _MANY or _is_a_formula(pair)) and _is_within(pair, _LONG))
        or (_raises(pair) and _is_within(pair, _LONG) and not _is_negated(pair))
        or (_is_reversed(pair) and pair.is_alone)
    )


def _changes_units(part: ex.Expression) -> bool:
    """Return whether it is a function, such as a root: its result often has another prefix."""
    return isinstance(part, ex.Call) and not ex.is_percent(part)


def _follows_a_sign(pair: Pair) -> bool:
    """Return whether the left side itself follows an equals sign: p = 0.3 × 0.5 = 0.2."""
    return pair.previous is not None or _NAME.search(pair.before) is not None


def _is_a_formula(pair: Pair) -> bool:
    """Return whether dollar signs or brackets hold it alone, with several numbers."""
    is_one = "$" not in "".join(pair.sources)
    begins = pair.previous is not None or _OPENS.search(pair.before)
    ends = pair.following is not None or _CLOSES.match(pair.after)
    return len(pair.numbers) >= _SEVERAL and is_one and bool(begins and ends)


def _raises(pair: Pair) -> bool:
    """Return whether the value of a power is given as an approximate one: 0.72^19 ≈ 0.00045."""
    powers = (isinstance(part, ex.Power) for part in ex.every(pair.left))
    return pair.is_approximate and ex.is_printed(pair.right) and any(powers)


def _is_reversed(pair: Pair) -> bool:
    """Return whether the sides differ in nothing but their signs."""
    return pair.ratio is not None and abs(pair.ratio + 1) < _REVERSED


def _is_within(pair: Pair, factor: int) -> bool:
    """Return whether the sides differ by no more than a factor; if one is 0, that is not known."""
    return pair.ratio is None or 1 / Decimal(factor) <= abs(pair.ratio) <= factor


def _is_negated(pair: Pair) -> bool:
    """Return whether the sides have opposite signs; words or a bullet may give the sign."""
    return pair.ratio is not None and pair.ratio < 0


def is_short(text: Text) -> bool:
    """Return whether a text, or all cells of a notebook, hold hardly more than an equation."""
    return len(text.content) + text.other_cells < _SHORT
