"""The code of each step in a text about a pass."""

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
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.sentences import title

KEEPS_DIGITS: doc.Sentence = (
    "The code keeps all digits, and the text rounds, so that last digits can differ.",
)


def program(
    found: Trace, chosen: Sequence[Step], library: Library, *, with_loss: bool = False
) -> str:
    """Return a program that prints the results of the chosen steps of a pass.

    `with_loss` adds the loss, if the pass has one, as a tutorial does.

    Raises:
        TracerError: a number is beyond the range of float64.
    """
    scenario = found.scenario
    if with_loss and has_loss(scenario) and not scenario.training:
        earlier = EarlierPasses(unpatched=found)
        found = trace(found.name, scenario, PassOptions(loss=True), earlier=earlier)
        chosen = steps(found.records)
    named = {step: f"{step.number} · {words}" for words, step in _titles(found, chosen)}
    return Program(found, steps(found.records), library).text(named)


def _titles(found: Trace, chosen: Sequence[Step]) -> Iterator[tuple[str, Step]]:
    """Steps with their titles."""
    ctx = LessonContext(found, 0, {})
    return ((title(step, ctx.at(step.place)), step) for step in chosen)


def with_code(document: doc.Document, found: Trace, library: Library) -> doc.Document:
    """Return a text with the lines that compute each step at the end of its section.

    The sections are those of a pass, or of the same pass with more steps, such as its loss.
    """
    lines: dict[int, dict[int | str, list[str]]] = {}
    notes = doc.paragraphs(KEEPS_DIGITS if found.pencil.rounds else None)
    sections: list[doc.Section] = []
    for section in document.sections:
        own = section.trace
        if own and _goes_on(found, own):
            if id(own) not in lines:
                lines[id(own)] = _lines(own, library)
            keys = section.steps or (section.title,)
            if written := [line for key in keys for line in lines[id(own)].get(key, ())]:
                listing = doc.Listing(tuple(written))
                section = replace(section, blocks=(*section.blocks, listing, *notes))
                notes = ()
        sections.append(section)
    return replace(document, sections=tuple(sections))


def _lines(found: Trace, library: Library) -> dict[int | str, list[str]]:
    """The lines of each step of a pass, by its number and by its title."""
    every = steps(found.records)
    code = Program(found, every, library)
    by_number: dict[int | str, list[str]] = {step.number: code.lines(step) for step in every}
    return by_number | {name: by_number[step.number] for name, step in _titles(found, every)}


def _goes_on(found: Trace, other: Trace) -> bool:
    """Whether a pass has all steps of another one."""
    return other is found or (
        other.tokens == found.tokens and found.values.keys() <= other.values.keys()
    )
