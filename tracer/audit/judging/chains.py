"""Chains of equal sides, with what does not agree in them."""

from __future__ import annotations

from itertools import pairwise, starmap
from typing import NamedTuple

from tracer.audit.judging.confirmation import Strength, strength
from tracer.audit.judging.doubts import doubt
from tracer.audit.judging.finding import Doubtful, Finding, finding
from tracer.audit.judging.judgement import Judgement, Verdict, judge
from tracer.audit.judging.magnitudes import judged_as_sizes
from tracer.audit.judging.pairs import Pair
from tracer.audit.judging.quantities import is_rounded_row
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import Equation
from tracer.audit.reading.texts import Text

FURTHEST = 5
"""An unrounded number may come from up to this many sides earlier in a chain."""


class Weighed(NamedTuple):
    """Two sides that do not agree with the digits as printed."""

    verdict: Verdict
    decides: bool
    """Whether rounding could hide an error in them."""
    finding: Finding
    """The finding to report, unless it follows from another or rounding explains it."""
    strength: Strength
    """How well it is confirmed that they are read as they are meant."""
    left: ex.Expression
    right: ex.Expression


class Chain(NamedTuple):
    """A judged equation; of its sides that agree only the number is kept."""

    start: int
    end: int
    agreeing: int
    """The number of pairs of sides that agree with the digits as printed."""
    decides: int
    """The number of agreeing pairs of sides in which rounding could have hidden an error."""
    pairs: tuple[Weighed, ...]
    """The pairs of sides that do not agree with the digits as printed."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all pairs of sides."""
        return max((pair.verdict for pair in self.pairs), default=Verdict.ROUNDED)


def weighed(equation: Equation, text: Text) -> tuple[Chain | None, list[int], list[Doubtful]]:
    """Judge neighboring sides; return also the signs that cannot be judged, and the doubtful."""
    pairs, unread, doubtful = list[Weighed](), list[int](), list[Doubtful]()
    agreeing = decides = 0
    sides = [side.expression for side in equation.sides]
    computes = any(map(_computes, sides)) or any(starmap(is_rounded_row, pairwise(sides)))
    for i, sign in enumerate(equation.signs):
        left, right = equation.sides[i : i + 2]
        found = _judged(equation, i, text) if computes else None
        if found is None:
            unread.append(sign)
        elif found.verdict.at_face:
            agreeing += 1
            decides += found.decides
        else:
            around = (sides[j] if 0 <= j < len(sides) else None for j in (i - 1, i + 2))
            ends = left.start, right.end, sign
            pair = Pair(left.expression, right.expression, found, text, *ends, *around)
            reason = None if found.verdict.holds else doubt(pair, left.doubt, right.doubt)
            if reason:
                doubtful.append(Doubtful(text, left.start, right.end, reason))
                continue
            wrong = finding(left, right, pair)
            is_far = found.verdict >= Verdict.SCALE
            sure = strength(pair) if is_far else Strength.STRONG
            pairs.append(Weighed(found.verdict, found.decides, wrong, sure, pair.left, pair.right))
    if len(unread) + len(doubtful) == len(equation.signs):
        return None, unread, doubtful
    place = equation.sides[0].start, equation.sides[-1].end
    return Chain(*place, agreeing, decides, tuple(pairs)), unread, doubtful


def _computes(expression: ex.Expression) -> bool:
    parts = ex.every(expression)
    is_computed = any(isinstance(part, ex.Number | ex.Call) for part in parts)
    return is_computed and not ex.is_printed(expression)


def _judged(equation: Equation, i: int, text: Text) -> Judgement | None:
    """Judge two neighboring sides; an earlier side of the chain may explain the right one, too."""
    sides = equation.sides
    is_exact = text.content[equation.signs[i]] == "="
    found = judge(sides[i].expression, sides[i + 1].expression)
    if scaled := judged_as_sizes(
        sides[i].expression, sides[i + 1].expression, found, is_exact=is_exact
    ):
        return scaled
    if found and is_exact and _is_miscounted(found):
        return found._replace(verdict=Verdict.FALSE)
    if not found or found.verdict.holds:
        return found
    before = sides[max(0, i - FURTHEST) : i]
    others = [side.expression for side in before if not ex.is_printed(side.expression)]
    for other in others:
        instead = judge(other, sides[i + 1].expression)
        if instead and instead.verdict.holds:
            return instead._replace(verdict=Verdict.CONSISTENT)
        if instead and instead.verdict < Verdict.SCALE <= found.verdict:
            found = instead
    return found


COUNTED = 100
"""Nobody rounds smaller whole numbers to tens, and writes =."""


def _is_miscounted(found: Judgement) -> bool:
    """Return whether a small whole number is printed as another one: 30 * 0.3 = 10."""
    if found.verdict is not Verdict.ROUNDED or found.computed is None or found.unit < 10:
        return False
    return abs(found.computed) < COUNTED and found.computed == found.computed.to_integral_value()
