"""The steps of attention, in one head and for all heads: their goals and claims."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracer.decoder import roles
from tracer.decoder.operations import Copy
from tracer.decoder.roles import Role, SoftmaxRoles
from tracer.decoder.tape import Record
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext, the_counted
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps import (
    attention_claims,
    attention_reasons as why,
    illustrations,
    query_key_value,
)
from tracer.lesson.steps.claims import main_column
from tracer.lesson.steps.gradients import of_weights
from tracer.lesson.steps.kind import (
    CaptionOf,
    Gradient,
    InnerKind,
    Naming,
    RoleText,
    Step,
    SymbolOf,
    linear_sign,
)
from tracer.lesson.steps.masks import HIDDEN, mask_goal, still_weighted, why_masked
from tracer.lesson.steps.query_key_value import head_symbol, keys_of

W_O = ex.Symbol("W", "O")
Q_K_V = (ex.Symbol("Q"), ex.Symbol("K"), ex.Symbol("V"))
D_K_SYMBOL = ex.Symbol("d", "k")
SCALE_SYMBOL, DIVISOR = ex.Root(D_K_SYMBOL), ex.Symbol("c")


# --- scores, mask --------------------------------------------------------------------------------


def _scores_sign(step: Step, ctx: LessonContext) -> Sign:
    """Return the scores' sign in the diagram; a given d_k or root is not read from the shape."""
    shared = keys_of(step, ctx)
    keys = ex.Symbol("K", above=str(shared or ""))
    products = ex.MatrixProduct(ex.Symbol("Q"), ex.Transposed(keys))
    scale = ctx.value(step.place, roles.SCALE)
    if scale is None:
        return (products,)
    if ctx.value(step.place, roles.D_K) is None:
        return (ex.Quotient(products, ctx.number(scale)),)
    whole = ex.Number.of(step.records[0].inputs[0].shape[1])
    divisor = SCALE_SYMBOL if step.is_partly_given else ex.Root(whole)
    return (ex.Quotient(products, divisor),)


def _scores_goal(step: Step, ctx: LessonContext) -> Sentence:
    shared, d_k = keys_of(step, ctx), ctx.value(step.place, roles.D_K)
    scale = ctx.value(step.place, roles.SCALE)
    whose = f" of head {shared}" * (shared is not None)
    keys = f" are the dot products of its query and each key{whose}"
    products: Sentence = ("The scores of ", ctx.name, keys)
    if scale is None:
        return (*products, ".")
    divided: Sentence = (*products, ", divided by ")
    if d_k is None:
        return (*divided, ctx.symbols[scale.address], ", a constant of the model.")
    width = ctx.symbols[d_k.address]
    return (*divided, ex.Root(width), ", where ", width, " is the width of queries and keys.")


def _divisor(naming: Naming) -> ex.Expression:
    """√d_k, or the number that is set in its place."""
    return ex.Root(naming.inputs[0]) if naming.inputs else DIVISOR


SCORES_STEP = InnerKind(
    "scores",
    "Attention scores",
    "dot products of queries and keys",
    _scores_goal,
    {
        roles.DOT: RoleText(
            lambda naming: ex.MatrixProduct(naming.inputs[0], ex.Transposed(naming.inputs[1]))
        ),
        roles.D_K: RoleText(D_K_SYMBOL),
        roles.SCALE: RoleText(_divisor, "The divisor:"),
        roles.SCORES: RoleText(head_symbol("S"), "The score for the key of each token:"),
    },
    gradient=Gradient("at the attention scores", "each score and at its dot product"),
    sign=_scores_sign,
    short="scores",
    reasons=why.why_scaled,
    claim=attention_claims.best_key,
    illustrate=illustrations.query_and_keys,
)

MASK_STEP = InnerKind(
    "mask",
    "Mask",
    "which tokens may be attended to",
    mask_goal,
    {roles.MASKED: RoleText(lambda naming: ex.Sum(naming.inputs))},
    gradient=Gradient("at the masked scores", "each score after the mask"),
    sign=("mask",),
    reasons=why_masked,
    claim=attention_claims.names_hidden_tokens,
)


# --- softmax -------------------------------------------------------------------------------------


def softmax_goal(whose: Sentence, number: str, *, shifted: bool) -> Sentence:
    """Return the goal of a softmax of scores or logits; `whose` names a row of them."""
    goal = (
        f" into shares of 1: e to the power of each {number}, divided by the sum of these powers."
    )
    first = (
        f" The largest {number} of the row is subtracted first, because e to the power of a large "
        "number overflows; before rounding, this does not change the shares."
    )
    return ("The softmax turns ", *whose, goal + first * shifted)


def softmax_roles(
    softmax: SoftmaxRoles,
    shares: SymbolOf,
    caption: CaptionOf = None,
) -> dict[Role, RoleText]:
    """Return the texts of the roles of a softmax."""
    return {
        softmax.largest: RoleText(head_symbol("m"), "The largest number of the row:"),
        softmax.shifted: RoleText(
            lambda n: ex.Difference(*n.inputs), "Each number minus the largest:"
        ),
        softmax.exp: RoleText(lambda n: ex.Exponential(n.inputs[0]), "The exponentials:"),
        softmax.total: RoleText(head_symbol("Σ"), "Their sum:"),
        softmax.shares: RoleText(shares, caption),
    }


def _weights_caption(record: Record) -> str | None:
    beside = attention_claims.left_out(record)
    return f"The weights, without the share of the {beside}:" if beside else None


def _softmax_goal(step: Step, ctx: LessonContext) -> Sentence:
    shifted = ctx.value(step.place, roles.SHIFTED) is not None
    scores: Sentence = (*the_counted(step.last.output.shape[1], "score"), " of ", ctx.name)
    made = softmax_goal(scores, "score", shifted=shifted)
    beside = attention_claims.left_out(step.last)
    if beside:
        left_out = (
            f" The share of the {beside} is left out, so that, before rounding, the weights of a "
            "row add up to less than 1."
        )
        made = (*made, left_out)
    if attention_claims.crosses(step):
        return (*made, " No token is masked here.", *attention_claims.vanished(step, ctx))
    unseen, weights = (
        attention_claims.hidden_tokens(step, ctx),
        ctx.value(step.place, roles.WEIGHTS),
    )
    gathers = weights is None or beside or any(weights.numbers[ctx.row(weights)])
    if gathers or len(unseen) < len(ctx.names):
        zero: Sentence = (" ", ex.Exponential(HIDDEN), " is 0, so masked tokens get the weight 0.")
        left = still_weighted(step, ctx) or attention_claims.vanished(step, ctx)
        return (*made, *(zero if unseen else ()), *left)
    nothing = ", so the sum is 0 and nothing can be divided by it: all its weights are set to 0."
    return (*made, " Every key is masked for ", ctx.name, nothing)


OF_SOFTMAX = (
    "The softmax divides by the sum of the row, so raising one score lowers the other weights. "
    "Therefore the weighted mean of a row's gradients is subtracted from each of them, and the "
    "difference is multiplied by the weight. Where a weight is 0"
)


def _of_softmax(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    masked = ctx.value(replace(step.place, phase="forward"), roles.MASKED)
    hides = masked is not None and bool(np.isneginf(masked.array).any())
    return (
        (f"{OF_SOFTMAX}{', as at the masked scores' * hides}, the gradient at the score is 0.",),
    )


SOFTMAX_STEP = InnerKind(
    "softmax",
    "Softmax: the attention weights",
    "the scores as shares of 1",
    _softmax_goal,
    softmax_roles(roles.ATTENTION_SOFTMAX, head_symbol("A"), _weights_caption),
    gradient=Gradient("at the attention weights", "each attention weight", reasons=_of_softmax),
    sign=("softmax",),
    short="attention weights",
    reasons=why.why_exponential,
    claim=attention_claims.largest_shares,
    picture="Attention weights",
    illustrate=illustrations.softmax,
)

UNMASKED_STEP = InnerKind(
    "unmasked",
    "Without the mask",
    "the attention weights without the mask",
    lambda step, ctx: (
        *("The softmax of the scores of ", ctx.name),
        " is computed again, without the mask.",
    ),
    softmax_roles(roles.UNMASKED_SOFTMAX, head_symbol("U"), _weights_caption),
    gradient=None,
    sign=("no mask",),
    claim=attention_claims.leak_without_mask,
    groups=("mask", "softmax"),
    only_with="--no-mask",
    picture="Attention weights without the mask",
    illustrate=illustrations.weight_arcs,
)


# --- heads together ------------------------------------------------------------------------------


def _concat_goal(step: Step, ctx: LessonContext) -> Sentence:
    if len(step.last.inputs) == 1:
        goes_on = ctx.passed_on(step.last)
        alone = "There is only one head here, so nothing is concatenated"
        return (f"{alone}: its output is passed on{goes_on}.",)
    return ("The outputs of the heads are concatenated into one long row for each token.",)


def _side_by_side(naming: Naming) -> ex.Expression:
    return ex.Brackets(naming.inputs) if len(naming.inputs) > 1 else naming.inputs[0]


def _projection_goal(step: Step, ctx: LessonContext) -> Sentence:
    if isinstance(step.last.operation, Copy):
        goes_on = ctx.passed_on(step.last)
        by = " here, by which most models multiply the result of attention: "
        return ("There is no ", W_O, f"{by}the result is passed on{goes_on}.")
    weights = ctx.symbols[step.last.inputs[1].address]
    if ctx.heads_of(step.place) > 1:
        return (weights, " combines the results of the heads into one vector for each token.")
    return (weights, " maps the result of the head to one vector for each token.")


def _concat_sign(step: Step, ctx: LessonContext) -> Sign:
    """[O¹ O²], or [O¹ … O¹²]."""
    heads = tuple(ctx.symbols[value.address] for value in step.last.inputs)
    few = heads if len(heads) < 4 else (heads[0], ex.Symbol("…"), heads[-1])
    return (ex.Brackets(few) if len(few) > 1 else few[0],)


def _projection_sign(step: Step, ctx: LessonContext) -> Sign:
    return ("no ", W_O) if isinstance(step.last.operation, Copy) else linear_sign(step, ctx)


def _weighted_sign(step: Step, ctx: LessonContext) -> Sign:
    return (ex.MatrixProduct(ex.Symbol("A"), ex.Symbol("V", above=str(keys_of(step, ctx) or ""))),)


def _weighted_goal(step: Step, ctx: LessonContext) -> Sentence:
    shared = keys_of(step, ctx)
    whose = f" of head {shared}" * (shared is not None)
    each = f" is the sum of the values{whose}, each multiplied by its attention weight."
    return ("The output for ", ctx.name, each)


COLUMNS: Sentence = ("The head's output gets its own columns of the gradient.",)


WEIGHTED_SUM_STEP = InnerKind(
    "weighted_sum",
    "Weighted sum of the values",
    "the values, weighted by attention",
    _weighted_goal,
    {roles.HEAD_OUTPUT: RoleText(head_symbol("O"))},
    gradient=Gradient("at the weighted sum of the values", COLUMNS),
    sign=_weighted_sign,
    short="weighted sum",
    reasons=why.why_weighted_sum,
    claim=attention_claims.main_value,
)

CONCAT_STEP = InnerKind(
    "concat",
    "Concatenate the heads",
    "all heads in one row",
    _concat_goal,
    {roles.CONCAT: RoleText(_side_by_side)},
    gradient=Gradient("at the concatenated heads", "the concatenated heads"),
    sign=_concat_sign,
    short="concatenated heads",
    reasons=why.why_concatenated,
    illustrate=illustrations.heads,
)

PROJECTION_STEP = InnerKind(
    "projection",
    "Attention output",
    "the result of attention",
    _projection_goal,
    {
        roles.ATTENTION_OUTPUT: RoleText(
            lambda naming: ex.Call("Attention", Q_K_V if naming.typed else (naming.x,))
        )
    },
    gradient=Gradient(
        "at the attention output",
        "the attention output",
        (roles.W_O, roles.B_O),
        reasons=of_weights,
    ),
    sign=_projection_sign,
    reasons=why.why_w_o,
    claim=main_column,
)

KINDS = (
    *query_key_value.KINDS,
    *(SCORES_STEP, MASK_STEP, SOFTMAX_STEP, UNMASKED_STEP),
    *(WEIGHTED_SUM_STEP, CONCAT_STEP, PROJECTION_STEP),
)
