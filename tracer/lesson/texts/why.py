"""The worked lines behind a number, back to the input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from tracer.decoder.forward import Trace
from tracer.decoder.operations import Chosen, Moved
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Value
from tracer.formula.expression import Number, Rest
from tracer.lesson import document as doc
from tracer.lesson.entries import name
from tracer.lesson.texts.origins import Origins, chosen_by
from tracer.lesson.texts.stored_blocks import stored_block
from tracer.lesson.working.lines import is_worked
from tracer.lesson.working.sums import Terms
from tracer.lesson.working.written import Worked
from tracer.names import count, distinct
from tracer.node import found

T = TypeVar("T")


LARGEST = Terms(shown=4, most=6, largest=True)
DEPTH = 3
"""Of a trained model, the terms of a sum and the steps back to show, if nothing else is asked."""


def why(
    trace: Trace, entry: Entry, depth: int | None = None, terms: Terms | None = None
) -> doc.Document:
    """Return the line of an entry, then the lines of its operands, nearest first, each once.

    `depth` limits how many levels to go back; None goes back to the input. Of a trained model, only
    the terms that are written out are followed, by default the largest, and only some levels back.
    """
    in_part = trace.scenario.on_demand
    origins = _Explanation(trace, (terms or LARGEST) if in_part else terms)
    depth = DEPTH if in_part and depth is None else depth
    levels = list(islice(origins.levels(entry), None if depth is None else depth + 1))
    sections = [
        doc.Section(
            None,
            f"{count(back, 'step')} back" if back else "The number",
            tuple(origins.blocks(level)),
        )
        for back, level in enumerate(levels)
    ]
    if in_part and (stored := stored_block(trace.pencil, entry)):
        sections.insert(1, stored)
    if in_part and (left := origins.left_out(levels)):
        sections.append(doc.Section(None, "What is left out", (doc.Paragraph(left),)))
    return doc.Document(trace.name, f"Where {name(entry)} comes from", (), tuple(sections))


def records_needed(trace: Trace, entry: Entry) -> list[Record]:
    """Return the records that an entry depends on, in order of computation, its own last.

    Of a trained model, those that its text shows.
    """
    in_part = trace.scenario.on_demand
    origins = Origins(trace, LARGEST if in_part else None)
    levels = islice(origins.levels(entry), DEPTH + 1 if in_part else None)
    needed = {each.value for level in levels for each in level}
    for record in reversed(trace.records):  # with every input that repeating their operations needs
        if record.output in needed and not in_part:
            needed.update(record.inputs)
    return [record for record in trace.records if record.output in needed]


class _Explanation(Origins):
    """Origins, written as blocks of a document."""

    def blocks(self, level: Iterable[Entry]) -> Iterator[doc.Block]:
        together: dict[Record, list[Entry]] = defaultdict(list)
        for entry in level:
            together[self.record_of(entry)].append(entry)
        for record, entries in together.items():
            value = record.output
            words = [entry for entry in entries if value.role.words]
            yield from (doc.Paragraph(self.word(record, entry)) for entry in words)
            if words:
                continue
            yield doc.Paragraph(self.heading(record))
            worked = [entry for entry in entries if is_worked(record, entry.at)]
            if worked:
                yield doc.Working(tuple(self.line(record, entry) for entry in worked))
            yield from self.given([entry for entry in entries if entry not in worked])

    def left_out(self, levels: Sequence[Sequence[Entry]]) -> doc.Sentence:
        """Return what the text leaves out, and the options that show it; nothing if it is whole."""
        shown = {entry for level in levels for entry in level}
        further = {e for entry in levels[-1] for e in self.inputs_of(entry)} - shown
        sums = sum(
            isinstance(record.operation, Worked)
            and any(found(self.teacher.writer.first_side(record, entry.at), Rest))
            for entry in shown
            if is_worked(record := self.record_of(entry), entry.at)
        )
        parts: list[str] = []
        if sums:
            parts.append(
                f"{'A sum is' if sums == 1 else f'{sums} sums are'} written in part, and only the "
                "terms that are written are followed; --terms 100 writes up to 100."
            )
        if further:
            lead, them = ("leads", "it") if len(further) == 1 else ("lead", "them")
            parts.append(
                f"{count(len(further), 'more number')} {lead} further back: --depth "
                f"{len(levels)} shows {them}."
            )
        return (" ".join(parts),) if parts else ()

    def heading(self, record: Record) -> doc.Sentence:
        """Return the symbol and address of the value, and the step that computes it."""
        address = record.output.address
        symbol, step = self.teacher.ctx.symbols[address], self.teacher.step_of.get(address)
        passed_on = isinstance(record.operation, Moved) and record.inputs[0] in self.producers
        worked = isinstance(record.operation, Worked) or passed_on
        if worked and not step:
            return (
                symbol,
                f", {address}:",
            )  # of another training example, which this text does not show
        where = f"step {step.number}" if step and worked else "given"
        return (symbol, f", {address}, {where}:")

    def given(self, entries: list[Entry]) -> Iterator[doc.Block]:
        """Show given entries as parts of their matrix, one for each set of columns."""
        if not entries:
            return
        value = entries[0].value
        if not value.axes:
            yield doc.Working((doc.Line(None, self.teacher.writer.is_given(value)),))
            return
        names = [distinct(axis.labels) for axis in value.axes]
        rows: dict[int, dict[int, Number]] = defaultdict(dict)
        for entry in entries:
            row, column = _in_two(entry.at, 0, value)
            rows[row][column] = self.number(entry)
        together: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for row, numbers in rows.items():
            together[tuple(sorted(numbers))].append(row)
        symbol = self.teacher.ctx.symbols[value.address]
        row_names, column_names = _in_two(names, ("",), value)
        for columns, those in together.items():
            yield doc.Matrix(
                symbol,
                tuple(row_names[i] for i in sorted(those)),
                tuple(column_names[j] for j in columns),
                tuple(tuple(rows[i][j] for j in columns) for i in sorted(those)),
            )

    def word(self, record: Record, entry: Entry) -> doc.Sentence:
        word = doc.Name(str(entry.value.read(entry.at)))
        if not isinstance(record.operation, Chosen):
            return (word, " is given.")
        chosen = chosen_by(record, entry)
        symbol = self.teacher.ctx.symbols[chosen.value.address]
        return (word, " is chosen; its ", symbol, " is ", self.number(chosen), ".")


def _in_two(of_axes: Sequence[T], other: T, value: Value) -> Sequence[T]:
    """Return one item for the rows and one for the columns; `other` replaces a missing axis.

    A vector is a row, except that one number per token is a column.
    """
    if len(of_axes) == 2:
        return of_axes
    return (of_axes[0], other) if value.per_token else (other, of_axes[0])
