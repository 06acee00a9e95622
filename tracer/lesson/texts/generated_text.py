"""A generated text, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracer.decoder.forward import Trace
from tracer.decoder.generation import CannotContinueError, Generated, GenerationStep
from tracer.decoder.operations import Pinned
from tracer.decoder.roles import CANDIDATES, MASK, PROBABILITIES, SCALED
from tracer.errors import TracerError
from tracer.formula.expression import Number
from tracer.lesson import document as doc, entries
from tracer.lesson.context import joined
from tracer.lesson.steps.part import cached_words
from tracer.lesson.steps.words import SAMPLING_STEP
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.temperatures import temperatures
from tracer.names import count, distinct

KEPT, DISCARDED = "kept", "discarded"
TURN_BY_TURN: doc.Sentence = (
    "In each turn, the model reads all words so far and predicts a word after each of them. Only "
    "the last prediction is kept and appended to the input of the next turn; the earlier positions "
    "predict words that are already there. Each pass needs the word that the pass before has "
    "chosen, so the words cannot be generated at the same time.",
)
OWN_PROBABILITIES: doc.Sentence = (
    "The table shows the model's own probabilities, before the next word is drawn from some of "
    "them or with another temperature.",
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
    generated: Generated, *, worked: bool, cached: bool, full: bool = True, turns: bool = True
) -> doc.Document:
    """The text and each word's probability, then turn by turn: what goes in, what comes out.

    With `cached`, each turn after the first shows the new token only; `turns` can be left out.
    """
    sections: list[doc.Section] = []
    first = generated.steps[0].trace
    explained = full and not cached
    compared = [_compared(first)] if explained else []
    answer = tuple(_answer(generated))
    if not turns:
        answer = (*answer, *(_why(first) if explained else ()))
        return doc.Document(first.name, first.scenario.title, answer, tuple(compared))
    for number, generation_step in enumerate(generated.steps, 1):
        found = generation_step.trace
        why = _why(found) if explained and number == 1 else []
        shown = _turn(generation_step, cached and number > 1)
        sections.append(doc.Section(None, f"Turn {number}", (*why, *shown)))
        teacher = Teacher(found, full=full and number == 1)
        for step in steps(found.records):
            if worked:
                sections.append(teacher.section(step))
            elif step.kind is SAMPLING_STEP:
                sections.append(replace(teacher.section(step), number=None))
        if full and number == 1 and generation_step.sampling:
            others = temperatures(found, generation_step.sampling)
            sections += [replace(each, part=sections[-1].part) for each in others]
    return doc.Document(first.name, first.scenario.title, answer, (*sections, *compared))


def _answer(generated: Generated) -> Iterator[doc.Block]:
    """The text, how it ends, and the probability of each generated word."""
    first = generated.steps[0].trace
    words = [step.word for step in generated.steps if step.word is not None]
    if not words:
        yield doc.Paragraph((doc.Name(first.scenario.written(generated.text)),))
        yield doc.Paragraph(_ending(generated))
        return
    start, written = (first.scenario.written(text) for text in (first.tokens, tuple(words)))
    begins = ("After ", doc.Name(start), ", the model writes ", doc.Name(written), ".")
    yield doc.Paragraph(begins)
    rows = [
        (str(turn), word, probability(step.trace, word))
        for turn, (step, word) in enumerate(zip(generated.steps, words, strict=True), 1)
    ]
    yield doc.Table.of(("turn", "word", "probability"), rows)
    changes = not {SCALED.name, CANDIDATES.name}.isdisjoint(first.values)
    yield from doc.paragraphs(OWN_PROBABILITIES if changes else None, _ending(generated))


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


def probability(found: Trace, word: str, row: int = -1) -> Number:
    """The model's own probability of a word after the last token, or in another row."""
    probabilities = found[PROBABILITIES.name]
    column = probabilities.axes[1].labels.index(word)
    return entries.number(found.pencil, probabilities, (probabilities.shape[0] + row, column))


def _excluded(step: GenerationStep) -> list[doc.Block]:
    """Name the predicted word if the model's settings exclude it."""
    predicted = step.outputs[-1] if step.outputs else None
    if predicted is None or predicted == step.word or predicted not in step.trace.scenario.excluded:
        return []
    name = doc.Name(predicted)
    return [doc.Paragraph((name, " is more probable, but the model never generates it."))]
