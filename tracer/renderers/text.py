"""Expressions and names as one line of plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tracer.formula.expression import Blank, Chain, Expression, Number
from tracer.formula.numbers import trimmed
from tracer.lesson.document import (
    Cell,
    Code,
    Emphasis,
    Inline,
    Name,
    Percent,
    Plain,
    Reference,
)
from tracer.names import name_text, visible
from tracer.renderers.notation import Notation

CLUSTERS = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]){2}|.[\u0300-\u036f\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*"
    "(?:\u200d.[\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
"""One visible character: a letter with its accents, a flag, a family emoji."""


_TEXT = Notation()

text = _TEXT.write
"""An expression as text."""

number_text = _TEXT.number
"""A number with its digits, as a power of ten where it is very large or very small."""


def sides(chain: Chain, write: Callable[[Expression], str] = text) -> list[str]:
    """The sides of a chain, each after the first with its relation."""
    first, *rest = map(write, chain.sides)
    return [first, *(f"{sign} {side}" for sign, side in zip(chain.relations, rest, strict=True))]


def one_line(chain: Chain) -> str:
    """A chain in plain text."""
    return " ".join(sides(chain))


def words(parts: Iterable[Inline]) -> str:
    """A sentence as plain text."""
    return "".join(map(_words, parts))


def _words(part: Inline) -> str:
    match part:
        case str():
            return part
        case Name(name) | Code(name):
            return name_text(name)
        case Plain(said):
            return visible(said)
        case Emphasis(parts):
            return words(parts)
        case Percent():
            return f"{text(in_percent(part))} %"
        case Reference(number):
            return f"step {number}"
        case _:
            return text(part)


def in_percent(share: Percent) -> Number | Blank:
    """The number before the sign %."""
    of = share.number
    if isinstance(of, Blank):
        return Blank(of.number, percentage(of.answer))
    return percentage(of)


def percentage(number: Number) -> Number:
    """A hundred times a number."""
    return Number(trimmed(number.value * 100))


def cell_text(cell: Cell) -> str:
    """A cell of a table."""
    return name_text(cell.text) if isinstance(cell, Name) else text(cell)
