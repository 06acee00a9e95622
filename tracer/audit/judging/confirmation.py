"""What confirms that two sides are read as they are meant, although they do not agree.

A slip comes near what is right, and what it gives has a name; a misreading gives any number. Of
the findings in texts by others, nine in ten of those that something confirms were true, of the
rest not even every second one: tests/audit/judged.csv.
"""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex

_SLIP = Decimal("0.2")
"""A slip seldom changes a result by more than this share."""

_NAMED, _ALONE = 3, 100
"""What has a name, and what is in a short text, is off by no more than these factors."""

_SHORT = 1000
"""A text with fewer characters has nothing around that could confirm anything."""

_LONG = 6
"""So many numbers with signs between them are hardly ever anything but one computation."""

_NAME = re.compile(r"(?:[=≈]|\\approx(?:eq)?)[\s${*`&]*\Z")
_END = re.compile(r"[\s$*|&.,;\\]*(?:\n|\Z)")


def is_confirmed(pair: Pair) -> bool:
    """Return whether something at its place confirms how a pair of sides is read."""
    if pair.found.verdict is Verdict.SCALE:
        is_by_a_function = any(map(_is_function, pair.parts))
        return _is_alone(pair) or not is_by_a_function  # its result may be in another unit
    return (
        (pair.ratio is not None and abs(pair.ratio - 1) <= _SLIP)
        or (_has_a_name(pair) and _is_within(pair, _NAMED) and not _is_negated(pair))
        or (_is_alone(pair) and _is_within(pair, _ALONE))
        or (len(pair.numbers) >= _LONG and _END.match(pair.after) is not None)
    )


def _is_function(part: ex.Expression) -> bool:
    return isinstance(part, ex.Call) and not ex.is_percent(part)


def _has_a_name(pair: Pair) -> bool:
    """Return whether the left side itself follows an equals sign: p = 0.3 × 0.5 = 0.2."""
    return pair.previous is not None or _NAME.search(pair.before) is not None


def _is_within(pair: Pair, factor: int) -> bool:
    return pair.ratio is None or 1 / Decimal(factor) <= abs(pair.ratio) <= factor


def _is_negated(pair: Pair) -> bool:
    """Return whether the sides have opposite signs; words may give the sign, or a bullet."""
    return pair.ratio is not None and pair.ratio < 0


def _is_alone(pair: Pair) -> bool:
    """Return whether a text holds hardly anything else."""
    return len(pair.text.content) + pair.text.elsewhere < _SHORT
