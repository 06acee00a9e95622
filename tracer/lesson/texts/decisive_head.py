"""The head that adds most to a logit, worked: query, key, scores, softmax, weighted sum, part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tracer.decoder import roles
from tracer.decoder.comparison import Floats
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Rotate
from tracer.decoder.value import Value
from tracer.formula.expression import Expression, Symbol
from tracer.lesson import document as doc
from tracer.lesson.context import MOST_COLUMNS
from tracer.lesson.steps.attention import MASK_STEP
from tracer.lesson.steps.inputs import at_position
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.attribution import AttributionTeacher
from tracer.lesson.texts.model_story import DecisiveHead, Story
from tracer.lesson.texts.short import READS
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.lines import Writer
from tracer.names import count

ONE_DIRECTION = (
    "The direction has a number for each column of the head's output: how much the {} rises per "
    "unit of the column, with everything later held fixed."
)


QUERIES, KEYS, VALUES, SCORES, OUTPUT = range(5)
"""The order in which a reader needs what a head computes."""


def sections(story: Story) -> Iterator[doc.Section]:
    """The query, keys and values of the head; what it computes of them; what it adds."""
    head = story.head
    if head is None or story.parts is None:
        return
    worked = HeadTeacher(story, head)
    first, *others = map(worked.section, worked.in_order)
    yield replace(first, blocks=(*doc.paragraphs(*_opening(worked)), *first.blocks))
    yield from others
    yield _what_it_adds(story, worked)


def from_the_scores(story: Story) -> Iterator[doc.Section]:
    """What the head reads, and its steps from the scores on."""
    head = story.head
    if head is None or story.parts is None:
        return
    worked = HeadTeacher(story, head)
    read = map(worked.matrix, (worked.queries, worked.keys, worked.values))
    yield doc.Section(None, worked.part, (doc.Paragraph(READS), *read), trace=story.trace)
    for step in worked.in_order:
        if worked.side(step.last.output) >= SCORES and step.kind is not MASK_STEP:
            yield replace(worked.section(step), part=None)


def _opening(worked: HeadTeacher) -> Iterator[doc.Sentence]:
    """Name the vectors that the head reads, and say what is shown of long rows and sums."""
    read, layer, terms = worked.read, worked.head.place.layer, worked.writer.terms
    norm = ", after its norm" * (read.role in (roles.NORM, roles.RMS_NORM))
    symbol = worked.ctx.symbols[read.address]
    yield (symbol, f" is what attention in layer {layer} reads: a vector for each token{norm}.")
    if angles := angles_of(worked):
        yield ("For the rotation,", *at_position(angles, worked.ctx))
    if worked.ctx.chosen_columns:
        columns, which = count(terms.shown, "column"), "largest" if terms.largest else "first"
        yield (
            f"The tables show the {columns} of queries and keys with the largest products of ",
            *(worked.ctx.name, " and ", worked.head.reads, ", and the columns of values that add "),
            f"most to the logit. Long sums show their {which} {count(terms.shown, 'term')}; the "
            "bracket gives the number and the sum of the others.",
        )


def angles_of(worked: HeadTeacher) -> Step | None:
    """The step that computes the angles by which the queries are rotated, if they are."""
    record = worked.trace.producers[worked.queries]
    if not isinstance(record.operation, Rotate):
        return None
    step = worked.step_of[record.inputs[1].address]
    counts = step.records[0].output  # the positions, unless they are given
    return step if counts.per_token and len(counts.axes) == 1 else None


class HeadTeacher(Teacher):
    """Writes the steps of one head in the order in which a reader needs them.

    Its tables show the columns that matter most: of queries and keys those with the largest
    products, of values those that add most to the logit.
    """

    def __init__(self, story: Story, head: DecisiveHead) -> None:
        super().__init__(
            story.trace, story.ctx.token, full=story.teacher.full, terms=story.teacher.writer.terms
        )
        self.head = head
        name = f"{head.name[0].upper()}{head.name[1:]}"
        self.inputs, self.part = f"{name}: query, keys and values", f"{name}, step by step"
        output, producers = head.part.of, story.trace.producers
        _, self.values = producers[output].inputs
        dot, query = (self.ctx.value(head.place, role) for role in (roles.DOT, roles.QUERY))
        assert dot and query
        self.queries, self.keys = producers[dot].inputs
        self.read = producers[query].inputs[0]
        self.ctx = replace(
            self.ctx,
            symbols=numberless(self.ctx.symbols, [self.read]),
            chosen_columns=self.columns(story),
            chosen_rows=dict(self.rows()),
        )
        self.writer = Writer(self.ctx, self.writer.terms)

    @cached_property
    def sides(self) -> tuple[set[Value], ...]:
        """What queries, keys and values are computed from."""
        return tuple(_of_head(self.trace, v) for v in (self.queries, self.keys, self.values))

    def side(self, value: Value) -> int:
        """Where a value stands in the order: query, key, value, scores and softmax, output."""
        if value is self.head.part.of:
            return OUTPUT
        sides = zip((QUERIES, KEYS, VALUES), self.sides, strict=True)
        return next((order for order, side in sides if value in side), SCORES)

    @property
    def in_order(self) -> list[Step]:
        """Query, key, value, scores, softmax, weighted sum."""
        of_head = _of_head(self.trace, self.head.part.of)
        own = (step for step in self.steps if step.last.output in of_head)
        return sorted(own, key=lambda step: self.side(step.last.output))

    def section(self, step: Step) -> doc.Section:
        """A step of the head, which needs no number and no head in its title.

        Of keys and values, those of the token that the followed one reads most are worked. A mask
        that hides nothing from the followed token is not shown.
        """
        title, ctx, source = sentences.named(step), self.ctx, self.head.source
        of_source = step.last.output.per_token and self.side(step.last.output) in (KEYS, VALUES)
        if of_source and self.head.place.sub_layer == "attention":
            self.ctx = replace(ctx, token=source)
        found, self.ctx = super().section(step), ctx
        blocks = found.blocks
        if of_source and source != ctx.token:
            followed: doc.Sentence = (
                *("This section follows ", self.head.reads, ", which ", ctx.name),
                " attends to most.",
            )
            blocks = (*blocks[:1], doc.Paragraph(followed), *blocks[1:])
        if (
            step.kind is MASK_STEP
            and not step.last.inputs[1].array[ctx.row(step.last.output)].any()
        ):
            blocks = tuple(block for block in blocks if not isinstance(block, doc.Matrix))
        part = self.part if self.side(step.last.output) in (SCORES, OUTPUT) else self.inputs
        whole = replace(found, blocks=blocks, part=part)
        return replace(whole, number=None, title=title, within=(title,))

    def rows(self) -> Iterator[tuple[Value, Sequence[int]]]:
        """Only the followed token's rows of what is not read of other tokens."""
        for value in (*_of_head(self.trace, self.head.part.of), self.ctx.mask_at(self.head.place)):
            is_read = value and self.side(value) in (KEYS, VALUES)
            is_pattern = self.full and value and value.role is roles.WEIGHTS
            if value and value.per_token and not is_read and not is_pattern:
                yield value, [self.ctx.row(value)]

    def other_rows(self, value: Value) -> list[doc.Block]:
        """That other rows are computed in the same way, if they are shown."""
        return [] if value in self.ctx.chosen_rows else super().other_rows(value)

    def columns(self, story: Story) -> dict[Value, Sequence[int]]:
        """The columns of queries, keys and values that are shown, where there are many."""
        direction = direction_of(story)
        query, key = self.queries.array[self.ctx.row(self.queries)], self.keys.array
        shown, source = self.writer.terms.shown, self.head.source
        of_keys = _largest(query * key[source], shown)
        of_values = _largest(direction.array[0] * self.values.array[source], shown)
        chosen: dict[Value, Sequence[int]] = {}
        for end, columns in (
            *((self.queries, of_keys), (self.keys, of_keys)),
            *((self.values, of_values), (self.head.part.of, of_values), (direction, of_values)),
        ):
            if end.shape[-1] > MOST_COLUMNS:
                alike = (end, *(_of_head(self.trace, end) if end is not direction else ()))
                chosen |= {v: columns for v in alike if v not in chosen and v.shape == end.shape}
        return chosen


def _largest(products: Floats, shown: int) -> list[int]:
    """The columns with the largest products, from left to right."""
    order = np.argsort(-abs(products), kind="stable")[:shown]
    return sorted(map(int, order))


def direction_of(story: Story) -> Value:
    """The direction of the logit at the head's output: (1, d_v)."""
    assert story.parts and story.head and story.head.part.terms
    _, projected = story.parts.trace.producers[story.head.part.terms].inputs
    return story.parts.trace.producers[projected].inputs[0]


def numberless(
    symbols: Mapping[str, Expression], values: Iterable[Value]
) -> Mapping[str, Expression]:
    """Return the symbols, those of some values without the number that counts them."""
    own = {value.address: symbols[value.address] for value in values}
    plain = {a: replace(x, below="") for a, x in own.items() if isinstance(x, Symbol)}
    return {**symbols, **plain}


def _of_head(found: Trace, output: Value) -> set[Value]:
    """What a head computes, and the keys and values of another head that it shares."""
    of_head, waiting = set[Value](), [output]
    while waiting:
        value = waiting.pop()
        is_of_a_head = replace(value.place, head=None) == replace(output.place, head=None)
        if is_of_a_head and value.place.head and value not in of_head:
            of_head.add(value)
            waiting += found.producers[value].inputs
    return of_head


def _what_it_adds(story: Story, worked: HeadTeacher) -> doc.Section:
    """What the head takes from each token, as terms of its part of the logit."""
    assert story.parts
    split, part = story.parts, worked.head.part
    teacher = AttributionTeacher(split, full=story.teacher.full, terms=worked.writer.terms)
    place = replace(part.of.place, phase="attribution")
    own = [r.output for r in split.trace.by_place[place]]
    weights = story.ctx.value(worked.head.place, roles.WEIGHTS)
    names = {**teacher.ctx.symbols, **worked.ctx.symbols}
    teacher.ctx = replace(
        teacher.ctx,
        symbols=numberless(names, [v for v in own if v.address in names]),
        chosen_columns=worked.ctx.chosen_columns,
        chosen_rows=worked.ctx.chosen_rows,
    )
    teacher.writer = Writer(teacher.ctx, worked.writer.terms)
    teacher.tables |= {worked.values, *([weights] if weights else [])}
    goal, *blocks = teacher.section(teacher.step_of[part.total.address]).blocks
    title = f"What {worked.head.name} adds to the {story.logit_is}"
    direction = doc.Paragraph((ONE_DIRECTION.format(story.logit_is),))
    return doc.Section(
        *(None, title, (goal, direction, *blocks)),
        layer=worked.head.place.layer,
        head=worked.head.place.head,
        trace=split.trace,
    )
