"""The model at a glance: the steps of a pass, or of the backward pass, as boxes with arrows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, is_dataclass, replace
from itertools import groupby
from typing import TypeAlias

from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Pinned
from tracer.decoder.roles import ENCODER_OUTPUT, Place, SubLayer
from tracer.decoder.value import Value
from tracer.formula.expression import Partial
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.declared import BACKWARD, KIND_OF
from tracer.lesson.steps.inputs import ENCODER_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.sub_layers import RESIDUAL_STEP
from tracer.lesson.steps.training import KINDS as LOSSES
from tracer.lesson.texts.symbols import in_encoder
from tracer.lesson.texts.wires import wires
from tracer.lesson.wiring import is_before_layers, summands
from tracer.node import found, rewritten
from tracer.scenario.cycles import cycles

LayerSteps: TypeAlias = Callable[[Place], Mapping[int, range]]
"""Returns layers of a tower, each with its steps' numbers."""

NAMES: dict[SubLayer, str] = {
    "attention": "attention",
    "cross_attention": "cross-attention",
    "ffn": "FFN",
}


def picture(
    ctx: LessonContext, steps: Sequence[Step], stand_for: LayerSteps | None = None
) -> doc.Picture:
    """Return all steps of a pass, each in one box; equal layers are drawn once.

    `stand_for` returns the layers that the one at a place stands for, each with its steps' numbers:
    itself, if it is None.
    """
    # The lens looks at the model from outside.
    drawn = [s for s in steps if s.place.sub_layer != "lens" and s.kind.sign is not None]
    encodes = [step for step in drawn if step.place.encoder or step.kind is ENCODER_STEP]
    decodes = [step for step in drawn if step not in encodes]
    folded: dict[int, int] = {}
    decoder = _tower(decodes, ctx, stand_for, folded)
    encoder = _tower(encodes, ctx.of_encoder, stand_for, folded) if encodes else None
    return doc.Picture(
        decoder,
        encoder,
        doc.Figure(f"{ctx.trace.name}.model", "The model"),
        wires(steps, set(found((encoder or (), decoder), doc.Box)), folded),
        tuple(folded.items()),
    )


def picture_back(ctx: LessonContext, steps: Sequence[Step]) -> doc.Picture:
    """The steps of a pass that the gradient passes, with the numbers of the backward pass."""
    back = {(step.kind, step.place): step for step in steps}
    boxes: dict[int, doc.Box] = {}
    for step in steps:
        # The backward pass begins at what a loss of numbers is computed from.
        value = (step.records[0] if step.kind in LOSSES else step.last).output
        kind = BACKWARD.get(step.kind)
        gone = back.get((kind, replace(step.place, phase="gradient"))) if kind else None
        if gone:
            sign = (Partial(ctx.symbols[value.address]),)
            boxes[step.number] = doc.Box(gone.number, sign, value.shape)

    def span(others: tuple[int, int]) -> tuple[int, int]:
        first, last = others
        found = [box.step for number, box in boxes.items() if first <= number <= last]
        return min(found), max(found)

    def renumbered(layer: doc.LayerPicture) -> doc.LayerPicture:
        others, cycle = layer.others and span(layer.others), layer.cycle
        of_cycle = cycle and replace(cycle, others=span(cycle.others))
        return replace(layer, others=others, cycle=of_cycle)

    there = picture(ctx, [step for step in steps if step.number in boxes])
    drawn = rewritten(
        rewritten(there, doc.LayerPicture, renumbered), doc.Box, lambda b: boxes[b.step]
    )
    assert isinstance(drawn, doc.Picture)
    folded = {boxes[step].step: boxes[shown].step for step, shown in drawn.folded}
    return replace(
        drawn,
        figure=doc.Figure(f"{ctx.trace.name}.backward", "The backward pass"),
        wires=wires(steps, set(found((drawn.encoder or (), drawn.decoder), doc.Box)), folded),
        folded=tuple(folded.items()),
    )


def _tower(
    steps: Sequence[Step],
    ctx: LessonContext,
    stand_for: LayerSteps | None,
    folded: dict[int, int],
) -> doc.TowerPicture:
    layered = [step for step in steps if step.place.layer]
    others = [step for step in steps if not step.place.layer]
    before = [
        step
        for step in others
        if step.kind.aside or (step.kind is not ENCODER_STEP and is_before_layers(step.last.output))
    ]
    behind = [step for step in others if step not in before]
    below = before[-1].last.output if before else None
    return doc.TowerPicture(
        tuple(map(doc.Name, ctx.tower.tokens)),
        _rows(before, ctx),
        _layers(layered, below, _Wires(ctx, steps), stand_for, folded),
        _rows(behind, ctx),
    )


class _Wires:
    """The inputs of a tower's sub-layers, as far as their steps are drawn."""

    def __init__(self, ctx: LessonContext, steps: Sequence[Step]) -> None:
        self.ctx = ctx
        self.step_of = {step.last.output: step for step in steps}

    def into(self, result: Value, below: Value | None) -> doc.Box | None:
        """The box whose vectors a sub-layer's result is computed from; none where it is `below`."""
        source = self.ctx.sources.get(result)
        step = self.step_of.get(source) if source and source is not below else None
        return _box(step, self.ctx) if step else None


@dataclass(frozen=True)
class _Layer:
    """A layer with the steps of the one that stands for it, and the numbers of its own steps."""

    number: int
    steps: list[Step]
    below: Value | None
    form: int
    """Equal for layers that are built alike."""
    numbers: range


def _layers(
    steps: Sequence[Step],
    below: Value | None,
    wires: _Wires,
    stand_for: LayerSteps | None,
    folded: dict[int, int],
) -> tuple[doc.LayerPicture, ...]:
    """Return the layers; those that repeat others are not drawn, and their steps are `folded`."""
    layers = _built(steps, below, wires, stand_for)
    drawn = []
    for cycle in cycles([layer.form for layer in layers]):
        for run in cycle.runs:
            first = layers[run.start]
            for layer in (layers[i] for i in cycle.all_of(run)):
                if layer.steps is not first.steps:
                    pairs = zip(layer.steps, first.steps, strict=True)
                    folded |= {own.number: shown.number for own, shown in pairs}
            parts = tuple(_parts(first.steps, first.below, wires))
            last, others = layers[run.stop - 1], _span(layers[run.start + 1 : run.stop])
            drawn.append(doc.LayerPicture(first.number, last.number, parts, others))
        whole = layers[cycle.runs[0].start :][: cycle.times * cycle.period]
        if again := _span(whole[cycle.period :]):
            first, last = whole[0], whole[cycle.period - 1]
            of_cycle = doc.LayerCycle(first.number, last.number, whole[-1].number, again)
            drawn[-1] = replace(drawn[-1], cycle=of_cycle)
    return tuple(drawn)


def _built(
    steps: Sequence[Step], below: Value | None, wires: _Wires, stand_for: LayerSteps | None
) -> list[_Layer]:
    """Return all layers in their order."""
    found: dict[int, _Layer] = {}
    forms: list[list[object]] = []
    for number, together in groupby(steps, lambda step: step.place.layer or 1):
        own = list(together)
        form = _form(own, below, wires.ctx)
        if form not in forms:
            forms.append(form)
        itself = {number: range(own[0].number, own[-1].number + 1)}
        for layer, numbers in (stand_for(own[0].place) if stand_for else itself).items():
            found[layer] = _Layer(layer, own, below, forms.index(form), numbers)
        below = own[-1].last.output
    return [found[layer] for layer in sorted(found)]


def _span(layers: Sequence[_Layer]) -> tuple[int, int] | None:
    """Return the first and the last step of some layers, if there are any."""
    return (layers[0].numbers[0], layers[-1].numbers[-1]) if layers else None


def _form(steps: Sequence[Step], below: Value | None, ctx: LessonContext) -> list[object]:
    """Return what is printed of a layer or a head, without its numbers; equal forms are drawn once.

    That are the signs, and of each record its operation, its shape and what it reads: the layer's
    input, a value of the layer, a parameter of some shape, or a value from elsewhere.
    """
    form: list[object] = []
    names: dict[Value | None, object] = {below: "below"}
    for step in steps:
        form.append((step.place.sub_layer, _box(replace(step, number=0), ctx)))
        for record in step.records:
            read = [
                names.get(v, (v.role, v.shape) if _is_weight(v) else v.address)
                for v in record.inputs
            ]
            operation = record.operation
            settings = operation if is_dataclass(operation) else None
            form.append((record.output.role, type(operation), settings, record.output.shape, read))
            names[record.output] = len(names)
    places = dict.fromkeys(step.place for step in steps)
    return [*form, *(each for place in places for each in _form_of_undrawn(place, ctx))]


def _form_of_undrawn(place: Place, ctx: LessonContext) -> Iterator[object]:
    """Yield what is printed at a place in steps that the diagram leaves out, such as blocks."""
    for record in ctx.trace.by_place.get(place, ()):
        value, operation = record.output, record.operation
        if _is_undrawn(value):
            settings = operation if is_dataclass(operation) else None
            shapes = [each.shape for each in (*record.inputs, value)]
            yield value.role, value.place.sub_layer, type(operation), settings, shapes


def _is_undrawn(value: Value) -> bool:
    """Whether it is computed in a step that is not drawn."""
    kind = KIND_OF.get(value.role)
    return kind is not None and kind.sign is None


def _is_weight(value: Value) -> bool:
    """Whether it is a parameter, or computed of parameters in a step that is not drawn."""
    return value.role.parameter or _is_undrawn(value)


def _parts(
    layer: Sequence[Step], below: Value | None, wires: _Wires
) -> Iterator[doc.SubLayerPicture]:
    """The sub-layers, each above those that its sum adds to."""
    of_each: dict[SubLayer, list[Step]] = defaultdict(list)
    for step in layer:
        if step.place.sub_layer:
            of_each[step.place.sub_layer].append(step)
    for name, steps in sorted(of_each.items(), key=lambda part: part[1][-1].number):
        yield _part(NAMES[name], steps, below, wires)
        below = steps[-1].last.output


def _part(
    name: str, steps: Sequence[Step], below: Value | None, wires: _Wires
) -> doc.SubLayerPicture:
    """A sub-layer; a sum that is pinned adds nothing, so no way leads around it."""
    ctx, steps = wires.ctx, list(steps)
    for i, step in enumerate(steps):
        if step.kind is RESIDUAL_STEP and isinstance(step.last.operation, Add):
            added, result = summands(step.last)
            if added is below or below is None:
                inside, behind = _inside(steps[:i], ctx), _rows(steps[i + 1 :], ctx)
                reads = wires.into(result, below)
                return doc.SubLayerPicture(name, inside, _box(step, ctx), behind, reads)
            # What is added stands elsewhere.
            sign = (*step.kind.sign_of(step, ctx), " ", ctx.symbols[added.address])
            steps[i] = replace(step, kind=replace(step.kind, sign=sign, instead=()))
    return doc.SubLayerPicture(
        name, _inside(steps, ctx), reads=wires.into(steps[-1].last.output, below)
    )


def _inside(steps: Sequence[Step], ctx: LessonContext) -> tuple[doc.Row | doc.Heads, ...]:
    """Return a sub-layer's rows, and its heads side by side, each above what it reads."""
    inside: list[doc.Row | doc.Heads] = []
    encoded: set[Value] = set()
    for is_one, some in _storeys(steps):
        if is_one:
            inside.append(_heads(some, encoded, ctx))
        else:
            inside += _rows(some, ctx)
            for step in some:
                if _reads_encoder(step, encoded):
                    encoded |= {record.output for record in step.records}
    return tuple(inside)


def _storeys(steps: Sequence[Step]) -> list[tuple[bool, list[Step]]]:
    """Return what belongs to heads or networks and what all share, in turn from bottom to top.

    What is shared lies as low as what it reads allows; heads lie above what is shared before them.
    """
    height_of: dict[Value, int] = {}
    storeys: dict[int, list[Step]] = defaultdict(list)
    reached = 0
    for step in steps:
        read = [value for record in step.records for value in record.inputs]
        height = max((height_of.get(value, 0) for value in read), default=0)
        if _beside_others(step):  # on an odd storey
            height = max(height + (height % 2 == 0), reached + 1)
        else:
            height += height % 2
            reached = max(reached, height)
        height_of |= {record.output: height for record in step.records}
        storeys[height].append(step)
    return [(height % 2 == 1, storeys[height]) for height in sorted(storeys)]


def _beside_others(step: Step) -> str | None:
    """The name of the head or network that a step belongs to."""
    place = step.place
    if place.head:
        return f"head {place.head}"
    return place.network.name if place.network else None


def _heads(steps: Sequence[Step], encoded: Set[Value], ctx: LessonContext) -> doc.Heads:
    heads = [list(head) for _, head in groupby(steps, _beside_others)]
    names = tuple(_beside_others(head[0]) or "" for head in heads)
    forms = [_form(head, None, ctx) for head in heads]
    return doc.Heads(
        tuple(_rows(head, ctx) for head in heads),
        tuple(any(_reads_encoder(step, encoded) for step in head) for head in heads),
        tuple(map(forms.index, forms)),
        names,
    )


def _reads_encoder(step: Step, encoded: Set[Value]) -> bool:
    """Whether a step reads the encoder's output, or what all heads share of it."""
    computed = [record for record in step.records if not isinstance(record.operation, Pinned)]
    read = {value for record in computed for value in record.inputs}
    return any(value.role is ENCODER_OUTPUT or value in encoded for value in read)


def _rows(steps: Sequence[Step], ctx: LessonContext) -> tuple[doc.Row, ...]:
    """Arrange steps from bottom to top: side by side until one reads another of the row."""
    rows: list[list[Step]] = []
    for step in steps:
        if rows and not any(_reads(step, other) for other in rows[-1]):
            rows[-1].append(step)
        else:
            rows.append([step])
    return tuple(tuple(_box(step, ctx) for step in row) for row in rows)


def _reads(step: Step, other: Step) -> bool:
    given = {record.output for record in other.records}
    return any(value in given for record in step.records for value in record.inputs)


def _box(step: Step, ctx: LessonContext) -> doc.Box:
    """The step's sign; of a pinned one that it is given, for nothing is done there."""
    value = step.last.output
    pinned = [record for record in step.records if isinstance(record.operation, Pinned)]
    if step.last in pinned:
        sign: doc.Sign = (ctx.symbols[value.address], " given")
    else:
        sign = (*_sign(step, ctx), *([", in part given"] if pinned else []))
    is_given, kind = bool(pinned), step.kind
    return doc.Box(step.number, sign, value.shape, is_given, kind.aside, kind.box_name)


def _sign(step: Step, ctx: LessonContext) -> doc.Sign:
    sign = step.kind.sign_of(step, ctx)
    return in_encoder(sign) if step.place.encoder else sign
