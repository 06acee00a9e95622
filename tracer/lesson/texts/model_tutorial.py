"""What the tutorial of a trained model has beside its summary: a head worked, and another text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.attribution import AttributedPart, attribute
from tracer.decoder.comparison import compare
from tracer.decoder.forward import FORWARD, Trace, trace
from tracer.decoder.generation import with_tokens
from tracer.decoder.patches import Experiment, Site, patched
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.texts.answers import predictions
from tracer.lesson.texts.attribution import AttributionTeacher
from tracer.lesson.texts.attribution_pictures import maps
from tracer.lesson.texts.comparison import alignment
from tracer.lesson.texts.generated_text import why_generation_ends
from tracer.lesson.texts.logit_parts import SummaryTeacher
from tracer.scenario.trained import FromCheckpoint

ANOTHER_TEXT = "Another text"
REPLACED: doc.Sentence = (
    "One more run shows what depends on the head that adds the most: in it, the output of this "
    "head is that of the second run, and all later numbers follow from it.",
)


def maps_of_heads(teacher: SummaryTeacher) -> tuple[doc.Block, ...]:
    """What each head adds to the logit, as heat maps."""
    parts = teacher.parts
    return tuple(maps(parts.found, parts.writer)) if parts else ()


def decisive_head(teacher: SummaryTeacher) -> Iterator[doc.Section]:
    """The head that adds most to the logit: what it computes, and what it takes from each token."""
    part = _largest_head(teacher)
    if teacher.parts is None or part is None:
        return
    of_head = _of_head(teacher.trace, part.of)
    steps = [step for step in teacher.steps if step.last.output in of_head]
    yield from (worked := [teacher.section(step) for step in steps])
    split = attribute(teacher.trace, teacher.parts.found.entry, split=(roles.HEAD_OUTPUT,))
    of_parts = AttributionTeacher(split, full=teacher.full, terms=teacher.writer.terms)
    total = next(each.total for each in split.parts if each.of is part.of)
    goal, *blocks = of_parts.section(of_parts.step_of[total.address]).blocks
    is_uncapped = split.entry.value.role is roles.UNCAPPED_LOGITS
    what = "the uncapped logit" if is_uncapped else "the logit"
    direction: doc.Sentence = (
        f"The direction says how much {what} rises per unit of each column of the head's output, "
        "with everything later held fixed.",
    )
    title = (f"Head {part.of.place.head}", f"What it adds to {what}")
    yield replace(
        worked[-1],
        number=None,
        title=" · ".join(title),
        within=title,
        blocks=(goal, doc.Paragraph(direction), *blocks),
        trace=split.trace,
    )


def _largest_head(teacher: SummaryTeacher) -> AttributedPart | None:
    """The largest part that a head of the decoder adds."""
    parts = teacher.parts.found.parts if teacher.parts else ()
    return next((part for part in parts if part.of.role is roles.HEAD_OUTPUT), None)


def _of_head(found: Trace, output: Value) -> set[Value]:
    """What a head computes, and the keys and values of another head that it shares."""
    of_head, waiting = set[Value](), [output]
    while waiting:
        value = waiting.pop()
        is_of_a_head = replace(value.place, head=None) == replace(output.place, head=None)
        if is_of_a_head and value.place.head and value not in of_head:
            of_head.add(value)
            waiting += found.producers[value].inputs
    return of_head


def another_text(teacher: SummaryTeacher) -> Iterator[doc.Section]:
    """What the model predicts after another text, and with the head's output for it."""
    found = teacher.trace
    scenario, is_last = found.scenario, teacher.ctx.token == len(found.tokens) - 1
    contrast = scenario.contrast if isinstance(scenario, FromCheckpoint) else None
    if contrast is None or scenario.given or not is_last:
        return
    try:
        blocks = tuple(_contrasted(teacher, contrast))
    except TracerError as met:
        blocks = (doc.Paragraph(("It is left out: ", *why_generation_ends(met))),)
    yield doc.Section(None, ANOTHER_TEXT, blocks)


def _contrasted(teacher: SummaryTeacher, tokens: tuple[str, ...]) -> Iterator[doc.Block]:
    first = teacher.trace
    second = trace(first.name, with_tokens(first.scenario, tokens), FORWARD)
    comparison = compare(first, second)
    text = doc.Name(second.scenario.written(second.tokens))
    yield doc.Paragraph(
        ("The second run is the same model with the text ", text, ". The first run is that above.")
    )
    yield from map(doc.Paragraph, alignment("texts", comparison.tokens))
    names, part = (first.name, second.name), _largest_head(teacher)
    if part is None or comparison.answers is None:
        experiment = Experiment(comparison, names)
    else:
        sites = (Site(part.of),)
        yield doc.Paragraph(REPLACED)
        experiment = Experiment(comparison, names, sites, patched(comparison, sites))
    yield from predictions(experiment)
