"""A step of a trace → the section that explains it for one token."""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from itertools import takewhile

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import numbered
from tracer.decoder.forward import Trace
from tracer.decoder.inputs import only_hides
from tracer.decoder.operations import Columns, Rows
from tracer.decoder.part import all_norms
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Chain, Expression, Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.detail import Detail
from tracer.lesson.steps.attention import (
    MASK_STEP,
    SCORES_STEP,
    SOFTMAX_STEP,
    WEIGHTED_SUM_STEP,
)
from tracer.lesson.steps.declared import OPERANDS
from tracer.lesson.steps.inputs import FACTOR
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import lesson_parts
from tracer.lesson.texts import sentences
from tracer.lesson.texts.author import Author
from tracer.lesson.texts.given_values import not_computed
from tracer.lesson.texts.main_head import MainHead, main_head
from tracer.lesson.texts.said import new_sentences, wording
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import in_encoder, symbols
from tracer.lesson.working.formula_shapes import described, parameters, sized
from tracer.lesson.working.formulas import formula
from tracer.lesson.working.lines import Writer
from tracer.lesson.working.sums import Terms
from tracer.lesson.working.written import Worked
from tracer.scenario.parts import learned

SHOWN_ALONE = (
    *(roles.TEMPERATURE, roles.DRAW, roles.SCALE, roles.EMBEDDING_SCALE),
    *(role for part in lesson_parts() for role in part.shown_alone),
)
"""Given numbers that stand in no matrix and no formula before a line puts them in."""

ALONE = (op.Given, op.TakeNumber, op.Copy)
"""What records single numbers that are shown in a line of their own."""

GATHERED = (
    op.Select,
    op.Join,
    op.Rows,
    op.BelowZeros,
    op.Keep,
    op.LookUp,
    op.Lower,
    op.Collect,
    op.Append,
    Columns,
)
"""Moves of entries whose results are shown inside a step."""

ROUNDED_AGAIN = " are rounded again, because digits are set for them."

SQUARES = tuple(norm.root_squared for norm in all_norms())
"""Squares whose caption is never left out: x² alone could be the x of a second head."""

FUNCTIONS = (
    *(el.Activate, op.Mean, el.Normalize, op.Rotate, el.Slope, el.RootSlope, el.SquareRoot),
    *(el.AtMost, el.Clamp, el.ScaledSilu, el.MultiplyShifted),
)
"""Operations that say in their own fields what they do to a number, and nothing of its place."""


BETWEEN_TOWERS = (SCORES_STEP, SOFTMAX_STEP, WEIGHTED_SUM_STEP)
"""Steps of a head whose operands belong to both towers in cross-attention."""


class Teacher:
    """Writes the sections of one text about a trace, in the order in which they are read.

    What was said or shown once is referred to.
    """

    def __init__(
        self,
        trace: Trace,
        token: int | None = None,
        encoder_token: int | None = None,
        *,
        refers: bool = False,
        full: bool = True,
        detail: Detail = Detail.FULL,
        terms: Terms | None = None,
    ) -> None:
        """`token` is counted from 0, by default the one to follow; so is that of the encoder.

        With `refers`, each step says from which steps its numbers come; with `full`, why it is
        there and how many parameters it has. Unless the `detail` is full, nothing is explained
        twice.
        """
        self.trace, self.refers, self.full, self.detail = trace, refers, full, detail
        followed = trace.scenario.followed(trace.tokens) if token is None else token
        self.ctx = LessonContext(
            *(trace, followed, symbols(trace.records), encoder_token),
            alone=detail is Detail.SHORT,
        )
        self.steps = steps(trace.records)
        self.author = Author(trace, self.steps)
        self.writer = Writer(self.ctx, terms)
        self.goals: dict[Hashable, Step] = {}
        self.repeated: dict[Step, Step] = {}
        """The first step of the same goal, of each step that repeats one."""
        self.with_lines: set[Step] = set()
        """The first step of each goal for which worked lines are shown, in it or in a later one."""
        self.worked_out: dict[Step, set[Hashable]] = {}
        """The operations of each step that shows worked lines."""
        self.reasons: set[doc.Sentence] = set()
        """In their words alone: the numbers and symbols of another place make it no other."""
        self.masks: set[Hashable] = set()
        """What was said of the tokens that each mask hides."""
        self.answered: set[int] = set()
        """The numbers of the steps whose claims the answer has made; a shorter text has no more."""
        self.said: set[Hashable] = set()
        """The sentences of goals."""
        self.captions: set[str] = set()
        self.counted_shapes: set[tuple[int, ...]] = set()
        self.has_explained_rows = self.ctx.alone
        self.tables: set[Value] = set()

    @cached_property
    def step_of(self) -> dict[str, Step]:
        """The step in which each address is told."""
        return {record.output.address: step for step in self.steps for record in step.records}

    @cached_property
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the decoder's parameters; a tied W_U is counted as the embeddings."""
        return learned(self.trace.scenario)

    @cached_property
    def main_head(self) -> MainHead | None:
        """The head that matters most to what comes out for the followed token."""
        return main_head(self.steps, self.ctx)

    def of_another_pass(self, trace: Trace, token: int | None = None) -> Teacher:
        """Return a teacher of another pass in the same text, who repeats no caption or count."""
        other = Teacher(trace, token, full=self.full, detail=self.detail)
        other.captions, other.has_explained_rows = self.captions, self.has_explained_rows
        other.counted_shapes = self.counted_shapes
        return other

    def introduction(self) -> tuple[doc.Block, ...]:
        """What is worked out, and what is shown of it."""
        return tuple(map(doc.Paragraph, sentences.introduction(self.ctx, self.writer.terms)))

    def with_signs(self, sections: Sequence[doc.Section]) -> tuple[doc.Section, ...]:
        """Return the sections, with what = and ≈ mean after the first worked lines."""
        found = list(sections)
        for i, section in enumerate(found):
            for j, block in enumerate(section.blocks, 1):
                if isinstance(block, doc.Working):
                    signs = doc.Paragraph(sentences.signs(self.trace.pencil))
                    blocks = (*section.blocks[:j], signs, *section.blocks[j:])
                    return (*found[:i], replace(section, blocks=blocks), *found[i + 1 :])
        return tuple(found)

    def section(self, step: Step) -> doc.Section:
        """A step with its title."""
        ctx, place = self.ctx.at(step.place), step.place
        title, part = sentences.title(step, ctx), sentences.part(step, ctx)
        within, blocks = sentences.within(step, ctx), tuple(self.blocks(step))
        notes = tuple(self.author.notes(step))
        own = (step.number, title, blocks + notes, part, within, place.layer, place.head)
        first = self.repeated.get(step, step)
        is_new = False
        if any(isinstance(block, doc.Working) for block in blocks):
            # As in the first expert that the followed token goes to, or in cross-attention.
            is_new = first not in self.with_lines or self.detail is not Detail.FULL
            self.with_lines.add(first)
            self.worked_out[step] = operations_of(step)
        folded = self.refers and step in self.repeated and not notes and not is_new
        return doc.Section(*own, trace=self.trace, folded=folded)

    def blocks(self, step: Step) -> list[doc.Block]:
        """Goal and reason, and the work."""
        network, chooses = step.place.network, isinstance(step.last.operation, Rows)
        if network and not chooses and all(0 in r.output.shape for r in step.records):
            why = f"No token goes to this {network.noun}, so there is nothing to compute."
            return [doc.Paragraph((why,))]
        before = self.first_like(step)
        again = before.number != step.number
        if again:
            self.repeated[step] = before
        worked = self.worked_before(step)
        symbol = self.ctx.symbols[step.last.output.address]
        sources = self.sources(step) if self.refers else []
        if [source for source, _ in sources] == [symbol]:  # O is no more than O
            sources = []
        if self.detail is not Detail.FULL and all(n >= step.number - 2 for _, n in sources):
            sources = []  # a reader has just seen them
        what: list[doc.Sentence] = []
        if not again:
            what = [self.goal(step), *self.why(step)]
        elif not sources:
            what = [sentences.same_as_in(before)]
        if step.place.encoder:
            what = [*map(in_encoder, what)]
        lacks = parameters_less(step, worked) if worked else ""
        if lacks:  # the step before has said what such a norm does, and why
            what = []
        if sources or worked:
            as_in = worked or (before if again else None)
            what.append(sentences.references(symbol, sources, as_in, lacks))
        if worked:
            return [*doc.paragraphs(*what), *self.outcome(step, self.read_by_others([step]))]
        return [*doc.paragraphs(*what), *self.work(step, again)]

    def goal(self, step: Step) -> doc.Sentence:
        """What a step is for; unless the text shows every step, what was not said of another."""
        goal = step.kind.goal_of(step, self.ctx.at(step.place))
        return goal if self.detail is Detail.FULL else new_sentences(goal, self.said)

    def worked_before(self, step: Step) -> Step | None:
        """The first step that worked out all operations of this one, if the text shows them once.

        The steps of a short text have no numbers, so that none can refer to another.
        """
        if self.detail is not Detail.NORMAL or step.kind.outcome or step.is_partly_given:
            return None
        own = operations_of(step)
        found = (before for before, worked in self.worked_out.items() if own <= worked)
        return next(found, None) if own else None

    def read_by_others(self, run: Sequence[Step]) -> set[Value]:
        """The values that steps outside of a run read; not a sum that is only normalized again."""
        inside = {step.number for step in run}
        return {
            value
            for step in self.steps
            if step.number not in inside
            for record in step.records
            for value in record.inputs
            if not (
                value.role is roles.RESIDUAL
                and value.place == step.place
                and self.worked_before(step)
            )
        }

    def outcome(self, step: Step, needed: Container[Value]) -> list[doc.Block]:
        """The result of a step without its working, and what else of it is `needed`."""
        others = (record.output for record in step.records if record.output in needed)
        shown: list[doc.Block] = [
            self.matrix(v) for v in others if v.axes and v != step.last.output
        ]
        shown += self.result(step.last.output, step)
        if step.kind.picture is None:  # other claims are about numbers in its lines
            return shown
        drawn = step.kind.illustrations_of(step, self.ctx.at(step.place))
        return [*shown, *drawn, *doc.paragraphs(self.claim(step))]

    def first_like(self, step: Step) -> Step:
        """The first step with the same goal and the same explanation; perhaps this one."""
        goal = step.kind.goal_of(step, self.ctx.at(step.place))
        return self.goals.setdefault((wording(goal), self.like(step)), step)

    def like(self, step: Step) -> Hashable:
        """What two steps with the same goal have alike, if the second is told as the first.

        The reasons, the operations with their settings and the parameters that these use.
        """
        reasons = step.kind.reasons_of(step, self.ctx.at(step.place)) if self.full else ()
        records = (
            (
                *(record.output.role, type(record.operation), len(record.inputs)),
                record.operation if isinstance(record.operation, FUNCTIONS) else None,
                tuple(value.role for value in record.inputs if value.role.parameter),
            )
            for record in step.records
        )
        return _words(reasons), tuple(records)

    def work(self, step: Step, again: bool) -> list[doc.Block]:
        """Formula, parameters and worked lines of each record; what it gives; what that says.

        Where it is told `again`, its parameters were counted before.
        """
        ctx = self.ctx.at(step.place)
        written = [block for r in step.records for block in self.record(r, step, again)]
        if step.kind.outcome:
            outcome = step.kind.outcome(step, ctx)
            if step.number in self.answered:
                outcome = [block for block in outcome if not isinstance(block, doc.Paragraph)]
            return [*written, *outcome, *step.kind.illustrations_of(step, ctx)]
        value = step.last.output
        written += self.result(value, step)
        if value.role is not self.step_of[value.address].last.output.role:
            return written  # only a part of the step is shown
        drawn = step.kind.illustrations_of(step, ctx)
        return [*written, *drawn, *doc.paragraphs(self.claim(step))]

    def claim(self, step: Step) -> doc.Sentence | None:
        """The claim about a step's result; what a mask hides once, since heads share it."""
        ctx = self.ctx.at(step.place)
        if step.number in self.answered:
            return None
        claim = step.kind.claim_of(step, ctx)
        if step.kind is not MASK_STEP:
            return claim
        said = (step.place.encoder, step.kind.goal_of(step, ctx), claim)
        is_new = said not in self.masks
        self.masks.add(said)
        return claim if is_new else None

    def why(self, step: Step) -> list[doc.Sentence]:
        """Why a step is done, as far as that was not said before."""
        reasons = step.kind.reasons_of(step, self.ctx.at(step.place)) if self.full else ()
        words = _words(reasons)
        new = [r for r, of in zip(reasons, words, strict=True) if of not in self.reasons]
        self.reasons.update(words)
        return new

    def sources(self, step: Step) -> list[tuple[Expression, int]]:
        """What a step takes from others, with their numbers."""
        computed = [
            record for record in step.records if not isinstance(record.operation, op.Pinned)
        ]
        taken = {self.shown_as(value).address: None for r in computed for value in r.inputs}
        return [
            (self.ctx.symbols[address], self.step_of[address].number)
            for address in taken
            if address in self.step_of and self.step_of[address].number != step.number
        ]

    def shown_as(self, value: Value) -> Value:
        """What a reader looks up: the output of the only head stands where the head gave it."""
        record = self.trace.producers.get(value)
        alone = record and isinstance(record.operation, op.Concat) and len(record.inputs) == 1
        return record.inputs[0] if record and alone and self.ctx.keeps_digits(record) else value

    def record(self, record: Record, step: Step, again: bool) -> list[doc.Block]:
        """Parameters, caption, formula, worked lines; less, where the like was told before."""
        operation, value = record.operation, record.output
        if isinstance(operation, op.Pinned):
            line = [self.alone(value)] if value.role in SHOWN_ALONE else []
            return [self.pinned(value), *line, *self.computed(record, step)]
        if value.role is roles.DOT and len(step.records) > 1:
            return []  # written out in the lines of the scores
        alone = isinstance(operation, ALONE) and value.role in SHOWN_ALONE and not value.axes
        if isinstance(operation, op.Chosen | op.Given) and not alone:
            return []
        written = self.counted(record, again)
        in_symbols = formula(record, self.ctx.symbols)
        lines = self.lines(record)
        copied = isinstance(operation, op.Copy) and value.role in SHOWN_ALONE
        gathered = isinstance(operation, GATHERED) or copied
        gathered = (gathered and record is not step.last) or isinstance(operation, op.PlaceColumns)
        told_of = len(step.records) > 1 and (lines or alone or in_symbols or gathered)
        caption = step.kind.caption_of(step, record, self.ctx.at(step.place)) if told_of else None
        if caption and (caption not in self.captions or value.role in SQUARES):
            self.captions.add(caption)
            written.append(doc.Paragraph((caption,)))
        elif caption and not in_symbols and value.axes and not gathered:
            # A formula says enough the second time; a matrix has its symbol.
            written.append(doc.Formula(Chain((self.ctx.symbols[value.address],), ())))
        if alone:
            return [*written, self.alone(value)]
        if in_symbols:
            written.append(self.formula(in_symbols, record))
        written += self.operands(record, step)
        if lines:
            written.append(doc.Working(lines))
        return [*written, *self.rounded_again(record), self.matrix(value)] if gathered else written

    def lines(self, record: Record) -> tuple[doc.Line, ...]:
        """The worked lines of a record for the followed token."""
        return self.writer.lines(record, self.ctx.at(record.output.place).token)

    def alone(self, value: Value) -> doc.Working:
        """`c = 0.5`."""
        return doc.Working((doc.Line(None, self.writer.is_given(value)),))

    def matrix(self, value: Value, figure: doc.Figure | None = None) -> doc.Matrix:
        """A value as it is shown."""
        return self.ctx.at(value.place).matrix(value, figure)

    def followed_row(self, value: Value) -> doc.Matrix:
        """The row of a value that belongs to the token that its tower follows."""
        return replace(self.ctx.at(value.place), alone=True).matrix(value)

    def counted(self, record: Record, again: bool) -> list[doc.Block]:
        """How many parameters an operation has, the first time that it has parameters like them."""
        own = [value for value in record.inputs if value.address in self.parameter_shapes]
        shapes = {value.shape for value in own}
        if (
            again
            or not self.full
            or self.detail is not Detail.FULL
            or shapes <= self.counted_shapes
        ):
            return []  # the table of all parameters counts them, too
        self.counted_shapes |= shapes
        return [*doc.paragraphs(parameters(own, self.ctx.symbols))]

    def operands(self, record: Record, step: Step) -> list[doc.Block]:
        """The parameters of an operation, behind its formula, once in a step; the mask, once."""
        shown: list[doc.Block] = []
        if isinstance(record.operation, op.DivTerm) and record.operation.factors:
            shown.append(self.factors(record.output, record.operation.factors))
        before = {v for r in takewhile(lambda r: r is not record, step.records) for v in r.inputs}
        for value in record.inputs:
            if value.role.parameter and value in before:
                continue
            if value.role.parameter:
                shown += [self.matrix(value)] if self.ctx.is_shown(value) else []
            elif value.role in OPERANDS and value not in self.tables:
                if (
                    self.detail is not Detail.FULL
                    and value.role is roles.MASK
                    and only_hides(value)
                ):
                    continue  # the masked scores show what is hidden
                self.tables.add(value)
                shown += [*self.described(value), self.matrix(value)]
        return shown

    def factors(self, frequencies: Value, factors: Sequence[Decimal]) -> doc.Matrix:
        """What the frequencies are divided by."""
        shown, labels = self.ctx.columns(frequencies), numbered("f", 0, len(factors))
        row = tuple(Number(factors[i]) for i in shown)
        return doc.Matrix(FACTOR, ("",), tuple(labels[i] for i in shown), (row,))

    def pinned(self, value: Value) -> doc.Paragraph:
        """That a value, or some of its rows, are not computed."""
        operation = self.trace.producers[value].operation
        assert isinstance(operation, op.Pinned)
        return doc.Paragraph(not_computed(value, operation, self.ctx.symbols[value.address]))

    def computed(self, record: Record, step: Step) -> list[doc.Block]:
        """The working of the followed token's row, if only other rows are given."""
        value = record.output
        if not value.per_token or not self.ctx.at(value.place).follows(value):
            return []
        own = record.of_row(self.ctx.at(value.place).row(value))
        return self.record(own, step, again=True) if own is not record else []

    def shown(self, value: Value) -> list[doc.Block]:
        """A value without its working, and that it is given, if it is."""
        is_pinned = isinstance(self.trace.producers[value].operation, op.Pinned)
        return [*([self.pinned(value)] if is_pinned else []), self.matrix(value)]

    def result(self, value: Value, step: Step) -> list[doc.Block]:
        """The rows of all tokens; of what is only passed on, where they stand already."""
        if not value.axes or 0 in value.shape:
            return []
        written: list[doc.Block] = []
        if isinstance(step.last.operation, Worked):
            written += self.other_rows(value)
        if self.shown_as(value) in self.tables:
            return written
        record = self.trace.producers[value]
        if self.is_only_passed_on(record):
            self.tables.add(value)
            written += self.equal(record)
            if value.role is not roles.OUTPUT:
                return written
            if self.detail is not Detail.FULL:  # what everything leads to, for the followed token
                return [*written, self.followed_row(value)]
        shows_heads = isinstance(record.operation, op.Concat) and self.tables.issuperset(
            record.inputs
        )
        if shows_heads and self.detail is not Detail.FULL:  # which have the other tokens' numbers
            return [*written, self.followed_row(value)]
        if isinstance(record.operation, op.Given | op.Interleave | op.Keep):
            written += self.described(value)
        self.tables.add(value)
        matrix = self.matrix(value, self.figure(value, step))
        return [*written, *self.rounded_again(record), matrix]

    def described(self, value: Value) -> list[doc.Block]:
        """What the rows and columns of a value are; the labels of most show it without words."""
        if self.detail is not Detail.FULL and value.role in (roles.MASK, roles.POSITION):
            return []
        if len(value.axes) == 1:
            return []
        return [doc.Paragraph(described(value, self.ctx.symbols[value.address]))]

    def other_rows(self, value: Value) -> list[doc.Block]:
        """That the rows of the other tokens are computed in the same way, once."""
        alone = (
            not value.per_token
            or value.shape[0] == 1
            or not self.ctx.at(value.place).follows(value)
        )
        if self.has_explained_rows or alone:
            return []
        self.has_explained_rows = True
        return [doc.Paragraph(sentences.other_rows(value.shape[0] - 1))]

    def is_only_passed_on(self, record: Record) -> bool:
        """Whether a value is another one, which stands above; all columns are all of it."""
        before = record.inputs[0] if isinstance(record.operation, op.Copy | Columns) else None
        if before is None or before.shape != record.output.shape:
            return False
        return self.shown_as(before) in self.tables and self.ctx.keeps_digits(record)

    def rounded_again(self, record: Record) -> list[doc.Block]:
        """That moved numbers have digits of their own, if the author has set some."""
        if self.ctx.keeps_digits(record):
            return []
        symbol = self.ctx.symbols[record.output.address]
        return [doc.Paragraph(("The numbers of ", symbol, ROUNDED_AGAIN))]

    def equal(self, record: Record) -> list[doc.Block]:
        """That a value is another one, which stands above; nothing where both have one symbol."""
        values = (record.output, record.inputs[0])
        own, other = (self.ctx.symbols[value.address] for value in values)
        return [self.formula(Chain((own, other), ("=",)), record)] if own != other else []

    def formula(self, chain: Chain, record: Record) -> doc.Formula:
        """A chain in symbols, with shapes."""
        return doc.Formula(sized(chain, record, self.ctx.symbols, self.trace.producers))

    def figure(self, value: Value, step: Step) -> doc.Figure | None:
        """The picture of a step's result, where it is worth one."""
        whole = self.step_of[value.address]
        if step.kind.picture is None or value.role is not whole.last.output.role:
            return None
        title = sentences.picture(step, self.ctx.at(step.place))
        return doc.Figure(f"{self.trace.name}.{value.address}", title)


def operations_of(step: Step) -> set[Hashable]:
    """The operations that a step works out, each as one of its kind of step.

    A norm without γ and β does nothing that one with them does not; the text then says what it
    lacks (`parameters_less`). Scores, weights and sums between decoder and encoder are worked even
    if those between the decoder's tokens are.
    """
    crosses = step.place.sub_layer == "cross_attention" and step.kind in BETWEEN_TOWERS
    found = set[Hashable]()
    for operation in (record.operation for record in step.records):
        settings: list[Hashable] = [operation if isinstance(operation, FUNCTIONS) else None]
        if isinstance(operation, el.Normalize):
            gain = [replace(operation, shift=False)] * operation.gain
            settings = [*gain, *["shift"] * operation.shift]
        if not isinstance(operation, op.Given | op.Pinned | op.Chosen):
            own = (step.kind, crosses, type(operation))
            found |= {(*own, each) for each in (None, *settings)}
    return found


def parameters_less(step: Step, before: Step) -> str:
    """Name what a norm does not apply, of γ and β that the norm in a step `before` applies."""
    own, other = (_parameters_of_norm(each) for each in (step, before))
    return " and ".join(letter for letter in other if letter not in own)


def _parameters_of_norm(step: Step) -> list[str]:
    norms = [r.operation for r in step.records if isinstance(r.operation, el.Normalize)]
    return [letter for norm in norms for letter in ["γ"] * norm.gain + ["β"] * norm.shift]


def _words(sentences: Sequence[doc.Sentence]) -> tuple[tuple[str, ...], ...]:
    """The words of each sentence, without its numbers and symbols."""
    return tuple(tuple(p for p in parts if isinstance(p, str)) for parts in sentences)
