"""The parts of the predicted word's logit, as the summary of a trained model shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.attribution import AttributedPart, Attribution, attribute
from tracer.decoder.comparison import predicted
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Pinned
from tracer.decoder.tape import Record
from tracer.decoder.token_rows import label
from tracer.decoder.value import Entry
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.attribution import (
    HELD,
    LARGEST,
    holds_divisors,
    introduction,
    largest_parts,
    most_attended,
)
from tracer.lesson.texts.lens import percent
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.lines import Writer
from tracer.lesson.working.sums import Terms
from tracer.names import distinct

TITLE = "The parts of the logit"
OF_PARTS: doc.Sentence = ("The logit as the sum of its parts, the largest first:",)


def parts_of_prediction(trace: Trace, token: int) -> Attribution | None:
    """The parts of the logit of the word that is predicted after a token (counted from 0).

    Where logits are capped, it is the logit before the cap. None if the logits are given.
    """
    answer = predicted(trace, token)
    if answer is None:
        return None
    value = trace.values.get(roles.UNCAPPED_LOGITS.name, answer.value)
    is_given = isinstance(trace.producers[value].operation, Pinned)
    return None if is_given else attribute(trace, Entry(value, answer.at))


class LogitParts:
    """Writes the parts of a logit: a table with what the heads attend to, and their sum."""

    def __init__(self, ctx: LessonContext, found: Attribution, terms: Terms | None) -> None:
        self.ctx, self.found = replace(ctx, trace=found.trace), found
        self.writer = Writer(self.ctx, terms or LARGEST)
        (self.joined,) = found.trace.producers[found.sum].inputs

    def section(self, pictures: Iterable[doc.Block] = (), *, full: bool) -> doc.Section:
        """What the logit is a sum of, the largest parts, and pictures of them."""
        shown = self.writer.terms.of(self.joined.numbers)
        rows = [
            (label(part.of), self.ctx.number(self.joined, i), *self.attends(part))
            for i in shown
            for part in (self.found.parts[i],)
        ]
        held = HELD if full and holds_divisors(self.found.trace) else None
        sentences = introduction(self.ctx, self.found), held
        blocks: tuple[doc.Block, ...] = (
            *doc.paragraphs(*sentences),
            doc.Table.of(("part", "adds", "attends most to", "share"), rows),
            *doc.paragraphs(*largest_parts(self.ctx, self.found)),
            *pictures,
        )
        return doc.Section(None, TITLE, blocks)

    def lines(self) -> tuple[doc.Line, ...]:
        """The logit as the sum of its parts, the largest first; nothing if there is only one."""
        value, (_, column) = self.found.entry
        chain = self.writer.chain(self.found.trace.producers[self.found.sum], ())
        word = distinct(value.axes[1].labels)[column]
        return (doc.Line(word, chain),) if chain.relations else ()

    def attends(self, part: AttributedPart) -> tuple[str, str]:
        """The token that a head gives most of its attention to, and the share."""
        most = most_attended(self.ctx, part)
        if most is None:
            return "—", "—"
        row, column = most
        return row.labels[column], percent(row.printed(column))


class SummaryTeacher(Teacher):
    """Writes the sections of a summary: of the logits, one is worked, as the sum of its parts."""

    def __init__(self, trace: Trace, token: int, *, full: bool, terms: Terms | None) -> None:
        super().__init__(trace, token, full=full, terms=terms)
        found = parts_of_prediction(trace, token)
        self.parts = LogitParts(self.ctx, found, terms) if found else None

    def record(self, record: Record, step: Step, again: bool) -> list[doc.Block]:
        """As in other texts; before the line of the parts, that it is this."""
        blocks = super().record(record, step, again)
        if self.is_parted(record) and isinstance(blocks[-1], doc.Working):
            blocks.insert(-1, doc.Paragraph(OF_PARTS))
        return blocks

    def lines(self, record: Record) -> tuple[doc.Line, ...]:
        """The worked lines of a record: of the logits, that of the parts."""
        if self.parts and self.is_parted(record):
            return self.parts.lines()
        return super().lines(record)

    def is_parted(self, record: Record) -> bool:
        """Whether a record gives the logit that is a sum of parts."""
        return self.parts is not None and record.output is self.parts.found.entry.value
