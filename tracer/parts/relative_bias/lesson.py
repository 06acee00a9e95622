"""The steps of relative biases: the bucket of each offset, and what is added to the scores."""

from __future__ import annotations

import math

from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Block, Sentence, Table
from tracer.lesson.steps.gradients import learns
from tracer.lesson.steps.inputs import without_positions
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step, StepKind
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.parts.relative_bias import decoder
from tracer.parts.relative_bias.decoder import relative_bias
from tracer.parts.relative_bias.scenario import Buckets

MOST_OFFSETS = 4
"""The most offsets of a bucket that are listed; of more, the first and the last."""

TABLE, OF_OFFSETS = Symbol("T"), Symbol("R")
DISTANCE, LOGARITHMIC = Symbol("d"), Symbol("ℓ")


def _buckets(ctx: LessonContext) -> Buckets:
    found = relative_bias(ctx.tower)
    assert found
    return found[1]


def _buckets_goal(step: Step, ctx: LessonContext) -> Sentence:
    buckets = _buckets(ctx)
    exact = buckets.exact
    apart = (
        "Distance 0 has a bucket of its own."
        if exact == 1
        else f"Each distance below {exact} has a bucket of its own."
    )
    later = (
        f" For later tokens, {buckets.number} is added."
        if buckets.bidirectional
        else " All later tokens have bucket 0, like the token itself."
    )
    return (
        "The offset is the key's position minus the query's: −1 is the token before. The offset "
        f"decides which bucket of the table a score's bias comes from. {apart}",
        *_of_larger(step, ctx),
        later,
    )


def _of_larger(step: Step, ctx: LessonContext) -> Sentence:
    """Say how the bucket of a larger distance follows from its logarithm, if there is one."""
    logarithm = ctx.value(step.place, decoder.LOGARITHMIC)
    if logarithm is None:
        return ()
    buckets, which = _buckets(ctx), ctx.symbols[logarithm.address]
    printed = [ctx.number(logarithm, i).value for i in range(len(logarithm.numbers))]
    far = [int(label) for label in logarithm.axes[0].labels]
    alike = all(
        math.floor(number) == buckets.of_distance(distance)
        for number, distance in zip(printed, far, strict=True)
    )
    unrounded = "" if alike else " of the unrounded number"
    of, symbol = " The bucket of a larger distance ", DISTANCE
    last = f", and from {buckets.max_distance} on, it is {buckets.number - 1}, the last one."
    return (of, symbol, " is the whole part", *([" of ", which] if alike else [unrounded]), last)


def _table(step: Step, ctx: LessonContext) -> list[Block]:
    """Each bucket with its offsets, the nearest first, as far as these tokens have them."""
    of_offsets = step.last.output
    offsets: dict[int, list[str]] = {}
    for offset in sorted(of_offsets.axes[0].labels, key=lambda each: abs(_number(each))):
        offsets.setdefault(_buckets(ctx).of_offset(_number(offset)), []).append(offset)
    rows = [(str(number), _enumerated(offsets[number])) for number in sorted(offsets)]
    return [Table.of(("bucket", "offsets"), rows), ctx.matrix(of_offsets)]


def _number(offset: str) -> int:
    return int(offset.replace("−", "-"))


def _enumerated(offsets: list[str]) -> str:
    if len(offsets) <= MOST_OFFSETS:
        return ", ".join(offsets)
    return f"{offsets[0]} to {offsets[-1]}"


def _goal(step: Step, ctx: LessonContext) -> Sentence:
    bias = step.last.inputs[1]
    begins = "Each score gets the bias of its offset"
    if bias.place != step.place:
        return (f"{begins}. ", ctx.symbols[bias.address], " is the same in all layers.")
    (of_offsets,) = ctx.trace.producers[bias].inputs
    column = f"column {step.place.head} of " * (ctx.heads_of(step.place) > 1)
    return (f"{begins}, from {column}", ctx.symbols[of_offsets.address], ".")


OF_OFFSET: Sentence = (
    "The bias of two tokens depends only on how far apart they are and which comes first, not on "
    "what they are.",
)
OWN_COLUMNS: Sentence = (
    "Each head has its own biases, so that one head can favor the token before and another one "
    "distant tokens.",
)


def _why_biases(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    return (OF_OFFSET, *([OWN_COLUMNS] if ctx.heads_of(step.place) > 1 else []))


def _why_buckets(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    table = step.last.inputs[0]
    rows = f"Distant tokens share buckets, so the {table.shape[0]} rows of "
    shared = (rows, ctx.symbols[table.address], " are enough for a text of any length.")
    return (*without_positions(ctx), shared)


def _at_the_table(step: Step, ctx: LessonContext) -> Sentence:
    learned = " Each entry of the table adds up the gradients of its bucket's offsets."
    return (f"Compute the gradient at the bias of each offset.{learned * learns(step)}",)


BUCKETS_STEP = StepKind(
    "relative_position",
    "Biases of the offsets",
    "the bias of each offset",
    _buckets_goal,
    {
        decoder.LOGARITHMIC: RoleText(LOGARITHMIC, "The larger distances on a logarithmic scale:"),
        decoder.OF_OFFSETS: RoleText(OF_OFFSETS, "The bias of each offset, for each head:"),
    },
    gradient=Gradient("at the biases of the offsets", _at_the_table, (decoder.TABLE,)),
    sign=("offset → ", OF_OFFSETS),
    short="offset biases",
    reasons=_why_buckets,
    outcome=_table,
    aside=True,
)

BIAS_STEP = InnerKind(
    "relative_bias",
    "Relative bias",
    "the scores plus the bias of each offset",
    _goal,
    {
        decoder.BIAS: RoleText(head_symbol("B"), "The bias of each pair of tokens:"),
        decoder.BIASED: RoleText(head_symbol("S", "B"), "Each score plus its bias:"),
    },
    gradient=Gradient("at the scores with their bias", "each score with its bias"),
    sign=("+ ", Symbol("B")),
    reasons=_why_biases,
)

PART = LessonPart(
    kinds={"position": (BUCKETS_STEP,), "scores": (BIAS_STEP,)},
    operands={decoder.TABLE: TABLE, decoder.FAR: DISTANCE},
)
