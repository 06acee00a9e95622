"""A step of training → the section that explains it: the backward pass, and the update."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from functools import cached_property

from tracer.decoder import roles
from tracer.decoder.forward import Trace
from tracer.decoder.operations import AccumulateGradients, Pinned
from tracer.decoder.roles import SQUARES
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Chain
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.formulas import formula
from tracer.lesson.working.written import Worked

FROM_THE_PASS = "From the forward pass:"
OF_THE_OTHERS = "From the other examples, computed in the same way:"
NOT_WORKED = "From the backward pass, without worked lines:"


def _origin(value: Value) -> str | None:
    """Where an operand that no step has shown comes from, in words."""
    if value.place.phase == "forward":
        return FROM_THE_PASS
    if value.place.phase == "gradient":  # an activation behind W₂ has no step for its slope
        return NOT_WORKED if value.place.example is None else OF_THE_OTHERS
    return None


class TrainingTeacher(Teacher):
    """Writes the sections of a text about training.

    Of the gradients of parameters, only the one that is `worked`, by its address, has lines.
    """

    def __init__(
        self,
        trace: Trace,
        token: int | None,
        worked: str | None,
        *,
        full: bool,
        detail: Detail = Detail.FULL,
    ) -> None:
        super().__init__(trace, token, full=full, detail=detail)
        self.worked = worked

    def work(self, step: Step, again: bool) -> list[doc.Block]:
        """A step of training: of each record what it is made of, formula, lines and matrix."""
        if step.place.phase == "forward":
            return super().work(step, again)
        written = _together(block for r in step.records for block in self.learned(r, step))
        return [*written, *doc.paragraphs(step.kind.claim_of(step, self.ctx.at(step.place)))]

    def worked_before(self, step: Step) -> Step | None:
        """The step that worked out all operations of this one; the worked parameter has its own."""
        is_own = step.place.phase == "update" or self.has_worked_parameter(step)
        return None if is_own else super().worked_before(step)

    def has_worked_parameter(self, step: Step) -> bool:
        """Whether a backward step computes the gradient of the worked parameter."""
        gradients = (r.output for r in step.records if r.output.role.derivation == "gradient")
        return any(parameter_of(gradient) == self.worked for gradient in gradients)

    def outcome(self, step: Step, needed: Container[Value]) -> list[doc.Block]:
        """The gradients of a step without their working; what is needed is printed where it is."""
        if step.place.phase == "forward":
            return super().outcome(step, needed)
        shown: list[doc.Block] = []
        for record in step.records:
            value = record.output
            if value.role.derivation == "gradient" and value.axes and 0 not in value.shape:
                passed_on = self.is_only_passed_on(record)
                shown += self.equal(record) if passed_on else self.without_rows_of_0(value)
                self.tables.add(value)
        return shown

    def learned(self, record: Record, step: Step) -> list[doc.Block]:
        """Return the section of one gradient or update."""
        operation, value = record.operation, record.output
        if 0 in value.shape:  # of a network without tokens
            return []
        if isinstance(operation, Pinned):
            self.tables.add(value)
            return [self.pinned(value), self.matrix(value)]
        worked = self.is_worked(value)
        is_part = value in self.totals or value.role.derivation == "clipped"
        if not worked and (step.place.phase == "update" or is_part):
            return []
        caption = step.kind.caption_of(step, record, self.ctx.at(step.place))
        said: list[doc.Block] = []
        if caption and caption not in self.captions:
            self.captions.add(caption)
            said.append(doc.Paragraph((caption,)))
        if self.is_only_passed_on(record):
            self.tables.add(value)
            return [*said, *self.equal(record)]
        written = [*(self.inputs(record) if worked else []), *said]
        lines = self.writer.lines(record, self.ctx.at(value.place).token) if worked else ()
        in_symbols = formula(record, self.ctx.symbols)
        if in_symbols and value.role is not SQUARES:  # its many terms are printed right above it
            written.append(self.formula(in_symbols, record))
        elif lines and value.axes:
            written.append(doc.Formula(Chain((self.ctx.symbols[value.address],), ())))
        if not value.axes and not lines:
            lines = (doc.Line(None, self.writer.is_given(value)),)
        if lines:
            written += [doc.Working(lines), *self.other_rows(value)]
        if value.axes and value not in self.tables:
            written += self.rounded_again(record)
            written += self.without_rows_of_0(value) if not worked else [self.matrix(value)]
        self.tables.add(value)
        return written

    def without_rows_of_0(self, value: Value) -> list[doc.Block]:
        """A gradient; of an embedding table only the rows of words that the model reads."""
        matrix = self.matrix(value)
        of_a_table = value.role.of in (roles.EMBEDDINGS, roles.POSITIONS)
        kept = [i for i, row in enumerate(value.numbers) if row.any()] if of_a_table else []
        if not kept or len(kept) == len(value.numbers):
            return [matrix]
        labels, cells = tuple(matrix.rows[i] for i in kept), tuple(matrix.cells[i] for i in kept)
        others: doc.Sentence = ("All other rows of ", matrix.symbol, " are 0.")
        return [replace(matrix, rows=labels, cells=cells), doc.Paragraph(others)]

    def is_worked(self, value: Value) -> bool:
        """Return whether a gradient is worked out; of the parameters only one is."""
        whole = self.totals.get(value, value)
        of = whole.role.of
        if of and of.of_parameters:
            place = replace(whole.place, phase="forward")
            return self.reads_worked(self.trace[place.base_address(of)])
        return not (of and of.parameter) or parameter_of(whole) == self.worked

    def reads_worked(self, value: Value) -> bool:
        """Return whether a value is computed of the worked parameter."""
        inputs = self.trace.producers[value].inputs
        return value.address == self.worked or any(map(self.reads_worked, inputs))

    @cached_property
    def totals(self) -> dict[Value, Value]:
        """The gradients that are added up of several, by each of their parts."""
        sums = [r for r in self.trace.records if isinstance(r.operation, AccumulateGradients)]
        gradients = [r for r in sums if r.output.role.derivation == "gradient"]
        return {way: record.output for record in gradients for way in record.inputs}

    def inputs(self, record: Record) -> list[doc.Block]:
        """Return a gradient's operands that are not printed above: those of the forward pass."""
        missing = [v for v in record.inputs if v not in self.tables and 0 not in v.shape]
        missing = [value for value in missing if value.address in self.ctx.symbols]
        self.tables.update(missing)
        written: list[doc.Block] = []
        for words in (FROM_THE_PASS, OF_THE_OTHERS, NOT_WORKED):
            shown = [self.forward_value(value) for value in missing if _origin(value) == words]
            written += [doc.Paragraph((words,)), *shown] if shown else []
        return written

    def forward_value(self, value: Value) -> doc.Block:
        """A value of the forward pass: its matrix, or its line where it is a single number."""
        if value.axes:
            return self.matrix(value)
        record = self.trace.producers[value]
        is_worked = isinstance(record.operation, Worked)
        chain = self.writer.named(record, ()) if is_worked else self.writer.is_given(value)
        return doc.Working((doc.Line(None, chain),))


def _together(blocks: Iterable[doc.Block]) -> list[doc.Block]:
    found: list[doc.Block] = []
    for block in blocks:
        if isinstance(block, doc.Working) and found and isinstance(found[-1], doc.Working):
            found[-1] = doc.Working((*found[-1].lines, *block.lines))
        else:
            found.append(block)
    return found


def parameter_of(value: Value) -> str:
    """The address of the parameter that a gradient or an update is of."""
    assert value.role.of
    return replace(value.place, phase="forward", example=None).address(value.role.of)
