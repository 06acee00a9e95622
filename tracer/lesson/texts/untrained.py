"""The text of a large model with random weights: what each step combines, not what comes out."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder.forward import Trace
from tracer.decoder.operations import Concat
from tracer.formula.expression import Sized, Symbol
from tracer.lesson import document as doc
from tracer.lesson.steps.inputs import EMBEDDING_STEP
from tracer.lesson.texts import sentences
from tracer.lesson.texts.at_a_glance import diagram, frozen_used, parameters_used, sizes
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.model_summary import model_summary
from tracer.lesson.texts.symbols import symbols_of_the_end
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.formula_shapes import sized
from tracer.lesson.working.formulas import formula
from tracer.lesson.working.sums import Terms
from tracer.scenario.dimensions import FromSeed

STEP_BY_STEP = "Step by step: one layer and the output"


def text_of_model(trace: Trace, token: int, *, full: bool, terms: Terms | None) -> doc.Document:
    """The summary of a model for a token (counted from 0); if it is untrained, its shapes."""
    if not isinstance(trace.scenario, FromSeed):
        return model_summary(trace, token, full=full, terms=terms)
    teacher = Teacher(trace, token, full=full, terms=terms)
    used = parameters_used(teacher), frozen_used(teacher)
    introduction = (
        *teacher.author.intro(),
        doc.Paragraph(sentences.cut_rows(teacher.ctx)),
        *diagram(teacher.ctx, teacher.steps),
        *(sizes(teacher.ctx, *used) if full else ()),
    )
    start = [step for step in teacher.steps if step.kind is EMBEDDING_STEP]
    sections = [teacher.section(step) for step in start if not step.place.encoder]
    sections.append(doc.Section(None, STEP_BY_STEP, tuple(_steps(teacher)), trace=trace))
    if said := teacher.author.summary():
        sections.append(doc.Section(None, SUMMARY, said))
    title = trace.scenario.title
    return doc.Document(trace.name, title, introduction, tuple(sections), whole=True)


def _steps(teacher: Teacher) -> Iterator[doc.Block]:
    """The steps of the first layer, with one head, and of the output: a row each, and notes."""
    ctx, symbols = teacher.ctx, dict(teacher.ctx.symbols)
    if ctx.layers > 1:
        symbols |= symbols_of_the_end(teacher.trace.records, symbols, ctx.layers)
    steps = [
        step
        for step in teacher.steps
        if step.place.layer in (None, 1) and step.place.head in (None, 1)
        if not step.place.encoder and step.kind is not EMBEDDING_STEP
    ]
    yield doc.Paragraph((_what_is_shown(ctx.heads, ctx.layers),))
    rows = list[tuple[str | doc.Cell, ...]]()
    for step in steps:
        name, record = " · ".join(sentences.within(step, ctx.at(step.place))), step.last
        if isinstance(record.operation, Concat) and len(record.inputs) > 1:
            symbols[record.output.address] = Symbol("O")
        if chain := formula(record, symbols):
            result = Sized(symbols[record.output.address], record.output.shape)
            if not isinstance(record.operation, Concat):
                chain = sized(chain, record, symbols, ctx.trace.producers)
            rows.append((name, result, chain.sides[1]))
    yield doc.Table.of(("step", "result", "computed from"), rows)
    for step in steps:
        yield from teacher.author.notes(step)


def _what_is_shown(heads: int, layers: int) -> str:
    """How the table is to be read."""
    said = (
        "Each row is a step, with the shape of its result and of the matrices that it multiplies."
    )
    if heads > 1:
        said += f" Head 1 stands for all {heads} heads."
    if layers > 1:
        said += " The other layers have the same steps as layer 1."
    return said
