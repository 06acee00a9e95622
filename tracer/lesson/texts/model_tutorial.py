"""The tutorial of a trained model: why it predicts a word, then the working."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder.forward import Trace
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.texts import decisive_head, head_reads, hidden_units, other_text
from tracer.lesson.texts.at_a_glance import diagram, frozen_used, parameters_used, sizes
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.logit_parts import SummaryTeacher
from tracer.lesson.texts.model_answer import answer, opening, summary
from tracer.lesson.texts.model_story import SPLIT, Story
from tracer.lesson.texts.model_summary import at_the_end, at_the_start, attention, layers
from tracer.lesson.working.sums import Terms

AT_A_GLANCE = "The model at a glance"


def model_tutorial(
    trace: Trace,
    token: int,
    *,
    full: bool,
    terms: Terms | None,
    detail: Detail = Detail.NORMAL,
) -> doc.Document:
    """Explain the prediction after a token (counted from 0): the answer first, the working last.

    In a short text, only the decisive head is worked, from the scores on.
    """
    is_short = detail is Detail.SHORT
    full = full and not is_short
    teacher = SummaryTeacher(trace, token, full=full, terms=terms, split=SPLIT)
    story = Story(teacher)
    working = decisive_head.from_the_scores(story) if is_short else _working(story)
    sections = [answer(story), *working]
    if summed_up := (*teacher.author.summary(), *doc.paragraphs(*summary(story))):
        sections.append(doc.Section(None, SUMMARY, summed_up))
    introduction = (*teacher.author.intro(), *doc.paragraphs(*opening(story)))
    signed = teacher.with_signs(sections)
    return doc.Document(
        trace.name, trace.scenario.title, introduction, signed, has_contents=not is_short
    )


def _working(story: Story) -> Iterator[doc.Section]:
    """How the prediction comes about, from the whole model to the head that adds most."""
    teacher = story.teacher
    yield _at_a_glance(teacher)
    yield from at_the_start(teacher)
    yield layers(teacher.ctx, story.path)
    if teacher.parts:
        yield teacher.parts.compared(story.leads, full=teacher.full)
    yield from head_reads.sections(story)
    yield from hidden_units.sections(story)
    yield from attention(teacher.ctx)
    yield from decisive_head.sections(story)
    yield from at_the_end(teacher)
    yield from other_text.sections(story)


def _at_a_glance(teacher: SummaryTeacher) -> doc.Section:
    """The diagram and the sizes of the model."""
    blocks = diagram(teacher.ctx, teacher.steps)
    if teacher.full:
        blocks += sizes(teacher.ctx, parameters_used(teacher), frozen_used(teacher))
    return doc.Section(None, AT_A_GLANCE, blocks)
