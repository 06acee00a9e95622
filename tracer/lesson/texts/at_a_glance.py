"""The model at a glance: its picture and its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracer.decoder import roles
from tracer.decoder.operations import Dot
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import NamedSize, lesson_parts, names_of
from tracer.lesson.texts.picture import LayerSteps, picture
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.wiring import RANKS
from tracer.lesson.working.formula_shapes import number_used
from tracer.scenario.parts import frozen_weights

HOW_TO_READ: doc.Sentence = (
    "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), and "
    "the number of the step that computes it.",
)
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


# --- sizes ---------------------------------------------------------------------------------------

NAMED_SIZES = sorted(
    (
        NamedSize("d_model", roles.INPUT, 1, "features per token"),
        NamedSize("d_k", roles.QUERY, 1, "width of queries and keys in each head"),
        NamedSize("d_v", roles.VALUE, 1, "width of values in each head"),
        NamedSize("hidden units", roles.HIDDEN, 1, "width of the FFN's hidden layer"),
        NamedSize("vocabulary", roles.LOGITS, 1, "words, or pieces of words, that it predicts"),
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
