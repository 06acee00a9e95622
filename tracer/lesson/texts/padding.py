"""Sequences of a batch that are filled up, and the mask that hides the padding."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder.forward import Trace, trace
from tracer.decoder.roles import WEIGHTS
from tracer.lesson import document as doc
from tracer.lesson.texts import sentences
from tracer.lesson.texts.teacher import Teacher


def padding(found: Trace, part: str) -> Iterator[doc.Section]:
    """The batch, and mask and weights of its first padded sequence, unless the pass reads one."""
    scenario, token = found.scenario, found.scenario.padding
    padded = [i for i, tokens in enumerate(scenario.batch) if token in tokens]
    if token is None or not padded or found.tokens in scenario.batch:
        return
    tokens = scenario.batch[padded[0]]
    read = trace(found.name, scenario.reading(tokens))
    teacher = Teacher(read, max((i for i, each in enumerate(tokens) if each != token), default=0))
    step = next((step for step in teacher.steps if step.last.output.role is WEIGHTS), None)
    mask = step and step.place.sub_layer == "attention" and teacher.ctx.mask_at(step.place)
    if not (step and mask):
        return
    rows = [(str(i), " ".join(tokens)) for i, tokens in enumerate(scenario.batch, 1)]
    filled: doc.Sentence = (
        "All sequences of a batch have the same length: shorter ones are filled up with ",
        *(doc.Name(token), ". This padding has no meaning, so the mask hides it from every token."),
    )
    place = sentences.where(step, teacher.ctx)
    here = f"In sequence {padded[0] + 1}{f', {place}' if place else ''}, the mask and the weights:"
    shown = (teacher.matrix(mask), teacher.matrix(step.last.output))
    blocks = (
        *(doc.Paragraph(filled), doc.Table.of(("sequence", "tokens"), rows, padded[0])),
        *(doc.Paragraph((here,)), *shown),
    )
    yield doc.Section(None, "Padding", blocks, part, trace=read)
