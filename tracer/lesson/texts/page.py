"""The interactive page: the text for every token, with the line of every number in it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from tracer.decoder.forward import Trace
from tracer.decoder.operations import Given, Pinned
from tracer.decoder.roles import MASKED
from tracer.decoder.training import Training
from tracer.decoder.value import Entry, Index, Value
from tracer.formula.expression import Chain, Expression, Number, entries_in
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.steps.attention import MASK_STEP, SOFTMAX_STEP, UNMASKED_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.first_picture import FirstPicture, first_picture
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.guided import Stop, stops
from tracer.lesson.texts.origins import Origins
from tracer.lesson.texts.questions import questions
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.short import short_text
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.tutorial import tutorial, worked_for
from tracer.lesson.texts.untrained import text_of_model
from tracer.lesson.working.lines import is_worked
from tracer.names import distinct, name_text
from tracer.node import found

SEED = 1
"""The seed of the questions of a page."""


@dataclass(frozen=True)
class PageSource:
    """A value with the numbers that the page shows: its name, its labels and its entries.

    `lines` has the worked line of each computed entry; `moved` has the original of each copy.
    """

    symbol: Expression
    address: str
    labels: tuple[tuple[str, ...], ...]
    given: bool
    numbers: dict[Index, Number] = field(default_factory=dict)
    lines: dict[Index, Chain] = field(default_factory=dict)
    moved: dict[Index, Entry] = field(default_factory=dict)


@dataclass(frozen=True)
class BoxResult:
    """The value that a step's box shows, the row of each token in it, all values of the step."""

    value: Value
    rows: tuple[int | None, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class PageTape:
    """A pass as data that a script evaluates, and the place of each value in it."""

    data: Mapping[str, Any]
    places: Mapping[Value, int]

    @cached_property
    def _by_address(self) -> dict[str, int]:
        return {value.address: place for value, place in self.places.items()}

    def name(self, entry: Entry) -> str:
        """The name of a number, a row or a matrix: `12:3,0`, `12:3`, `12:`."""
        return f"{self._by_address[entry.value.address]}:{place_name(entry.at)}"


WriteTape: TypeAlias = Callable[[Trace], PageTape | None]
"""Writes a pass as data; None if no script can compute it."""


def no_tape(trace: Trace) -> None:
    """Return no tape, for a page whose numbers stay as they are."""


@dataclass(frozen=True)
class Page:
    """A document, its variants for the other tokens, and the sources of its numbers.

    `tokens` are the names of the tokens that it can follow, `documents` has the text for each;
    `followed` (counted from 0) is the complete one; the others start with its sections. The
    sections `without_mask` are hidden until the reader asks for them. `results` has what each step
    computes, by its number. `tape` is the pass as data, if a script can compute it; then there is a
    picture for each token, with which the page begins. `stops` are those of a walk for each token.
    """

    tokens: tuple[str, ...]
    followed: int
    documents: tuple[doc.Document, ...]
    sources: dict[Value, PageSource]
    without_mask: frozenset[int] = frozenset()
    results: dict[int, BoxResult] = field(default_factory=dict)
    tape: PageTape | None = None
    pictures: tuple[FirstPicture, ...] = ()
    stops: tuple[tuple[Stop, ...], ...] = ()

    @property
    def document(self) -> doc.Document:
        """The text for the followed token."""
        return self.documents[self.followed]

    @property
    def levels(self) -> list[int]:
        """The level that adds each section: the last step and the summary are in the overview.

        One head is all up to the end of the first head. A text without a summary has no levels.
        """
        sections = self.document.sections
        heads = [i for i, section in enumerate(sections) if section.head]
        if not heads or not any(section.title == SUMMARY for section in sections):
            return [0] * len(sections)
        first = heads[0]
        after = next(
            i for i, s in enumerate(sections) if i > first and s.head != sections[first].head
        )
        of_pass = [
            i for i, s in enumerate(sections) if s.number and s.trace is sections[first].trace
        ]
        overview = {of_pass[-1], *(i for i, s in enumerate(sections) if s.title == SUMMARY)}
        return [0 if i in overview else 1 if i < after else 2 for i in range(len(sections))]


class NumberNames:
    """The name of each number on a page: `12:3,0`, a source and the place in it.

    The first sources are those on the tape, by their places there.
    """

    def __init__(self, page: Page) -> None:
        every = {id(source): source for source in page.sources.values()}
        on_tape = page.tape.places if page.tape else {}
        of_value = [(value, source) for value, source in page.sources.items() if value in on_tape]
        places = {id(source): on_tape[value] for value, source in of_value}
        self.sources = [source for key, source in every.items() if key not in places]
        """Those that are not on the tape."""
        places |= {id(source): i for i, source in enumerate(self.sources, len(on_tape))}
        self._places = {value: places[id(source)] for value, source in page.sources.items()}
        self._found: Mapping[Value, PageSource] = page.sources
        self._labels = {places[key]: source.labels for key, source in every.items()}

    def name(self, entry: Entry | None) -> str | None:
        """The name of an entry, if it is on the page."""
        if entry is None or entry.value not in self._places:
            return None
        if entry.at not in self._found[entry.value].numbers:
            return None
        return f"{self._places[entry.value]}:{place_name(entry.at)}"

    def source(self, value: Value) -> tuple[int, PageSource] | None:
        """The source of a value and its number in the data, if the page shows any of it."""
        return (self._places[value], self._found[value]) if value in self._found else None

    def label(self, name: str, first: int) -> str:
        """The labels of a number by its name, from an axis on."""
        place, at = name.split(":")
        labels = self._labels[int(place)]
        of_axes = zip(labels, map(int, filter(None, at.split(","))), strict=True)
        return ", ".join([name_text(axis[i]) for axis, i in of_axes][first:])

    def line(self, chain: Chain) -> tuple[str | None, Chain]:
        """The name of the number that a chain computes, if any; the chain without its symbol."""
        result = chain.sides[-1]
        entry = result.entry if isinstance(result, Number) else None
        name = self.name(entry)
        known = self._found[entry.value].lines.get(entry.at) if entry and name else None
        if known is None or chain.sides[-len(known.sides) :] != known.sides:
            return None, chain
        return name, known


@lru_cache(maxsize=4096)  # each number is named many times
def place_name(index: Index) -> str:
    """The place of a number in its source: `3,0`."""
    return ",".join(map(str, index))


def page(
    found: Trace,
    chosen: Sequence[Step],
    token: int,
    *,
    training: Training | None = None,
    full: bool = True,
    detail: Detail = Detail.FULL,
    part: str = "",
    tape: WriteTape = no_tape,
) -> Page:
    """Return the tutorial for a token (counted from 0), with its variants for the others.

    `part` names the part of the model that is chosen: its title would promise the whole.
    """
    every = steps(found.records)
    whole = len(chosen) == len(every)
    of_model = whole and found.scenario.on_demand
    if detail is Detail.SHORT and not of_model:
        return page_of(short_text(found, token))
    main = (
        None
        if of_model
        else tutorial(
            found, chosen, token, training=training, full=full, detail=detail, draws_all=True
        )
    )

    def text_for(other: int) -> doc.Document:
        if main is None:
            return text_of_model(found, other, full=full, terms=None)
        if other == token:
            return replace(main, has_contents=True)
        teacher = Teacher(found, other, refers=whole, full=full, detail=detail)
        of_pass = [s for s in main.sections if s.number and s.trace is found]
        return worked_for(teacher, chosen, of_pass, draws_all=True)

    documents = [text_for(other) for other in range(len(found.tokens))]
    if part:
        documents = [replace(each, title=f"{each.title}: {part}") for each in documents]
    if not found.scenario.on_demand:
        documents = [_with_questions(each, found, t) for t, each in enumerate(documents)]
    after = _without_mask(found, chosen)
    added: frozenset[int] = frozenset()
    if after:
        unmasked = found.unmasked
        added = _places(documents[token], after)
        documents = [_with(document, after, unmasked, t) for t, document in enumerate(documents)]
    if training:
        every += steps(training.steps[0].records)[len(every) :]  # the backward pass
    results = {step.number: _result(step, len(found.tokens)) for step in every}
    whole_pass = not found.scenario.on_demand
    # The diagram colors all results, also those that the text leaves out.
    drawn = [step.last.output for step in steps(found.records)] if whole_pass else []
    written = tape(found.unmasked if after else found)
    on_tape = written.places if written else {}
    pictures: tuple[FirstPicture, ...] = ()
    has_walk = written or not whole
    teachers = [Teacher(found, t) for t in range(len(found.tokens))] if has_walk else []
    if written and whole:
        pictures = tuple(map(first_picture, teachers))
        documents = [_without_blocks(d, p.blocks) for d, p in zip(documents, pictures, strict=True)]
    shown = [*documents, *(replace(documents[token], introduction=p.blocks) for p in pictures)]
    sources = sources_of(shown, whole=whole_pass, drawn=drawn, on_tape=on_tape)
    return Page(
        *(distinct(found.tokens), token, tuple(documents), sources, added, results),
        *(written, pictures, tuple(stops(teacher, chosen) for teacher in teachers)),
    )


def _without_blocks(document: doc.Document, shown: Sequence[doc.Block]) -> doc.Document:
    """Return the document without the blocks that the first picture shows."""
    kept = tuple(block for block in document.introduction if block not in shown)
    return replace(document, introduction=kept)


def _result(step: Step, tokens: int) -> BoxResult:
    """Return the values of a step; that of its box is its result, in a backward pass its gradient.

    A token without a row has None; a value without rows for the decoder's tokens has no rows.
    """
    values = tuple(record.output for record in step.records)
    value = values[-1] if step.place.phase == "forward" else values[0]
    if not value.per_token or value.place.encoder:
        return BoxResult(value, (), values)
    rows = [value.row(t, tokens) if value.has_row(t, tokens) else None for t in range(tokens)]
    return BoxResult(value, tuple(None if row is None or row < 0 else row for row in rows), values)


def _with_questions(document: doc.Document, found: Trace, token: int) -> doc.Document:
    """Insert each question where the text so far does not tell its answer."""
    asked = questions(document, found, token, SEED)
    masks = {step.number for step in steps(found.records) if step.kind is MASK_STEP}
    sections = list(document.sections)
    for i, section in enumerate(sections):
        if section.number is not None and (question := asked.pop(section.number, None)):
            lines = [n for n, each in enumerate(section.blocks, 1) if isinstance(each, doc.Working)]
            # The lines of a mask are those of the tokens that it hides.
            at = 1 if section.number in masks else max(lines, default=1)
            blocks = (*section.blocks[:at], question, *section.blocks[at:])
            sections[i] = replace(section, blocks=blocks)
    return replace(document, sections=tuple(sections))


def page_of(document: doc.Document) -> Page:
    """Return a page of a document that follows no token."""
    traces = [section.trace for section in document.sections if section.trace]
    whole = not any(each.scenario.on_demand for each in traces)
    return Page((), 0, (document,), sources_of([document], whole=whole))


def _without_mask(found: Trace, chosen: Sequence[Step]) -> dict[int, Step]:
    """Return the softmax steps with masked scores, by their numbers."""
    masked = {r.output.place for r in found.records if r.output.role is MASKED}
    return {
        step.number: step
        for step in chosen
        if step.kind is SOFTMAX_STEP and step.place in masked and not found.scenario.on_demand
    }


def _with(
    document: doc.Document, after: dict[int, Step], unmasked: Trace, token: int
) -> doc.Document:
    """Insert, after each softmax step, the softmax without the mask."""
    there = {s.place: s for s in steps(unmasked.records) if s.kind is UNMASKED_STEP}
    sections: list[doc.Section] = []
    for section in document.sections:
        sections.append(section)
        for number in _softmaxes(section, after):
            added = Teacher(unmasked, token).section(there[after[number].place])
            sections.append(replace(added, number=None))
    return replace(document, sections=tuple(sections))


def _places(document: doc.Document, after: dict[int, Step]) -> frozenset[int]:
    """Return the indices at which these sections are inserted."""
    found: list[int] = []
    for i, section in enumerate(document.sections, 1):
        found += (i + len(found) for _ in _softmaxes(section, after))
    return frozenset(found)


def _softmaxes(section: doc.Section, after: dict[int, Step]) -> list[int]:
    return [number for number in section.steps if number in after]


# --- where numbers come from ---------------------------------------------------------------------


def sources_of(
    documents: Sequence[doc.Document],
    *,
    whole: bool,
    drawn: Sequence[Value] = (),
    on_tape: Container[Value] = (),
) -> dict[Value, PageSource]:
    """Return the sources of all numbers shown or `drawn`; with `whole`, of their operands as well.

    Those of numbers `on_tape` are found there. A copy has its original in any case. Equal values of
    two passes share one source.
    """
    met = _Sources(document.sections for document in documents)
    waiting = [number.entry for number in _shown(documents) if number.entry]
    waiting += [Entry(value, at) for value in drawn for at in np.ndindex(value.shape)]
    while waiting:
        entry = waiting.pop()
        follows = whole and entry.value not in on_tape
        if met.add(entry) and (follows or met.is_copy(entry)):
            waiting += met.inputs_of(entry)
    return met.sources


def _shown(documents: Iterable[doc.Document]) -> Iterator[Number]:
    """Yield the numbers of all texts; a matrix that several texts show counts once."""
    matrices = set()
    texts = ((d.introduction, *(section.blocks for section in d.sections)) for d in documents)
    for block in (block for text in texts for blocks in text for block in blocks):
        match block:
            case doc.Matrix(cells=cells):
                corners = found((cells[0][0], cells[-1][-1]), Number)
                key = (*(number.entry for number in corners), block.columns)
                if key not in matrices:
                    matrices.add(key)
                    yield from found(block, Number)
            case doc.Paragraph() | doc.Bars() | doc.Illustration():
                yield from found(block, Number)
            case doc.Working(lines):
                results = (line.chain.sides[-1] for line in lines)
                yield from (result for result in results if isinstance(result, Number))


class _Sources:
    """The sources of the values collected so far."""

    def __init__(self, texts: Iterable[Sequence[doc.Section]]) -> None:
        self.sources: dict[Value, PageSource] = {}
        self.origins: dict[Value, Origins] = {}
        self.alike: dict[str, list[Value]] = {}
        traces = {id(s.trace): s.trace for sections in texts for s in sections if s.trace}
        for each in traces.values():
            origins = Origins(each)
            for record in each.records:
                self.origins.setdefault(record.output, origins)

    def add(self, entry: Entry) -> bool:
        """Add an entry with its line; return whether it is new and belongs to a known pass."""
        origins = self.origins.get(entry.value)
        if origins is None or entry.value.role.words:
            return False
        source = self.source(entry.value, origins)
        if entry.at in source.numbers:
            return False
        source.numbers[entry.at] = origins.number(entry)
        record = origins.producers[entry.value]
        if is_worked(record, entry.at):
            chain = origins.teacher.writer.chain(record, entry.at)
            if chain.relations:
                source.lines[entry.at] = chain
                return True
        # The sum of one number is that number; a copy may have digits of its own.
        for behind in origins.inputs_of(entry):
            source.moved[entry.at] = behind
        return True

    def source(self, value: Value, origins: Origins) -> PageSource:
        """Return the source of a value, shared with an equal value if there is one."""
        if value not in self.sources:
            alike = self.alike.setdefault(value.address, [])
            same = next((other for other in alike if _same(other, value)), None)
            if same is None:
                alike.append(value)
                symbol = origins.teacher.ctx.symbols[value.address]
                labels = tuple(distinct(axis.labels) for axis in value.axes)
                given = isinstance(origins.producers[value].operation, Given | Pinned)
                self.sources[value] = PageSource(symbol, value.address, labels, given)
            else:
                self.sources[value] = self.sources[same]
        return self.sources[value]

    def is_copy(self, entry: Entry) -> bool:
        return entry.at in self.sources[entry.value].moved

    def inputs_of(self, entry: Entry) -> Iterator[Entry]:
        source = self.sources[entry.value]
        if entry.at in source.lines:
            for side in source.lines[entry.at].sides:
                yield from entries_in(side)
        elif entry.at in source.moved:
            yield source.moved[entry.at]


def _same(a: Value, b: Value) -> bool:
    """Return whether two values print the same."""
    return a.form is b.form and a.axes == b.axes and bool(np.array_equal(a.numbers, b.numbers))
