"""The data for the page's script: every number, and its line in pieces to point at."""

from __future__ import annotations

from typing import Any, TypeAlias

from tracer.formula.expression import Chain, Number, Rest
from tracer.lesson.texts.page import NumberNames, PageSource, place_name
from tracer.names import name_text
from tracer.renderers.notation import Marking, pieces
from tracer.renderers.text import number_text, sides, text

Piece: TypeAlias = str | list[str]
"""Text; or text that is put in from entries, which follow it."""


def data(numbers: NumberNames) -> list[dict[str, Any]]:
    """All sources with their entries."""
    marking = Marking(lambda of: _names(numbers, of))
    return [_source(numbers, source, marking) for source in numbers.sources]


def _source(numbers: NumberNames, source: PageSource, marking: Marking) -> dict[str, Any]:
    return {
        "symbol": text(source.symbol),
        "address": source.address,
        "labels": [list(map(name_text, axis)) for axis in source.labels],
        "given": source.given,
        "entries": {
            place_name(at): _entry(number, source.lines.get(at), copied, marking)
            for at, number in source.numbers.items()
            for copied in [numbers.name(source.moved.get(at))]
        },
    }


def _entry(
    number: Number, line: Chain | None, copied: str | None, marking: Marking
) -> dict[str, Any]:
    """A number with the sides before its result if it was computed, or its source if copied."""
    entry: dict[str, Any] = {"number": number_text(number)}
    if line:
        entry["work"] = _work(line, marking)
        entry["sign"] = line.relations[-1]
        entry["result"] = text(line.sides[-1])
    elif copied:
        entry["is"] = copied
    return entry


def _names(numbers: NumberNames, of: Number | Rest) -> list[str]:
    """The names of the entries that a number, or omitted terms, are taken from."""
    entries = [of.entry] if isinstance(of, Number) else of.hidden() if of.hidden else []
    return [name for entry in entries if (name := numbers.name(entry))]


def _work(chain: Chain, marking: Marking) -> list[Piece]:
    marked = " ".join(sides(chain, marking.write)[:-1])
    return [[words, *names] if names else words for words, names in pieces(marked)]
