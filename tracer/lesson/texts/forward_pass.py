"""A forward pass as a text: its steps, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.answer import answer
from tracer.lesson.texts.at_a_glance import diagram
from tracer.lesson.texts.repetition import sections_of
from tracer.lesson.texts.selection import of_encoder, steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.sums import Terms
from tracer.names import shape_text

SUMMARY = "Summary"


def forward_pass(
    trace: Trace,
    chosen: Sequence[Step],
    token: int,
    *,
    whole: bool,
    answers: bool = True,
    full: bool = True,
    detail: Detail = Detail.FULL,
    terms: Terms | None = None,
) -> doc.Document:
    """The sections of the steps for a token (counted from 0); a whole pass is introduced.

    Where all steps are the encoder's, it is one of its tokens. Without `answers`, the introduction
    does not say what comes out: all layers would be computed for it.
    """
    followed = (None, token) if of_encoder(chosen) else (token, None)
    teacher = Teacher(trace, *followed, full=full, detail=detail, terms=terms)
    introduction: tuple[doc.Block, ...] = ()
    if whole:
        introduction = (
            *teacher.author.intro(),
            *teacher.introduction(),
            *(answer(teacher) if answers else ()),
            *padded_batch(trace),
            *diagram(teacher.ctx, chosen),
        )
    sections = tuple(sections_of(teacher, chosen))
    if whole:
        sections = teacher.with_signs(sections)
    if whole and (summary := teacher.author.summary()):
        sections += (doc.Section(None, SUMMARY, summary),)
    return doc.Document(trace.name, trace.scenario.title, introduction, sections, whole=whole)


def contents(trace: Trace) -> doc.Document:
    """The steps of a pass, a line each; of the trace only the shapes are looked at."""
    rows = []
    for step in steps(trace.records):
        value = step.last.output
        shape = shape_text(value.shape, "1")
        rows.append((str(step.number), step.kind.name, shape, value.address))
    table = doc.Table.of(("step", "name", "shape", "address"), rows)
    return doc.Document(trace.name, trace.scenario.title, (table,), ())


def padded_batch(trace: Trace) -> tuple[doc.Block, ...]:
    """The sequences beside the followed one, if it is one of a batch."""
    scenario, padding = trace.scenario, trace.scenario.padding
    if trace.tokens not in scenario.batch or len(scenario.batch) == 1:
        return ()
    rows = ((str(i), " ".join(tokens)) for i, tokens in enumerate(scenario.batch, 1))
    sentence: doc.Sentence = ("It is one sequence of a batch. All have the same length",)
    if padding is not None and any(padding in tokens for tokens in scenario.batch):
        sentence = (*sentence, ": what is shorter is filled up with ", doc.Name(padding))
    table = doc.Table.of(("sequence", "tokens"), rows, scenario.batch.index(trace.tokens))
    return (doc.Paragraph((*sentence, ".")), table)
