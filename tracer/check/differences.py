"""The report on another program's arrays: the first difference, its worked line, all values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite, isnan

from tracer.check.against import ComparedValue
from tracer.check.figures import step_in
from tracer.decoder.forward import Trace
from tracer.decoder.value import Entry
from tracer.formula.expression import Number
from tracer.formula.numbers import trimmed
from tracer.lesson import document as doc
from tracer.lesson.entries import name
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.origins import Origins
from tracer.names import count
from tracer.renderers.text import number_text

MOST_NAMES = 8
"""The most names of arrays without a counterpart that the headline lists."""


@dataclass(frozen=True)
class Differences:
    """The compared values, in the order of computation, and the names of other arrays."""

    trace: Trace
    file: str
    compared: tuple[ComparedValue, ...]
    not_compared: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.first is None

    @cached_property
    def first(self) -> ComparedValue | None:
        """The first value that differs."""
        return next((each for each in self.compared if each.differs), None)

    @cached_property
    def origins(self) -> Origins:
        """The operands of the numbers."""
        return Origins(self.trace)

    def step_of(self, compared: ComparedValue) -> Step | None:
        """The step that explains a value."""
        return step_in(self.origins.teacher, compared.value)

    def document(self) -> doc.Document:
        """Return the report as a text."""
        sections = (
            *self._first(),
            doc.Section(None, "Value by value", (self._table(),)),
        )
        introduction = tuple(map(doc.Paragraph, self._introduction()))
        return doc.Document(self.trace.name, self.trace.scenario.title, introduction, sections)

    def _introduction(self) -> Iterator[doc.Sentence]:
        differ, seen = sum(each.differs for each in self.compared), len(self.compared)
        result = "all agree" if seen > 1 else "it agrees"
        if differ:
            result = f"{differ} {'differs' if differ == 1 else 'differ'}"
        yield (
            f"{count(seen, 'value')} of ",
            doc.Name(self.file),
            f" compared with the scenario: {result}.",
            *self._others(),
        )
        allowed = {each.theirs.kind: each.allowed for each in self.compared if not each.jumps}
        parts = [f"{written_float(share)} ({kind})" for kind, share in allowed.items()]
        yield (f"Differences up to {', '.join(parts)} of a value's largest number do not count.",)
        if any(each.has_outliers for each in self.compared):
            yield (
                "Numbers more than ten times as large as those of other rows or columns count as "
                "largest only in their own.",
            )
        if not self.trace.pencil.rounds:
            yield ("As in other programs, intermediate results are not rounded.",)

    def _others(self) -> doc.Sentence:
        """Return the sentence with the names of arrays that were not compared."""
        if not self.not_compared:
            return ()
        names = [doc.Name(each) for each in self.not_compared[:MOST_NAMES]]
        more = len(self.not_compared) - len(names)
        listed = [part for name in names for part in (name, ", ")][:-1]
        end = f", and {more} more." if more else "."
        return (" Not compared, because the forward pass computes no such numbers: ", *listed, end)

    def _first(self) -> Iterator[doc.Section]:
        first = self.first
        if first is None:
            return
        step = self.step_of(first)
        title = sentences.title(step, self.origins.teacher.ctx) if step else first.value.address
        where = f"step {step.number}, {title}" if step else title
        yield doc.Section(None, f"First difference: {where}", tuple(self._paragraphs(first)))

    def _paragraphs(self, first: ComparedValue) -> Iterator[doc.Block]:
        value = first.value
        if first.at is None:
            theirs, ours = _shape(first.theirs.numbers.shape), _shape(value.shape)
            yield doc.Paragraph(
                (doc.Name(value.address), f" is {theirs} in the file and {ours} in the scenario.")
            )
            return
        entry = Entry(value, first.at)
        here, there = written_float(first.here), written_float(first.there)
        apart = f", {written_float(first.difference)} apart" if isfinite(first.difference) else ""
        largest = ""
        if value.axes:
            of = "difference" if first.is_largest else "difference, relative to its row and column,"
            largest = f" No other {of} in this value is larger."
        yield doc.Paragraph(
            (
                doc.Name(name(entry)),
                f" is {there} in the file and {here} in the scenario{apart}.{largest}",
            )
        )
        if first.jumps:
            yield doc.Paragraph((_about_jump(first, first.jumps),))
        earlier = self.compared[: self.compared.index(first)]  # all of them agree
        if earlier:
            verb = "agrees" if len(earlier) == 1 else "agree"
            agree = f"Before it, {count(len(earlier), 'value')} {verb}; the last is "
            yield doc.Paragraph((agree, doc.Name(earlier[-1].value.address), "."))
        if line := self.origins.worked(entry):
            yield doc.Paragraph(("The scenario computes it as follows:",))
            yield doc.Working((line,))

    def _table(self) -> doc.Table:
        rows = []
        for each in self.compared:
            step = self.step_of(each)
            sizes = ("shape", "")
            if each.at is not None:
                sizes = (written_float(each.difference, 2), written_float(each.relative, 2))
            found = "differs" if each.differs else "agrees"
            number = str(step.number) if step else "–"
            rows.append((number, *(size or "–" for size in sizes), found, each.value.address))
        header = ("step", "difference", "relative", "", "value")
        marked = self.compared.index(self.first) if self.first else None
        return doc.Table(header, tuple(tuple(map(doc.Name, row)) for row in rows), marked)


def _about_jump(first: ComparedValue, times: float) -> str:
    return (
        f"The tolerance for {first.theirs.kind} would allow this difference. Relative to the "
        f"numbers, it is at least {times:,.0f} times as large as any before it, and as the "
        "rounding of one number. Rounding alone seldom does that in one step; another ε of a norm "
        "may."
    )


def written_float(number: float, digits: int = 7) -> str:
    """Return a float with a few digits; NaN and infinity in words."""
    if not isfinite(number):
        return "not a number" if isnan(number) else "∞" if number > 0 else "-∞"
    return number_text(Number(trimmed(Decimal(f"{number:.{digits}g}"))))


def _shape(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "one number"
