"""The model at a glance: its picture, its formulas, and its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracer.decoder import roles
from tracer.decoder.elementwise import Add, Scale
from tracer.decoder.operations import Dot, Pinned
from tracer.decoder.part import ffn_outputs
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention import Q_K_V
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import NamedSize, lesson_parts, names_of
from tracer.lesson.texts.picture import LayerSteps, picture
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.wiring import RANKS, shared_norms, sub_layer_results, summands, where
from tracer.lesson.working.formula_shapes import number_used
from tracer.lesson.working.formulas import formula
from tracer.scenario.parts import frozen_weights

HOW_TO_READ: doc.Sentence = (
    "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), and "
    "the number of the step that computes it.",
)
IN_FORMULAS: doc.Sentence = ("The same model in formulas:",)
ADJUSTED = "numbers that training would adjust"
ADJUSTED_IN_PART = "learned numbers; training would adjust those that the scenario names"
SIZES: doc.Sentence = ("Its sizes:",)


def diagram(
    ctx: LessonContext,
    steps: Sequence[Step],
    stand_for: LayerSteps | None = None,
) -> tuple[doc.Block, ...]:
    """The picture of the model, and how to read it; `stand_for` as in `picture`."""
    return (doc.Paragraph(HOW_TO_READ), picture(ctx, steps, stand_for))


# --- formulas ------------------------------------------------------------------------------------


def formulas(teacher: Teacher) -> tuple[doc.Block, ...]:
    """The formula of each sub-layer, read from the tape; of layers built alike, the first."""
    drawn = picture(teacher.ctx, teacher.steps)
    towers = [(tower, tower is drawn.encoder) for tower in (drawn.encoder, drawn.decoder) if tower]
    model = _Formulas(teacher)
    written = [block for tower, encodes in towers for block in model.of_tower(tower, encodes)]
    written += model.of_words()
    return (doc.Paragraph(IN_FORMULAS), *written) if written else ()


class _Formulas:
    """Formulas of a model in which whole sub-layers are functions."""

    def __init__(self, teacher: Teacher) -> None:
        self.teacher, self.ctx = teacher, teacher.ctx
        self.producers, self.symbols = teacher.trace.producers, teacher.ctx.symbols
        self.leaving = [
            v for v in sub_layer_results(teacher.trace.records) if v.place.example is None
        ]
        self.shared = shared_norms(teacher.trace.records)

    def of_tower(self, tower: doc.TowerPicture, encodes: bool) -> Iterator[doc.Block]:
        """From the input vectors to the tower's output."""
        place = roles.Place(encoder=encodes)
        of_embeddings = roles.Place(encoder=encodes, tower_norm="embedding_norm")
        if norm := self.ctx.value(of_embeddings, roles.NORM):
            yield from self._line(norm, self._inside(norm, norm))
            if (read := self.ctx.value(place, roles.INPUT)) and norm in self.producers[read].inputs:
                yield from self._line(read, self.symbols[norm.address])
        yield from self._recorded(place, roles.INPUT)
        ends = [value for value in self.leaving if value.place.encoder == encodes]
        for layer in tower.layers:
            for value in ends:
                if value.place.layer == layer.first:
                    yield from self._sub_layer(value)
            yield from doc.paragraphs(_repeated(layer), _repeated_in_turn(layer.cycle))
        for value in ends:
            if value.place.tower_norm:
                yield from self._sub_layer(value)
        output = self.ctx.value(roles.Place(), roles.ENCODER_OUTPUT if encodes else roles.OUTPUT)
        if output and self.producers[output].inputs:
            yield from self._line(output, self.symbols[self.producers[output].inputs[0].address])

    def of_words(self) -> Iterator[doc.Block]:
        """From the output to a probability for each word."""
        for role in (roles.UNSCALED_LOGITS, roles.UNCAPPED_LOGITS, roles.LOGITS):
            yield from self._recorded(roles.Place(), role)
        logits = self.ctx.value(roles.Place(), roles.LOGITS)
        probabilities = self.ctx.value(roles.Place(), roles.PROBABILITIES)
        if logits and probabilities:
            yield from self._line(
                probabilities, ex.Call("softmax", (self.symbols[logits.address],))
            )

    def _recorded(self, place: roles.Place, role: roles.Role) -> Iterator[doc.Block]:
        """The formula of a single operation, if it has one."""
        value = self.ctx.value(place, role)
        chain = formula(self.producers[value], self.symbols) if value else None
        yield from (doc.Formula(chain),) if chain else ()

    def _sub_layer(self, value: Value) -> Iterator[doc.Block]:
        for norm in self.shared:
            if where(norm) == where(value):
                yield from self._line(norm, self._inside(norm, norm))
        yield from self._line(value, self._inside(value, value))

    def _line(self, value: Value, right: ex.Expression) -> Iterator[doc.Block]:
        left = self.symbols[value.address]
        if left != right and not isinstance(self.producers[value].operation, Pinned):
            yield doc.Formula(ex.Chain((left, right), ("=",)))

    def _inside(self, value: Value, end: Value) -> ex.Expression:
        """A value of the sub-layer that ends with `end`, written with what the sub-layer reads."""
        symbol, record = self.symbols[value.address], self.producers[value]
        is_named = value in self.shared and value is not end
        if is_named or where(value) != where(end) or isinstance(record.operation, Pinned):
            return symbol
        match value.role:
            case roles.RESIDUAL if isinstance(record.operation, Add):
                added, change = summands(record)
                return ex.Sum((self._inside(added, end), self._inside(change, end)))
            case _ if isinstance(record.operation, Scale):
                scaled = self._inside(record.inputs[0], end)
                return ex.Product((ex.Number(record.operation.a), scaled))
            case (
                roles.NORM
                | roles.NORM_AFTER.layer_norm
                | roles.RMS_NORM
                | roles.NORM_AFTER.rms_norm
            ):
                centers = value.role in (roles.NORM, roles.NORM_AFTER.layer_norm)
                name: ex.OfModels = "LayerNorm" if centers else "RMSNorm"
                return ex.Call(name, (self._inside(self._normalized(value), end),))
            case roles.ATTENTION_OUTPUT if self.ctx.at(value.place).is_typed_at(value.place):
                crosses = value.place.sub_layer == "cross_attention"
                return ex.Call("CrossAttention" if crosses else "Attention", Q_K_V)
            case roles.ATTENTION_OUTPUT if value.place.sub_layer == "cross_attention":
                encoded = self.ctx.value(roles.Place(), roles.ENCODER_OUTPUT)
                assert encoded
                read = self._inside(self._read(value), end)
                return ex.Call("CrossAttention", (read, self.symbols[encoded.address]))
            case roles.ATTENTION_OUTPUT if value in self.ctx.sources:
                return ex.Call("Attention", (self._inside(self._read(value), end),))
            case role if role in ffn_outputs() and value in self.ctx.sources:
                return ex.Call("FFN", (self._inside(self._read(value), end),))
            case _:
                return symbol

    def _normalized(self, norm: Value) -> Value:
        """What a norm reads."""
        return self.teacher.step_of[norm.address].records[0].inputs[0]

    def _read(self, result: Value) -> Value:
        """What attention or the FFN reads: the sub-layer's input, or the norm of it."""
        source = self.ctx.sources[result]
        norms = (self.ctx.value(result.place, role) for role in (roles.NORM, roles.RMS_NORM))
        return next((norm for norm in norms if norm and self._normalized(norm) is source), source)


def _repeated(layer: doc.LayerPicture) -> doc.Sentence | None:
    """Which layers have the same formulas."""
    others = range(layer.first + 1, layer.last + 1)
    if not others:
        return None
    if not others[1:]:
        return (f"Layer {others[0]} repeats layer {layer.first} with its own weights.",)
    which = f"Layers {others[0]} to {others[-1]} repeat layer {layer.first}"
    return (f"{which}, each with its own weights.",)


def _repeated_in_turn(cycle: doc.LayerCycle | None) -> doc.Sentence | None:
    """Which layers have, in turn, the formulas of several."""
    if cycle is None:
        return None
    which = f"Layers {cycle.last + 1} to {cycle.end} repeat layers {cycle.first} to {cycle.last}"
    return (f"{which} in turn, each with its own weights.",)


# --- sizes ---------------------------------------------------------------------------------------

NAMED_SIZES = sorted(
    (
        NamedSize("d_model", roles.INPUT, 1, "features per token"),
        NamedSize("d_k", roles.QUERY, 1, "width of queries and keys in each head"),
        NamedSize("d_v", roles.VALUE, 1, "width of values in each head"),
        NamedSize("hidden units", roles.HIDDEN, 1, "width of the FFN's hidden layer"),
        NamedSize("vocabulary", roles.LOGITS, 1, "words that the model can predict"),
        *(size for part in lesson_parts() for size in part.sizes_at_a_glance),
    ),
    key=lambda size: RANKS[size.role],
)
"""The sizes of the model, in the order of a pass."""


def sizes(
    ctx: LessonContext, learned: int, frozen: int, layers: int | None = None
) -> tuple[doc.Block, ...]:
    """The sizes of the decoder: their names, their values here, their meaning.

    `layers`: their number, where some of them stand for several.
    """
    forward = [r.output for r in ctx.trace.records if _is_of_decoder(r.output.place)]
    heads = _several(ctx.heads_of(v.place) for v in forward if v.role is roles.QUERY)
    known = {
        name: (_several(value.shape[axis] for value in forward if value.role is role), meaning)
        for name, role, axis, meaning in NAMED_SIZES
    }
    widths = {v.place: v.shape[1] for v in forward if v.role is roles.QUERY}
    for record in ctx.trace.records:  # a part may join other columns to the queries
        if isinstance(record.operation, Dot) and record.output.place in widths:
            widths[record.output.place] = record.inputs[0].shape[1]
    known["d_k"] = (_several(widths.values()), known["d_k"][1])
    values = {v.place: v.shape[1] for v in forward if v.role is roles.VALUE}
    if values and all(widths.get(place, width) == width for place, width in values.items()):
        known["d_k"] = (known["d_k"][0], "width of queries, keys and values in each head")
        del known["d_v"]
    d_model = known.pop("d_model")
    freezing = names_of(value.role for value in ctx.trace.values.values() if value.role.frozen)
    positions = ctx.trace.scenario.positions
    table = positions.table if positions else None
    rows = [
        ("tokens", _several([len(ctx.names)]), "pieces of text that the model reads"),
        (
            "context",
            _several([] if table is None else [len(table)]),
            "most tokens that it can read",
        ),
        ("d_model", *d_model),
        ("layers", str(layers or ctx.layers or ""), "one after the other"),
        ("heads", heads, "attention patterns computed in parallel"),
        *((name, *size) for name, size in known.items()),
        (
            "parameters",
            f"{learned:,}" if learned else "",
            ADJUSTED if ctx.trace.scenario.optimizer.trains is None else ADJUSTED_IN_PART,
        ),
        (
            "frozen",
            f"{frozen:,}" if frozen else "",
            f"parameters that {' and '.join(freezing)} leaves as they are",
        ),
    ]
    found = doc.Table.of(("size", "here", "meaning"), [row for row in rows if row[1]])
    return (doc.Paragraph(SIZES), found)


def parameters_used(teacher: Teacher) -> int:
    """The number of parameters that a pass uses and training adjusts."""
    return number_used(teacher.trace.records, teacher.parameter_shapes)


def frozen_used(teacher: Teacher) -> int:
    """The number of parameters that a pass uses and training leaves as they are."""
    return number_used(teacher.trace.records, frozen_weights(teacher.trace.scenario))


def _is_of_decoder(place: roles.Place) -> bool:
    of_others = place.encoder or place.example is not None or place.sub_layer == "lens"
    return place.phase == "forward" and not of_others


def _several(found: Iterable[int]) -> str:
    """The sizes that there are: `2`, or `1 or 2` where layers or heads differ."""
    return " or ".join(f"{size:,}" for size in sorted(set(found)))
