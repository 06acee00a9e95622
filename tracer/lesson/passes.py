"""A forward pass as a text: its steps, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.lesson import sentences
from tracer.lesson.document import Block, Document, Name, Paragraph, Sentence, Table
from tracer.lesson.picture import picture
from tracer.lesson.selection import of_encoder, steps
from tracer.lesson.steps import Step
from tracer.lesson.teacher import Teacher
from tracer.lesson.terms import Terms


def forward_pass(
    trace: Trace,
    chosen: Sequence[Step],
    token: int,
    *,
    whole: bool,
    full: bool = True,
    terms: Terms | None = None,
) -> Document:
    """The sections of the steps for a token (counted from 0); a whole pass is introduced.

    Where all steps are the encoder's, it is one of its tokens.
    """
    followed = (None, token) if of_encoder(chosen) else (token, None)
    teacher = Teacher(trace, *followed, full=full, terms=terms)
    introduction: tuple[Block, ...] = ()
    if whole:
        introduction = (*teacher.introduction(), *padded_batch(trace), *at_a_glance(teacher))
    sections = tuple(map(teacher.section, chosen))
    return Document(trace.name, trace.scenario.title, introduction, sections, whole=whole)


def contents(trace: Trace) -> Document:
    """The steps of a pass, a line each; of the trace only the shapes are looked at."""
    rows = tuple(
        (Name(str(s.number)), Name(s.kind.name), Name(_shape(s)), Name(s.last.output.address))
        for s in steps(trace.records)
    )
    table = Table(("step", "name", "shape", "address"), rows)
    return Document(trace.name, trace.scenario.title, (table,), ())


def _shape(step: Step) -> str:
    """`4×6`, the rows and columns of what a step comes to; `1` of a single number."""
    return "×".join(map(str, step.last.output.shape)) or "1"


def at_a_glance(teacher: Teacher) -> tuple[Block, ...]:
    """The picture of the model, and how to read it."""
    return (Paragraph((sentences.AT_A_GLANCE,)), picture(teacher.told, teacher.steps))


def padded_batch(trace: Trace) -> tuple[Block, ...]:
    """The sequences beside the followed one, if it is one of a batch."""
    scenario, padding = trace.scenario, trace.scenario.padding
    if trace.tokens not in scenario.batch or len(scenario.batch) == 1:
        return ()
    rows = tuple(
        (Name(str(i)), Name(" ".join(tokens))) for i, tokens in enumerate(scenario.batch, 1)
    )
    sentence: Sentence = ("It is one sequence of a batch. All have the same length",)
    if padding is not None and any(padding in tokens for tokens in scenario.batch):
        sentence = (*sentence, ": what is shorter is filled up with ", Name(padding))
    table = Table(("sequence", "tokens"), rows, scenario.batch.index(trace.tokens))
    return (Paragraph((*sentence, ".")), table)
