"""The code of each step in a text about a pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracer.decoder.forward import Trace
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


def program(trace: Trace, chosen: Sequence[Step], library: Library) -> str:
    """Return a program that prints the results of the chosen steps of a pass.

    Raises:
        TracerError: a number is beyond the range of float64.
    """
    ctx = LessonContext(trace, 0, {})
    titles = {step: f"{step.number} · {title(step, ctx.at(step.place))}" for step in chosen}
    return Program(trace, steps(trace.records), library).text(titles)


def with_code(document: doc.Document, trace: Trace, library: Library) -> doc.Document:
    """Return a text with the lines that compute each step at the end of its section."""
    every = steps(trace.records)
    program = Program(trace, every, library)
    notes = doc.paragraphs(KEEPS_DIGITS if trace.pencil.rounds else None)
    sections: list[doc.Section] = []
    for section in document.sections:
        is_step = section.trace is trace and section.number is not None
        lines = program.lines(every[section.number - 1]) if is_step and section.number else []
        if lines:
            listing = doc.Listing(tuple(lines))
            section = replace(section, blocks=(*section.blocks, listing, *notes))
            notes = ()
        sections.append(section)
    return replace(document, sections=tuple(sections))
