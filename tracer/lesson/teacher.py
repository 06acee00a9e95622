"""A step of a trace → the section that explains it for one token."""

from __future__ import annotations

from functools import cached_property

from tracer.decoder.forward import Trace
from tracer.decoder.operations import Chosen, Given, Pinned, Select
from tracer.decoder.roles import DOT, DRAW, TEMPERATURE
from tracer.decoder.tape import Record, Value
from tracer.lesson import sentences
from tracer.lesson.document import Block, Figure, Formula, Line, Paragraph, Section, Vector, Working
from tracer.lesson.expression import Expression
from tracer.lesson.lines import Writer
from tracer.lesson.selection import steps
from tracer.lesson.steps import OPERANDS, Step
from tracer.lesson.symbols import symbols
from tracer.lesson.told import Told
from tracer.lesson.written import formula

SHOWN_ALONE = (TEMPERATURE, DRAW)
"""Given numbers that stand in no matrix and no formula before a line puts them in."""


class Teacher:
    """Writes the sections of one trace, each when it is asked for."""

    def __init__(self, trace: Trace, token: int | None = None, *, refers: bool = False) -> None:
        """`token` is counted from 0, the last if it is not given.

        With `refers`, each step says from which steps its numbers come.
        """
        self.trace, self.refers = trace, refers
        self.token = len(trace.tokens) - 1 if token is None else token
        self.told = Told(trace, self.token, symbols(trace.records))
        self.steps = steps(trace.records)
        self.writer = Writer(trace.pencil, self.told.symbols, trace.producers, len(self.told.names))

    @cached_property
    def step_of(self) -> dict[str, Step]:
        """The step in which each address is told."""
        return {record.output.address: step for step in self.steps for record in step.records}

    def introduction(self) -> tuple[Block, ...]:
        """What is worked out, and what the signs mean."""
        return tuple(map(Paragraph, sentences.introduction(self.told)))

    def section(self, step: Step) -> Section:
        """A step with its title."""
        return Section(step.number, sentences.title(step, self.told), tuple(self.blocks(step)))

    def blocks(self, step: Step) -> list[Block]:
        """Goal; formula, parameters and worked lines of each record; what it all gives."""
        written: list[Block] = [step.kind.goal_of(step, self.told)]
        if self.refers and (sentence := sentences.references(self.sources(step))):
            written.append(Paragraph(sentence))
        for record in step.records:
            written += self.record(record, step)
        if step.kind.outcome:
            return written + step.kind.outcome(step, self.told)
        value = step.last.output
        written += self.result(value, step)
        if value.role is not self.step_of[value.address].last.output.role:
            return written  # only a part of the step is shown
        sentence = step.kind.claim(step, self.told, self.told.printed(value))
        return [*written, Paragraph(sentence)] if sentence else written

    def sources(self, step: Step) -> list[tuple[Expression, int]]:
        """What a step takes from others, with their numbers."""
        taken = {value.address: None for record in step.records for value in record.inputs}
        found = [(address, self.step_of[address]) for address in taken if address in self.step_of]
        return [
            (self.told.symbols[address], origin.number)
            for address, origin in found
            if origin.number != step.number
        ]

    def record(self, record: Record, step: Step) -> list[Block]:
        """Formula, parameters, worked lines."""
        operation, value = record.operation, record.output
        if isinstance(operation, Pinned):
            return [self.pinned(value)]
        if value.role is DOT and len(step.records) > 1:
            return []  # written out in the lines of the scores
        if isinstance(operation, Given) and value.role in SHOWN_ALONE:
            return [Working((Line(None, self.writer.is_given(value)),))]
        if isinstance(operation, Chosen | Given):
            return []
        written: list[Block] = []
        if len(step.records) > 1 and (caption := step.kind.caption_of(record)):
            written.append(Paragraph((caption,)))
        if in_symbols := formula(record, self.told.symbols):
            written.append(Formula(in_symbols))
        written += [self.told.matrix(v) for v in record.inputs if v.role in OPERANDS]
        if lines := self.writer.lines(record, self.token):
            written.append(Working(lines))
        if isinstance(operation, Select):
            written.append(self.told.matrix(value))
        return written

    def pinned(self, value: Value) -> Paragraph:
        """That a value is not computed."""
        symbol = self.told.symbols[value.address]
        return Paragraph((symbol, " is given here: it is not computed."))

    def shown(self, value: Value) -> list[Block]:
        """A value without its working, and that it is given, if it is."""
        is_pinned = isinstance(self.trace.producers[value].operation, Pinned)
        return [*([self.pinned(value)] if is_pinned else []), self.told.matrix(value)]

    def result(self, value: Value, step: Step) -> list[Block]:
        """The followed token's row by itself, then the rows of all."""
        if not value.axes:
            return []
        matrix = self.told.matrix(value, self.figure(value, step))
        if value.numbers.ndim == 1 or not value.per_token:
            return [matrix]
        symbol, labels = self.told.symbols[value.address], self.told.labels(value.axes[1])
        vector = Vector(symbol, self.told.who, self.told.printed(value), labels)
        return [vector, matrix] if len(value.numbers) > 1 else [vector]

    def figure(self, value: Value, step: Step) -> Figure | None:
        """The picture of a step's result, where it is worth one."""
        whole = self.step_of[value.address]
        if step.kind.picture is None or value.role is not whole.last.output.role:
            return None
        title = sentences.picture(step, self.told)
        return Figure(f"{self.trace.name}.{value.address}", title)
