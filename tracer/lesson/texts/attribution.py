"""The text of an attribution: a logit as a worked sum of what each component adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.attribution import AttributedPart, Attribution
from tracer.decoder.elementwise import Normalize
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Given, Pinned, TakeEntry
from tracer.decoder.part import all_norms, ffn_outputs, parts
from tracer.decoder.roles import Role, SubLayer
from tracer.decoder.tape import Record
from tracer.decoder.token_rows import HEAD_OUTPUTS, label
from tracer.decoder.value import Value
from tracer.formula.expression import Expression, Number, Symbol
from tracer.lesson import document as doc
from tracer.lesson.context import MOST_COLUMNS, LessonContext, joined
from tracer.lesson.steps.attribution import SUM_STEP, largest_part
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.steps.declared import kind_of
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.attribution_pictures import bars, maps, title
from tracer.lesson.texts.training_teacher import FROM_THE_PASS, TrainingTeacher
from tracer.lesson.working.lines import Writer
from tracer.lesson.working.sums import Terms
from tracer.names import distinct

LARGEST = Terms(shown=10, most=10)
"""The parts of a trained model that are listed if nothing else is requested."""

OF_SOURCES: dict[SubLayer, str] = {
    "attention": "What each head takes from each token, the largest head first:",
    "cross_attention": "What each head of cross-attention takes from each token of the encoder:",
}

SPLIT_SHOWN = 3
"""The parts of a trained model whose terms are shown."""

HELD: doc.Sentence = (
    "A norm divides by a number that depends on the whole vector. Here this number keeps its value "
    "from the pass. A part therefore says what a component adds to the sum, not how much it would "
    "change without the component.",
)


class AttributionTeacher(TrainingTeacher):
    """Writes the sections of an attribution, all of whose values are worked."""

    def __init__(self, found: Attribution, *, full: bool, terms: Terms | None) -> None:
        last = len(found.trace.tokens) - 1  # a score may be that of a longer text of the encoder
        super().__init__(found.trace, min(found.entry.at[0], last), "", full=full)
        self.found = found
        self.asked = terms
        self.printed: dict[Expression, Value] = {}
        """The value that was printed last under each symbol."""
        self.writer = Writer(self.ctx, terms)

    def is_worked(self, value: Value) -> bool:
        """Return True: nothing is recorded that the text does not need."""
        return True

    def document(self, introduction: doc.Sentence, largest: Sequence[Value]) -> doc.Document:
        """The sum, then all steps of the attribution; of a trained model the `largest` parts."""
        steps = [step for step in self.steps if step.place.phase == "attribution"]
        steps = [step for step in steps if not all(is_row(r.output) for r in step.records)]
        total = next(step for step in steps if step.kind is SUM_STEP)
        worked = [step for step in steps if step is not total]
        usual = self.writer
        if self.trace.scenario.on_demand:
            self.writer = Writer(self.ctx, self.asked or LARGEST)
            worked = [self.step_of[each.address] for each in largest]
        the_sum = self.section(total)
        pictures = (
            *maps(self.found, self.writer),
            *self.heads("attention"),
            *self.heads("cross_attention"),
        )
        self.writer = usual
        answer, *sections = self.with_signs([the_sum, *map(self.section, worked)])
        begins = (
            *doc.paragraphs(introduction, *largest_parts(self.ctx, self.found)),
            *answer.blocks,
            *doc.paragraphs(HELD if self.full and holds_divisors(self.trace) else None),
            *pictures,
        )
        return doc.Document(self.trace.name, title(self.found), begins, tuple(sections))

    def learned(self, record: Record, step: Step) -> list[doc.Block]:
        """Return the section of one value; a row of the forward pass is shown with its matrix."""
        value = record.output
        if value.role is roles.PARTS:
            return self.parts(value)
        if isinstance(record.operation, TakeEntry):
            return self.logits(value)
        if is_row(value):
            return []
        if len(value.axes) < 2 and self.is_worked(value) and self.lines(record):
            self.tables.add(value)  # its line says it
        blocks = super().learned(record, step)
        return blocks

    def inputs(self, record: Record) -> list[doc.Block]:
        """Return the operands that are not printed above: of a row, its matrix."""
        operands = list(map(self.whole, record.inputs))
        shown = tuple(x for x in operands if not x.role.parameter or self.ctx.is_shown(x))
        for x in shown:
            symbol = self.ctx.symbols.get(x.address)
            if symbol and self.printed.setdefault(symbol, x) is not x:
                self.tables.discard(x)  # its symbol now means another value, such as another σ
                self.printed[symbol] = x
        return super().inputs(Record(record.operation, shown, record.output))

    def whole(self, value: Value) -> Value:
        """The matrix that a row is taken from, or the value itself."""
        return self.trace.producers[value].inputs[0] if is_row(value) else value

    def indices(self, value: Value) -> range:
        """The indices of the parts to show; of a trained model, of those that are written out."""
        every = range(value.shape[0])
        if not self.trace.scenario.on_demand:
            return every
        return every[: len(self.writer.terms.of(value.numbers))]

    def parts(self, value: Value) -> list[doc.Block]:
        """The parts as bars, the numbers of the worked sum."""
        return [bars(self.found, self.writer)]

    def heads(self, sub_layer: SubLayer) -> list[doc.Block]:
        """What the heads take from each source token, the largest head first, if they are split."""
        heads = [
            (label(part.of), part.terms)
            for part in self.found.parts
            if part.terms and part.of.place.sub_layer == sub_layer and part.of.place.head
        ]
        if self.trace.scenario.on_demand:
            heads = heads[: self.writer.terms.shown]
        if not heads or heads[0][1].shape[1] > MOST_COLUMNS:
            return []
        rows = tuple(
            tuple(self.ctx.number(terms, 0, j) for j in range(terms.shape[1])) for _, terms in heads
        )
        names = distinct(heads[0][1].axes[1].labels)
        matrix = doc.Matrix(Symbol("t"), tuple(name for name, _ in heads), names, rows)
        return [doc.Paragraph((OF_SOURCES[sub_layer],)), matrix]

    def logits(self, value: Value) -> list[doc.Block]:
        """The entries of the forward pass that are subtracted from each other or from the sum."""
        found, of = self.found, self.found.entry.value
        if value.role.derivation == "other_word" or (found.other is None and not found.rounding):
            return []
        row, column = found.entry.at
        columns = [column] if found.other is None else [column, found.other]
        names = distinct(of.axes[1].labels)
        matrix = doc.Matrix(
            self.ctx.symbols[of.address],
            (distinct(of.axes[0].labels)[row],),
            tuple(names[j] for j in columns),
            (tuple(self.ctx.number(of, row, j) for j in columns),),
            0,
        )
        return [doc.Paragraph((FROM_THE_PASS,)), matrix]


def attribution_text(
    found: Attribution, *, full: bool = True, terms: Terms | None = None
) -> doc.Document:
    """The worked calculation of all parts and their sum; of a trained model, of the largest."""
    teacher = AttributionTeacher(found, full=full, terms=terms)
    split = [part for part in found.parts if part.terms is not None]
    largest = split[:SPLIT_SHOWN] or found.parts[:1]
    return teacher.document(introduction(teacher.ctx, found), [part.total for part in largest])


def holds_divisors(found: Trace) -> bool:
    """Return whether the attribution goes through a norm, whose divisor is held."""
    return any(
        record.output.place.phase == "attribution" and isinstance(record.operation, Normalize)
        for record in found.records
    )


def is_row(value: Value) -> bool:
    """Return whether a value is only a row, or some rows, of a value of the forward pass."""
    return value.role.derivation in ("row", "query_row", "key_row")


def introduction(ctx: LessonContext, found: Attribution) -> doc.Sentence:
    """What is attributed, and to what."""
    value, (row, column) = found.entry
    of_output = value.role is roles.OUTPUT
    is_uncapped = value.role is roles.UNCAPPED_LOGITS
    what = "output" if of_output else "uncapped logit" if is_uncapped else "logit"
    names = distinct(value.axes[1].labels)
    word = doc.Name(names[column])
    where = (f"{'for' if of_output else ctx.after} ", ctx.name)
    if found.other is None:
        number = ctx.number(value, row, column)
        answer: doc.Sentence = (f"The {what} of ", word, " ", *where, " is ", number, ". It")
    else:
        than = _higher(ctx.number(found.attributed))
        first = f"{where[0].capitalize()}"
        answer = (first, ctx.name, f", the {what} of ", word, " is ", *than)
        answer = (*answer, "that of ", doc.Name(names[found.other]), ". The difference")
    there = {part.of.role for part in found.parts}
    kinds = [words for words, of in COMPONENTS.items() if not there.isdisjoint(of)]
    named = {role for of in COMPONENTS.values() for role in of}
    others = [part.of for part in found.parts if part.of.role not in named]
    kinds += dict.fromkeys(_other(found.trace.producers[value]) for value in others)
    if found.rounding and found.rounding.numbers[()]:
        kinds.append("rounding")
    adds = " adds." if len(kinds) == 1 else " add."
    listed = joined([(words,) for words in kinds])
    return (*answer, " is the sum of what ", *listed, adds)


def _higher(difference: Number) -> doc.Sentence:
    """`3.518 higher than`; a difference that prints as 0 is called that."""
    if not difference.value:
        return (difference, " higher or lower than ")
    how = " higher than " if difference.value > 0 else " lower than "
    return (replace(difference, value=abs(difference.value)), how)


def largest_parts(ctx: LessonContext, found: Attribution) -> Iterator[doc.Sentence]:
    """Say which part is the largest, and which that of a head, with what this head attends to."""
    (parts,) = found.trace.producers[found.sum].inputs
    if ctx.is_padding:
        return
    largest = largest_part(ctx, parts, range(parts.shape[0]), "The largest part")
    heads = [i for i, part in enumerate(found.parts) if part.of.role in HEAD_OUTPUTS]
    if largest:
        yield (*largest, *(attends(ctx, found.parts[0]) if 0 in heads else ()))
    of_head = largest_part(ctx, parts, heads, "The largest part of a head")
    if of_head and not (largest and 0 in heads):
        yield (*of_head, *attends(ctx, found.parts[heads[0]]))


def attends(ctx: LessonContext, part: AttributedPart) -> doc.Sentence:
    """Say to which token a head gives most of its attention, if to one."""
    most = most_attended(ctx, part)
    if most is None:
        return ()
    row, column = most
    whose = " of the encoder" * (part.of.place.sub_layer == "cross_attention")
    share: doc.Sentence = (doc.Percent(row.printed(column)), " of its attention to ")
    return (" This head gives ", *share, *row.name(column), f"{whose}.")


def most_attended(ctx: LessonContext, part: AttributedPart) -> tuple[FollowedRow, int] | None:
    """The attention weights of a head for the followed token, and the largest, if one is."""
    is_head = part.of.role is roles.HEAD_OUTPUT
    weights = ctx.value(part.of.place, roles.WEIGHTS) if is_head else None
    row = FollowedRow.of(weights, ctx) if weights else None
    ranked = row.ranked() if row else []
    return (row, ranked[0]) if row and ranked else None


def _other(record: Record) -> str:
    """A component without a name of its own."""
    if isinstance(record.operation, Given | Pinned):
        return "each given vector"
    title = kind_of(record.output.role).title
    return f"each {title[0].lower()}{title[1:]}"


COMPONENTS: dict[str, tuple[Role, ...]] = {
    "the embedding": (roles.EMBEDDING, roles.SCALED_EMBEDDING),
    "the position": (roles.POSITION,),
    **{f"the {words}": (role,) for part in parts() for role, words in part.labels.items()},
    "each attention sub-layer": (roles.ATTENTION_OUTPUT,),
    "each head": HEAD_OUTPUTS,
    "each FFN": (
        *roles.HIDDEN_LAYERS,
        roles.PROJECTED,
        *ffn_outputs(),
    ),
    "each bias": (roles.B_O, roles.B_2, roles.B_U, *(norm.shift for norm in all_norms())),
}
"""The components of a model as the introduction names them."""
