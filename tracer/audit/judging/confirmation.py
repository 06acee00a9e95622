"""The evidence that two sides that do not agree are read as they are meant.

A slip usually comes near the correct result, and often has a name; a misreading gives any number.
`KINDS` is the table of such evidence. A kind is strong if nine in ten of the findings that it
confirms in texts about neural networks are true: `python -m tests.audit.statistics` counts them in
tests/audit/judged.csv. What only weak kinds confirm is reported on request.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum

from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.magnitudes import is_of_sizes
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex
from tracer.audit.reading.sizes import is_literal
from tracer.audit.reading.texts import Text


class Strength(IntEnum):
    """How well it is confirmed that an equation is read as it is meant."""

    NONE = 0
    WEAK = 1
    STRONG = 2


_SLIP = Decimal("0.2")
"""A slip seldom changes a result by more than this share."""

_NAMED, _LONG, _ALONE = 3, 10, 100
"""What follows an equals sign, what is long, and what is in a short text are seldom off by more."""

_SHORT = 1000
"""A text with fewer characters has nothing around an equation that could be evidence."""

_MANY, _SEVERAL = 6, 4
"""So many numbers are nearly always one computation, and so many in a formula of its own."""

_SPACE = r"(?:[^\S\n]|[${*`&~€£¥\0]|\\[,;:! ]|\\displaystyle|<[^<>]*>)*"
_NAME = re.compile(rf"(?:[=≈]|\\approx(?:eq)?|\\simeq){_SPACE}\n?{_SPACE}\Z")
_OPENS = re.compile(r"(?:\$|\\[(\[])[\s{]*(?:\\(?:displaystyle|phantom\{[^$]*\}|[,;!])\s*)*\Z")
_CLOSES = re.compile(r"(?:[\s}.,;]|\\(?:quad|[,;! ])|\\text\s?\{[^{}$]*\})*(?:\$|\\[)\]])")


def strength(pair: Pair) -> Strength:
    """Return how strong the evidence at the place of two sides is."""
    return max((each for each, holds in KINDS.values() if holds(pair)), default=Strength.NONE)


def _is_of_scale(pair: Pair) -> bool:
    """Return whether only the power of ten is wrong: roots and the like often change units."""
    is_scale = pair.found.verdict is Verdict.SCALE
    changes = any(isinstance(part, ex.Call) and not ex.is_percent(part) for part in pair.parts)
    return is_scale and (is_short(pair.text) or not changes)


def _may_be_a_prefix(pair: Pair) -> bool:
    """Return whether the power of ten is that of milli, kilo, mega …, or a word's."""
    unit, power = _UNIT.match(pair.behind), pair.found.factor.adjusted()
    if is_literal(pair.left, pair.right):
        return False
    if power in (-2, 2):
        return bool(unit) and not is_of_sizes(pair.left, pair.right)  # 3e8 / 24e9 = 1.25 cm
    has_word = re.search(r"[^\W\d_]{2}", pair.sources[1]) or unit
    return power % 3 == 0 and not (is_short(pair.text) and not has_word)


_UNIT = re.compile(
    r"(?:[^\S\n]|[~$*_{}`\0)]|\\[,;:! ]|\\(?:text|mathrm|mbox|rm)\b)*"
    r"(?!(?:and|as|at|but|for|if|in|is|it|of|on|or|so|that|the|then|to|we|when|where|which|with)\b)"
    r"(?:[^\W\d_]|°|\\mu)"
)


def _has_unit(pair: Pair) -> bool:
    """Return whether a unit that is not read may be behind the result."""
    is_read = any(number.measure for number in ex.numbers(pair.right))
    return not is_read and _UNIT.match(pair.behind) is not None


def _is_alone(pair: Pair) -> bool:
    """Return whether the text is short, and no unit explains the result, nor degrees: 2π = 360."""
    has_call = any(isinstance(part, ex.Call) for part in pair.parts)
    is_angle = ex.Constant("π") in pair.parts and not has_call
    return is_short(pair.text) and _is_within(pair, _ALONE) and not (is_angle or _has_unit(pair))


def _is_slip(pair: Pair) -> bool:
    return pair.ratio is not None and abs(pair.ratio - 1) <= _SLIP


def _follows_a_sign(pair: Pair) -> bool:
    """Return whether the left side itself follows an equals sign: p = 0.3 × 0.5 = 0.2."""
    follows = pair.previous is not None or _NAME.search(pair.before) is not None
    return follows and _is_within(pair, _NAMED) and not _is_negated(pair)


def _is_a_formula(pair: Pair) -> bool:
    """Return whether dollar signs or brackets hold it alone, with several numbers."""
    is_one = "$" not in "".join(pair.sources)
    begins = pair.previous is not None or _OPENS.search(pair.before)
    ends = pair.following is not None or _CLOSES.match(pair.after)
    has_several = len(pair.numbers) >= _SEVERAL and _is_within(pair, _LONG)
    return has_several and is_one and bool(begins and ends)


def _raises(pair: Pair) -> bool:
    """Return whether the value of a power is given as an approximate one: 0.72^19 ≈ 0.00045."""
    powers = (isinstance(part, ex.Power) for part in ex.every(pair.left))
    is_near = _is_within(pair, _LONG) and not _is_negated(pair)
    return is_near and pair.is_approximate and ex.is_printed(pair.right) and any(powers)


def _is_reversed(pair: Pair) -> bool:
    """Return whether the sides differ in nothing but their signs."""
    return pair.ratio is not None and abs(pair.ratio + 1) < Decimal("0.01")


def _is_within(pair: Pair, factor: int) -> bool:
    """Return whether the sides differ by no more than a factor; if one is 0, that is not known."""
    if pair.found.verdict is Verdict.SCALE:
        return False
    return pair.ratio is None or 1 / Decimal(factor) <= abs(pair.ratio) <= factor


def _is_negated(pair: Pair) -> bool:
    """Return whether the sides have opposite signs; words or a bullet may give the sign."""
    return pair.ratio is not None and pair.ratio < 0


def _is_of_a_mistake(pair: Pair) -> bool:
    is_false = pair.found.verdict is Verdict.FALSE
    return is_false and pair.cause is not None and not _is_negated(pair)


def _has_many(pair: Pair) -> bool:
    return len(pair.numbers) >= _MANY and _is_within(pair, _LONG)


KINDS: dict[str, tuple[Strength, Callable[[Pair], bool]]] = {
    "near the result": (Strength.STRONG, _is_slip),
    "a known mistake": (Strength.STRONG, _is_of_a_mistake),
    "after an equals sign": (Strength.STRONG, _follows_a_sign),
    "many numbers": (Strength.STRONG, _has_many),
    "a formula of its own": (Strength.STRONG, _is_a_formula),
    "a power": (Strength.STRONG, _raises),
    "a short text": (Strength.STRONG, _is_alone),
    "a power of ten": (Strength.STRONG, lambda p: _is_of_scale(p) and not _may_be_a_prefix(p)),
    "a prefix": (Strength.WEAK, _is_of_scale),
    "the other sign": (Strength.WEAK, _is_reversed),
}
"""The kinds of evidence: how strong each is, and whether two sides have it."""


def is_short(text: Text) -> bool:
    """Return whether a text, or all cells of a notebook, hold hardly more than an equation."""
    return len(text.content) + text.other_cells < _SHORT
