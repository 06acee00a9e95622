"""The text of an attention score's attribution: pairs of parts of the query and of the key."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.elementwise import Divide
from tracer.decoder.score_attribution import ScoreAttribution
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.entries import labels, name
from tracer.lesson.steps import Step
from tracer.lesson.steps.attribution import SUM_STEP
from tracer.lesson.texts.attribution import HELD, LARGEST, AttributionTeacher
from tracer.lesson.working.lines import Writer
from tracer.lesson.working.sums import Terms

MOST_LINES = 25
"""The most pairs whose lines are written; of more, only the matrix is shown."""


class ScoreTeacher(AttributionTeacher):
    """Writes the sections of a score's attribution."""

    def __init__(self, found: ScoreAttribution, *, full: bool, terms: Terms | None) -> None:
        super().__init__(found, full=full, terms=terms)
        self.score = found

    def parts(self, value: Value) -> doc.Block:
        """The pairs with what they add."""
        query, key = self.score.query.names, self.score.key.names
        rows: list[tuple[str | Number, ...]] = []
        for at in self.indices(value):
            i, j = self.score.pairs[at]
            rows.append((query[i], key[j], self.ctx.number(value, at)))
        return doc.Table.of(("part of the query", "part of the key", "c"), rows)

    def is_worked(self, value: Value) -> bool:
        """Return whether the lines of a value are written: of many pairs, none is."""
        return value.role is not roles.PAIRS or value.numbers.size <= MOST_LINES

    def learned(self, record: Record, step: Step) -> list[doc.Block]:
        """Return the section of one value; dot products are written in the lines of the pairs."""
        return [] if record.output.role is roles.PAIR_DOT else super().learned(record, step)


def score_text(
    found: ScoreAttribution, *, full: bool = True, terms: Terms | None = None
) -> doc.Document:
    """The parts of query and key, their pairs and the sum; of a trained model, the largest."""
    teacher = ScoreTeacher(found, full=full, terms=terms)
    steps = [step for step in teacher.steps if step.place.phase == "attribution"]
    total = next(step for step in steps if step.kind is SUM_STEP)
    if found.trace.scenario.on_demand:
        teacher.writer = Writer(teacher.ctx, terms or LARGEST)
        steps = []
    others = [step for step in steps if step is not total]
    sections = [teacher.section(step) for step in (*others, total)]
    holds = found.query.holds or found.key.holds
    introduction = [_introduction(teacher, found), *([HELD] if full and holds else [])]
    blocks = tuple(map(doc.Paragraph, introduction))
    title = f"The parts of {name(found.entry)}"
    return doc.Document(found.trace.name, title, blocks, teacher.with_signs(sections))


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
        f"{divided}. Each of both is a sum of parts, so the score is the sum of what each pair of "
        f"their parts adds.{rest}",
    )
