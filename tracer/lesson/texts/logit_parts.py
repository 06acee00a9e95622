"""The parts of the predicted word's logit, as the summary of a trained model shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tracer.decoder import roles
from tracer.decoder.attribution import AttributedPart, Attribution, attribute
from tracer.decoder.comparison import predicted
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Pinned
from tracer.decoder.roles import Role
from tracer.decoder.tape import Record
from tracer.decoder.token_rows import label
from tracer.decoder.value import Entry
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, joined
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.attribution import (
    HELD,
    LARGEST,
    holds_divisors,
    introduction,
    largest_parts,
    most_attended,
)
from tracer.lesson.texts.attribution_pictures import maps
from tracer.lesson.texts.lens import percent
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.lines import Writer
from tracer.lesson.working.sums import Terms
from tracer.names import distinct, name_text

TITLE = "The parts of the logit"
OF_PARTS: doc.Sentence = ("The logit as the sum of its parts, the largest first:",)


LEADING = 5
"""The parts that are listed, at least, of each difference of two logits."""


def parts_of_prediction(
    trace: Trace, token: int, split: Collection[Role] = ()
) -> Attribution | None:
    """The parts of the logit of the word that is predicted after a token (counted from 0).

    Those at the roles in `split` are sums of terms. Where logits are capped, it is the logit before
    the cap. None if the logits are given.
    """
    answer = predicted(trace, token)
    if answer is None:
        return None
    value = trace.values.get(roles.UNCAPPED_LOGITS.name, answer.value)
    is_given = isinstance(trace.producers[value].operation, Pinned)
    return None if is_given else attribute(trace, Entry(value, answer.at), split=split)


@dataclass(frozen=True)
class Lead:
    """How far a word's logit is above that of another: the difference that each part makes."""

    word: doc.Name
    of_parts: tuple[Number, ...]

    @property
    def largest(self) -> list[int]:
        """The parts that make the largest differences, by index."""
        order = sorted(range(len(self.of_parts)), key=lambda i: -abs(self.of_parts[i].value))
        return order[:LEADING]


class LogitParts:
    """Writes the parts of a logit: a table with what the heads attend to, and their sum."""

    def __init__(self, ctx: LessonContext, found: Attribution, terms: Terms | None) -> None:
        self.ctx, self.found = replace(ctx, trace=found.trace), found
        self.writer = Writer(self.ctx, terms or LARGEST)
        (self.joined,) = found.trace.producers[found.sum].inputs

    def section(self, *, full: bool) -> doc.Section:
        """What the logit is a sum of, and the largest parts."""
        table = self.table(self.writer.terms.of(self.joined.numbers))
        blocks = (
            *self.introduction(full=full),
            table,
            *doc.paragraphs(*largest_parts(self.ctx, self.found)),
        )
        return doc.Section(None, TITLE, blocks)

    def compared(self, leads: Sequence[Lead], *, full: bool) -> doc.Section:
        """The same with what the parts add to the difference of the logit and that of others."""
        shown = {*self.writer.terms.of(self.joined.numbers), *(i for x in leads for i in x.largest)}
        pictures = maps(self.found, self.writer)
        blocks = (
            *self.introduction(full=full),
            *doc.paragraphs(self.over(leads)),
            self.table(sorted(shown), leads),
            *pictures,
        )
        return doc.Section(None, TITLE, blocks)

    def introduction(self, *, full: bool) -> tuple[doc.Block, ...]:
        """What the logit is a sum of."""
        held = HELD if full and holds_divisors(self.found.trace) else None
        return doc.paragraphs(introduction(self.ctx, self.found), held)

    def over(self, leads: Sequence[Lead]) -> doc.Sentence:
        """Say what the columns of the differences show, and that of the attention."""
        reads = "Reads: the token that a head attends to most."
        if not leads:
            return (reads,)
        own = doc.Name(distinct(self.found.entry.value.axes[1].labels)[self.found.entry.at[1]])
        others = joined([(lead.word,) for lead in leads], "or")
        return ("Over: how much more a part adds to ", own, " than to ", *others, f". {reads}")

    def table(self, shown: Iterable[int], leads: Sequence[Lead] = ()) -> doc.Table:
        """Some parts, with the differences that they make and what the heads read."""
        over = (f"over {name_text(lead.word.text)}" for lead in leads)
        header = ("part", "adds", *over, "attends most to" if not leads else "reads", "share")
        rows: list[tuple[str | Number, ...]] = [
            (
                *(label(part.of), self.ctx.number(self.joined, i)),
                *(lead.of_parts[i] for lead in leads),
                *self.attends(part),
            )
            for i in shown
            for part in (self.found.parts[i],)
        ]
        return doc.Table.of(header, rows)

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
    """Writes the sections of a summary: of the logits, one is worked, as the sum of its parts.

    The parts at the roles in `split` are sums of terms.
    """

    def __init__(
        self,
        trace: Trace,
        token: int,
        *,
        full: bool,
        terms: Terms | None,
        split: Collection[Role] = (),
    ) -> None:
        super().__init__(trace, token, full=full, terms=terms)
        found = parts_of_prediction(trace, token, split)
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
