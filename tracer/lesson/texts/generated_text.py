"""A generated text, turn by turn."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.forward import Trace
from tracer.decoder.generation import CannotContinueError, Generated, GenerationStep
from tracer.decoder.operations import Pinned
from tracer.decoder.roles import MASK, PROBABILITIES
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, joined
from tracer.lesson.steps.part import cached_words
from tracer.lesson.steps.words import SAMPLING_STEP
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.temperatures import temperatures
from tracer.names import count, distinct

KEPT, DISCARDED = "kept", "discarded"
TURN_BY_TURN: doc.Sentence = (
    "In each turn the model reads all words so far and predicts a word after each of them. Only "
    "the last prediction is kept and appended to the input of the next turn; the words after the "
    "others are already known. Words cannot be generated at the same time, because each pass reads "
    "the word before.",
)
KNOWN = ("known", "all correct words", "the words so far")
DIFFERENCES = (
    ("input", "the correct words", "the words so far, also generated ones"),
    ("passes", "one for all positions", "one for each word"),
    ("result", "changed weights", "a longer text"),
)
"""Of what, in training, in generation."""
SAME_MASK = ("mask", "hides later tokens", "the same")

THE_MASK_STAYS: doc.Sentence = (
    "The mask is the same as in training, so a word's vectors do not change when another word is "
    "appended.",
)


def generated_text(
    generated: Generated, *, worked: bool, cached: bool, full: bool = True
) -> doc.Document:
    """Turn by turn: what goes in, what comes out, which of it is kept; then the whole text.

    With `cached`, each turn after the first shows the new token only.
    """
    sections: list[doc.Section] = []
    for number, generation_step in enumerate(generated.steps, 1):
        found, first = generation_step.trace, full and number == 1
        explained = first and not cached
        sections += [_compared(found)] if explained else []
        why = _why(found) if explained else []
        shown = _turn(generation_step, cached and number > 1)
        explained_steps = [s for s in steps(found.records) if worked or s.kind is SAMPLING_STEP]
        how_sure = () if explained_steps else doc.paragraphs(_probability(generation_step))
        sections.append(doc.Section(None, f"Turn {number}", (*why, *shown, *how_sure)))
        if explained_steps:
            sections_of_steps = map(Teacher(found, full=first).section, explained_steps)
            sections += [
                each if worked else replace(each, number=None) for each in sections_of_steps
            ]
        if first and generation_step.sampling:
            others = temperatures(found, generation_step.sampling)
            sections += [replace(each, part=sections[-1].part) for each in others]
    scenario = generated.steps[0].trace.scenario
    text = (
        doc.Paragraph((doc.Name(scenario.written(generated.text)),)),
        doc.Paragraph(_ending(generated)),
    )
    sections.append(doc.Section(None, "The text", text))
    name = generated.steps[0].trace.name
    return doc.Document(name, scenario.title, (), tuple(sections))


def _ending(generated: Generated) -> doc.Sentence:
    after = count(len(generated.steps), "turn")
    if generated.met:
        return (f"It ends after {after}: ", *why_generation_ends(generated.met))
    if generated.steps[-1].word is None:
        return (f"It was read in {after}; without a vocabulary, no word is predicted.",)
    if generated.ended:
        return (f"The end token came after {after}.",)
    return (f"The text stops at the limit of {after}.",)


def why_generation_ends(met: TracerError) -> doc.Sentence:
    """Say why the decoder cannot continue the text; other errors as their message."""
    if not isinstance(met, CannotContinueError):
        return (doc.Name(str(met.problems[0])), ".")
    if met.token is None:
        mask = met.problems[0].address == "mask"
        return (f"there is no {'row in the mask' if mask else 'vector'} for one more position.",)
    return (doc.Name(met.token), " has no embedding, so the model cannot read it.")


def _compared(found: Trace) -> doc.Section:
    """Compare training with generation."""
    mask = [SAME_MASK] if _hides_later_tokens(found) else []
    header = ("", "training", "generation")
    known = [KNOWN] if found.scenario.loss.kind == "cross_entropy" else []
    table = doc.Table.of(header, (*known, *DIFFERENCES[:-1], *mask, DIFFERENCES[-1]))
    return doc.Section(None, "Training and generation", (table,))


def _why(found: Trace) -> list[doc.Block]:
    """Say why each turn adds one word, and why the mask stays, if there is one."""
    mask = [doc.Paragraph(THE_MASK_STAYS)] if _hides_later_tokens(found) else []
    return [doc.Paragraph(TURN_BY_TURN), *mask]


def _hides_later_tokens(trace: Trace) -> bool:
    """Whether the model has a mask of its own, which hides later tokens."""
    masks = [record for record in trace.records if record.output.role is MASK]
    own = trace.masks and not any(isinstance(record.operation, Pinned) for record in masks)
    return bool(own) and not trace.scenario.looks_ahead


def _turn(step: GenerationStep, cached: bool) -> list[doc.Block]:
    tokens = step.trace.tokens
    before = len(tokens) - 1 if cached else 0
    names = distinct(tokens)[before:]
    positions = [str(i) for i in range(before + 1, len(tokens) + 1)]
    table = doc.Table.of(("position", "input"), zip(positions, names, strict=True), len(names) - 1)
    if step.word is not None:
        outputs = [*step.outputs[before:-1], step.word]
        kept = [*[DISCARDED] * (len(outputs) - 1), KEPT]
        header = ("position", "input", "output", "")
        rows = zip(positions, names, outputs, kept, strict=True)
        table = doc.Table.of(header, rows, len(names) - 1)
    written: list[doc.Block] = []
    if before:
        new: doc.Sentence = ("Only the last token passes through the decoder",)
        if any(layer.attention for layer in step.trace.scenario.layers):
            earlier = doc.Name(step.trace.scenario.written(tokens[:before]))
            reused = joined([(f"the {words}",) for words in cached_words(step.trace)])
            new = (*new, "; ", *reused, " of ", earlier, " are reused from earlier turns")
        written.append(doc.Paragraph((*new, ".")))
    return [*written, table, *_excluded(step)]


def _probability(step: GenerationStep) -> doc.Sentence | None:
    """Return how probable the word is that is kept, unless that is printed as 1."""
    if step.word is None:
        return None
    found = step.trace
    probabilities = found[PROBABILITIES.name]
    word = probabilities.axes[1].labels.index(step.word)
    ctx = LessonContext(found, len(found.tokens) - 1, {})
    share = ctx.number(probabilities, ctx.row(probabilities), word)
    if share.value == 1:
        return None
    return ("The probability of ", doc.Name(step.word), " is ", doc.Percent(share), ".")


def _excluded(step: GenerationStep) -> list[doc.Block]:
    """Name the predicted word if the model's settings exclude it."""
    predicted = step.outputs[-1] if step.outputs else None
    if predicted is None or predicted == step.word or predicted not in step.trace.scenario.excluded:
        return []
    name = doc.Name(predicted)
    return [doc.Paragraph((name, " is more probable, but the model never generates it."))]
