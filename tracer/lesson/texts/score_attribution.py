"""The text of an attention score's attribution: pairs of parts of the query and of the key."""

from __future__ import annotations

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Divide
from tracer.decoder.score_attribution import ScoreAttribution, SideParts
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.entries import labels
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.score_attribution import SUMS_STEP
from tracer.lesson.texts.attribution import LARGEST, AttributionTeacher
from tracer.lesson.working.sums import Terms

MOST_LINES = 100
"""The most numbers of a matrix whose lines are written; of more, only the matrix is shown."""

MOST_NAMED = 3
"""The most parts of a query or key that the introduction names."""


class ScoreTeacher(AttributionTeacher):
    """Writes the sections of a score's attribution."""

    def __init__(self, found: ScoreAttribution, *, full: bool, terms: Terms | None) -> None:
        super().__init__(found, full=full, terms=terms)
        self.score = found

    def parts(self, value: Value) -> list[doc.Block]:
        """The pairs with what they add; of a trained model, with the names of the parts."""
        if not self.trace.scenario.on_demand:
            return super().parts(value)
        query, key = (side.sums.axes[0].labels for side in (self.score.query, self.score.key))
        rows: list[tuple[str | Number, ...]] = []
        for at in range(len(self.writer.terms.of(value.numbers))):
            i, j = self.score.pairs[at]
            rows.append((query[i], key[j], self.ctx.number(value, at)))
        table = doc.Table.of(("part of the query", "part of the key", "c"), rows)
        return [table, *super().parts(value)]

    def is_worked(self, value: Value) -> bool:
        """Return whether the lines of a value are written: of a large matrix, none is."""
        return not value.axes or value.numbers.size <= MOST_LINES

    def learned(self, record: Record, step: Step) -> list[doc.Block]:
        """Return the section of one value; dot products are written in the lines of the pairs."""
        value = record.output
        if value.role is roles.PAIR_DOT:
            return self.inputs(record)
        if step.kind is SUMS_STEP and self.trace.scenario.on_demand:
            return [self.largest(value)]
        return super().learned(record, step)

    def largest(self, sums: Value) -> doc.Block:
        """The largest sums of one side's pairs, in size."""
        numbers = np.abs(sums.numbers)
        order = np.argsort(-numbers, kind="stable")[: (self.asked or LARGEST).shown]
        what = "query" if sums.role is roles.QUERY_SUMS else "key"
        rows = [(sums.axes[0].labels[at], self.ctx.number(sums, int(at))) for at in order]
        symbol = "c_a" if what == "query" else "c_b"
        return doc.Table.of((f"part of the {what}", symbol), rows)


def score_text(
    found: ScoreAttribution, *, full: bool = True, terms: Terms | None = None
) -> doc.Document:
    """The parts of query and key, their pairs and the sum; of a trained model, the largest."""
    teacher = ScoreTeacher(found, full=full, terms=terms)
    return teacher.document(_introduction(teacher, found), [found.query.sums])


def _introduction(teacher: ScoreTeacher, found: ScoreAttribution) -> doc.Sentence:
    """What is attributed, and to what."""
    value, (row, column) = found.entry
    query, key = map(doc.Name, labels(found.entry))
    record = found.trace.producers[value]
    divided = ", divided by a number" if isinstance(record.operation, Divide) else ""
    rounds = found.rounding is not None and found.rounding.numbers[()]
    rest = " Rounding adds the rest." if rounds else ""
    return (
        *("The attention score of ", query, " for ", key, " is "),
        *(teacher.ctx.number(value, row, column), ". It is the dot product of a query and a key"),
        f"{divided}. The query has {_parts(found.query)}, the key has "
        f"{_parts(found.key)}. The score is the sum of what each pair of their parts adds."
        f"{rest}",
    )


def _parts(side: SideParts) -> str:
    """`the parts a₁ (embedding) and a₂ (positions)`; of many, `the parts a₁ to a₉`."""
    labels = [label.split(" ", 1) for label in side.sums.axes[0].labels]
    if len(labels) == 1:
        return f"one part, {labels[0][0]}"
    if len(labels) > MOST_NAMED:
        return f"the parts {labels[0][0]} to {labels[-1][0]}"
    *most, last = [f"{letter} ({name})" for letter, name in labels]
    return f"the parts {', '.join(most)} and {last}"
