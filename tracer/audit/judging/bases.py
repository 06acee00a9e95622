"""Doubts about the number system that the numbers of an equation are written in."""

from __future__ import annotations

import re

from tracer.audit.judging import systems
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex

LONG = 40
"""The numbers in 1101 = 1·2³ + 1·2² + …, for the longest such sum."""


def is_binary(pair: Pair) -> bool:
    """Return whether all numbers have only the digits 0 and 1, and are not powers of ten.

    Or the left side has two binary fractions: 0.1011 ÷ 0.1101.
    """
    if len(_FRACTION.findall(pair.sources[0])) > 1 and not _DIGIT.search(pair.sources[0]):
        return True
    sources = list(map(pair.source, pair.numbers))
    if not sources or not all(set(source) <= {"0", "1"} for source in sources):
        return False
    if all(len(source) == 1 for source in sources):
        return True
    has_two_ones = any(source.count("1") > 1 for source in sources)
    return has_two_ones or pair.holds_as(systems.in_bases({2}))


_FRACTION, _DIGIT = re.compile(r"\b[01]\.[01]{4,}\b"), re.compile(r"[2-9]")
"""Binary fractions, as in 1.0011 + 0.1101, and the digits that they do not have."""


def has_leading_zeros(pair: Pair) -> bool:
    """Return whether a number has leading zeros."""
    return any(re.match(r"0\d", number.printed) for number in pair.numbers)


def is_of_another_system(pair: Pair) -> bool:
    """Return whether the text around is about a system in which the sides may be equal."""
    where = pair.start, pair.end
    is_positional, is_bitwise = pair.systems.is_positional(*where), pair.systems.is_bitwise(*where)
    if (is_positional or is_bitwise) and _has_bits(pair):
        return True
    if _has_binary_fractions(pair) and pair.holds_as(systems.in_bases({2}, exponents=False)):
        return True
    if is_positional and pair.holds_as(systems.in_bases(pair.systems.bases(*where)), LONG):
        return True
    if _STAR.search("".join(pair.sources)) and pair.systems.redefines_products(*where):
        return True
    if not pair.is_whole or pair.has(ex.Call):
        return False
    return (
        systems.wraps(pair.found.computed, pair.found.printed)
        or (pair.systems.is_modular(*where) and _may_be_a_remainder(pair))
        or (is_bitwise and pair.holds_as(systems.bits))
    )


_STAR = re.compile(r"\*|∗|\\ast\b")


def _has_binary_fractions(pair: Pair) -> bool:
    """Return whether a number has only the digits 0 and 1, also behind a point: 1.01."""
    return any(re.fullmatch(r"[01]*\.[01]*1[01]*", number.printed) for number in pair.numbers)


def _may_be_a_remainder(pair: Pair) -> bool:
    """Return whether the sides may be equal modulo some number."""
    if pair.found.computed is None:
        return True
    moduli = pair.systems.moduli(pair.start, pair.end)
    if pair.is_between_expressions:
        return systems.are_congruent(pair.found.computed, pair.found.printed, moduli)
    return systems.is_remainder(pair.found.computed, pair.found.printed, moduli)


def _has_bits(pair: Pair) -> bool:
    """Return whether a long number is of 0 and 1, or all are: 1.000 × 1.110 = 1.110 × 2."""
    longest = [source for source in map(pair.source, pair.numbers) if len(source) > 2]
    are_bits = [set(source) <= {"0", "1", "."} for source in longest]
    are_codes = [re.fullmatch(r"1[01]*1[01]*", source) and len(source) > 3 for source in longest]
    return bool(longest) and (all(are_bits) or any(are_codes))
