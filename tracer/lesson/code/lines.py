"""The lines that compute a step: its records, joined to lines where that reads better."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.lesson.code.autograd import Grad, reads_gradients
from tracer.lesson.code.expressions import Expressions, Statements, Written, is_column, uses
from tracer.lesson.code.library import WORDS, Library, Words
from tracer.lesson.code.names import Names
from tracer.lesson.code.rounding import ProgramRounding
from tracer.lesson.code.snippet import Binds, Snippet, number
from tracer.lesson.steps.kind import Step

LONGEST = 64
"""A line into which a record's own expression is put is not longer than that."""

WIDEST = 76
"""The most characters of a line, unless a word has more."""

ALONE = ("variance", "mean_square", "loss.token")
"""The ends of the names of values that always have a line of their own."""

SHOWN = ("gradient", "new")
"""So have the gradients and the new numbers, which a text shows, of each value of a step."""

NUMBERS = op.Given | op.Pinned | op.PowerOfTwo
"""Operations whose result without axes is a Python number."""


class Layout:
    """Which values of a pass have lines of their own, and how they are called.

    The lines of all libraries, rounded or not, are laid out alike.
    """

    def __init__(self, trace: Trace, steps: Sequence[Step]) -> None:
        self.trace, self.steps = trace, steps
        self.backward = next(filter(reads_gradients, steps), None)
        """The step in which the backward pass is called."""
        self.records = {record.output: record for step in steps for record in step.records}
        step_of = {record.output: step for step in steps for record in step.records}
        self.place_of = {r.output: i for i, step in enumerate(steps) for r in step.records}
        """The index of the step of each value."""
        readers: dict[Value, list[Record]] = {}
        for record in self.records.values():
            for value in record.inputs:
                readers.setdefault(value, []).append(record)
        self.temporary = {
            value: step.number
            for value, step in step_of.items()
            if value is not step.last.output
            and value in readers
            and all(step_of[reader.output] is step for reader in readers[value])
        }
        self.names = Names(trace.records, self.temporary)
        self.columns = _columns(self.records.values())
        self.with_gradients = [
            record.inputs[0]
            for record in self.records.values()
            if isinstance(record.operation, Grad)
        ]
        """The values whose gradients are read."""
        self.inside = {
            value
            for value in self.temporary
            if len(readers[value]) == 1
            and _reads_once(readers[value][0], value)
            and not value.role.name.endswith(ALONE)
            and value.role.derivation not in SHOWN
        }
        """The values that stand inside the line of their reader."""
        writer = LineWriter(self, WORDS[Library.NUMPY])
        for record in self.records.values():
            if self.is_given(record.output):
                continue
            written = writer.written(record)
            if isinstance(written, Statements) or isinstance(record.operation, op.Pinned):
                self.inside.discard(record.output)
            if isinstance(written, Statements) or len(written.text) > LONGEST:
                self.inside -= {v for v in record.inputs if not self.is_given(v)}

    def from_later_steps(self, step: Step) -> list[Record]:
        """The records of later steps that a step needs: the slope at the end of an FFN."""
        here, found = self.place_of[step.records[0].output], dict[Value, Record]()

        def add_needed(record: Record) -> None:
            for value in record.inputs:
                if self.place_of.get(value, 0) > here and value not in found:
                    add_needed(self.records[value])
                    found[value] = self.records[value]

        for record in step.records:
            add_needed(record)
        return list(found.values())

    def is_given(self, value: Value) -> bool:
        """Whether the numbers of a value are given as a whole."""
        record = self.records.get(value)
        if record is None or isinstance(record.operation, op.Given):
            return True
        return isinstance(record.operation, op.Pinned) and record.operation.computed is None

    def is_number(self, value: Value) -> bool:
        """Whether a value is a Python number, which no array was computed to."""
        if value.shape:
            return False
        record = self.records.get(value)
        if record is None or isinstance(record.operation, NUMBERS):
            return True
        is_elementwise = isinstance(record.operation, el.Elementwise)
        return is_elementwise and all(map(self.is_number, record.inputs))


def _columns(records: Any) -> set[Value]:
    """The values with a number for each row that code keeps as a column (n, 1)."""
    found: set[Value] = set()
    for record in records:
        rows = [value for value in record.inputs if len(value.shape) == 1]
        follows = isinstance(record.operation, el.Elementwise) and not isinstance(
            record.operation, el.NegativeLogLikelihood | el.Outer
        )
        if isinstance(record.operation, Grad):
            rows, follows = [record.inputs[0]], True
        follows = follows and bool(rows) and all(value in found for value in rows)
        if len(record.output.shape) == 1 and (is_column(record) or follows):
            found.add(record.output)
    return found


def _reads_once(record: Record, value: Value) -> bool:
    operation = record.operation
    if isinstance(operation, op.Pinned):
        return False
    positions = [i for i, each in enumerate(record.inputs) if each is value]
    return sum(uses(operation, position) for position in positions) == 1


@dataclass(frozen=True)
class LineWriter:
    """Writes steps as lines of a library; with a `rounding`, they round where the text rounds."""

    layout: Layout
    words: Words
    rounding: ProgramRounding | None = None

    def lines(self, step: Step) -> list[str]:
        """Return the lines of a step; none if its numbers are given."""
        lines = [*self._backward()] if step is self.layout.backward else []
        records = (*self.layout.from_later_steps(step), *step.records)
        lines += [line for record in records for line in self._lines_of(record)]
        return [part for line in lines for part in broken(line)]

    def _backward(self) -> Iterator[str]:
        """The backward pass, from the loss, or from a value whose gradient is given."""
        layout = self.layout
        kept = [layout.names[v] for v in layout.with_gradients if not layout.is_given(v)]
        if kept:
            yield f"for value in [{', '.join(kept)}]:"
            yield "    value.retain_grad()"
        assert layout.backward
        record = next(r for r in layout.backward.records if isinstance(r.operation, Grad))
        start, *given = (layout.names[value] for value in record.inputs[1:])
        yield f"{start}.backward({', '.join(given)})"

    def _lines_of(self, record: Record) -> Iterator[str]:
        value, operation = record.output, record.operation
        if self.layout.is_given(value) or value in self.layout.inside or 0 in value.shape:
            return
        name, written = self.layout.names[value], self.written(record)
        if isinstance(written, Statements):
            yield from (line.replace("{}", name) for line in written.lines)
            rounded = self._rounded(record, Snippet(name))
            if rounded.text != name:
                yield f"{name} = {rounded.text}"
        else:
            yield f"{name} = {written.text}"
        if isinstance(operation, op.Pinned) and operation.given_rows is not None:
            rows = list(operation.given_rows)
            yield f"{name}[{rows}] = {array(value.numbers[rows], self.words)}"

    def written(self, record: Record, *, in_full: bool = False) -> Written:
        """What computes a record; unless `in_full`, rounded as the text rounds its result."""
        operation = record.operation
        if isinstance(operation, op.Pinned):
            assert operation.computed is not None
            operation = operation.computed
        assert not isinstance(operation, op.Given | op.Pinned)
        chooses = isinstance(operation, op.Chosen)
        expressions = Expressions(
            self.words,
            self._in_full if chooses else self._operand,
            self.layout.columns,
            self.rounding.part(record) if self.rounding else None,
            not self.layout.trace.scenario.on_demand,
        )
        written = expressions.written(record, operation)
        if in_full or isinstance(written, Statements):
            return written
        return self._rounded(record, written)

    def _rounded(self, record: Record, of: Snippet) -> Snippet:
        if self.rounding is None:
            return of
        row = self._operand(record.inputs[0]) if record.inputs else None
        rounded = self.rounding.result(record, row)
        return rounded.around(of) if rounded else of

    def _operand(self, value: Value) -> Snippet:
        """The name of a value, its own expression, or its number."""
        layout = self.layout
        if layout.is_given(value) and not value.shape and value not in layout.with_gradients:
            return number(Decimal(str(value.numbers[()])))
        if value in layout.inside:
            if layout.is_given(value):
                return Snippet(array(value.numbers, self.words))
            written = self.written(layout.records[value])
            assert isinstance(written, Snippet)
            return written
        return Snippet(layout.names[value], Binds.ATOM, layout.is_number(value))

    def _in_full(self, value: Value) -> Snippet:
        """A value before it is rounded, by which a word is chosen."""
        if self.rounding is None or self.layout.is_given(value):
            return self._operand(value)
        written = self.written(self.layout.records[value], in_full=True)
        return written if isinstance(written, Snippet) else self._operand(value)


def broken(line: str) -> list[str]:
    """A statement in several lines if it is too long; a value is put in brackets for that."""
    if len(line) <= WIDEST:
        return [line]
    assignment = re.match(r"(.+?) (\+?=) (.+)", line)
    inner = " " * (len(line) - len(line.lstrip()) + 4)
    wrap = partial(textwrap.wrap, width=WIDEST, break_long_words=False, break_on_hyphens=False)
    if not assignment:  # for … in [ … ]: or for … in zip([ … ], …):
        begins, _, rest = line.partition("[")
        listed, _, ends = rest.rpartition("]")
        inside = wrap(listed, initial_indent=inner, subsequent_indent=inner)
        return [f"{begins}[", *inside, f"{inner[4:]}]{ends}"]
    name, assigns, value = assignment.groups()
    inside = wrap(value, initial_indent=inner, subsequent_indent=inner)
    return [f"{name} {assigns} (", *inside, f"{inner[4:]})"]


def array(numbers: Any, words: Words) -> str:
    """An array as it is typed: a list, or a list of rows; positions that follow each other."""
    if numbers.ndim == 1 and len(numbers) > 2:
        first, last = (Decimal(str(numbers[end])) for end in (0, -1))
        if all(each == first + i for i, each in enumerate(numbers)):
            return f"{words.module}.arange({number(first).text}, {number(last + 1).text})"
    rows = numbers if numbers.ndim > 1 else (numbers,)
    written = ", ".join(f"[{', '.join(row)}]" for row in entries(rows, words))
    return f"{words.array}([{written}])" if numbers.ndim > 1 else f"{words.array}({written})"


def entries(rows: Any, words: Words) -> list[list[str]]:
    """The numbers of rows as they are typed.

    PyTorch does not multiply whole numbers with others: there 1 is written as 1.
    """
    found = [[_entry(Decimal(str(each)), words) for each in row] for row in rows]
    whole = all(text.lstrip("-").isdigit() for row in found for text in row)
    if whole and words.module == "torch":
        return [[f"{text}." for text in row] for row in found]
    return found


def _entry(exact: Decimal, words: Words) -> str:
    return f"-{words.module}.inf" if exact.is_infinite() else number(exact).text
