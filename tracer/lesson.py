"""A trace → the Document that explains it for one token."""

from __future__ import annotations

from collections.abc import Sequence

from tracer import prose
from tracer.decoder import Trace
from tracer.document import (
    Block,
    Document,
    Formula,
    Matrix,
    Name,
    Paragraph,
    Section,
    Table,
    Vector,
    Working,
)
from tracer.expression import Number
from tracer.names import distinct
from tracer.operations import ArgMax, Axis, Copy, Dot
from tracer.prose import Told
from tracer.steps import Stage
from tracer.symbols import symbols
from tracer.tape import Step, Value
from tracer.working import Writer


def lesson(trace: Trace, stages: Sequence[Stage], token: int, *, whole: bool) -> Document:
    """The sections of `stages` for a token (counted from 0); a whole lesson has an introduction."""
    teacher = _Teacher(trace, token)
    introduction = teacher.introduction() if whole else ()
    sections = tuple(
        Section(stage.number, prose.title(stage, teacher.told), tuple(teacher.blocks(stage)))
        for stage in stages
    )
    return Document(trace.scenario.title, introduction, sections)


class _Teacher:
    """Writes the blocks of each stage of one trace."""

    def __init__(self, trace: Trace, token: int) -> None:
        self.trace, self.token = trace, token
        layers = trace.scenario.layers
        self.told = Told(
            trace.scenario.rounding,
            token,
            distinct(trace.tokens),
            layers=len(layers),
            heads=max(
                (len(layer.attention.heads) for layer in layers if layer.attention), default=0
            ),
        )
        self.symbols = symbols(trace.steps)
        producers = {step.output.address: step for step in trace.steps}
        self.writer = Writer(trace.scenario.rounding, self.symbols, producers)

    def introduction(self) -> tuple[Block, ...]:
        return tuple(Paragraph(sentence) for sentence in prose.introduction(self.told))

    def blocks(self, stage: Stage) -> list[Block]:
        """Goal, then formula, parameters and worked lines of each step, then what it all gives."""
        written: list[Block] = [Paragraph(prose.goal(stage))]
        for step in stage.steps:
            written += self.step(step, stage)
        last = stage.steps[-1]
        match stage.kind:
            case "embedding":
                written += self.embedding(stage)
            case "prediction":
                written += self.prediction(last)
            case _:
                written += self.result(last.output)
                printed = self.row(last.output)
                sentence = prose.reading(stage, self.told, printed)
                if sentence:
                    written.append(Paragraph(sentence))
        return written

    def step(self, step: Step, stage: Stage) -> list[Block]:
        """Formula, parameters, worked lines."""
        written_out_later = isinstance(step.operation, Dot) and len(stage.steps) > 1
        if written_out_later or isinstance(step.operation, ArgMax):
            return []
        written: list[Block] = []
        lines = self.writer.lines(step, self.token)
        caption = prose.caption(step) if len(stage.steps) > 1 else None
        if caption and lines:
            written.append(Paragraph((caption,)))
        formula = self.writer.formula(step)
        if formula and not isinstance(step.operation, Copy):
            written.append(Formula(formula))
        for value in step.inputs:
            if value.address.startswith("weights."):
                written.append(self.matrix(value, None))
        if lines:
            written.append(Working(lines))
        return written

    def embedding(self, stage: Stage) -> list[Block]:
        """The tokens with their ids, and their vectors."""
        values = {step.output.address: step.output for step in stage.steps}
        written: list[Block] = []
        if "tokens" in values:
            ids = values.get("token_ids")
            header = ("position", *(["id"] if ids else []), "token")
            rows = tuple(
                (Name(str(i + 1)), *([Name(str(ids.array[i]))] if ids else []), Name(token))
                for i, token in enumerate(self.trace.tokens)
            )
            written.append(Table(header, rows, self.token))
        if "embedding" in values:
            written.append(self.matrix(values["embedding"], self.token))
        return written

    def prediction(self, step: Step) -> list[Block]:
        """The guess for the followed token, and those at the other positions."""
        probabilities = step.inputs[0]
        row = self.row(probabilities)
        best = max(row, key=lambda number: number.value)
        sentence = prose.prediction(step.output, self.told, best)
        rows = tuple(
            (Name(name), Name(str(word)))
            for name, word in zip(self.told.names, step.output.array, strict=True)
        )
        return [Table(("after", "comes"), rows, self.token), Paragraph(sentence)]

    def result(self, value: Value) -> list[Block]:
        """The followed token's row by itself, then the rows of all."""
        if not value.axes:
            return []
        if value.array.ndim == 1 or not value.per_token:
            return [self.matrix(value, self.token if value.per_token else None)]
        symbol = self.symbols[value.address]
        labels = self.labels(value.axes[1])
        vector = Vector(symbol, self.told.who, self.row(value), labels)
        return [vector, self.matrix(value, self.token)] if len(self.told.names) > 1 else [vector]

    def row(self, value: Value) -> tuple[Number, ...]:
        """The followed token's numbers, as they are printed."""
        if value.array.ndim != 2 or not value.per_token:
            return ()
        columns = range(value.array.shape[1])
        return tuple(self.writer.number(value, (self.token, column)) for column in columns)

    def matrix(self, value: Value, marked: int | None) -> Matrix:
        """A value of one or two axes; a bias is one row, a number for each token one column."""
        symbol, array = self.symbols[value.address], value.array
        if array.ndim == 2:
            rows, columns = map(self.labels, value.axes)
            cells = tuple(
                tuple(self.writer.number(value, (i, j)) for j in range(len(columns)))
                for i in range(len(rows))
            )
            return Matrix(symbol, rows, columns, cells, marked)
        labels = self.labels(value.axes[0])
        numbers = tuple(self.writer.number(value, (i,)) for i in range(len(labels)))
        if value.per_token:
            return Matrix(symbol, labels, ("",), tuple((number,) for number in numbers), marked)
        return Matrix(symbol, ("",), labels, (numbers,), None)

    def labels(self, axis: Axis) -> tuple[str, ...]:
        """The labels of an axis, each of them once."""
        return distinct(axis.labels)
