"""The short text: question, answer, one head from its scores on, the rest of its layer, summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tracer.decoder.forward import Trace
from tracer.decoder.inputs import only_hides
from tracer.decoder.value import Value
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.steps.attention import MASK_STEP, SCORES_STEP
from tracer.lesson.steps.declared import OPERANDS
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.answer import answer
from tracer.lesson.texts.before_and_after import before_and_after
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.rest_of_layer import REST, rest_of_layer
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.sums import Terms

READS: doc.Sentence = ("The head reads a query, and a key and a value of each token:",)


def short_text(found: Trace, token: int, *, terms: Terms | None = None) -> doc.Document:
    """What comes out for a token (counted from 0), and the head that matters most to it."""
    teacher = Teacher(found, token, full=False, detail=Detail.SHORT, terms=terms)
    asked = teacher.author.intro() or doc.paragraphs(*_asked(teacher))
    teacher.author.unsaid.clear()  # notes refer to what a short text leaves out
    first = answer(teacher)
    worked = (*_head(teacher), *rest_of_layer(teacher))
    if any(section.title == REST for section in worked):  # its table has the same numbers
        first = tuple(block for block in first if block not in before_and_after(teacher.ctx))
    sections = teacher.with_signs(worked)
    if summary := teacher.author.summary():
        sections += (doc.Section(None, SUMMARY, summary),)
    introduction = (*asked, *teacher.introduction(), *first)
    return doc.Document(
        found.name, found.scenario.title, introduction, sections, has_contents=False
    )


def _asked(teacher: Teacher) -> list[doc.Sentence]:
    """What a reader asks who finds no words of the author."""
    predicts = any(step.kind.name == "prediction" for step in teacher.steps)
    return sentences.question(teacher.ctx, teacher.writer.terms, predicts=predicts, whole=True)[:2]


def _head(teacher: Teacher) -> Iterator[doc.Section]:
    """What the head reads, and its steps from the scores on."""
    head = teacher.main_head
    if head is None:
        return
    softmax = head.softmax
    of_head = [step for step in teacher.steps if _head_of(step) == _head_of(softmax)]
    kinds = [step.kind for step in of_head]
    worked = of_head[kinds.index(SCORES_STEP) :] if SCORES_STEP in kinds else of_head
    where = sentences.where(softmax, teacher.ctx)
    title = f"One head: {where}" if where else "One head"
    shown = [_matrix(value, worked, teacher) for value in _read_from_elsewhere(worked)]
    yield doc.Section(None, title, (doc.Paragraph(READS), *shown), trace=teacher.trace)
    for step in worked:
        section, title = teacher.section(step), sentences.named(step)
        blocks = section.blocks
        if step.kind is MASK_STEP and _changes_nothing(step, teacher):
            blocks = tuple(block for block in blocks if not isinstance(block, doc.Matrix))
        new = replace(section, blocks=blocks, number=None, title=title, part=None)
        yield replace(new, layer=None, head=None)


def _changes_nothing(mask: Step, teacher: Teacher) -> bool:
    """Whether a mask adds no numbers, and the token's masked scores are printed like its scores."""
    before, after = map(teacher.matrix, (mask.last.inputs[0], mask.last.output))
    printed = before.cells == after.cells and str(before.cells) == str(after.cells)
    return only_hides(teacher.ctx.mask_at(mask.place)) and printed


def _head_of(step: Step) -> tuple[object, ...]:
    """The head of a step, whatever block of keys it is about."""
    place = step.place
    return place.encoder, place.layer, place.sub_layer, place.head


def _matrix(value: Value, worked: list[Step], teacher: Teacher) -> doc.Matrix:
    """All rows of the keys and the values; of the queries, which are read first, only one."""
    if value == worked[0].records[0].inputs[0]:
        return teacher.matrix(value)
    return replace(teacher.ctx, alone=False).at(value.place).matrix(value)


def _read_from_elsewhere(worked: list[Step]) -> Iterable[Value]:
    """The vectors that steps read from others, in order."""
    own = {record.output for step in worked for record in step.records}
    read = (value for step in worked for record in step.records for value in record.inputs)
    return dict.fromkeys(
        value
        for value in read
        if value not in own and value.axes and not value.role.parameter
        if value.role not in OPERANDS
    )
