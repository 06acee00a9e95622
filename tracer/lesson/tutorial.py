"""The complete text for a scenario: the question, every step, what comes of it, a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod

from tracer.decoder.forward import Trace, trace
from tracer.decoder.generation import generate
from tracer.decoder.tape import Value
from tracer.errors import TracerError
from tracer.lesson import sentences
from tracer.lesson.document import Document, Name, Paragraph, Section, Sentence, Table
from tracer.lesson.generated_text import generated_text
from tracer.lesson.passes import at_a_glance, padded_batch
from tracer.lesson.selection import steps
from tracer.lesson.steps import Step
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.lesson.steps.words import PREDICTION_STEP
from tracer.lesson.teacher import Teacher
from tracer.lesson.training_pass import training_pass
from tracer.names import count

TRAINING, GENERATION = "Training", "Generation"
MOST_TURNS = 5


def tutorial(found: Trace, chosen: Sequence[Step], token: int, *, full: bool = True) -> Document:
    """The steps worked for a token (counted from 0); of all, training and generation follow them.

    A summary is the end.
    """
    every = steps(found.records)
    whole = len(chosen) == len(every)
    teacher = Teacher(found, token, refers=whole, full=full)
    asked = sentences.question(
        teacher.told, teacher.writer.terms, predicts=every[-1].kind is PREDICTION_STEP
    )
    introduction = (*map(Paragraph, asked), *padded_batch(found), *at_a_glance(teacher))
    sections = (
        *map(teacher.section, chosen),
        *(_further(found, full) if whole and found.scenario.vocabulary else ()),
        _summary(teacher, chosen),
    )
    return Document(found.scenario.title, introduction, sections)


def _further(found: Trace, full: bool) -> Iterator[Section]:
    """What follows where there are words; what cannot be computed of it, a scenario has not."""
    for sections in (_leak, _loss, _generated):
        with suppress(TracerError):
            yield from sections(found, full)


def _leak(found: Trace, full: bool) -> Iterator[Section]:
    """What the mask prevents: the first head without it, for the token that would see most."""
    unmasked = trace(found.name, found.scenario, unmasked=True)
    step = next((s for s in Teacher(unmasked).steps if s.kind is UNMASKED_STEP), None)
    if step is None or len(found.tokens) == 1:
        return
    token = _sees_most(step.last.output)
    teacher = Teacher(unmasked, token, full=full)
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


def _loss(found: Trace, full: bool) -> Iterator[Section]:
    """The loss, of the first training example if there are any."""
    scenario = found.scenario
    for example in scenario.training[:1]:
        scenario = scenario.reading_example(example)
    learned = trace(found.name, scenario, loss=True)
    targets, probabilities, loss = training_pass(learned, full=full).sections
    # The probabilities of the same tokens stand above.
    shown = [probabilities] if learned.tokens != found.tokens else []
    for section in (targets, *shown, loss):
        yield replace(section, number=None, part=TRAINING)


def _generated(found: Trace, full: bool) -> Iterator[Section]:
    """A text of a few words, from the scenario's beginning on."""
    scenario = found.scenario
    start = scenario.beginning
    said = generate(found.name, scenario, start=start, most=MOST_TURNS, cached=True)
    for section in generated_text(said, worked=False, cached=False, full=full).sections:
        yield replace(section, part=GENERATION)


def _summary(teacher: Teacher, chosen: Sequence[Step]) -> Section:
    """The steps in a table, and how many parameters there are."""
    rows = tuple(
        (
            Name(str(step.number)),
            Name(sentences.title(step, teacher.told)),
            Name(step.kind.summary),
        )
        for step in chosen
    )
    table = Table(("step", "name", "what happens"), rows)
    learned = sum(prod(value.shape) for value in _parameters(chosen))
    which = "all" if len(chosen) == len(teacher.steps) else "these"
    sentence = f"The weights of {which} steps are {count(learned, 'parameter')}."
    counted = [Paragraph((sentence,))] if learned and teacher.full else []
    return Section(None, "Summary", (table, *counted))


def _parameters(steps: Sequence[Step]) -> set[Value]:
    records = (record for step in steps for record in step.records)
    return {value for record in records for value in record.inputs if value.role.parameter}
