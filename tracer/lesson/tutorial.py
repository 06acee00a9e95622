"""The complete text for a scenario: the question, every step, what comes of it, a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.decoder.loss import targets_of
from tracer.decoder.training import Training
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.lesson import sentences
from tracer.lesson.document import Document, Name, Paragraph, Section, Sentence, Table
from tracer.lesson.generated_text import cannot_go_on, generated_text
from tracer.lesson.passes import at_a_glance, padded_batch
from tracer.lesson.selection import steps
from tracer.lesson.sizes import number_used
from tracer.lesson.steps import Step
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.lesson.steps.words import PREDICTION_STEP
from tracer.lesson.teacher import Teacher
from tracer.lesson.training_pass import training_pass
from tracer.lesson.training_text import training_text
from tracer.names import count

TRAINING, GENERATION = "Training", "Generation"
MOST_TURNS = 5
NO_WORDS: Sentence = (
    "The scenario has no vocabulary. Therefore no word is predicted, there is no loss, and no text "
    "can be generated.",
)
NO_TARGETS: Sentence = (
    "There is no loss here, because at no position is a word of the vocabulary to be guessed.",
)


def tutorial(
    found: Trace,
    chosen: Sequence[Step],
    token: int,
    *,
    training: Training | None = None,
    full: bool = True,
) -> Document:
    """The steps worked for a token (counted from 0); of all, training and generation follow them.

    Of the training the loss is told, and the way back and the update if it is given. A summary is
    the end.
    """
    whole = len(chosen) == len(steps(found.records))
    teacher = Teacher(found, token, refers=whole, full=full)
    told = worked_for(teacher, chosen)
    further = _further(found, training, full) if whole else ()
    return replace(told, sections=(*told.sections, *further, _summary(teacher, chosen)))


def worked_for(teacher: Teacher, chosen: Sequence[Step]) -> Document:
    """The question, and the steps worked for a teacher's token."""
    found, predicts = teacher.trace, teacher.steps[-1].kind is PREDICTION_STEP
    whole = len(chosen) == len(teacher.steps)
    terms = teacher.writer.terms
    asked = sentences.question(teacher.told, terms, predicts=predicts, whole=whole)
    introduction = (*map(Paragraph, asked), *padded_batch(found), *at_a_glance(teacher))
    sections = tuple(map(teacher.section, chosen))
    return Document(found.name, found.scenario.title, introduction, sections)


def _further(found: Trace, training: Training | None, full: bool) -> Iterator[Section]:
    yield from _or_why_not("What the mask prevents", TRAINING, _leak(found, full))
    if training:
        yield from _trained(training, full)
    else:
        yield from _or_why_not("Cross-entropy loss", TRAINING, _loss(found, full))
    yield from _or_why_not("The text", GENERATION, _generated(found, full))


def _or_why_not(title: str, part: str, sections: Iterator[Section]) -> tuple[Section, ...]:
    """Sections that follow the steps, or one that says why the scenario cannot have them."""
    try:
        return tuple(sections)
    except TracerError as met:
        why: Sentence = ("It is left out: ", *cannot_go_on(met))
        return (Section(None, title, (Paragraph(why),), part),)


def _leak(found: Trace, full: bool) -> Iterator[Section]:
    """What the mask prevents: the first head without it, for the token that would see most."""
    if len(found.tokens) == 1 or not found.masks:
        return
    unmasked = trace(found.name, found.scenario, PassOptions(unmasked=True))
    step = next((s for s in Teacher(unmasked).steps if s.kind is UNMASKED_STEP), None)
    if step is None or found.scenario.mask == "none":
        return
    teacher = Teacher(unmasked, _sees_most(step.last.output), full=full)
    section = teacher.section(step)
    place = sentences.where(step, teacher.told)
    here: Sentence = (
        "It is worked for the token ",
        teacher.told.who,
        f", {place}." if place else ".",
    )
    title = "What the mask prevents"
    yield Section(None, title, (Paragraph(here), *section.blocks), TRAINING, trace=unmasked)


def _sees_most(weights: Value) -> int:
    """The token that would give the most of its attention to tokens behind it."""
    later = [sum(row[i + 1 :]) for i, row in enumerate(weights.computed)]
    return later.index(max(later))


def _loss(found: Trace, full: bool) -> Iterator[Section]:
    """The loss, of the first training example if there are any; or why there is none."""
    scenario = found.scenario
    for example in scenario.training[:1]:
        scenario = scenario.reading_example(example)
    if scenario.vocabulary is None:
        yield Section(None, "What is left out", (Paragraph(NO_WORDS),), TRAINING)
        return
    if not any(targets_of(scenario)):
        yield Section(None, "Cross-entropy loss", (Paragraph(NO_TARGETS),), TRAINING)
        return
    learned = trace(found.name, scenario, PassOptions(loss=True))
    targets, probabilities, loss = training_pass(learned, full=full).sections
    # The probabilities of the same tokens stand above.
    shown = [probabilities] if learned.tokens != found.tokens else []
    for section in (targets, *shown, loss):
        yield replace(section, number=None, part=TRAINING)


def _trained(training: Training, full: bool) -> Iterator[Section]:
    told = training_text(training, full=full)
    yield Section(None, "What training does", told.introduction, TRAINING)
    for section in told.sections:
        yield replace(section, part=section.part or TRAINING)


def _generated(found: Trace, full: bool) -> Iterator[Section]:
    """A text of a few words, from the scenario's beginning on, as far as it goes."""
    scenario = found.scenario
    if scenario.vocabulary is None:
        return
    options = GenerationOptions(
        scenario.beginning,
        MOST_TURNS,
        cached=not scenario.looks_ahead,
        as_far_as_possible=True,
    )
    said = generate(found.name, scenario, options)
    for section in generated_text(said, worked=False, cached=False, full=full).sections:
        yield replace(section, part=GENERATION)


def _summary(teacher: Teacher, chosen: Sequence[Step]) -> Section:
    header = ("step", "name", *(["parameters"] if teacher.full else []), "what happens")
    rows = tuple(_summed_up(step, teacher) for step in chosen)
    records = [record for step in chosen for record in step.records]
    number = number_used(records, teacher.parameter_shapes)
    which = "all" if len(chosen) == len(teacher.steps) else "these"
    sentence = f"The weights of {which} steps are {count(number, 'parameter')}."
    counted = [Paragraph((sentence,))] if number and teacher.full else []
    return Section(None, "Summary", (Table(header, rows), *counted))


def _summed_up(step: Step, teacher: Teacher) -> tuple[Name, ...]:
    number = [str(number_used(step.records, teacher.parameter_shapes))] if teacher.full else []
    title = sentences.title(step, teacher.told.at(step.place))
    return tuple(map(Name, (str(step.number), title, *number, step.kind.summary)))
