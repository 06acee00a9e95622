"""Words of the reports on arrays: lists of names and addresses, sizes of differences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite, isnan

from tracer.check.against import LargestDifference
from tracer.formula.expression import Number
from tracer.formula.numbers import trimmed
from tracer.lesson import document as doc
from tracer.names import count
from tracer.renderers.text import number_text

MOST_NAMES = 8
"""The most names that a sentence lists."""
NUMBER = re.compile(r"(?<=layer|.head)[0-9]+")
"""The number of a layer or a head in an address."""


def together(addresses: Sequence[str]) -> list[str]:
    """Return addresses with those of several layers and heads as one: `layer{1,2}.ffn.norm`."""
    found = dict[str, list[list[str]]]()
    for address in addresses:
        found.setdefault(NUMBER.sub("{}", address), []).append(NUMBER.findall(address))
    return [form.format(*map(_numbers, zip(*each, strict=True))) for form, each in found.items()]


def _numbers(numbers: Sequence[str]) -> str:
    """Return numbers as a shell has them: `3`, `{1,3}`, `{1..4}`."""
    own = sorted(set(map(int, numbers)))
    is_range = own[-1] - own[0] == len(own) - 1 > 1
    listed = f"{own[0]}..{own[-1]}" if is_range else ",".join(map(str, own))
    return f"{{{listed}}}" if len(own) > 1 else listed


def shortlist(names: Sequence[str]) -> doc.Sentence:
    """List names; the first of many."""
    shown = [doc.Name(each) for each in names[:MOST_NAMES]]
    parts = [part for each in shown for part in (each, ", ")][:-1]
    more = len(names) - len(shown)
    return (*parts, f", and {more} more") if more else tuple(parts)


def written_float(number: float, digits: int = 7) -> str:
    """Return a float with a few digits; NaN and infinity in words."""
    if not isfinite(number):
        return "not a number" if isnan(number) else "∞" if number > 0 else "-∞"
    return number_text(Number(trimmed(Decimal(f"{number:.{digits}g}"))))


def how_many(differ: int, seen: int) -> str:
    """Return how many of the compared arrays differ."""
    if differ:
        return f"{differ} {'differs' if differ == 1 else 'differ'}"
    return "all agree" if seen > 1 else "it agrees"


def agreeing(names: Sequence[str], noun: str) -> doc.Sentence:
    """Count what agrees before the first difference; nothing if it is the first."""
    if not names:
        return ()
    verb = "agrees" if len(names) == 1 else "agree"
    return (f"Before it, {count(len(names), noun)} {verb}; the last is ", doc.Name(names[-1]), ".")


def sizes(compared: LargestDifference) -> tuple[str, str]:
    """Return the largest difference, and the relative one, for a table."""
    if compared.at is None:
        return "shape", "–"
    return written_float(compared.difference, 2), written_float(compared.relative, 2)
