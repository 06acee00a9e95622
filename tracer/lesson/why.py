"""Why a number is what it is: the worked lines that lead to it, back to what was typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from tracer.decoder.forward import Trace
from tracer.decoder.operations import (
    Append,
    ArgMax,
    Chosen,
    Concat,
    Copy,
    Interleave,
    Join,
    Largest,
    Mask,
    MeanOf,
    Moved,
    Pick,
    Reused,
    Select,
    Surprise,
)
from tracer.decoder.tape import Record
from tracer.decoder.training_operations import AsRows, ByWord, Columns, ColumnTotal, Miss, Taken
from tracer.decoder.value import Value
from tracer.lesson.document import (
    Block,
    Document,
    Line,
    Matrix,
    Name,
    Paragraph,
    Section,
    Sentence,
    Working,
)
from tracer.lesson.entries import labels, name
from tracer.lesson.expression import Entry, Number, entries_in
from tracer.lesson.lines import sees_nothing
from tracer.lesson.steps.masks import HIDDEN
from tracer.lesson.teacher import Teacher
from tracer.lesson.written import Worked
from tracer.names import count, distinct


def why(trace: Trace, entry: Entry, depth: int | None = None) -> Document:
    """The line of an entry, then the lines of the numbers put in, nearest first, each once.

    `depth` is how many times it goes back; None goes back to what was typed.
    """
    origins = Origins(trace)
    sections: list[Section] = []
    level = [origins.followed(entry)]
    seen = set(level)
    while level and (depth is None or len(sections) <= depth):
        back = len(sections)
        title = f"{count(back, 'step')} back" if back else "The number"
        sections.append(Section(None, title, tuple(origins.told(level))))
        level = list(dict.fromkeys(e for at in level for e in origins.behind(at) if e not in seen))
        seen.update(level)
    return Document(trace.name, f"Where {name(entry)} comes from", (), tuple(sections))


def records_behind(trace: Trace, entry: Entry) -> list[Record]:
    """The records that an entry comes from, in the order of computation, its own last."""
    origins = Origins(trace)
    level = [origins.followed(entry)]
    seen = set(level)
    while level:
        level = list(dict.fromkeys(e for at in level for e in origins.behind(at) if e not in seen))
        seen.update(level)
    needed = {found.value for found in seen}
    for record in reversed(trace.records):  # with all that their operations need to be done again
        if record.output in needed:
            needed.update(record.inputs)
    return [record for record in trace.records if record.output in needed]


class Origins:
    """What each entry of a trace comes from."""

    def __init__(self, trace: Trace) -> None:
        self.producers, self.teacher = trace.producers, Teacher(trace)

    def behind(self, entry: Entry) -> list[Entry]:
        """The entries that its line puts in, each followed to where it was computed or typed."""
        record = self.producers[entry.value]
        if _is_worked(record, entry):
            first = self.teacher.writer.chain(record, entry.at).sides[0]
            operands = list(entries_in(first))
            if operands == [entry]:
                operands = [only_part(record, entry)]
        elif isinstance(record.operation, Chosen):
            operands = [chosen_by(record, entry)]
        else:
            operands = []
        return [self.followed(operand) for operand in operands]

    def followed(self, entry: Entry) -> Entry:
        """The entry, or the one that it is under another name: O¹ of [O¹ O²]."""
        while (record := self.producers.get(entry.value)) and isinstance(
            record.operation, Moved | Taken
        ):
            moved = moved_from(record, record.operation, entry)
            if moved is None or moved.value not in self.producers:
                break
            entry = moved
        return entry

    def told(self, level: Iterable[Entry]) -> Iterator[Block]:
        """The lines of the entries, those of one value together."""
        together: dict[Value, list[Entry]] = {}
        for entry in level:
            together.setdefault(entry.value, []).append(entry)
        for value, entries in together.items():
            record = self.producers[value]
            words = [entry for entry in entries if value.role.words]
            yield from (Paragraph(self.word(record, entry)) for entry in words)
            if words:
                continue
            yield Paragraph(self.heading(record))
            worked = [entry for entry in entries if _is_worked(record, entry)]
            if worked:
                yield Working(tuple(self.line(record, entry) for entry in worked))
            yield from self.given([entry for entry in entries if entry not in worked])

    def heading(self, record: Record) -> Sentence:
        """Which value the lines are of, and where it stands."""
        address = record.output.address
        symbol, step = self.teacher.told.symbols[address], self.teacher.step_of.get(address)
        worked = isinstance(record.operation, Worked)
        if worked and not step:
            return (symbol, f", {address}:")  # of another example, which is not told
        where = f"step {step.number}" if step and worked else "given"
        return (symbol, f", {address}, {where}:")

    def given(self, entries: list[Entry]) -> Iterator[Block]:
        """Entries that are not computed, as a part of their matrix for each choice of columns."""
        if not entries:
            return
        value = entries[0].value
        if not value.axes:
            yield Working((Line(None, self.teacher.writer.is_given(value)),))
            return
        rows: dict[int, dict[int, Number]] = {}
        for entry in entries:
            # One row side by side, but a number for each token below each other, as in a text.
            below = len(entry.at) == 2 or value.per_token
            row, column = (entry.at[0], entry.at[-1] if len(entry.at) == 2 else 0)
            if not below:
                row, column = 0, entry.at[0]
            rows.setdefault(row, {})[column] = self.number(entry)
        together: dict[tuple[int, ...], list[int]] = {}
        for row, numbers in rows.items():
            together.setdefault(tuple(sorted(numbers)), []).append(row)
        symbol, names = self.teacher.told.symbols[value.address], _names(value)
        for columns, those in together.items():
            cells = tuple(tuple(rows[i][j] for j in columns) for i in sorted(those))
            yield Matrix(
                symbol,
                tuple(names[0][i] for i in sorted(those)),
                tuple(names[1][j] for j in columns),
                cells,
            )

    def line(self, record: Record, entry: Entry) -> Line:
        """How an entry was computed."""
        label = ", ".join(labels(entry)) or None
        chain = self.teacher.writer.chain(record, entry.at)
        named = label is None or not chain.relations
        return Line(label, self.teacher.writer.named(record, entry.at) if named else chain)

    def word(self, record: Record, entry: Entry) -> Sentence:
        """A word that was chosen by a number, or typed."""
        word = Name(str(entry.value.numbers[entry.at]))
        if not isinstance(record.operation, Chosen):
            return (word, " is given.")
        chosen = chosen_by(record, entry)
        symbol = self.teacher.told.symbols[chosen.value.address]
        return (word, " is chosen by ", symbol, ", which is ", self.number(chosen), ".")

    def worked(self, entry: Entry) -> Line | None:
        """The line of an entry, where it was computed; none of what is typed or hidden."""
        entry = self.followed(entry)
        record = self.producers[entry.value]
        return self.line(record, entry) if _is_worked(record, entry) else None

    def number(self, entry: Entry) -> Number:
        """An entry as it is printed."""
        return self.teacher.writer.number(*entry)


def _names(value: Value) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the rows and columns in which a value is shown."""
    names = [distinct(axis.labels) for axis in value.axes]
    if len(names) == 2:
        return names[0], names[1]
    return (names[0], ("",)) if value.per_token else (("",), names[0])


def _is_worked(record: Record, entry: Entry) -> bool:
    """Whether there is anything to write out for an entry."""
    match record.operation:
        case Mask():
            return bool(entry.value.numbers[entry.at] == HIDDEN.value)
        case Surprise(columns, _) | Miss(columns, _):
            return columns[entry.at[0]] is not None
        case ByWord(words, _):
            return entry.at[0] in words
        case operation:
            return isinstance(operation, Worked) and not sees_nothing(record, entry.at)


def chosen_by(record: Record, entry: Entry) -> Entry:
    """The number by which a word was chosen: its probability, or its running sum."""
    operation, of = record.operation, record.inputs[0]
    assert isinstance(operation, ArgMax | Pick)
    column = operation.words.index(str(entry.value.numbers[entry.at]))
    return Entry(of, (entry.at[0], column))


def only_part(record: Record, entry: Entry) -> Entry:
    """The one number that an entry is the sum or the mean of."""
    of, at = record.inputs[0], entry.at
    match record.operation:
        case MeanOf(counted):
            return Entry(of, (counted[0],))
        case ColumnTotal():
            return Entry(of, (0, *at))
        case ByWord(words, _):
            return Entry(of, (words.index(at[0]), at[1]))
        case _:
            return Entry(of, (*at, 0))


def moved_from(record: Record, operation: Moved | Taken, entry: Entry) -> Entry | None:
    """The entry that stands here under another name.

    None of what a mask hides, nor of a word that no column is of.
    """
    index = entry.at
    first = record.inputs[0]
    match operation:
        case Copy() | Reused():
            return Entry(first, index)
        case Mask():
            hidden = entry.value.numbers[index] == HIDDEN.value
            return None if hidden else Entry(first, index)
        case Append():
            row, column = index
            rows = first.shape[0]
            return (
                Entry(first, index) if row < rows else Entry(record.inputs[1], (row - rows, column))
            )
        case Concat():
            row, column = index
            for head in record.inputs:
                if column < head.shape[1]:
                    return Entry(head, (row, column))
                column -= head.shape[1]
            raise IndexError(index)
        case Join():
            (place,) = index
            for row_of in record.inputs:
                if place < row_of.shape[0]:
                    return Entry(row_of, (place,))
                place -= row_of.shape[0]
            raise IndexError(index)
        case Interleave():
            row, column = index
            return Entry(record.inputs[column % 2], (row, column // 2))
        case Columns(start, _):
            row, column = index
            return Entry(first, (row, start + column))
        case AsRows(words, _):
            row, column = index
            return Entry(first, (column, words.index(row))) if row in words else None
        case Select(columns):
            return Entry(first, (first.shape[0] - 1, columns[index[1]]))
        case Largest() if sees_nothing(record, index):
            return None
        case Largest():
            return Entry(first, (index[0], int(first.numbers[index[0]].argmax())))
        case _:
            assert_never(operation)
