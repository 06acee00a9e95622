"""A step of a trace → the section that explains it for one token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from tracer.decoder.forward import Trace
from tracer.decoder.operations import Chosen, Concat, Copy, Given, Interleave, Join, Pinned, Select
from tracer.decoder.roles import DOT, DRAW, ROOT_SQUARED, SCALE, SQUARES, TEMPERATURE
from tracer.decoder.tape import Record
from tracer.decoder.training_operations import Columns, Together
from tracer.decoder.value import Value
from tracer.lesson import sentences
from tracer.lesson.document import (
    Block,
    Figure,
    Formula,
    Line,
    Matrix,
    Paragraph,
    Section,
    Sentence,
    Working,
)
from tracer.lesson.expression import Chain, Expression
from tracer.lesson.formulas import formula
from tracer.lesson.lines import Writer
from tracer.lesson.selection import steps
from tracer.lesson.sizes import described, parameters, sized
from tracer.lesson.steps import OPERANDS, Step
from tracer.lesson.symbols import symbols
from tracer.lesson.terms import Terms
from tracer.lesson.told import Told
from tracer.lesson.written import Worked

FROM_THE_PASS = "From the forward pass:"
OF_THE_OTHERS = "Of the other examples, found in the same way:"

SHOWN_ALONE = (TEMPERATURE, DRAW, SCALE)
"""Given numbers that stand in no matrix and no formula before a line puts them in."""


class Teacher:
    """Writes the sections of one text about a trace, in the order in which they are read.

    What was said or shown once is referred to.
    """

    def __init__(
        self,
        trace: Trace,
        token: int | None = None,
        encoder_token: int | None = None,
        *,
        refers: bool = False,
        full: bool = True,
        terms: Terms | None = None,
        worked: str | None = None,
    ) -> None:
        """`token` is counted from 0, the last if it is not given; so is that of the encoder.

        With `refers`, each step says from which steps its numbers come; with `full`, why it is
        there and how many parameters it has. Of the gradients of parameters the one that is
        `worked`, by its address, has lines; or all have.
        """
        self.trace, self.refers, self.full = trace, refers, full
        self.token = len(trace.tokens) - 1 if token is None else token
        self.worked = worked
        self.told = Told(trace, self.token, symbols(trace.records), encoder_token)
        self.steps = steps(trace.records)
        self.writer = Writer(self.told, terms)
        self.said: dict[Sentence, Step] = {}
        self.reasons: set[Sentence] = set()
        """In their words alone: the numbers and symbols of another place make it no other."""
        self.captions: set[str] = set()
        self.said_rows = False
        self.tables: set[Value] = set()

    @cached_property
    def step_of(self) -> dict[str, Step]:
        """The step in which each address is told."""
        return {record.output.address: step for step in self.steps for record in step.records}

    def introduction(self) -> tuple[Block, ...]:
        """What is worked out, and what the signs mean."""
        return tuple(map(Paragraph, sentences.introduction(self.told, self.writer.terms)))

    def section(self, step: Step) -> Section:
        """A step with its title."""
        told, place = self.told.at(step.place), step.place
        title, part = sentences.title(step, told), sentences.part(step, told)
        within, blocks = sentences.within(step, told), tuple(self.blocks(step))
        return Section(
            *(step.number, title, blocks, part, within, place.layer, place.head),
            trace=self.trace,
        )

    def blocks(self, step: Step) -> list[Block]:
        """Goal and reason; formula, parameters and worked lines of each record; what it gives."""
        told = self.told.at(step.place)
        goal = step.kind.goal_of(step, told)
        before = self.said.setdefault(goal, step)
        again = before.number != step.number
        what = [sentences.as_in(before, step, told)] if again else [goal, *self.why(step)]
        symbol = self.told.symbols[step.last.output.address]
        sources = self.sources(step) if self.refers else []
        if sources and [source for source, _ in sources] != [symbol]:  # O is no more than O
            what.append(sentences.references(symbol, sources))
        written: list[Block] = list(map(Paragraph, what))
        if step.place.phase != "forward":
            return written + self.learning(step)
        for record in step.records:
            written += self.record(record, step, again)
        if step.kind.outcome:
            return written + step.kind.outcome(step, told)
        value = step.last.output
        written += self.result(value, step)
        if value.role is not self.step_of[value.address].last.output.role:
            return written  # only a part of the step is shown
        sentence = step.kind.claim_of(step, told)
        return [*written, Paragraph(sentence)] if sentence else written

    def learning(self, step: Step) -> list[Block]:
        """A step of training: of each record what it is made of, formula, lines and matrix."""
        written: list[Block] = []
        for record in step.records:
            written += self.learned(record, step)
        written = _together(written)
        claim = step.kind.claim_of(step, self.told)
        return [*written, Paragraph(claim)] if claim else written

    def learned(self, record: Record, step: Step) -> list[Block]:
        """One gradient, or what an update makes of it."""
        operation, value = record.operation, record.output
        if isinstance(operation, Pinned):
            return [self.pinned(value), self.told.matrix(value)]
        worked = self.is_worked(value)
        is_part = value in self.totals or value.role.derivation == "clipped"
        if not worked and (step.place.phase == "update" or is_part):
            return []
        caption = step.kind.caption_of(record)
        said: list[Block] = []
        if caption and caption not in self.captions:
            self.captions.add(caption)
            said.append(Paragraph((caption,)))
        if self.is_only_passed_on(record):
            self.tables.add(value)
            return [*said, *self.equal(record)]
        written = [*(self.taken(record) if worked else []), *said]
        lines = self.writer.lines(record, self.token) if worked else ()
        in_symbols = formula(record, self.told.symbols)
        if in_symbols and value.role is not SQUARES:  # its many terms stand right above it
            shown = sized(in_symbols, record, self.told.symbols, self.trace.producers)
            written.append(Formula(shown))
        elif lines and value.axes:
            written.append(Formula(Chain((self.told.symbols[value.address],), ())))
        if not value.axes and not lines:
            lines = (Line(None, self.writer.is_given(value)),)
        if lines:
            written.append(Working(lines))
        if value.per_token and value.shape[0] > 1 and lines and not self.said_rows:
            self.said_rows = True
            written.append(Paragraph((sentences.OTHER_ROWS,)))
        if value.axes and value not in self.tables:
            written.append(self.told.matrix(value))
        self.tables.add(value)
        return written

    def is_worked(self, value: Value) -> bool:
        """Whether a gradient has lines: of parameters only that of one."""
        whole = self.totals.get(value, value)
        of_weight = whole.role.of is not None and whole.role.of.parameter
        return not of_weight or self.worked is None or _of(whole) == self.worked

    @cached_property
    def totals(self) -> dict[Value, Value]:
        """The gradients that are added up of several, by each of their parts."""
        sums = [r for r in self.trace.records if isinstance(r.operation, Together)]
        gradients = [r for r in sums if r.output.role.derivation == "gradient"]
        return {way: record.output for record in gradients for way in record.inputs}

    def is_only_passed_on(self, record: Record) -> bool:
        """Whether a gradient is another one, which stands above; all columns are all of it."""
        operation, value = record.operation, record.output
        whole = isinstance(operation, Columns) and value.shape == record.inputs[0].shape
        return (whole or isinstance(operation, Copy)) and record.inputs[0] in self.tables

    def taken(self, record: Record) -> list[Block]:
        """What a gradient is made of, as far as it does not stand above: of the forward pass."""
        missing = [
            value
            for value in record.inputs
            if value not in self.tables and value.address in self.told.symbols
        ]
        self.tables.update(missing)
        written: list[Block] = []
        for words, phase in ((FROM_THE_PASS, "forward"), (OF_THE_OTHERS, "gradient")):
            shown = [self.stood(value) for value in missing if value.place.phase == phase]
            written += [Paragraph((words,)), *shown] if shown else []
        return written

    def stood(self, value: Value) -> Block:
        """A value of the forward pass: its matrix, or its line where it is a single number."""
        if value.axes:
            return self.told.matrix(value)
        record = self.trace.producers[value]
        is_worked = isinstance(record.operation, Worked)
        chain = self.writer.named(record, ()) if is_worked else self.writer.is_given(value)
        return Working((Line(None, chain),))

    def why(self, step: Step) -> list[Sentence]:
        """Why a step is done, as far as that was not said before."""
        reasons = step.kind.reasons_of(step, self.told.at(step.place)) if self.full else ()
        words = [tuple(part for part in reason if isinstance(part, str)) for reason in reasons]
        new = [r for r, of in zip(reasons, words, strict=True) if of not in self.reasons]
        self.reasons.update(words)
        return new

    def sources(self, step: Step) -> list[tuple[Expression, int]]:
        """What a step takes from others, with their numbers."""
        computed = [record for record in step.records if not isinstance(record.operation, Pinned)]
        taken = {self.stands(value).address: None for r in computed for value in r.inputs}
        found = [(address, self.step_of[address]) for address in taken if address in self.step_of]
        return [
            (self.told.symbols[address], origin.number)
            for address, origin in found
            if origin.number != step.number
        ]

    def stands(self, value: Value) -> Value:
        """What a reader looks up: the output of the only head stands where the head gave it."""
        record = self.trace.producers.get(value)
        alone = record and isinstance(record.operation, Concat) and len(record.inputs) == 1
        return record.inputs[0] if record and alone else value

    def record(self, record: Record, step: Step, again: bool) -> list[Block]:
        """Parameters, caption, formula, worked lines; less, where the like was told before."""
        operation, value = record.operation, record.output
        if isinstance(operation, Pinned):
            return [self.pinned(value)]
        if value.role is DOT and len(step.records) > 1:
            return []  # written out in the lines of the scores
        alone = isinstance(operation, Given) and value.role in SHOWN_ALONE
        if isinstance(operation, Chosen | Given) and not alone:
            return []
        written = self.counted(record, again)
        in_symbols = formula(record, self.told.symbols)
        lines = self.writer.lines(record, self.told.at(value.place).token)
        caption = step.kind.caption_of(record) if len(step.records) > 1 else None
        told_of = bool(lines or alone or in_symbols) or isinstance(operation, Select | Join)
        if caption and told_of and (caption not in self.captions or value.role is ROOT_SQUARED):
            self.captions.add(caption)
            written.append(Paragraph((caption,)))
        elif caption and told_of and not in_symbols and value.axes:
            # A formula says enough the second time.
            written.append(Formula(Chain((self.told.symbols[value.address],), ())))
        if alone:
            return [*written, Working((Line(None, self.writer.is_given(value)),))]
        if in_symbols:
            shown = sized(in_symbols, record, self.told.symbols, self.trace.producers)
            written.append(Formula(shown))
        written += self.operands(record)
        if lines:
            written.append(Working(lines))
        if isinstance(operation, Select | Join):
            written.append(self.matrix(value))
        return written

    def matrix(self, value: Value, figure: Figure | None = None) -> Matrix:
        """A value as it is shown."""
        return self.told.at(value.place).matrix(value, figure)

    def counted(self, record: Record, again: bool) -> list[Block]:
        """How many parameters an operation has, the first time."""
        learned = [value for value in record.inputs if value.role.parameter]
        counted = parameters(learned, self.told.symbols) if self.full and not again else None
        return [Paragraph(counted)] if counted else []

    def operands(self, record: Record) -> list[Block]:
        """The parameters of an operation, behind its formula; the mask, once."""
        told: list[Block] = []
        for value in record.inputs:
            if value.role.parameter:
                told += [self.matrix(value)] if self.told.is_shown(value) else []
            elif value.role in OPERANDS and value not in self.tables:
                told += [*self.described(value), self.matrix(value)]
        return told

    def described(self, value: Value) -> list[Block]:
        """What the rows and columns of a matrix are that no formula gives, once."""
        sentence = described(value, self.told.symbols[value.address])
        if value in self.tables:
            return []
        self.tables.add(value)
        return [Paragraph(sentence)]

    def pinned(self, value: Value) -> Paragraph:
        """That a value is not computed."""
        symbol = self.told.symbols[value.address]
        return Paragraph((symbol, " is given here: it is not computed."))

    def shown(self, value: Value) -> list[Block]:
        """A value without its working, and that it is given, if it is."""
        is_pinned = isinstance(self.trace.producers[value].operation, Pinned)
        return [*([self.pinned(value)] if is_pinned else []), self.matrix(value)]

    def result(self, value: Value, step: Step) -> list[Block]:
        """The rows of all tokens; of what is only passed on, where they stand already."""
        if not value.axes:
            return []
        written: list[Block] = []
        others = value.per_token and value.shape[0] > 1
        if others and isinstance(step.last.operation, Worked) and not self.said_rows:
            self.said_rows = True
            written.append(Paragraph((sentences.OTHER_ROWS,)))
        if self.stands(value) in self.tables:
            return written
        record = self.trace.producers[value]
        if isinstance(record.operation, Copy) and self.stands(record.inputs[0]) in self.tables:
            self.tables.add(value)
            return [*written, *self.equal(record)]
        if isinstance(record.operation, Given | Interleave):
            written += self.described(value)
        self.tables.add(value)
        return [*written, self.matrix(value, self.figure(value, step))]

    def equal(self, record: Record) -> list[Block]:
        """That a value is another one, which stands above; nothing where both have one symbol."""
        symbols = self.told.symbols
        own, other = symbols[record.output.address], symbols[record.inputs[0].address]
        if own == other:
            return []
        return [Formula(sized(Chain((own, other), ("=",)), record, symbols, self.trace.producers))]

    def figure(self, value: Value, step: Step) -> Figure | None:
        """The picture of a step's result, where it is worth one."""
        whole = self.step_of[value.address]
        if step.kind.picture is None or value.role is not whole.last.output.role:
            return None
        title = sentences.picture(step, self.told.at(step.place))
        return Figure(f"{self.trace.name}.{value.address}", title)


def _together(blocks: Sequence[Block]) -> list[Block]:
    """Lines that follow each other stand together."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Working) and found and isinstance(found[-1], Working):
            found[-1] = Working((*found[-1].lines, *block.lines))
        else:
            found.append(block)
    return found


def _of(value: Value) -> str:
    """The address of what training has derived a value from."""
    assert value.role.of
    return replace(value.place, phase="forward", example=None).address(value.role.of)
