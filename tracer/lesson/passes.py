"""A forward pass as a text: its steps alone, or with all that makes a tutorial of them."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.forward import Trace
from tracer.lesson import sentences
from tracer.lesson.document import (
    Block,
    Document,
    Name,
    Paragraph,
    Section,
    Sentence,
    Table,
)
from tracer.lesson.picture import picture
from tracer.lesson.selection import steps
from tracer.lesson.steps import Step
from tracer.lesson.steps.words import PREDICTION_STEP
from tracer.lesson.teacher import Teacher


def forward_pass(trace: Trace, chosen: Sequence[Step], token: int, *, whole: bool) -> Document:
    """The sections of the steps for a token (counted from 0); a whole pass is introduced."""
    teacher = Teacher(trace, token)
    introduction: tuple[Block, ...] = ()
    if whole:
        introduction = (*teacher.introduction(), *_padded_batch(trace), *_at_a_glance(teacher))
    sections = tuple(map(teacher.section, chosen))
    return Document(trace.scenario.title, introduction, sections, whole=whole)


def tutorial(trace: Trace, token: int) -> Document:
    """The complete text for a scenario: the question, every step, the summary."""
    teacher = Teacher(trace, token, refers=True)
    every = teacher.steps
    asked = sentences.question(teacher.told, predicts=every[-1].kind is PREDICTION_STEP)
    introduction = (*map(Paragraph, asked), *_padded_batch(trace), *_at_a_glance(teacher))
    titles = [(step, sentences.title(step, teacher.told)) for step in every]
    rows = tuple(
        (Name(str(step.number)), Name(title), Name(step.kind.summary)) for step, title in titles
    )
    summary = Section(None, "Summary", (Table(("step", "name", "what happens"), rows),))
    sections = (*map(teacher.section, every), summary)
    return Document(trace.scenario.title, introduction, sections)


def contents(trace: Trace) -> Document:
    """The steps of a pass, a line each; of the trace only the shapes are looked at."""
    rows = tuple(
        (Name(str(s.number)), Name(s.kind.name), Name(_shape(s)), Name(s.last.output.address))
        for s in steps(trace.records)
    )
    table = Table(("step", "name", "shape", "address"), rows)
    return Document(trace.scenario.title, (table,), ())


def _shape(step: Step) -> str:
    """`4×6`, the rows and columns of what a step comes to; `1` of a single number."""
    return "×".join(map(str, step.last.output.numbers.shape)) or "1"


def _at_a_glance(teacher: Teacher) -> tuple[Block, ...]:
    """The picture of the model, and how to read it."""
    drawn = picture(teacher.told, teacher.steps)
    return (Paragraph((sentences.AT_A_GLANCE,)), drawn)


def _padded_batch(trace: Trace) -> tuple[Block, ...]:
    """The sequences beside the followed one, if it is one of a batch."""
    scenario = trace.scenario
    if trace.tokens not in scenario.batch:
        return ()
    rows = tuple(
        (Name(str(i)), Name(" ".join(tokens))) for i, tokens in enumerate(scenario.batch, 1)
    )
    sentence: Sentence = ("It is one sequence of a batch. All have the same length",)
    if scenario.padding is not None:
        sentence = (*sentence, ": the shorter ones are filled up with “", Name(scenario.padding))
        sentence = (*sentence, "”, which no token may look at")
    table = Table(("sequence", "tokens"), rows, scenario.batch.index(trace.tokens))
    return (Paragraph((*sentence, ".")), table)
