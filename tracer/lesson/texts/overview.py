"""The way from input to output: an overview of its stations, a recap, and a table of all steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Copy, DropColumn
from tracer.decoder.part import all_norms
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention import SCORES_STEP, SOFTMAX_STEP
from tracer.lesson.steps.inputs import ENCODER_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.sub_layers import RESIDUAL_STEP
from tracer.lesson.texts import sentences
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.wiring import summands
from tracer.lesson.working.formulas import formula
from tracer.node import found, rewritten

OVERVIEW: doc.Sentence = ("From input to output:",)
RECAP = "The way of "
AS_VECTORS = ": its tokens as vectors"
ADD, NORMALIZE = "add the input back", "normalize"
CROSSED = ", which cross-attention reads"
PATTERN = "All sub-layers follow one pattern: "
STEPS: doc.Sentence = (
    "All steps in one table. Steps of one kind share a row, with the first one's formula.",
)

OF_SUB_LAYERS: dict[roles.SubLayer, str] = {
    "attention": "values are added up, weighted by attention",
    "cross_attention": "tokens gather information from the encoder",
    "ffn": "each token is transformed separately",
}
"""What a sub-layer does."""

FROM_EACH_OTHER = "tokens gather information from each other"

FUNCTIONS: dict[roles.Role, ex.OfModels] = {
    roles.WEIGHTS: "softmax",
    roles.PROBABILITIES: "softmax",
    **{norm.layer_norm: "LayerNorm" for norm in all_norms()},
    **{norm.rms_norm: "RMSNorm" for norm in all_norms()},
}
"""Steps of several operations that have one name."""

HEADER = ("steps", "result", "formula", "step")
NONE = "–"
MOST_NUMBERS = 4
"""So many numbers of like steps are listed."""

MOST_SYMBOLS = 6
"""A formula of more symbols would not fit in a line."""

MOST_RECALLED = 8
"""So many numbers of a token are read at a glance."""


@dataclass(frozen=True)
class Station:
    """Steps in a row that a reader takes as one, such as the heads of a sub-layer or its norm.

    A station that `repeats` stands for layers that do the same as the one before them.
    """

    steps: tuple[Step, ...]
    repeats: bool = False

    @property
    def place(self) -> roles.Place:
        """The place of its first step."""
        return self.steps[0].place

    @property
    def of_heads(self) -> bool:
        """Whether it is what each head does."""
        return bool(self.place.head) and not self.repeats

    @property
    def is_encoder(self) -> bool:
        """Whether it is the encoder, with all of its layers."""
        return self.steps[-1].kind is ENCODER_STEP

    @property
    def first(self) -> list[Step]:
        """Its steps; of heads, those of the first one."""
        heads = (None, self.place.head)
        return [s for s in self.steps if not self.of_heads or s.place.head in heads]

    @property
    def result(self) -> Step:
        """The step of its result; of heads, that of the first one."""
        return self.first[-1]

    @property
    def recalled(self) -> list[Step]:
        """The steps whose numbers a recap has: the weights of a head, and the result."""
        weights = [s for s in self.first if s.kind is SOFTMAX_STEP and self.of_heads]
        only = weights and self.result.place.head
        return [] if self.is_encoder else weights if only else [*weights, self.result]


def overview(teacher: Teacher) -> Iterator[doc.Block]:
    """From input to output: what happens at each station, and what all sub-layers have alike."""
    ctx = teacher.ctx
    rows: list[tuple[str | doc.Cell, ...]] = []
    for station in _stations(teacher):
        value, right = station.result.last.output, _written_out(station, ctx)
        symbol, shape = ctx.symbols[value.address], "×".join(map(str, value.shape))
        formula = right if right and not station.repeats and not station.is_encoder else NONE
        rows.append((_counted(station), symbol, formula, shape, _happens(station, ctx)))
    yield doc.Paragraph(OVERVIEW)
    yield doc.Table.of(("steps", "result", "formula", "shape", "what happens"), rows)
    yield from doc.paragraphs(_pattern(teacher))


def as_boxes(teacher: Teacher) -> list[Step]:
    """The steps of a small diagram.

    An encoder is one box, and so are a sub-layer's function, and the last layers if they are like
    the one before them. Such a box is drawn behind all layers, so it stands for no others.
    """
    drawn: list[Step] = []
    repeated = {
        station.steps[-1]: station
        for station in _stations(teacher)
        if station.repeats and station.steps[-1].place.layer == teacher.ctx.layers
    }
    again = {step for station in repeated.values() for step in station.steps}

    def of(step: Step) -> tuple[roles.Place, bool, bool]:
        return replace(step.place, head=None, network=None), step.kind.inner, step in again

    for (place, is_function, _), together in groupby(teacher.steps, of):
        own = list(together)
        last = own[-1]
        if station := repeated.get(last):
            crosses = ", reads E" if teacher.ctx.attends_to_the_encoder else ""
            drawn.append(_box(last, roles.Place(), (f"{_layers(station)}{crosses}",)))
        elif last in again:
            continue
        elif is_function and place.sub_layer and not place.encoder:
            head = 1 if place.sub_layer == "cross_attention" else None  # it reads the encoder
            box = _box(
                last, replace(place, head=head), (teacher.ctx.symbols[last.last.output.address],)
            )
            drawn.append(replace(box, records=tuple(r for step in own for r in step.records)))
        elif not place.encoder:
            drawn += own
    return drawn


def _box(step: Step, place: roles.Place, sign: doc.Sign) -> Step:
    """A step at another place in the diagram, with another sign."""
    return replace(step, place=place, kind=replace(step.kind, sign=sign, instead=()))


def _layers(station: Station) -> str:
    """`layer 2`, `layers 2 to 6`."""
    first, last = station.place.layer, station.steps[-1].place.layer
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def recap(teacher: Teacher) -> Iterator[doc.Block]:
    """The followed token's numbers at each station, unless they are too many to read."""
    ctx = teacher.ctx
    listed: list[Value] = []
    rows: list[tuple[str | doc.Cell, ...]] = []
    for step in (each for station in _stations(teacher) for each in station.recalled):
        value, operation = step.last.output, step.last.operation
        is_repeated = isinstance(operation, Copy) and step.last.inputs[0] in listed
        if not is_repeated and (cell := _numbers(value, ctx)):
            listed.append(value)
            title = sentences.title(step, ctx.at(step.place))
            rows.append((str(step.number), title, ctx.symbols[value.address], cell))
    if rows and not ctx.is_padding:
        yield doc.Paragraph((RECAP, ctx.name, " in numbers:"))
        yield doc.Table.of(("step", "what", "symbol", "numbers"), rows)
    yield from doc.paragraphs(_in_short(teacher))


def _in_short(teacher: Teacher) -> doc.Sentence | None:
    """What each part of the decoder's layers does, in one sentence."""
    own = [step for step in teacher.steps if step.place.layer and not step.place.encoder]
    titles = {step.kind.title for step in own}
    parts = {step.place.sub_layer for step in own}
    norms = [name for name in ("LayerNorm", "RMSNorm") if name in titles]
    said = [
        *["attention collects from the tokens that it may see"] * ("attention" in parts),
        *["cross-attention collects from the encoder"] * ("cross_attention" in parts),
        *["the residual connection keeps what was there"] * (RESIDUAL_STEP.title in titles),
        *[f"{name} evens out the scale" for name in norms],
        *["the FFN works on each token by itself"] * ("ffn" in parts),
    ]
    return (f"In short: {'; '.join(said)}.",) if len(said) > 1 else None


def _numbers(value: Value, ctx: LessonContext) -> doc.Cell | None:
    """The followed token's row, or its word, if it is short."""
    if not value.per_token or not ctx.follows(value):
        return None
    at = ctx.row(value)
    if value.role.words:
        return doc.Name(str(value.read((at,))))
    if len(value.axes) < 2:
        return ctx.number(value, at)
    width = value.shape[1]
    if width > MOST_RECALLED:
        return None
    return ex.Brackets(tuple(ctx.number(value, at, j) for j in range(width)))


def _stations(teacher: Teacher) -> Iterator[Station]:
    """All stations; layers that do the same as the one before them are one."""
    ctx = teacher.ctx

    def of(step: Step) -> tuple[object, ...]:
        place = step.place
        if place.encoder or step.kind is ENCODER_STEP:
            return ("encoder",)
        part = sentences.part(step, ctx.at(place))
        if place.sub_layer is None:  # what follows the layers is read step by step
            return part, step.kind if step.kind.name in sentences.AT_THE_END else None
        several = ctx.at(place).heads_of(place) > 1
        return part, step.kind.inner, bool(place.head) and several

    every = [Station(tuple(together)) for _, together in groupby(teacher.steps, of)]
    of_layers = [list(own) for _, own in groupby(every, lambda station: station.place.layer)]
    forms = [[_form(station, ctx) for station in own] for own in of_layers]
    pairs = zip(forms, of_layers, strict=True)
    for _, alike in groupby(pairs, lambda pair: pair[0]):
        (_, first), *others = alike
        yield from first
        if others:
            repeated = [step for _, own in others for station in own for step in station.steps]
            yield Station(tuple(repeated), repeats=True)


def _form(station: Station, ctx: LessonContext) -> tuple[object, ...]:
    """What the overview says of a station, without the numbers of its layer."""
    right = rewritten(_written_out(station, ctx), ex.Symbol, lambda _: None)
    kinds = [step.kind for step in station.steps]
    return right, station.result.last.output.shape, kinds, _what(station, ctx)


def _counted(station: Station) -> str:
    """The numbers of its steps: `4–17`."""
    first, last = station.steps[0].number, station.steps[-1].number
    return str(first) if first == last else f"{first}–{last}"


def _written_out(station: Station, ctx: LessonContext) -> ex.Expression | None:
    """The formula of the last step, with those of the steps before it put in."""
    own, kinds = station.first, [step.kind for step in station.first]
    of_experts = any(step.place.network for step in own)  # all of them would not fit in a line
    if station.is_encoder or not station.place.sub_layer or of_experts:
        own = own[-1:]
    elif SCORES_STEP in kinds:  # queries, keys and values have names
        own = own[kinds.index(SCORES_STEP) :]
    known: dict[ex.Expression, ex.Expression] = {}
    for value, right in (each for step in own for each in _formulas(step, ctx)):
        read = Counter(found(right, ex.Symbol))
        once = {symbol: known[symbol] for symbol in read if read[symbol] == 1 and symbol in known}
        # What is read twice, as by GELU, keeps its symbol.
        known[ctx.symbols[value.address]] = rewritten(right, ex.Symbol, partial(_replaced, once))
    whole = known.get(ctx.symbols[own[-1].last.output.address])
    is_long = whole is not None and sum(1 for _ in found(whole, ex.Symbol)) > MOST_SYMBOLS
    return step_formula(own[-1], ctx.symbols) if is_long else whole


def _formulas(step: Step, ctx: LessonContext) -> Iterator[tuple[Value, ex.Expression]]:
    """The right sides of a step's formulas; of a softmax or a norm, its name."""
    if step.last.output.role not in FUNCTIONS and not step.is_partly_given:
        for record in step.records[:-1]:
            if chain := formula(record, ctx.symbols):
                yield record.output, chain.sides[1]
    if right := step_formula(step, ctx.symbols):
        yield step.last.output, right


def _replaced(known: Mapping[ex.Symbol, ex.Expression], symbol: ex.Symbol) -> ex.Expression:
    return known.get(symbol, symbol)


def _happens(station: Station, ctx: LessonContext) -> str:
    """What a station does, and which part of the model it is."""
    place = station.place
    if station.repeats:
        layers = _layers(station)
        each = "each " * ("to" in layers)
        return f"{layers[0].upper()}{layers[1:]}: the same operations, {each}with its own weights"
    if station.is_encoder:
        inside = dict.fromkeys(s.place.sub_layer for s in station.steps if s.place.sub_layer)
        layers = f" ({', '.join(sentences.PARTS[name] for name in inside)})" if inside else ""
        return f"Encoder{layers}{AS_VECTORS}{CROSSED if ctx.attends_to_the_encoder else ''}"
    what, kind = _what(station, ctx), station.result.kind
    names_part = {None: kind.name not in sentences.AT_THE_END, "ffn": kind.inner}
    if not names_part.get(place.sub_layer, station.of_heads):
        return what
    return f"{sentences.part(station.steps[0], ctx.at(place)).replace(': ', ', ')}: {what}"


def _what(station: Station, ctx: LessonContext) -> str:
    """What the steps do, or the sub-layer whose head or network they are."""
    place, kinds = station.place, [step.kind for step in station.steps]
    if place.sub_layer and not kinds[-1].inner:
        return ", ".join(dict.fromkeys(_around(step, ctx) for step in station.steps))
    if station.of_heads or place.sub_layer == "ffn":
        return _of_sub_layer(place, ctx)
    return "; ".join(kind.summary for kind in kinds)


def _around(step: Step, ctx: LessonContext) -> str:
    """What is done before or after a sub-layer's function."""
    if not isinstance(step.last.operation, Add):
        return NORMALIZE if "Norm" in step.kind.title else _inside_sentence(step.kind.title)
    added, change = summands(step.last)
    return ADD if ctx.sources.get(change) is added else _inside_sentence(step.kind.title)


def _pattern(teacher: Teacher) -> doc.Sentence | None:
    """In which order all sub-layers compute, add and normalize, if all do it alike."""
    orders: dict[roles.Place, list[str]] = {}
    for station in _stations(teacher):
        for step in station.steps:
            place = replace(step.place, head=None, network=None)
            if place.sub_layer and not place.encoder:
                done = "compute" if step.kind.inner else _around(step, teacher.ctx)
                orders.setdefault(place, []).append(done)
    every = {tuple(done for done, _ in groupby(order)) for order in orders.values()}
    order = every.pop() if len(every) == 1 and len(orders) > 1 else ()
    if sorted(order) != sorted(["compute", ADD, NORMALIZE]):
        return None
    return (f"{PATTERN}{', '.join(order)}.",)


def what_part_does(steps: Sequence[Step], ctx: LessonContext) -> str:
    """What a part does: its sub-layer and what is around it, or what its steps compute."""
    place = steps[0].place
    if place.sub_layer not in OF_SUB_LAYERS:
        return "; ".join(step.kind.summary for step in steps)
    what = _of_sub_layer(place, ctx)
    around = dict.fromkeys(
        _inside_sentence(step.kind.title) for step in steps if not step.kind.inner
    )
    return f"{what}; with {' and '.join(around)}" if around else what


def _of_sub_layer(place: roles.Place, ctx: LessonContext) -> str:
    """What a sub-layer does."""
    assert place.sub_layer
    gathers = _gathers(place, ctx.at(place)) if place.sub_layer == "attention" else None
    return gathers or OF_SUB_LAYERS[place.sub_layer]


def _gathers(place: roles.Place, ctx: LessonContext) -> str:
    """From which tokens self-attention gathers information, as far as the mask says it."""
    mask = ctx.mask_at(place)
    if not ctx.trace.scenario.has_numbers and len(ctx.names) > 1:
        return FROM_EACH_OTHER + ", as far as the mask allows" * (mask is not None)
    if not (seen := ctx.visible_tokens_at(place)):
        return ""
    sees_itself = mask is None or np.isfinite(np.diagonal(mask.array)).all()
    return f"each token gathers information from {'itself and ' * bool(sees_itself)}{seen}"


def _inside_sentence(title: str) -> str:
    """The title of a residual connection or a norm, inside a sentence."""
    return title if "Norm" in title else title.lower()


def every_step(ctx: LessonContext, steps: Sequence[Step]) -> tuple[doc.Block, ...]:
    """A table of all steps: what each is for, and its formula; like steps in one row."""
    alike: dict[tuple[object, ...], list[Step]] = {}
    for step in steps:
        place = step.place
        key = (step.kind, place.encoder, place.sub_layer, place.tower_norm)
        alike.setdefault(key, []).append(step)
    rows = []
    for first, *others in alike.values():
        numbers = _listed([first.number, *(step.number for step in others)])
        symbol = ctx.symbols[first.last.output.address]
        right = step_formula(first, ctx.symbols) or NONE
        name = f"{sentences.named(first)} ({first.kind.summary})"
        rows.append((numbers, symbol, right, name))
    return (doc.Paragraph(STEPS), doc.Table.of(HEADER, rows))


def _listed(numbers: Sequence[int]) -> str:
    """`4, 11`, or `4, 11, …, 58` if there are many."""
    shown: Iterable[object] = numbers
    if len(numbers) > MOST_NUMBERS:
        shown = (*numbers[: MOST_NUMBERS - 2], "…", numbers[-1])
    return ", ".join(map(str, shown))


def step_formula(step: Step, symbols: Mapping[str, ex.Expression]) -> ex.Expression | None:
    """The right side of a step's formula, if it has one."""
    if step.is_partly_given:
        return None
    function = FUNCTIONS.get(step.last.output.role)
    if function and not isinstance(step.last.operation, DropColumn):
        return ex.Call(function, (symbols[step.records[0].inputs[0].address],))
    if isinstance(step.last.operation, Copy):
        return symbols[step.last.inputs[0].address]
    chain = formula(step.last, symbols)
    return chain.sides[1] if chain else None
