"""An attribution: the direction of a logit on its way back, and the part of each component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Difference, DivideBy, TimesRow
from tracer.decoder.part import all_norms
from tracer.decoder.roles import Derivation, Role, derived
from tracer.decoder.tape import Record
from tracer.decoder.token_rows import HEAD_OUTPUTS
from tracer.decoder.value import Value
from tracer.formula.expression import Number, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.steps.kind import (
    CaptionOf,
    Claim,
    InnerKind,
    RoleText,
    SentenceOf,
    Step,
    StepKind,
)


def attribution_kind(
    name: str,
    title: str,
    summary: str,
    goal: SentenceOf,
    *texts: Mapping[Role, RoleText],
    inner: bool = True,
    claim: Claim | None = None,
    everywhere: bool = False,
) -> StepKind:
    """Return a kind of step of an attribution: it has no gradient, and no sign in the diagram."""
    together = {role: text for each in texts for role, text in each.items()}
    return (InnerKind if inner else StepKind)(
        *(name, title, summary, goal, together),
        gradient=None,
        sign=None,
        claim=claim,
        everywhere=everywhere,
    )


def texts_of(derivation: Derivation, *of: Role, caption: CaptionOf = None) -> dict[Role, RoleText]:
    """Return the texts of what is derived from some roles; its symbol is a letter with a number."""
    return {derived(role, derivation): RoleText(Symbol("u"), caption) for role in of}


def _of_words(step: Step, ctx: LessonContext) -> Sentence:
    """Say what the direction is: a column of W_U or the difference of two, or columns of y."""
    records = {record.output.role: record for record in step.records}
    directions = (r for r in step.records if r.output.role.derivation == "logit_direction")
    *_, direction = directions  # of the logits before a division, then of what W_U reads
    of = direction.output.role.of
    assert of
    u, y = ctx.symbols[direction.output.address], ctx.symbols[of.name]
    of_y: Sentence = (" is the dot product of the token's row of ", y, " and ")
    if not direction.inputs:
        if np.count_nonzero(direction.output.numbers) > 1:
            ends = ", which is 1 in the first column, -1 in the second, and 0 elsewhere."
            return ("The difference of two columns", *of_y, u, ends)
        return ("An entry", *of_y, u, ", which is 1 in its column and 0 elsewhere.")
    several = any(isinstance(record.operation, Difference) for record in step.records)
    logit, columns, biases = (
        (
            "The difference of two logits",
            "the difference of their columns in ",
            "the difference of their entries of",
        )
        if several
        else ("A logit", "the word's column in ", "the word's entry of")
    )
    has_bias = derived(roles.B_U, "part") in records
    plus: Sentence = (f", plus {biases} ", Symbol("b", "U")) if has_bias else ()
    divides = direction.operation
    divided: Sentence = ()
    if isinstance(divides, DivideBy):
        divided = (", all divided by " if has_bias else ", divided by ", Number(divides.divisor))
    product: Sentence = (logit, *of_y, columns, Symbol("W", "U"), *plus, *divided)
    return (*product, ". The direction is ", u, ".")


DIRECTION_STEP = attribution_kind(
    "direction",
    "Direction of the result",
    "the direction whose dot product with the output is the result",
    _of_words,
    texts_of("word", roles.W_U, caption="The column of the word:"),
    texts_of("other_word", roles.W_U, caption="The column of the other word:"),
    texts_of("logit_direction", roles.UNSCALED_LOGITS, caption="Before the division:"),
    texts_of("logit_direction", roles.OUTPUT),
    texts_of("projected", roles.B_U, caption="The bias before the division:"),
    texts_of("word", roles.B_U, caption="The bias of the word:"),
    texts_of("other_word", roles.B_U, caption="The bias of the other word:"),
    texts_of("part", roles.B_U, caption="The bias is a part of its own:"),
    inner=False,
)


def _factor(record: Record) -> str:
    """γ, or 1 + γ."""
    operation = record.operation
    return "1 + γ" if isinstance(operation, TimesRow) and operation.unit_offset else "γ"


def _through_norm(step: Step, ctx: LessonContext) -> Sentence:
    """Say what the norm does to the direction."""
    records = {record.output.role: record for record in step.records}
    scaled = [
        f"multiplied by {_factor(records[role])} and "
        for norm in all_norms()
        if (role := derived(norm.standardized, "logit_direction")) in records
    ]
    centers = any(derived(norm.mean, "offset") in records for norm in all_norms())
    mean = (
        " LayerNorm subtracts the mean of a token's numbers; the dot product is the same if the "
        "mean of the direction is subtracted instead."
    )
    return (
        "The norm's divisor keeps its number from this pass. The direction is "
        f"{''.join(scaled)}divided by it.{mean * centers}",
    )


def direction_through(name: str, title: str, norm: roles.NormRoles) -> StepKind:
    """Return the kind of step that carries a direction back through a norm."""
    divided = "Divided by the norm's divisor:"
    return attribution_kind(
        name,
        title,
        "the direction before the norm",
        _through_norm,
        texts_of(
            "logit_direction",
            norm.standardized,
            caption=lambda record: f"Multiplied by {_factor(record)}:",
        ),
        texts_of("row", norm.std, norm.rms),
        texts_of("logit_direction", norm.deviation, caption=divided),
        texts_of("offset", norm.mean, caption="The mean of the direction:"),
        texts_of("before", norm.layer_norm, caption="Minus the mean:"),
        texts_of("before", norm.rms_norm, caption=divided),
        texts_of("part", norm.shift, caption="The part of β:"),
        inner=False,
    )


NORM_STEP = direction_through("direction_norm", "Direction before the norm", roles.SUB_LAYER_NORM)
NORM_AFTER_STEP = direction_through(
    "direction_norm_after", "Direction before the output norm", roles.NORM_AFTER
)


HEADS_STEP = attribution_kind(
    "direction_heads",
    "Direction at the heads",
    "the direction of the concatenated heads",
    lambda step, ctx: (
        "The output of attention is a product with ",
        Symbol("W", "O"),
        ", so the direction of the heads, side by side, is the direction of the output times the "
        "transposed weights.",
    ),
    texts_of("logit_direction", roles.CONCAT),
    texts_of("part", roles.B_O, caption="The part of the bias:"),
)


def _of_a_head(step: Step, ctx: LessonContext) -> Sentence:
    """Say what the part of a head is."""
    if any(record.output.role.derivation == "terms" for record in step.records):
        return (
            "The part of the head is a sum over its source tokens: the attention weight times the "
            "dot product of the value and the direction.",
        )
    return (
        *("The part of this head is the dot product of its output for ", ctx.name),
        " and its columns of the direction.",
    )


def largest_term(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which source token or hidden unit adds most to a part, in size."""
    terms = next((r.output for r in step.records if r.output.role.derivation == "terms"), None)
    if terms is None:
        return None
    row = FollowedRow.of(terms, ctx)
    ranked = row.sizes().ranked()
    if not ranked:
        return None
    number = row.printed(ranked[0])
    size = in_size(number) if isinstance(number, Number) else ""
    return (f"The largest term{size} is that of ", *row.name(ranked[0]), ": ", number, ".")


HEAD_STEP = attribution_kind(
    "head_part",
    "Part of the head",
    "what the head adds to the result",
    _of_a_head,
    texts_of("logit_direction", *HEAD_OUTPUTS),
    texts_of("row", *HEAD_OUTPUTS, roles.WEIGHTS),
    texts_of(
        "projected",
        roles.HEAD_OUTPUT,
        caption="The dot product of each value with the direction:",
    ),
    texts_of("terms", roles.HEAD_OUTPUT, caption="Times the attention weights:"),
    texts_of("part", *HEAD_OUTPUTS, caption="The part of the head:"),
    claim=largest_term,
)

OF_THE_FFN: Sentence = (
    *("The output of the FFN is the hidden layer times ", Symbol("W", "2"), ". The direction of "),
    "the hidden layer is therefore the direction of the output times the transposed weights: each "
    "entry is what an activation of 1 adds to the result.",
)

FFN_STEP = attribution_kind(
    "ffn_part",
    "Part of the FFN",
    "what the FFN adds to the result",
    OF_THE_FFN,
    texts_of("logit_direction", *roles.HIDDEN_LAYERS, caption="The direction of the hidden layer:"),
    texts_of("row", *roles.HIDDEN_LAYERS),
    texts_of("terms", *roles.HIDDEN_LAYERS, caption="Each unit times its direction:"),
    texts_of("part", *roles.HIDDEN_LAYERS, caption="The part of the hidden layer:"),
    texts_of("part", roles.B_2, caption="The part of the bias:"),
    claim=largest_term,
)

OF_ROWS: Sentence = (
    "The direction ends here. The part is the dot product of the token's row and the direction.",
)


def _input_kind(name: str, what: str, *of: Role) -> StepKind:
    """The kind of step for the part of what the first layer reads."""
    return attribution_kind(
        f"{name}_part",
        f"Part of the {what}",
        f"what the {what} adds to the result",
        OF_ROWS,
        texts_of("row", *of),
        texts_of("part", *of),
        inner=False,
    )


EMBEDDING_STEP = _input_kind("embedding", "embedding", roles.EMBEDDING, roles.SCALED_EMBEDDING)
POSITION_STEP = _input_kind("position", "position", roles.POSITION)
INPUT_STEP = _input_kind("input", "input vector", roles.INPUT)

VECTOR_STEP = attribution_kind(
    "vector_part", "Part of a vector", "what a vector adds to the result", OF_ROWS
)
"""The part of a vector at which a direction ends, as no other kind explains it."""


@cache
def direction_at(forward: StepKind) -> StepKind:
    """Return the kind of step for the direction at a value that the direction passes through."""
    value = f"{forward.title[0].lower()}{forward.title[1:]}"
    return attribution_kind(
        f"direction_{forward.name}",
        f"Direction at the {value}",
        f"the direction of the {value}",
        ("The direction passes back through this step, with what it multiplies by held fixed.",),
        inner=forward.inner,
    )


def largest_part(ctx: LessonContext, parts: Value, of: Sequence[int], what: str) -> Sentence | None:
    """Say which of some parts, in the order of their size, is the largest, if one is."""
    if len(of) < 2:
        return None
    first, second = (ctx.number(parts, i) for i in of[:2])
    if abs(first.value) == abs(second.value):
        return None
    return (f"{what}{in_size(first)} is ", first, f" ({parts.axes[0].labels[of[0]]}).")


def in_size(largest: Number) -> str:
    """` in size`, behind `the largest`, if the number is negative."""
    return " in size" if largest.value < 0 else ""


SUM_STEP = attribution_kind(
    "attribution",
    "Sum of the parts",
    "the sum of all parts",
    ("The parts ", Symbol("c"), ", the largest in size first:"),
    {
        roles.PARTS: RoleText(Symbol("c")),
        roles.PARTS_SUM: RoleText(Symbol("S"), "Their sum:"),
        roles.PAIRS_SUM: RoleText(Symbol("T"), "Their sum:"),
        roles.ROUNDING: RoleText(Symbol("ρ"), "Rounding error:"),
    },
    *(
        texts_of(which, roles.LOGITS, roles.UNCAPPED_LOGITS, roles.OUTPUT)
        for which in ("word", "other_word")
    ),
    texts_of("attributed", roles.LOGITS, roles.UNCAPPED_LOGITS, roles.OUTPUT, roles.SCORES),
    inner=False,
    everywhere=True,
)

KINDS = (
    *(DIRECTION_STEP, NORM_STEP, NORM_AFTER_STEP, HEADS_STEP, HEAD_STEP),
    *(FFN_STEP, VECTOR_STEP, INPUT_STEP, EMBEDDING_STEP, POSITION_STEP, SUM_STEP),
)
