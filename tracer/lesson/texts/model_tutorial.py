"""The tutorial of a trained model: why it predicts a word, told before it is worked out."""

from __future__ import annotations

from tracer.decoder.forward import Trace
from tracer.lesson import document as doc
from tracer.lesson.texts import decisive_head, head_reads, hidden_units, other_text
from tracer.lesson.texts.at_a_glance import diagram, frozen_used, parameters_used, sizes
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.logit_parts import SummaryTeacher
from tracer.lesson.texts.model_answer import answer, opening, summary
from tracer.lesson.texts.model_story import SPLIT, Story
from tracer.lesson.texts.model_summary import at_the_end, at_the_start, attention, layers
from tracer.lesson.working.sums import Terms

AT_A_GLANCE = "The model at a glance"


def model_tutorial(trace: Trace, token: int, *, full: bool, terms: Terms | None) -> doc.Document:
    """Explain the prediction after a token (counted from 0): the answer first, the working last."""
    teacher = SummaryTeacher(trace, token, full=full, terms=terms, split=SPLIT)
    story = Story(teacher)
    parts = [teacher.parts.compared(story.leads, full=full)] if teacher.parts else []
    summed_up = (*teacher.author.summary(), *doc.paragraphs(*summary(story)))
    sections = [
        answer(story),
        _at_a_glance(teacher),
        *at_the_start(teacher),
        layers(teacher.ctx, story.path),
        *parts,
        *head_reads.sections(story),
        *hidden_units.sections(story),
        *attention(teacher.ctx),
        *decisive_head.sections(story),
        *at_the_end(teacher),
        *other_text.sections(story),
        *([doc.Section(None, SUMMARY, summed_up)] if summed_up else []),
    ]
    introduction = (*teacher.author.intro(), *doc.paragraphs(*opening(story)))
    signed = teacher.with_signs(sections)
    return doc.Document(trace.name, trace.scenario.title, introduction, signed, whole=True)


def _at_a_glance(teacher: SummaryTeacher) -> doc.Section:
    """The diagram and the sizes of the model."""
    blocks = diagram(teacher.ctx, teacher.steps)
    if teacher.full:
        blocks += sizes(teacher.ctx, parameters_used(teacher), frozen_used(teacher))
    return doc.Section(None, AT_A_GLANCE, blocks)
