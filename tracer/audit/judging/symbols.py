"""What looks like numbers and stands for something else: determinants, cycles, Legendre symbols."""

from __future__ import annotations

import re

from tracer.audit.judging.judgement import judge
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex


def is_misread(pair: Pair) -> bool:
    """Return whether a determinant, a row's power, or commas in arguments may be misread.

    So may be digits, each with its own markup, and a root of what has a line above it.
    """
    source = "".join(pair.sources)
    if '<span class="m' in source or "√<span" in source:
        return True
    powers = (part.base for part in pair.parts if isinstance(part, ex.Power))
    if any(isinstance(base, ex.Vector) for base in powers):
        return True
    return "vmatrix" in source or (
        any(isinstance(part, ex.Call) and len(part.arguments) > 1 for part in pair.parts)
        and re.search(r"\d,\d{3},\d{3}", pair.sources[0]) is not None
    )


def are_multiples(pair: Pair) -> bool:
    """Return whether two vectors have the same direction, as eigenvectors: (1/3, 1) = (1, 3)."""
    match pair.left, pair.right:
        case ex.Vector((one, *ones)), ex.Vector((other, *others)) if len(ones) == len(others):
            found = [judge(*of) for of in zip((one, *ones), (other, *others), strict=True)]
            ratios = {each.printed / each.computed for each in found if each and each.computed}
            return len(ratios) == 1 and all(each is not None for each in found)
    return False


_ALONE = re.compile(r"\s*\(\d+\)\s*")


def is_in_parentheses(pair: Pair) -> bool:
    """Return whether a side is a number in parentheses: an ideal (6), an equation's number (3)."""
    return any(map(_ALONE.fullmatch, pair.sources))


_SYMBOL = re.compile(
    r"[\s+−-]*(?:(?:\\left|\\[bB]igg?l?)?\s*\(\s*\\[dt]?frac[^()]+(?:\\right|\\[bB]igg?r?)?\s*\)\s*)+"
)
_CLASS = re.compile(r"\s*\[[^\[\],]+\]\s*")


def are_symbols(pair: Pair) -> bool:
    """Return whether both sides are Legendre symbols, which look like fractions, or [classes]."""
    if all(map(_CLASS.fullmatch, pair.sources)):
        return True
    are_fractions = all(map(_SYMBOL.fullmatch, pair.sources))
    return are_fractions and pair.systems.is_modular(pair.start, pair.end)


_CYCLES = re.compile(r"(?:\s*\(\d{2,}\))+\s*")


def are_cycles(pair: Pair) -> bool:
    """Return whether both sides are whole numbers in parentheses: (123) = (13)(12)."""
    return all(map(_CYCLES.fullmatch, pair.sources))
