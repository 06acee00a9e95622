"""The complete text for a scenario: the question, every step, what comes of it, a summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tracer.decoder.forward import Trace
from tracer.decoder.generation import Generated
from tracer.decoder.tape import Value
from tracer.lesson import sentences
from tracer.lesson.document import Document, Name, Paragraph, Section, Sentence, Table
from tracer.lesson.generated_text import generated_text
from tracer.lesson.passes import at_a_glance, padded_batch
from tracer.lesson.steps import Step
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.lesson.steps.words import PREDICTION_STEP
from tracer.lesson.teacher import Teacher
from tracer.lesson.training_pass import training_pass
from tracer.names import count

TRAINING, GENERATION = "Training", "Generation"
MOST_TURNS = 5


@dataclass(frozen=True)
class Further:
    """What follows the forward pass, as far as a scenario has it."""

    unmasked: Trace | None = None
    loss: Trace | None = None
    generated: Generated | None = None


def tutorial(trace: Trace, token: int, further: Further, *, full: bool = True) -> Document:
    """Every step worked for a token (counted from 0), then training, generation and a summary."""
    teacher = Teacher(trace, token, refers=True, full=full)
    every = teacher.steps
    asked = sentences.question(teacher.told, predicts=every[-1].kind is PREDICTION_STEP)
    introduction = (*map(Paragraph, asked), *padded_batch(trace), *at_a_glance(teacher))
    sections = (
        *map(teacher.section, every),
        *_leak(further.unmasked, full),
        *_loss(further.loss, trace, full),
        *_generated(further.generated),
        _summary(teacher),
    )
    return Document(trace.scenario.title, introduction, sections)


def _leak(trace: Trace | None, full: bool) -> Iterator[Section]:
    """What the mask prevents: the first head without it, for the token that would see most."""
    if trace is None:
        return
    step = next((s for s in Teacher(trace).steps if s.kind is UNMASKED_STEP), None)
    if step is None:
        return
    token = _sees_most(step.last.output)
    teacher = Teacher(trace, token, full=full)
    section = teacher.section(step)
    place = sentences.where(step, teacher.told)
    end = f", {place}." if place else "."
    here: Sentence = ("It is worked for the token ", teacher.told.who, end)
    title = "What the mask prevents"
    yield Section(None, title, (Paragraph(here), *section.blocks), TRAINING)


def _sees_most(weights: Value) -> int:
    """The token that would give the most of its attention to tokens behind it."""
    later = [sum(row[i + 1 :]) for i, row in enumerate(weights.computed)]
    return later.index(max(later))


def _loss(trace: Trace | None, before: Trace, full: bool) -> Iterator[Section]:
    if trace is None:
        return
    targets, probabilities, loss = training_pass(trace, full=full).sections
    # The probabilities of the same tokens stand above.
    shown = [probabilities] if trace.tokens != before.tokens else []
    for section in (targets, *shown, loss):
        yield replace(section, number=None, part=TRAINING)


def _generated(generated: Generated | None) -> Iterator[Section]:
    if generated is None:
        return
    for section in generated_text(generated, worked=False, cached=False).sections:
        yield replace(section, part=GENERATION)


def _summary(teacher: Teacher) -> Section:
    """All steps in a table, and how many parameters there are."""
    rows = tuple(
        (
            Name(str(step.number)),
            Name(sentences.title(step, teacher.told)),
            Name(step.kind.summary),
        )
        for step in teacher.steps
    )
    table = Table(("step", "name", "what happens"), rows)
    learned = sum(value.numbers.size for value in _parameters(teacher.steps))
    sentence = f"The weights of all steps are {count(learned, 'parameter')}."
    counted = [Paragraph((sentence,))] if learned and teacher.full else []
    return Section(None, "Summary", (table, *counted), "Summary")


def _parameters(steps: list[Step]) -> set[Value]:
    records = (record for step in steps for record in step.records)
    return {value for record in records for value in record.inputs if value.role.parameter}
