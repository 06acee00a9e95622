"""The code of each step in a text about a pass, or about a step of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, trace
from tracer.decoder.loss import has_loss
from tracer.lesson import document as doc
from tracer.lesson.code.library import Library
from tracer.lesson.code.program import Program
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.updates import UPDATE_STEP
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.sentences import title
from tracer.lesson.texts.training_teacher import parameter_of
from tracer.lesson.texts.training_text import UPDATE_OF

KEEPS_DIGITS: doc.Sentence = (
    "The code keeps all digits, and the text rounds, so that last digits can differ.",
)
OF_BATCH: doc.Sentence = (
    "Only the program (--format code) has the lines that compute the other examples.",
)


def program(found: Trace, chosen: Sequence[Step], library: Library) -> str:
    """Return a program that prints the results of the chosen steps of a pass or a training step.

    Raises:
        TracerError: a number is beyond the range of float64.
    """
    named = {
        step: words if step.kind is UPDATE_STEP else f"{step.number} · {words}"
        for words, step in _titles(found, chosen)
    }
    return Program(found, library).text(named)


def with_its_loss(found: Trace) -> Trace:
    """Return a pass with its loss, if it has one, as a tutorial explains it."""
    if not has_loss(found.scenario) or found.scenario.training:
        return found
    earlier = EarlierPasses(unpatched=found)
    return trace(found.name, found.scenario, PassOptions(loss=True), earlier=earlier)


def _titles(found: Trace, chosen: Sequence[Step]) -> Iterator[tuple[str, Step]]:
    """Steps with their titles."""
    ctx = LessonContext(found, 0, {})
    return ((title(step, ctx.at(step.place)), step) for step in chosen)


def with_code(
    document: doc.Document, found: Trace, library: Library, trained: Trace | None = None
) -> doc.Document:
    """Return a text with the lines that compute each step at the end of its section.

    The sections are those of a pass, or of the same pass with more steps, such as its loss, or of
    the training step `trained`.
    """
    lines: dict[int, dict[int | str, list[str]]] = {}
    notes = list(doc.paragraphs(KEEPS_DIGITS if found.pencil.rounds else None))
    sections: list[doc.Section] = []
    for section in document.sections:
        own = section.trace
        if own and trained and _goes_on(own, trained):
            own = trained
        if own and (own is trained or _goes_on(found, own)):
            if id(own) not in lines:
                lines[id(own)] = _lines(own, library)
                notes += doc.paragraphs(OF_BATCH if own.others else None)
            is_update = section.title.startswith(UPDATE_OF)
            keys = (section.title,) if is_update else section.steps or (section.title,)
            if written := [line for key in keys for line in lines[id(own)].get(key, ())]:
                listing = doc.Listing(tuple(written))
                section = replace(section, blocks=(*section.blocks, listing, *notes))
                notes = []
        sections.append(section)
    return replace(document, sections=tuple(sections))


def _lines(found: Trace, library: Library) -> dict[int | str, list[str]]:
    """The lines of each step, by its number and by its title; of an update those of a parameter."""
    every = steps(found.records)
    code = Program(found, library)
    of: dict[int | str, list[str]] = {step.number: code.lines(step) for step in every}
    of |= {name: of[step.number] for name, step in _titles(found, every)}
    for step in every:
        if step.kind is UPDATE_STEP:
            for address in dict.fromkeys(parameter_of(record.output) for record in step.records):
                records = tuple(r for r in step.records if parameter_of(r.output) == address)
                of[f"{UPDATE_OF}{address}"] = code.lines(replace(step, records=records))
    return of


def _goes_on(found: Trace, other: Trace) -> bool:
    """Whether a pass has all steps of another one."""
    return other is found or (
        other.tokens == found.tokens and found.values.keys() <= other.values.keys()
    )
