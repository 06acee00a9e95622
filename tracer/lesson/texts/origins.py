"""The operands of each number of a trace, each under the address where it was computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tracer.decoder import operations as op
from tracer.decoder.elementwise import Mask, NegativeLogLikelihood, SoftmaxCrossEntropyGrad
from tracer.decoder.forward import Trace
from tracer.decoder.operations import AsRows, ByWord, Columns, Taken
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry
from tracer.formula.expression import Number, entries_in
from tracer.lesson.document import Line
from tracer.lesson.entries import labels
from tracer.lesson.steps.masks import HIDDEN
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.lines import is_fully_masked, sums_no_rows
from tracer.lesson.working.sums import Terms
from tracer.lesson.working.written import Worked


class Origins:
    """The operands of each entry of a trace; with `terms`, only those that are written out."""

    def __init__(self, trace: Trace, terms: Terms | None = None) -> None:
        self.producers, self.teacher = trace.producers, Teacher(trace, terms=terms)
        self.follows_all = terms is None
        self.other_rows = {
            record.output: Record(given.computed, record.inputs, record.output)
            for record in trace.records
            if isinstance(given := record.operation, op.Pinned) and given.computed
        }
        """How the other rows are computed of values of which only some rows are given."""

    def record_of(self, entry: Entry) -> Record:
        """Return the record of an entry; of a computed row of a value with given rows, its own."""
        record = self.producers[entry.value]
        if not isinstance(record.operation, op.Pinned) or not record.operation.given_rows:
            return record
        is_given = entry.at[0] in record.operation.given_rows
        return record if is_given else self.other_rows[entry.value]

    def inputs_of(self, entry: Entry) -> list[Entry]:
        """Return the entries in its line, each followed to where it was computed or given."""
        record = self.record_of(entry)
        if is_worked(record, entry):
            side = self.teacher.writer.first_side(record, entry.at)
            operands = entries_in(side, hidden=self.follows_all)
            return [self.followed(operand) for operand in operands]
        chosen = isinstance(record.operation, op.Chosen)
        before = chosen_by(record, entry) if chosen else self.before(entry)
        return [self.followed(before)] if before else []

    def levels(self, entry: Entry) -> Iterator[list[Entry]]:
        """Yield the entry, then its operands, then their operands, and so on; each entry once."""
        level = [self.followed(entry)]
        seen = set(level)
        while level:
            yield level
            level = list(
                dict.fromkeys(e for at in level for e in self.inputs_of(at) if e not in seen)
            )
            seen.update(level)

    def followed(self, entry: Entry) -> Entry:
        """Return the entry that this one copies with the same digits, or itself."""
        while (before := self.before(entry)) and self.is_printed_alike(entry, before):
            entry = before
        return entry

    def before(self, entry: Entry) -> Entry | None:
        """Return the entry that this one copies, as [O¹ O²] copies O¹."""
        if entry.value not in self.producers:
            return None
        record = self.record_of(entry)
        if not isinstance(record.operation, op.Moved | Taken):
            return None
        moved = copied_entry(record, record.operation, entry)
        return moved if moved and moved.value in self.producers else None

    def is_printed_alike(self, entry: Entry, other: Entry) -> bool:
        """Return whether both print the same digits; a copy can have its own rounding."""
        if entry.value.role.words or not self.teacher.trace.pencil.rounds_copies:
            return True
        return str(self.number(entry).value) == str(self.number(other).value)

    def worked(self, entry: Entry) -> Line | None:
        """Return the line of an entry; None if it is given or masked."""
        entry = self.followed(entry)
        record = self.record_of(entry)
        return self.line(record, entry) if is_worked(record, entry) else None

    def line(self, record: Record, entry: Entry) -> Line:
        """Return the line that computes an entry."""
        label = ", ".join(labels(entry)) or None
        chain = self.teacher.writer.chain(record, entry.at)
        named = label is None or not chain.relations
        return Line(label, self.teacher.writer.named(record, entry.at) if named else chain)

    def number(self, entry: Entry) -> Number:
        """Return an entry as it is printed."""
        return self.teacher.writer.number(*entry)


def is_worked(record: Record, entry: Entry) -> bool:
    """Return whether an entry has a worked line."""
    match record.operation:
        case Mask():
            return bool(entry.value.numbers[entry.at] == HIDDEN.value)
        case NegativeLogLikelihood(columns, _) | SoftmaxCrossEntropyGrad(columns, _):
            return columns[entry.at[0]] is not None
        case ByWord(words, _):
            return entry.at[0] in words
        case op.ExpertDots(rows):
            return entry.at[0] in rows[entry.at[1]]
        case operation:
            nothing = is_fully_masked(record, entry.at) or sums_no_rows(record)
            return isinstance(operation, Worked) and not nothing


def chosen_by(record: Record, entry: Entry) -> Entry:
    """Return the number by which a word was chosen: its probability or its running sum."""
    operation, of = record.operation, record.inputs[0]
    assert isinstance(operation, op.ArgMax | op.Pick)
    column = operation.words.index(str(entry.value.read(entry.at)))
    return Entry(of, (entry.at[0], column))


def copied_entry(record: Record, operation: op.Moved | Taken, entry: Entry) -> Entry | None:
    """Return the entry that this one copies.

    None for a masked entry, and for a word without a column.
    """
    index = entry.at
    first = record.inputs[0]
    match operation:
        case op.Copy() | op.Reused():
            return Entry(first, index)
        case Mask():
            hidden = entry.value.numbers[index] == HIDDEN.value
            return None if hidden else Entry(first, index)
        case op.Append():
            row, column = index
            row -= first.shape[0]
            return Entry(first, index) if row < 0 else Entry(record.inputs[1], (row, column))
        case op.Stack():
            row, column = index
            for part in record.inputs:
                height = part.shape[0] if len(part.axes) > 1 else 1
                if row < height:
                    return Entry(part, (row, column) if len(part.axes) > 1 else (column,))
                row -= height
            raise IndexError(index)
        case op.Concat() | op.Join():
            *rows, place = index
            for part in record.inputs:
                if place < part.shape[-1]:
                    return Entry(part, (*rows, place))
                place -= part.shape[-1]
            raise IndexError(index)
        case op.AppendColumn():
            row, column = index
            is_last = column == first.shape[1]
            return Entry(record.inputs[1], (0,)) if is_last else Entry(first, index)
        case op.DropColumn():
            return Entry(first, index)
        case op.AppendZeros():
            return None if index[1] == first.shape[1] else Entry(first, index)
        case op.Interleave():
            row, column = index
            return Entry(record.inputs[column % 2], (row, column // 2))
        case Columns(start, _):
            row, column = index
            return Entry(first, (row, start + column))
        case AsRows(words, _):
            row, column = index
            return Entry(first, (column, words.index(row))) if row in words else None
        case op.Keep(chosen, _):
            row, column = index
            return Entry(first, index) if column in chosen[row] else None
        case op.Select(columns):
            return Entry(first, (first.shape[0] - 1, columns[index[1]]))
        case op.Rows(rows):
            return Entry(first, (rows[index[0]], *index[1:]))
        case op.TakeColumn(column):
            return Entry(first, (*index[1:], column))
        case op.TakeEntries(entries):
            return Entry(first, entries[index[0]])
        case op.TakeEntry(row, column):
            return Entry(first, (row, column))
        case op.PlaceRows(rows, _):
            row, column = index
            return Entry(first, (rows.index(row), column)) if row in rows else None
        case op.PlaceColumns(start, _):
            row, column = index
            inside = 0 <= column - start < first.shape[1]
            return Entry(first, (row, column - start)) if inside else None
        case op.Largest():
            if is_fully_masked(record, index):
                return None
            return Entry(first, (index[0], int(first.read(index[:1]).argmax())))
        case op.LargestSoFar():
            largest = entry.value.numbers[index]
            if largest == HIDDEN.value:
                return None
            for before in record.inputs[1:]:
                if before.numbers[index] == largest:
                    return Entry(before, index)
            return Entry(first, (index[0], int(first.read(index[:1]).argmax())))
        case _:
            assert_never(operation)
