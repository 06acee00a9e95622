"""Find numbers of a text that are the same: one entry, or a copy of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import TypeAlias

from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.entries import labels
from tracer.node import found

Name: TypeAlias = tuple[Hashable, ...]
"""The key of an entry: its address and the labels of its row and column."""


class EqualNumbers:
    """The numbers of a document that are taken from traces, put together where they are the same.

    Two are the same if they are one entry, also of two traces; if they have the same labels and
    the same digits, as a score and the masked score have; or if they have the same digits as
    results of one section, for the same row of tables with different columns: the sine of a
    frequency is a feature of the position. Parameters, which are given, are like no other number.
    """

    def __init__(self, document: doc.Document) -> None:
        self._of = dict[Name, Name]()
        """For each name the name of the number that it copies, or itself."""
        self._digits = defaultdict[Name, set[str]](set)
        """The printed digits of each number."""
        self._begins = dict[Name, int]()
        for i, section in enumerate(document.sections):
            # The answer to a question can be of a pass with a change.
            blocks = (block for block in section.blocks if not isinstance(block, doc.Question))
            self._read(tuple(blocks), i)

    def one(self, number: Number) -> Name | None:
        """Return the representative of equal numbers; None for a number of no trace."""
        entry = number.entry
        if entry is None or entry.value.role.parameter or not number.value.is_finite():
            return None
        return self._first((entry.value.address, labels(entry)))

    def is_printed_alike(self, one: Name) -> bool:
        """Return whether a number is printed with the same digits everywhere."""
        return len(self._digits[one]) == 1

    def begins(self, one: Name) -> int:
        """Return the index of the first section with a number."""
        return self._begins[one]

    def _read(self, blocks: tuple[doc.Block, ...], section: int) -> None:
        for number in found(blocks, Number):
            if (name := self.one(number)) and number.entry:
                self._join(name, (labels(number.entry), number.value))
                self._note(name, str(number.value), section)
        rows = defaultdict[Hashable, dict[Hashable, Name]](dict)
        for number in _results(blocks):
            if (name := self.one(number)) and number.entry:
                row = labels(number.entry)[:1]
                columns = tuple(axis.name for axis in number.entry.value.axes[1:])
                rows[row, number.value].setdefault(columns, name)
        for same in rows.values():
            for name in same.values():
                self._join(next(iter(same.values())), name)
        for curve in found(blocks, doc.Curve):
            for number in curve.numbers:
                if name := self.one(number):
                    self._note(name, "drawn", section)

    def _note(self, name: Name, printed: str, section: int) -> None:
        one = self._first(name)
        self._digits[one].add(printed)
        self._begins.setdefault(one, section)

    def _first(self, name: Name) -> Name:
        while (other := self._of.setdefault(name, name)) != name:
            self._of[name] = self._of[other]
            name = other
        return name

    def _join(self, name: Name, other: Name) -> None:
        one, another = self._first(name), self._first(other)
        if one == another:
            return
        self._of[another] = one
        self._digits[one] |= self._digits.pop(another, set())
        if another in self._begins:
            begins = self._begins.pop(another)
            self._begins[one] = min(begins, self._begins.get(one, begins))


def _results(blocks: tuple[doc.Block, ...]) -> Iterator[Number]:
    """The results of the lines, and the numbers of the matrices below the first of them."""
    has_lines = False
    for block in blocks:
        if isinstance(block, doc.Working):
            has_lines = True
            for line in block.lines:
                yield from found(line.chain.sides[-1:], Number)
        elif isinstance(block, doc.Matrix) and has_lines:
            yield from found(block.cells, Number)
