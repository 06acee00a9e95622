"""Claims about numbers: which is the largest, and which part contributes most to a number.

Which is largest is decided on the numbers as they were computed; of what is alike, there or in
print, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tracer.decoder.elementwise import Divide
from tracer.decoder.operations import Dot, MatMul
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Number, Quotient, Sum
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Name, Sentence
from tracer.lesson.steps.kind import Step
from tracer.lesson.working.lines import Writer
from tracer.names import distinct

COUNTED = re.compile("[a-z][₀-₉]+")
"""d₀, q₁: what a column without a name is called."""


def is_named(label: str) -> bool:
    """Return whether a label is more than a column's number."""
    return COUNTED.fullmatch(label) is None


@dataclass(frozen=True)
class FollowedRow:
    """The followed token's row of a value: its labels, and its numbers as computed and printed."""

    labels: tuple[str, ...]
    computed: tuple[Any, ...]
    printed: Callable[[int], Number]
    """Prints the number of a column: the row for a trained model's words has tens of thousands."""

    @staticmethod
    def of(value: Value, ctx: LessonContext) -> FollowedRow:
        """Return labels, made distinct if one occurs twice."""
        row = ctx.row(value)
        labels, computed = distinct(value.axes[1].labels), tuple(value.read_computed(row))
        return FollowedRow(labels, computed, lambda column: ctx.number(value, row, column))

    def sizes(self) -> FollowedRow:
        """Return the absolute values."""
        return FollowedRow(
            self.labels,
            tuple(map(abs, self.computed)),
            lambda column: Number(abs(self.printed(column).value)),
        )

    def ranked(self, among: Sequence[int] | None = None, *, lowest: bool = False) -> list[int]:
        """The largest column and the next, or the smallest, each only where no other is like it.

        None where there is nothing to compare.
        """
        columns = range(len(self.labels)) if among is None else among
        order = sorted(columns, key=self.computed.__getitem__, reverse=not lowest)
        # Numbers that print the same are adjacent.
        shown = [self.printed(column).value for column in order[:3]]
        if len(order) < 2 or shown[0] == shown[1]:
            return []
        return order[:1] if shown[1] in shown[2:] else order[:2]

    def name(self, column: int) -> Sentence:
        """A column inside a sentence."""
        return (Name(self.labels[column]),)

    def ahead(
        self,
        ranked: Sequence[int],
        name: Callable[[int], Sentence] | None = None,
        of: int | None = None,
    ) -> Sentence:
        """` with 11.563, followed by “Emma” with 7.957`; the second only where it is clear.

        It is the other one if only two, `of` all columns, are compared: `; “Emma” has 7.957`.
        """
        named = name or self.name
        first, *others = ranked
        largest: Sentence = (" with ", self.printed(first))
        if not others:
            return largest
        second = others[0]
        if (of or len(self.labels)) == 2:
            return (*largest, "; ", *named(second), " has ", self.printed(second))
        return (*largest, ", followed by ", *named(second), " with ", self.printed(second))


def largest_named(value: Value, ctx: LessonContext) -> tuple[Sentence, Sentence] | None:
    """The largest of the columns that the author has named, if it is positive, and how large."""
    if not value.per_token:
        return None
    row = FollowedRow.of(value, ctx)
    ranked = row.ranked()
    if not ranked or row.printed(ranked[0]).value <= 0 or not is_named(row.labels[ranked[0]]):
        return None
    return row.name(ranked[0]), row.ahead(ranked)


@dataclass(frozen=True)
class DominantPart:
    """The part of a sum that is more than half of it, and which one it is, counted from 0."""

    index: int
    part: Number
    whole: Number


def main_part(record: Record, ctx: LessonContext, column: int) -> DominantPart | None:
    """Return the part that contributes most to an entry of the followed token, in printed numbers.

    None where it has only one part, where parts take something away, or none is more than half.
    """
    writer = Writer(ctx)
    sides = writer.chain(record, (ctx.row(record.output), column)).sides
    sums = [side.over for side in sides if isinstance(side, Quotient)] or list(sides)
    whole = sums[-1]
    for side in sums:
        if not isinstance(side, Sum) or not isinstance(whole, Number):
            continue
        parts = [term for term in side.terms if isinstance(term, Number) and term.value >= 0]
        if len(parts) == len(side.terms):
            part = max(parts, key=lambda number: number.value)
            index = parts.index(part)
            # The numbers of a line are rounded: another part may be larger.
            computed = _terms(record, ctx, column)
            is_main = bool(computed) and 2 * computed[index] > sum(computed)
            if is_main and part.value < whole.value < 2 * part.value:
                return DominantPart(index, part, whole)
    return None


def _terms(record: Record, ctx: LessonContext, column: int) -> list[Any]:
    """Return the terms of a dot product as computed; of a score, before it is divided."""
    if isinstance(record.operation, Divide):
        record = ctx.trace.producers[record.inputs[0]]
    if not isinstance(record.operation, MatMul | Dot):
        return []
    x, w, *biases = record.inputs
    across = w.read((column,) if isinstance(record.operation, Dot) else (slice(None), column))
    products = [a * b for a, b in zip(x.numbers[ctx.row(x)], across, strict=True)]
    return products + [bias.numbers[column] for bias in biases]


def main_source(
    record: Record, ctx: LessonContext, name: Callable[[int], Sentence], sources: int
) -> Sentence | None:
    """Say which of the `sources`, without the bias, contributes most to the largest number.

    Only where the author has named its column.
    """
    row = FollowedRow.of(record.output, ctx)
    ranked = row.ranked() if len(row.labels) > 1 else [0]
    if not ranked or not is_named(row.labels[ranked[0]]):
        return None
    found = main_part(record, ctx, ranked[0])
    if found is None or found.index >= sources:
        return None
    source = (" comes from ", *name(found.index), ": ", found.part, " of ", found.whole, ".")
    return ("Most of ", *row.name(ranked[0]), *source)


def main_column(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which column of the first operand contributes most to the largest number."""
    if not isinstance(step.last.operation, MatMul):
        return None
    columns = distinct(step.last.inputs[0].axes[1].labels)
    return main_source(step.last, ctx, lambda index: (Name(columns[index]),), len(columns))
