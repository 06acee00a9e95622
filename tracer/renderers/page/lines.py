"""The data for the page's script: every number, and its line in pieces to point at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from tracer.decoder.value import Entry, Index, Value
from tracer.formula.expression import Chain, Number, Rest
from tracer.lesson.texts.page import Page, PageSource
from tracer.names import name_text
from tracer.renderers.notation import Marking, pieces
from tracer.renderers.text import number_text, sides, text

Piece: TypeAlias = str | list[str]
"""Text; or text that is put in from entries, which follow it."""


class NumberNames:
    """The name of each number on a page: `12:3,0`, a source and the place in it."""

    def __init__(self, page: Page) -> None:
        self.sources = list({id(source): source for source in page.sources.values()}.values())
        places = {id(source): i for i, source in enumerate(self.sources)}
        self._places = {value: places[id(source)] for value, source in page.sources.items()}
        self._found: Mapping[Value, PageSource] = page.sources

    def name(self, entry: Entry | None) -> str | None:
        """The name of an entry, if it is on the page."""
        if entry is None or entry.value not in self._places:
            return None
        if entry.at not in self._found[entry.value].numbers:
            return None
        return f"{self._places[entry.value]}:{_at(entry.at)}"

    def source(self, value: Value) -> tuple[int, PageSource] | None:
        """The source of a value and its number in the data, if the page shows any of it."""
        return (self._places[value], self._found[value]) if value in self._found else None

    def line(self, chain: Chain) -> tuple[str | None, Chain]:
        """The name of the number that a chain computes, if any; the chain without its symbol."""
        result = chain.sides[-1]
        entry = result.entry if isinstance(result, Number) else None
        name = self.name(entry)
        known = self._found[entry.value].lines.get(entry.at) if entry and name else None
        if known is None or chain.sides[-len(known.sides) :] != known.sides:
            return None, chain
        return name, known

    def data(self) -> list[dict[str, Any]]:
        """All sources with their entries."""
        marking = Marking(self._names)
        return [self._source(source, marking) for source in self.sources]

    def _source(self, source: PageSource, marking: Marking) -> dict[str, Any]:
        return {
            "symbol": text(source.symbol),
            "address": source.address,
            "labels": [list(map(name_text, axis)) for axis in source.labels],
            "given": source.given,
            "entries": {_at(at): self._entry(source, at, marking) for at in source.numbers},
        }

    def _entry(self, source: PageSource, at: Index, marking: Marking) -> dict[str, Any]:
        """A number with the sides before its result if it was computed, or its source if copied."""
        entry: dict[str, Any] = {"number": number_text(source.numbers[at])}
        if at in source.lines:
            chain = source.lines[at]
            entry["work"] = _work(chain, marking)
            entry["sign"] = chain.relations[-1]
            entry["result"] = text(chain.sides[-1])
        elif name := self.name(source.moved.get(at)):
            entry["is"] = name
        return entry

    def _names(self, of: Number | Rest) -> list[str]:
        """The names of the entries that a number, or omitted terms, are taken from."""
        entries: Iterable[Entry | None] = [of.entry] if isinstance(of, Number) else []
        if isinstance(of, Rest) and of.hidden:
            entries = of.hidden()
        return [name for entry in entries if (name := self.name(entry))]


def _work(chain: Chain, marking: Marking) -> list[Piece]:
    marked = " ".join(sides(chain, marking.write)[:-1])
    return [[words, *names] if names else words for words, names in pieces(marked)]


@lru_cache(maxsize=4096)  # each number is named many times
def _at(index: Index) -> str:
    return ",".join(map(str, index))
