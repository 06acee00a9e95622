"""Doubts about errors that nobody makes."""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging import wording
from tracer.audit.judging.evaluation import Meaning, evaluate, face
from tracer.audit.judging.intervals import Interval
from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex

SIMPLE = 10
"""Everyone can add numbers up to this one."""

_SAID = re.compile(
    r"\b(?!(?:[Ss]o|[Tt]hen|[Tt]hus|[Hh]ence|and)\b)[^\W\d_]{2,}(?:[ $*`]|<[^<>]*>)*\Z"
)
_REMARKED = re.compile(r"[\s$*`)]*(?:\(|(?!(?:and|but|while|then|und|aber)\b)[^\W\d_]{3})")


def is_simple(pair: Pair) -> bool:
    """Return whether a sum of small numbers means something else: 4 + 1 + 1 = 3 coins.

    A word or a remark follows, or it is a proverb in a sentence: it means that 1 + 1 = 3.
    """
    if not pair.is_whole or any(number.value > SIMPLE for number in pair.numbers):
        return False
    match pair.left, pair.right:
        case ex.Sum((ex.Number(one), ex.Number(other))), ex.Number(value) if (
            one == other
            and value == one + other + 1
            and (_SAID.search(pair.before) or pair.is_a_remark)
        ):
            return True
        case ex.Sum(), ex.Number() if not pair.is_alone:
            return _REMARKED.match(pair.after) is not None
    return False


def are_names(pair: Pair) -> bool:
    """Return whether digits may name what has a share: tokens 0 + 1 = 75%."""
    match pair.left:
        case ex.Sum(terms) if ex.is_percent(pair.right):
            are_whole = (
                isinstance(t, ex.Number) and t.is_whole and t.value < SIMPLE for t in terms
            )
            return all(are_whole)
    return False


def is_owed(pair: Pair) -> bool:
    """Return whether words give the sign: he owes 40 + 20 = -60, a loss of 70 - 85 = 15."""
    if pair.ratio is not None and abs(pair.ratio + 1) < Decimal("0.01"):
        return wording.is_of_a_loss(pair.before, pair.after)
    match pair.left:
        case ex.Sum(terms) if not any(isinstance(term, ex.Negative) for term in terms):
            return not pair.is_alone and pair.found.printed < 0
    return False


def is_another_logarithm(pair: Pair) -> bool:
    """Return whether two expressions are nearly equal with base-2 logarithms: log(10,000) ≈ 14."""
    has_log = any(isinstance(part, ex.Call) and part.name == "log" for part in pair.parts)
    if not (has_log and pair.is_between_expressions):
        return False
    try:
        one, other = (evaluate(side, face, Meaning(log="log2")) for side in (pair.left, pair.right))
    except ArithmeticError:
        return False
    if not (isinstance(one, Interval) and isinstance(other, Interval)) or not one.middle:
        return False
    return abs(other.middle / one.middle - 1) < Decimal("0.1")


def is_score(pair: Pair) -> bool:
    """Return whether a share is printed as a whole percentage without its sign."""
    found = pair.found
    is_hundredfold = found.verdict is Verdict.SCALE and found.factor == 100
    is_whole = isinstance(pair.right, ex.Number) and pair.right.is_whole
    is_share = found.computed is not None and found.computed <= 1
    return is_hundredfold and is_whole and is_share and not pair.is_alone


def is_of_one_digit(pair: Pair) -> bool:
    """Return whether a power of ten is concluded from one digit that is not exact: 5 + 4 = 1."""
    found = pair.found
    if found.verdict is not Verdict.SCALE or not isinstance(pair.right, ex.Number):
        return False
    computed = found.computed
    return pair.right.digits == 1 and (computed is None or computed * found.factor != found.printed)
