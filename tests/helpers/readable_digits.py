"""An independent judge of needless signs: digits and brackets that no reader needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.helpers.truth import Node, worked

MANY_DIGITS = 10
"""So many significant digits of one number nobody reads …"""

FURTHER_DECIMALS = 5
"""… if its last one stands so many places behind the last one of the result …"""

FURTHER_DIGITS = 2
"""… and it has so many significant digits more: the square of a large number needs them all."""


class Unread(NamedTuple):
    line: int  # counted from 1
    text: str
    number: str


def unread_digits(text: str, decimals: int = 0) -> list[Unread]:
    """The numbers of worked lines with digits that nobody reads.

    `decimals` are those that the author asked for: a result may show fewer, its zeros trimmed.
    """
    found = []
    for line in worked(text):
        result = line.sides[-1]
        if result.kind == "number" and result.last is not None:
            finest = min(result.last, -decimals) - FURTHER_DECIMALS
            found += [
                Unread(line.line, line.text, number.text)
                for side in line.sides
                for number in _numbers(side)
                if _is_long(number, finest, _significant(result) + FURTHER_DIGITS)
            ]
    return found


def needless_brackets(text: str) -> list[Unread]:
    """Brackets around a later, positive term like 2.734×10¹³: × binds closer than + anyway.

    Around a factor, (2.734×10¹³)×5, they say what belongs together.
    """
    found = []
    for line in worked(text):
        for term in re.findall(r"[+-] (\([0-9.]+×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+\))(?![²^×/])", line.text):
            found.append(Unread(line.line, line.text, term))
    return found


def _numbers(node: Node) -> Iterator[Node]:
    if node.kind == "number":
        yield node
    for part in node.parts:
        yield from _numbers(part)


def _is_long(number: Node, finest: int, digits: int) -> bool:
    """Whether it has many digits, of which the last is behind the finest power of ten."""
    return _significant(number) >= max(MANY_DIGITS, digits) and (number.last or 0) <= finest


def _significant(number: Node) -> int:
    """How many significant digits a number is printed with."""
    mantissa = re.search(r"([0-9.]+)(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?\]?$", number.text)
    return len(mantissa[1].replace(".", "").lstrip("0")) if mantissa else 0
