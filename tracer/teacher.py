"""A stage of a trace → the blocks that explain it for one token."""

from __future__ import annotations

from tracer import prose, readings
from tracer.decoder import Trace
from tracer.document import (
    Block,
    Figure,
    Formula,
    Matrix,
    Name,
    Paragraph,
    Section,
    Table,
    Vector,
    Working,
)
from tracer.expression import Expression, Number
from tracer.formulas import formula
from tracer.names import distinct
from tracer.operations import ArgMax, Axis, Dot, Given, Pick, Select
from tracer.prose import Told
from tracer.steps import Stage, stages
from tracer.symbols import role, symbols
from tracer.tape import Step, Value
from tracer.working import Writer


class Teacher:
    """Writes the blocks of each stage of one trace."""

    def __init__(self, trace: Trace, token: int, *, refers: bool = False) -> None:
        """With `refers`, each step says from which steps its numbers come."""
        self.trace, self.token, self.refers = trace, token, refers
        every = stages(trace.steps)
        self.stages = {step.output.address: stage for stage in every for step in stage.steps}
        self.ends = {stage.number: stage.steps[-1].output.address for stage in every}
        layers = trace.scenario.layers
        self.told = Told(
            trace.scenario.rounding,
            token,
            distinct(trace.tokens),
            layers=len(layers),
            heads=max(
                len(part.heads) if part else 0
                for layer in layers
                for part in (layer.attention, layer.cross_attention)
            ),
            crosses=trace.scenario.encoder is not None,
            padding=trace.scenario.padding if trace.scenario.padding in trace.tokens else None,
        )
        self.symbols = symbols(trace.steps)
        producers = {step.output.address: step for step in trace.steps}
        self.writer = Writer(trace.scenario.rounding, self.symbols, len(trace.tokens), producers)

    def introduction(self) -> tuple[Block, ...]:
        """What is worked out, and what the signs mean."""
        return tuple(Paragraph(sentence) for sentence in prose.introduction(self.told))

    def section(self, stage: Stage) -> Section:
        """A stage with its title."""
        return Section(stage.number, prose.title(stage, self.told), tuple(self.blocks(stage)))

    def blocks(self, stage: Stage) -> list[Block]:
        """Goal, then formula, parameters and worked lines of each step, then what it all gives."""
        written: list[Block] = [Paragraph(prose.goal(stage, self.told))]
        if self.refers and (sentence := prose.references(self.sources(stage))):
            written.append(Paragraph(sentence))
        for step in stage.steps:
            written += self.step(step, stage)
        last = stage.steps[-1]
        match stage.kind:
            case "embedding":
                return written + self.embedding(stage)
            case "prediction":
                return written + self.prediction(last)
            case "loss":
                return written + self.loss(last)
            case "sampling":
                return [*written, Paragraph(readings.drawn(last))]
            case _:
                written += self.result(last.output)
                ends = role(last.output.address) == role(self.ends[stage.number])
                printed = self.row(last.output) if ends else ()
                sentence = readings.reading(stage, self.told, printed)
                return [*written, Paragraph(sentence)] if sentence else written

    def sources(self, stage: Stage) -> list[tuple[Expression, int]]:
        """What a stage takes from others, with their numbers."""
        taken = {value.address: None for step in stage.steps for value in step.inputs}
        found = [(address, self.stages[address]) for address in taken if address in self.stages]
        return [
            (self.symbols[address], origin.number)
            for address, origin in found
            if origin.number != stage.number
        ]

    def step(self, step: Step, stage: Stage) -> list[Block]:
        """Formula, parameters, worked lines."""
        address = step.output.address
        if address in self.trace.scenario.given:
            return [Paragraph(prose.given(self.symbols[address]))]
        if isinstance(step.operation, Dot) and len(stage.steps) > 1:
            return []  # written out in the lines of the scores
        if isinstance(step.operation, ArgMax | Pick | Given):
            return []
        written: list[Block] = []
        lines = self.writer.lines(step, self.token)
        caption = prose.caption(step) if len(stage.steps) > 1 else None
        if caption:
            written.append(Paragraph((caption,)))
        in_symbols = formula(step, self.symbols)
        if in_symbols:
            written.append(Formula(in_symbols))
        for value in step.inputs:
            if value.address.startswith("weights.") or value.address == "mask":
                written.append(self.matrix(value))
        if lines:
            written.append(Working(lines))
        if isinstance(step.operation, Select):
            written.append(self.matrix(step.output))
        return written

    def shown(self, value: Value) -> list[Block]:
        """A value without its working, and that it is given, if it is."""
        pinned = value.address in self.trace.scenario.given
        said = [Paragraph(prose.given(self.symbols[value.address]))] if pinned else []
        return [*said, self.matrix(value)]

    def embedding(self, stage: Stage) -> list[Block]:
        """The tokens with their ids, and their vectors."""
        values = {step.output.address: step.output for step in stage.steps}
        written: list[Block] = []
        if "tokens" in values:
            tokens, ids = values["tokens"].array, values.get("token_ids")
            before = len(self.trace.tokens) - len(tokens)
            header = ("position", *(["id"] if ids else []), "token")
            rows = tuple(
                (
                    *(Name(str(before + i + 1)), *([Name(str(ids.array[i]))] if ids else [])),
                    Name(token),
                )
                for i, token in enumerate(tokens)
            )
            written.append(Table(header, rows, self.token - before))
        if "embedding" in values:
            written.append(self.matrix(values["embedding"]))
        return written

    def prediction(self, step: Step) -> list[Block]:
        """The guess for the followed token, and those at the other positions."""
        probabilities = step.inputs[0]
        row = self.row(probabilities)
        best = max(row, key=lambda number: number.value)
        sentence = readings.prediction(step.output, self.told, best)
        names = self.told.names[-len(step.output.array) :]
        rows = tuple(
            (Name(name), Name(word)) for name, word in zip(names, step.output.array, strict=True)
        )
        marked = step.output.row(self.token, len(self.told.names))
        return [Table(("after", "comes"), rows, marked), Paragraph(sentence)]

    def loss(self, step: Step) -> list[Block]:
        """Which positions do not count, if there are any."""
        sentence = readings.counted(step)
        return [Paragraph(sentence)] if sentence else []

    def result(self, value: Value) -> list[Block]:
        """The followed token's row by itself, then the rows of all."""
        if not value.axes:
            return []
        if value.array.ndim == 1 or not value.per_token:
            return [self.matrix(value)]
        symbol = self.symbols[value.address]
        labels = self.labels(value.axes[1])
        vector = Vector(symbol, self.told.who, self.row(value), labels)
        return [vector, self.matrix(value)] if len(value.array) > 1 else [vector]

    def row(self, value: Value) -> tuple[Number, ...]:
        """The followed token's numbers, as they are printed."""
        if value.array.ndim != 2 or not value.per_token:
            return ()
        row, columns = value.row(self.token, len(self.told.names)), range(value.array.shape[1])
        return tuple(self.writer.number(value, (row, column)) for column in columns)

    def matrix(self, value: Value) -> Matrix:
        """A value of one or two axes; a bias is one row, a number for each token one column."""
        marked = value.row(self.token, len(self.told.names)) if value.per_token else None
        symbol, array = self.symbols[value.address], value.array
        if array.ndim == 2:
            rows, columns = map(self.labels, value.axes)
            cells = tuple(
                tuple(self.writer.number(value, (i, j)) for j in range(len(columns)))
                for i in range(len(rows))
            )
            return Matrix(symbol, rows, columns, cells, marked, self.figure(value))
        labels = self.labels(value.axes[0])
        numbers = tuple(self.writer.number(value, (i,)) for i in range(len(labels)))
        if value.per_token:
            return Matrix(symbol, labels, ("",), tuple((number,) for number in numbers), marked)
        return Matrix(symbol, ("",), labels, (numbers,), None)

    def figure(self, value: Value) -> Figure | None:
        """Attention weights are worth a picture."""
        if not value.address.endswith(".weights"):
            return None
        title = prose.picture(self.stages[value.address], self.told)
        return Figure(f"{self.trace.name}.{value.address}", title)

    def labels(self, axis: Axis) -> tuple[str, ...]:
        """The labels of an axis, each of them once."""
        return distinct(axis.labels)
