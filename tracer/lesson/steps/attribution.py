"""An attribution: the direction of a logit on its way back, and the part of each component."""

from __future__ import annotations

from functools import cache

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Difference, DivideBy, TimesRow
from tracer.decoder.roles import Derivation, Role, derived
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Number, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.steps.kind import InnerKind, RoleText, Step, StepKind

ONLY_WITH = "decoder-trace attribute"

NORMS = (roles.SUB_LAYER_NORM, roles.NORM_AFTER)
"""The norms that a direction goes through."""


def texts_of(of: tuple[Role, ...], captions: dict[Derivation, str | None]) -> dict[Role, RoleText]:
    """The texts of what is derived from each of some roles."""
    return {
        derived(role, derivation): RoleText(Symbol("u"), caption)
        for role in of
        for derivation, caption in captions.items()
    }


def _of_words(step: Step, ctx: LessonContext) -> Sentence:
    """Say what the direction is: a column of W_U or the difference of two, or columns of y."""
    records = {record.output.role: record for record in step.records}
    direction = records[derived(roles.OUTPUT, "logit_direction")]
    u, y = ctx.symbols[direction.output.address], ctx.symbols[roles.OUTPUT.name]
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


DIRECTION_STEP = StepKind(
    "direction",
    "Direction of the result",
    "the direction whose dot product with the output is the result",
    _of_words,
    {
        **texts_of((roles.W_U,), {"word": "The column of the word:"}),
        **texts_of((roles.W_U,), {"other_word": "The column of the other word:"}),
        **texts_of((roles.UNSCALED_LOGITS,), {"logit_direction": "Before the division:"}),
        **texts_of((roles.OUTPUT,), {"logit_direction": None}),
        **texts_of(
            (roles.B_U,),
            {
                "projected": "The bias before the division:",
                "word": "The bias of the word:",
                "other_word": "The bias of the other word:",
                "part": "The bias is a part of its own:",
            },
        ),
    },
    gradient=None,
    sign=None,
    only_with=ONLY_WITH,
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
        for norm in NORMS
        if (role := derived(norm.standardized, "logit_direction")) in records
    ]
    centers = any(derived(norm.mean, "offset") in records for norm in NORMS)
    mean = (
        " LayerNorm subtracts the mean of a token's numbers; the dot product is the same if the "
        "mean of the direction is subtracted instead."
    )
    return (
        "The norm's divisor keeps its number from this pass. The direction is "
        f"{''.join(scaled)}divided by it.{mean * centers}",
    )


def _norm_kind(name: str, title: str, norm: roles.NormRoles) -> StepKind:
    """The kind of step that carries a direction back through a norm."""
    divided = "Divided by the norm's divisor:"
    return StepKind(
        name,
        title,
        "the direction before the norm",
        _through_norm,
        {
            derived(norm.standardized, "logit_direction"): RoleText(
                Symbol("u"), lambda record: f"Multiplied by {_factor(record)}:"
            ),
            **texts_of((norm.std, norm.rms), {"row": None}),
            **texts_of((norm.deviation,), {"logit_direction": divided}),
            **texts_of((norm.mean,), {"offset": "The mean of the direction:"}),
            derived(norm.layer_norm, "before"): RoleText(Symbol("u"), "Minus the mean:"),
            derived(norm.rms_norm, "before"): RoleText(Symbol("u"), divided),
            **texts_of((norm.shift,), {"part": "The part of β:"}),
        },
        gradient=None,
        sign=None,
        only_with=ONLY_WITH,
    )


NORM_STEP = _norm_kind("direction_norm", "Direction before the norm", roles.SUB_LAYER_NORM)
NORM_AFTER_STEP = _norm_kind(
    "direction_norm_after", "Direction before the output norm", roles.NORM_AFTER
)


HEADS_STEP = InnerKind(
    "direction_heads",
    "Direction at the heads",
    "the direction of the concatenated heads",
    lambda step, ctx: (
        "The output of attention is a product with ",
        Symbol("W", "O"),
        ", so the direction of the heads, side by side, is the direction of the output times the "
        "transposed weights.",
    ),
    texts_of((roles.CONCAT,), {"logit_direction": None})
    | texts_of((roles.B_O,), {"part": "The part of the bias:"}),
    gradient=None,
    sign=None,
    only_with=ONLY_WITH,
)


def _of_a_head(step: Step, ctx: LessonContext) -> Sentence:
    """Say what the part of a head is."""
    if any(record.output.role.derivation == "terms" for record in step.records):
        return (
            "A head's output is a weighted sum of values. Its part is the sum of what it takes "
            "from each source token: the attention weight times the dot product of the value and "
            "the direction.",
        )
    return (
        *("The part of this head is the dot product of its output for ", ctx.name),
        " and its columns of the direction.",
    )


def _largest_term(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which source token or hidden unit adds most to a part, in size."""
    terms = next((r.output for r in step.records if r.output.role.derivation == "terms"), None)
    if terms is None:
        return None
    row = FollowedRow.of(terms, ctx)
    ranked = row.sizes().ranked()
    if not ranked:
        return None
    largest = ("In size, the largest term is that of ", *row.name(ranked[0]), ": ")
    return (*largest, row.printed(ranked[0]), ".")


HEAD_STEP = InnerKind(
    "head_part",
    "Part of the head",
    "what the head adds to the result",
    _of_a_head,
    {
        **texts_of((roles.HEAD_OUTPUT,), {"logit_direction": None, "row": None}),
        **texts_of((roles.WEIGHTS,), {"row": None}),
        **texts_of(
            (roles.HEAD_OUTPUT,),
            {
                "projected": "The dot product of each value with the direction:",
                "terms": "Times the attention weights:",
                "part": "The part of the head:",
            },
        ),
    },
    gradient=None,
    sign=None,
    claim=_largest_term,
    only_with=ONLY_WITH,
)

OF_THE_FFN: Sentence = (
    *("The output of the FFN is the hidden layer times ", Symbol("W", "2"), ". The direction of "),
    "the hidden layer is therefore the direction of the output times the transposed weights: each "
    "entry is what an activation of 1 adds to the result.",
)

FFN_STEP = InnerKind(
    "ffn_part",
    "Part of the FFN",
    "what the FFN adds to the result",
    OF_THE_FFN,
    {
        **texts_of(roles.HIDDEN_LAYERS, {"logit_direction": "The direction of the hidden layer:"}),
        **texts_of(roles.HIDDEN_LAYERS, {"row": None, "terms": "Each unit times its direction:"}),
        **texts_of(roles.HIDDEN_LAYERS, {"part": "The part of the hidden layer:"}),
        **texts_of((roles.B_2,), {"part": "The part of the bias:"}),
    },
    gradient=None,
    sign=None,
    claim=_largest_term,
    only_with=ONLY_WITH,
)

OF_ROWS: Sentence = (
    "The direction ends here. The part is the dot product of the token's row and the direction.",
)


def _input_kind(name: str, what: str, *of: Role) -> StepKind:
    """The kind of step for the part of what the first layer reads."""
    return StepKind(
        f"{name}_part",
        f"Part of the {what}",
        f"what the {what} adds to the result",
        OF_ROWS,
        texts_of(of, {"row": None, "part": None}),
        gradient=None,
        sign=None,
        only_with=ONLY_WITH,
    )


EMBEDDING_STEP = _input_kind("embedding", "embedding", roles.EMBEDDING, roles.SCALED_EMBEDDING)
POSITION_STEP = _input_kind("position", "position", roles.POSITION)
INPUT_STEP = _input_kind("input", "input vector", roles.INPUT)

VECTORS = tuple(
    dict.fromkeys(
        (
            *(roles.CONCAT, roles.ATTENTION_OUTPUT, roles.PROJECTED, roles.FFN_OUTPUT),
            *(roles.RESIDUAL, roles.OUTPUT),
            *(role for norm in NORMS for role in (norm.layer_norm, norm.rms_norm, norm.deviation)),
        )
    )
)
"""The vectors at which a direction ends if they are given, or if an activation computes them."""

VECTOR_STEP = InnerKind(
    "vector_part",
    "Part of a vector",
    "what a vector adds to the result",
    OF_ROWS,
    texts_of(VECTORS, {"row": None, "part": None}),
    gradient=None,
    sign=None,
    only_with=ONLY_WITH,
)


@cache
def direction_at(forward: StepKind) -> StepKind:
    """Return the kind of step for the direction at a value that the direction passes through."""
    value = f"{forward.title[0].lower()}{forward.title[1:]}"
    return type(forward)(
        f"direction_{forward.name}",
        f"Direction at the {value}",
        f"the direction of the {value}",
        ("The direction passes back through this step, with what it multiplies by held fixed.",),
        {},
        gradient=None,
        sign=None,
        only_with=ONLY_WITH,
    )


def largest_part(parts: Value, ctx: LessonContext) -> Sentence | None:
    """Say which part is the largest in size, if one is; the parts are in this order."""
    first, *others = [ctx.number(parts, i) for i in range(min(parts.shape[0], 2))]
    if not others or abs(first.value) == abs(others[0].value):
        return None
    return ("In size, the largest part is ", first, f" ({parts.axes[0].labels[0]}).")


SUM_STEP = StepKind(
    "attribution",
    "Sum of the parts",
    "the sum of all parts",
    ("The parts, the largest in size first.",),
    {
        roles.PARTS: RoleText(Symbol("c")),
        roles.PARTS_SUM: RoleText(Symbol("S"), "Their sum:"),
        roles.PAIRS_SUM: RoleText(Symbol("T"), "Their sum:"),
        roles.ROUNDING: RoleText(Symbol("ρ"), "Rounding error:"),
        **texts_of(
            (roles.LOGITS, roles.UNCAPPED_LOGITS, roles.OUTPUT),
            {"word": None, "other_word": None, "attributed": None},
        ),
        **texts_of((roles.SCORES,), {"attributed": None}),
    },
    gradient=None,
    sign=None,
    claim=lambda step, ctx: largest_part(step.records[0].output, ctx),
    only_with=ONLY_WITH,
    everywhere=True,
)

KINDS = (
    *(DIRECTION_STEP, NORM_STEP, NORM_AFTER_STEP, HEADS_STEP, HEAD_STEP),
    *(FFN_STEP, VECTOR_STEP, INPUT_STEP, EMBEDDING_STEP, POSITION_STEP, SUM_STEP),
)
