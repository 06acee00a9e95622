"""The report on another program's arrays: the first difference, its worked line, all values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from tracer.check.against import ComparedStep, ComparedValue
from tracer.check.causes import Cause
from tracer.check.figures import step_in
from tracer.check.wording import (
    MOST_NAMES,
    agreeing,
    how_many,
    shortlist,
    sizes,
    together,
    written_float,
)
from tracer.decoder.comparison import gap
from tracer.decoder.forward import Trace
from tracer.decoder.value import Entry, has_token_rows
from tracer.lesson import document as doc
from tracer.lesson.entries import name
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.origins import Origins
from tracer.names import count, first_of, shape_text, similar

MOST_ALTERNATIVES = 3
"""The most changes with the same result as the first that are listed."""


@dataclass(frozen=True)
class Differences:
    """The compared values, in the order of computation, and the names of other arrays."""

    trace: Trace
    file: str
    compared: tuple[ComparedValue, ...]
    tolerance: float | None = None
    not_compared: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    hidden: tuple[str, ...] = ()
    """Slight changes with which all values agree, too."""
    is_float32: bool = False
    """Whether numbers of the file that are float64 agree only as float32."""
    source: str = "the file"
    """Where the values are, for sentences."""

    def __repr__(self) -> str:
        differ = sum(each.differs for each in self.compared)
        verb = "differs" if differ == 1 else "differ"
        return f"<Differences: {count(len(self.compared), 'value')} compared, {differ} {verb}>"

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.wrong

    @property
    def first(self) -> ComparedValue | None:
        """The first value that differs."""
        return next(iter(self.wrong), None)

    @cached_property
    def wrong(self) -> tuple[ComparedValue, ...]:
        """The values that do not follow from the file's numbers before them."""
        return tuple(each for each in self.compared if each.is_wrong)

    @property
    def cause(self) -> Cause | None:
        """The change that makes the first value agree that differs."""
        return next((each for each in self.causes if each.value is self.first), None)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The addresses of wrong values that no change explains."""
        explained = {address for each in self.causes for address in each.explained}
        return tuple(a for each in self.wrong if (a := each.value.address) not in explained)

    @property
    def hiding(self) -> tuple[str, ...]:
        """The addresses of values in which rounding explains the difference of two tokens."""
        if self.tolerance is not None:
            return ()
        return tuple(each.value.address for each in self.compared if each.hides_tokens)

    def still_differ(self, cause: Cause) -> int:
        """Return how many wrong values do not agree with a change."""
        return len({each.value.address for each in self.wrong} - cause.explained)

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
            *self._other_causes(),
            doc.Section(None, "Value by value", (self._table(),)),
        )
        introduction = tuple(map(doc.Paragraph, self._introduction()))
        return doc.Document(self.trace.name, self.trace.scenario.title, introduction, sections)

    def _introduction(self) -> Iterator[doc.Sentence]:
        differ, seen = sum(each.differs for each in self.compared), len(self.compared)
        result = how_many(differ, seen)
        kinds = " and ".join(dict.fromkeys(each.theirs.kind for each in self.compared))
        if not differ and (self.hidden or self.hiding):
            result = "rounding explains all differences"
        yield (
            f"{count(seen, 'value')} of ",
            doc.Name(self.file),
            f" compared with the scenario: {result}.",
            *self._others(),
        )
        if differ > 1 and self.compared_steps:
            yield from self._wrong()
        if not differ:
            yield from self._not_shown(kinds)
        if self.tolerance is None and self.compared_steps:
            if self.is_float32:
                yield ("The file has float64, but some of its numbers agree only as float32.",)
            yield (
                f"Each is also computed from {self.source}'s own numbers before it. Differences "
                f"that rounding to {kinds} explains do not count.",
            )
        else:
            allowed = {each.theirs.kind: each.allowed for each in self.compared}
            parts = [f"{written_float(share)} ({kind})" for kind, share in allowed.items()]
            of = "of a value's largest number do not count."
            yield (f"Differences up to {', '.join(parts)} {of}",)
        if self.trace.pencil.rounds:
            yield ("Steps are not computed from the file's numbers, because the scenario rounds.",)
        else:
            yield ("As in other programs, intermediate results are not rounded.",)

    @property
    def compared_steps(self) -> bool:
        """Whether each step is computed from the file's numbers before it."""
        return any(each.step for each in self.compared)

    def _wrong(self) -> Iterator[doc.Sentence]:
        """Say which values do not follow from those before them."""
        names = shortlist(together([each.value.address for each in self.wrong]))
        follow = sum(each.differs for each in self.compared) - len(self.wrong)
        if not follow:
            yield (f"None of these follows from {self.source}'s numbers before them: ", *names, ".")
            return
        does = "does" if len(self.wrong) == 1 else "do"
        yield (
            f"{len(self.wrong)} {does} not follow from {self.source}'s numbers before "
            f"{'it' if len(self.wrong) == 1 else 'them'}: ",
            *names,
            ".",
        )
        others = "other only differs" if follow == 1 else f"{follow} others only differ"
        yield (f"The {others} because a value before differs.",)

    def _not_shown(self, kinds: str) -> Iterator[doc.Sentence]:
        """Say which mistakes rounding may hide."""
        if self.hidden:
            ways = _alternatives(self.hidden)
            yield (f"The numbers also agree {ways}: rounding to {kinds} hides these changes.",)
        if names := self.hiding:
            yield (
                "Rounding explains even the difference between two tokens in ",
                *(*shortlist(together(names)), ". A mistake there may be hidden."),
            )

    def _others(self) -> doc.Sentence:
        """Count the arrays that were not compared; name some, with similar addresses."""
        number = len(self.not_compared)
        if not number:
            return ()
        are = "array is" if number == 1 else "arrays are"
        why = "because the scenario computes no such numbers: "
        names = shortlist(self.not_compared)
        near = dict.fromkeys(
            found[0]
            for each in self.not_compared[:MOST_NAMES]
            if (found := similar(each, self.trace.values))
        )
        similar_are = "A similar address is " if len(near) == 1 else "Similar addresses are "
        hint = (f". {similar_are}", *shortlist([*near])) if near else ()
        return (f" {number} other {are} not compared, {why}", *names, *hint, ".")

    def _first(self) -> Iterator[doc.Section]:
        first = self.first
        if first is None:
            return
        step = self.step_of(first)
        ctx = self.origins.teacher.ctx
        title = sentences.title(step, ctx.at(step.place)) if step else first.value.address
        where = f"step {step.number}, {title}" if step else title
        yield doc.Section(None, f"First difference: {where}", tuple(self._paragraphs(first)))

    def _paragraphs(self, first: ComparedValue) -> Iterator[doc.Block]:
        value = first.value
        if first.at is None:
            theirs, ours = shape_text(first.theirs.numbers.shape), shape_text(value.shape)
            agrees = " Transposed, it agrees." if _agrees_transposed(first) else ""
            differ = f" is {theirs} in {self.source} and {ours} in the scenario.{agrees}"
            yield doc.Paragraph((doc.Name(value.address), differ))
            return
        entry = Entry(value, first.step.at if first.step else first.at)
        yield doc.Paragraph(
            _about_step(entry, first.step, first.theirs.kind, self.source)
            if first.step
            else _about_pass(entry, first, self.source)
        )
        if where := _where(first):
            yield doc.Paragraph((where,))
        if first.step:
            yield doc.Paragraph(self._about_cause())
        earlier = self.compared[: self.compared.index(first)]
        yield from doc.paragraphs(agreeing([each.value.address for each in earlier], "value"))
        if line := self.origins.worked(entry):
            yield doc.Paragraph(("The scenario computes it as follows:",))
            yield doc.Working((line,))

    def _about_cause(self) -> doc.Sentence:
        """Say what makes the first value agree, if anything that was tried does."""
        if self.cause is None:
            return ("No single change that was tried makes it agree.",)
        numbers = self.cause.value.theirs.numbers.size
        all_of = f"all {numbers} numbers" if numbers > 1 else "its number"
        said = f"It agrees in {all_of} {self.cause.name}."
        if more := len(self.cause.explained) - 1:
            said += f" So {'does' if more == 1 else 'do'} {count(more, 'other wrong value')}."
        if still := self.still_differ(self.cause):
            said += f" {count(still, 'wrong value')} still {'differs' if still == 1 else 'differ'}."
        if self.cause.others:
            said += f" Here, the same follows {_alternatives(self.cause.others)}."
        return (said,)

    def _other_causes(self) -> Iterator[doc.Section]:
        """Yield the causes of the wrong values that the first cause does not explain."""
        others = [each for each in self.causes if each is not self.cause]
        if others:
            rows = [(each.value.value.address, each.name) for each in others]
            table = doc.Table.of(("value", "agrees"), rows)
            yield doc.Section(None, "Other wrong steps", (table,))

    def _table(self) -> doc.Table:
        rows = []
        for each in self.compared:
            step = self.step_of(each)
            found = "wrong" if each.is_wrong else "follows" if each.differs else "agrees"
            number = str(step.number) if step else "–"
            rows.append((number, *sizes(each), found, each.value.address))
        marked = self.compared.index(self.first) if self.first else None
        return doc.Table.of(("step", "difference", "relative", "", "value"), rows, marked)


def _about_step(entry: Entry, step: ComparedStep, kind: str, source: str) -> doc.Sentence:
    """Say how far a number is from what follows from the numbers before it."""
    there, own = float(step.theirs[entry.at]), float(step.own[entry.at])
    apart = f", {written_float(abs(there - own), 2)} apart" if isfinite(there - own) else ""
    allowed = written_float(float(step.allowed[entry.at]), 2)
    return (
        doc.Name(name(entry)),
        f" is {written_float(there)} in {source}, and {written_float(own)} follows from {source}'s "
        f"numbers before it{apart}. Rounding to {kind} explains up to {allowed}.",
    )


def _about_pass(entry: Entry, first: ComparedValue, source: str) -> doc.Sentence:
    """Say how far a number is from the scenario's."""
    here, there = written_float(first.here), written_float(first.there)
    apart = f", {written_float(first.difference)} apart" if isfinite(first.difference) else ""
    largest = ""
    if entry.value.axes:
        of = "difference" if first.is_largest else "difference, relative to its row and column,"
        largest = f" No other {of} in this value is larger."
    return (
        doc.Name(name(entry)),
        f" is {there} in {source} and {here} in the scenario{apart}.{largest}",
    )


def _agrees_transposed(first: ComparedValue) -> bool:
    """Return whether rows and columns are only exchanged, as in the weights of PyTorch's Linear."""
    theirs = first.theirs.numbers.T
    if theirs.shape != first.value.shape:
        return False
    return gap(first.value.array, theirs).relative <= first.allowed


def _where(first: ComparedValue) -> str:
    """Say which rows and columns of the first difference differ, if not all do."""
    rows, columns = first.differs_in
    last = first.value.axes[0].labels[-1:] if first.value.axes else ()
    parts = []
    for noun, labels in (("row", rows), ("column", columns)):
        if labels:
            several = "" if len(labels) == 1 else "s"
            named = first_of([f"“{label}”" for label in labels], MOST_NAMES)
            parts.append(f"the {noun}{several} {named}")
    if not parts:
        return ""
    is_last = rows is not None and rows == last and not columns and has_token_rows(first.value)
    end = ", the last token's" if is_last else ""
    return f"Only {' and '.join(parts)} differ{'s' if _is_one(rows, columns) else ''}{end}."


def _is_one(rows: Sequence[str] | None, columns: Sequence[str] | None) -> bool:
    """Return whether a single row or a single column differs."""
    return [len(labels) for labels in (rows, columns) if labels] == [1]


def _alternatives(names: Sequence[str]) -> str:
    """List changes with the same result; the first of many."""
    more = len(names) - MOST_ALTERNATIVES
    shown = ", or ".join(names[:MOST_ALTERNATIVES])
    return f"{shown}, or in {count(more, 'other way')}" if more > 0 else shown
