"""Why a number is what it is: the worked lines that lead to it, back to what was typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tracer.decoder.forward import Trace
from tracer.decoder.operations import Chosen, Moved
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Value
from tracer.formula.expression import Number
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
from tracer.lesson.entries import name
from tracer.lesson.origins import Origins, chosen_by, is_worked
from tracer.lesson.written import Worked
from tracer.names import count, distinct


def why(trace: Trace, entry: Entry, depth: int | None = None) -> Document:
    """The line of an entry, then the lines of the numbers put in, nearest first, each once.

    `depth` is how many times it goes back; None goes back to what was typed.
    """
    origins = _Told(trace)
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


class _Told(Origins):
    """The same in blocks."""

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
            worked = [entry for entry in entries if is_worked(record, entry)]
            if worked:
                yield Working(tuple(self.line(record, entry) for entry in worked))
            yield from self.given([entry for entry in entries if entry not in worked])

    def heading(self, record: Record) -> Sentence:
        """Which value the lines are of, and where it stands."""
        address = record.output.address
        symbol, step = self.teacher.told.symbols[address], self.teacher.step_of.get(address)
        passed_on = isinstance(record.operation, Moved) and record.inputs[0] in self.producers
        worked = isinstance(record.operation, Worked) or passed_on
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

    def word(self, record: Record, entry: Entry) -> Sentence:
        """A word that was chosen by a number, or typed."""
        word = Name(str(entry.value.numbers[entry.at]))
        if not isinstance(record.operation, Chosen):
            return (word, " is given.")
        chosen = chosen_by(record, entry)
        symbol = self.teacher.told.symbols[chosen.value.address]
        return (word, " is chosen by ", symbol, ", which is ", self.number(chosen), ".")


def _names(value: Value) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the rows and columns in which a value is shown."""
    names = [distinct(axis.labels) for axis in value.axes]
    if len(names) == 2:
        return names[0], names[1]
    return (names[0], ("",)) if value.per_token else (("",), names[0])
