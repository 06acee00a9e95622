"""The complete text for a scenario: the question, every step, what comes of it, a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.decoder.inputs import only_hides
from tracer.decoder.loss import has_loss
from tracer.decoder.training import Training
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.masks import mask_of
from tracer.lesson.steps.training import KIND_OF_LOSS
from tracer.lesson.steps.words import PREDICTION_STEP
from tracer.lesson.texts import sentences
from tracer.lesson.texts.answer import answer
from tracer.lesson.texts.architecture import architecture, learned_parameters
from tracer.lesson.texts.at_a_glance import diagram, frozen_used, parameters_used, sizes
from tracer.lesson.texts.before_and_after import largest_changes, paths_of_tokens
from tracer.lesson.texts.forward_pass import SUMMARY, padded_batch
from tracer.lesson.texts.generated_text import generated_text, why_generation_ends
from tracer.lesson.texts.loss_meaning import compared_losses, where_it_goes_back
from tracer.lesson.texts.overview import as_boxes, every_step, overview, recap
from tracer.lesson.texts.padding import padding
from tracer.lesson.texts.repetition import sections_of
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.training_pass import OF_PROBABILITIES, loss_sections, ways_to_train
from tracer.lesson.texts.training_stages import stages
from tracer.lesson.texts.training_text import training_text

TRAINING, GENERATION = "Training", "Generation"
MOST_TURNS = 5
NO_WORDS: doc.Sentence = (
    "The scenario has no vocabulary, so the model predicts no word, has no loss, and cannot "
    "generate text.",
)
OTHER_TEXTS: doc.Sentence = ("The model is trained on other texts than the tokens above.",)
NO_TARGETS: doc.Sentence = ("There is no loss, because no position has a target word.",)


def tutorial(
    found: Trace,
    chosen: Sequence[Step],
    token: int,
    *,
    training: Training | None = None,
    full: bool = True,
    detail: Detail = Detail.FULL,
    draws_all: bool = False,
) -> doc.Document:
    """The steps worked for a token (counted from 0); of all, training and generation follow them.

    With `draws_all`, the diagram has all steps, however many there are. The part on training
    explains the loss; if `training` is given, the backward pass and the update, too. A summary
    ends the text.
    """
    whole = len(chosen) == len(steps(found.records))
    teacher = Teacher(found, token, refers=whole, full=full, detail=detail)
    worked = worked_for(teacher, chosen, draws_all=draws_all)
    further = _further(teacher, training) if whole else ()
    common = architecture(teacher) if whole and full else ()
    summary = _summary(teacher, whole)
    sections = (*worked.sections, *common, *further, *summary)
    return replace(worked, sections=sections, has_contents=not whole or detail is Detail.FULL)


def worked_for(
    teacher: Teacher,
    chosen: Sequence[Step],
    like: Sequence[doc.Section] = (),
    *,
    draws_all: bool = False,
) -> doc.Document:
    """The question, and the steps worked for a teacher's token, in sections `like` others."""
    found, predicts = teacher.trace, teacher.steps[-1].kind is PREDICTION_STEP
    whole = len(chosen) == len(teacher.steps)
    terms = teacher.writer.terms
    intro = teacher.author.intro()
    every = teacher.detail is Detail.FULL
    asked = sentences.question(teacher.ctx, terms, predicts=predicts, whole=whole, every=every)
    # The author's own opening takes the place of the general question.
    general = map(doc.Paragraph, asked[1:] if intro else asked)
    # Of several layers, only the full text has every box and every parameter at a glance.
    in_short = whole and teacher.detail is not Detail.FULL and teacher.ctx.layers > 1
    drawn = as_boxes(teacher) if in_short and not draws_all else chosen
    glance = diagram(teacher.ctx, drawn)
    first = answer(teacher) if whole else ()
    if whole:
        numbers = parameters_used(teacher), frozen_used(teacher)
        sized = sizes(teacher.ctx, *numbers) if teacher.full else ()
        learned = learned_parameters(teacher) if teacher.full and not in_short else ()
        glance = (*overview(teacher), *glance, *sized, *learned)
    introduction = (*intro, *general, *first, *padded_batch(found), *glance)
    sections = teacher.with_signs([*sections_of(teacher, chosen, like)])
    return doc.Document(found.name, found.scenario.title, introduction, sections)


def _further(main: Teacher, training: Training | None) -> Iterator[doc.Section]:
    yield from _or_why_not("What the mask prevents", TRAINING, _leak(main))
    yield from _or_why_not("Padding", TRAINING, padding(main.trace, TRAINING))
    if training:
        yield from _trained(training, main)
    else:
        title = KIND_OF_LOSS[main.trace.scenario.loss.kind].title
        yield from _or_why_not(title, TRAINING, _loss(main))
    yield from _or_why_not("The text", GENERATION, _generated(main))


def _or_why_not(title: str, part: str, sections: Iterator[doc.Section]) -> tuple[doc.Section, ...]:
    """Sections that follow the steps, or one that says why the scenario cannot have them."""
    try:
        return tuple(sections)
    except TracerError as met:
        why: doc.Sentence = ("It is left out: ", *why_generation_ends(met))
        return (doc.Section(None, title, (doc.Paragraph(why),), part),)


def _leak(main: Teacher) -> Iterator[doc.Section]:
    """What the mask prevents: the first head without it, for the token that would see most."""
    found = main.trace
    if len(found.tokens) == 1 or not found.masks:
        return
    unmasked = found.unmasked
    without = (step for step in Teacher(unmasked).steps if step.kind is UNMASKED_STEP)
    step = next((s for s in without if mask_of(s.place, main.ctx) != "none"), None)
    if step is None or not only_hides(main.ctx.mask_at(step.place)):
        return
    teacher = main.of_another_pass(unmasked, _sees_most(step.last.output))
    section = teacher.section(step)
    place = sentences.where(step, teacher.ctx)
    here: doc.Sentence = (
        "This section follows the token ",
        teacher.ctx.name,
        f" in {place}." if place else ".",
    )
    title = "What the mask prevents"
    blocks = section.blocks
    if main.detail is not Detail.FULL:  # a softmax has been worked
        blocks = tuple(b for b in blocks if not isinstance(b, doc.Formula | doc.Working))
    yield doc.Section(None, title, (doc.Paragraph(here), *blocks), TRAINING, trace=unmasked)


def _sees_most(weights: Value) -> int:
    """The token that would give the most of its attention to tokens behind it."""
    later = [sum(row[i + 1 :]) for i, row in enumerate(weights.computed)]
    return later.index(max(later))


def _loss(main: Teacher) -> Iterator[doc.Section]:
    """The loss, of the first training example if there are any; or why there is none."""
    found, scenario = main.trace, main.trace.scenario
    for example in scenario.training[:1]:
        scenario = scenario.reading_example(example)
    if not has_loss(scenario):
        if scenario.vocabulary is None:
            yield doc.Section(None, "What is left out", (doc.Paragraph(NO_WORDS),), TRAINING)
        else:
            title = KIND_OF_LOSS[scenario.loss.kind].title
            yield doc.Section(None, title, (doc.Paragraph(NO_TARGETS),), TRAINING)
        return
    earlier = EarlierPasses() if scenario.training else EarlierPasses(unpatched=found)
    learned = trace(found.name, scenario.without_words(), PassOptions(loss=True), earlier=earlier)
    teacher = main.of_another_pass(learned)
    if main.full:
        yield doc.Section(
            None, "One step of training", stages(teacher.steps, teacher.ctx), TRAINING
        )
    # Why one pass trains all positions is asked before the targets answer it.
    sections = [*ways_to_train(learned), *loss_sections(teacher)]
    if _predict_the_same(found, learned):  # the probabilities stand above
        sections = [each for each in sections if each.title != OF_PROBABILITIES]
    others = scenario.training and found.tokens not in [x.tokens for x in scenario.training]
    why = doc.paragraphs(OTHER_TEXTS if others else None)
    if len(sections) > 1:
        sections[-1] = replace(
            sections[-1],
            blocks=(*sections[-1].blocks, *compared_losses(learned), *where_it_goes_back(learned)),
        )
    sections[0] = replace(sections[0], blocks=(*why, *sections[0].blocks))
    for section in sections:
        yield replace(section, number=None, part=TRAINING)


def _predict_the_same(first: Trace, second: Trace) -> bool:
    """Whether two passes have the same tokens and probabilities; an example can be given others."""
    p, q = (each.values.get(roles.PROBABILITIES.name) for each in (first, second))
    if p is None or q is None or first.tokens != second.tokens:
        return False
    return bool((p.numbers == q.numbers).all())


def _trained(training: Training, main: Teacher) -> Iterator[doc.Section]:
    trained = training_text(training, full=main.full, detail=main.detail)
    yield doc.Section(None, "What training does", trained.introduction, TRAINING)
    for section in trained.sections:
        yield replace(section, part=section.part or TRAINING)


def _generated(main: Teacher) -> Iterator[doc.Section]:
    """The text goes on for a few words, or begins as the scenario asks, as far as it goes.

    A text beside an encoder's is its translation, which is written from the first token on.
    """
    found, scenario = main.trace, main.trace.scenario
    if scenario.vocabulary is None or scenario.has_typed_heads or scenario.fills_in:
        return
    begins = scenario.generation.start or scenario.encoder
    options = GenerationOptions(
        scenario.beginning if begins else scenario.tokens,
        min(MOST_TURNS, scenario.generation.max_tokens),
        cached=not scenario.looks_ahead,
        as_far_as_possible=True,
    )
    said = generate(found.name, scenario, options)
    turns = main.detail is Detail.FULL
    text = generated_text(said, worked=False, cached=False, full=main.full, turns=turns)
    yield doc.Section(None, "The text", text.introduction, GENERATION)
    for section in text.sections:
        yield replace(section, part=GENERATION)


def _summary(teacher: Teacher, whole: bool) -> Iterator[doc.Section]:
    """The author's, and of a whole calculation what came of the followed token."""
    if whole:
        blocks: tuple[doc.Block, ...] = teacher.author.summary()
        if teacher.detail is Detail.FULL:
            every = every_step(teacher.ctx, teacher.steps)
            blocks = (*blocks, *every, *largest_changes(teacher.ctx))
        blocks = (*blocks, *recap(teacher), *paths_of_tokens(teacher.ctx))
        if blocks:
            yield doc.Section(None, SUMMARY, blocks)
