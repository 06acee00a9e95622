"""Attention, of one head and of all: what each of its steps is for, and what its result says."""

from __future__ import annotations

from decimal import Decimal

from tracer.decoder.operations import Copy, MatMul, Pinned, Reused
from tracer.decoder.roles import (
    ATTENTION_OUTPUT,
    CONCAT,
    D_K,
    DOT,
    EXP,
    EXP_SUM,
    HEAD_OUTPUT,
    KEY,
    KEYS,
    MASK,
    MASKED,
    QUERY,
    SCALE,
    SCORES,
    UNMASKED_EXP,
    UNMASKED_EXP_SUM,
    UNMASKED_WEIGHTS,
    VALUE,
    VALUES,
    WEIGHTS,
    Place,
)
from tracer.decoder.tape import Value
from tracer.lesson.document import Name, Sentence, Sign
from tracer.lesson.expression import (
    Brackets,
    Call,
    Exponential,
    Expression,
    MatrixProduct,
    Number,
    Quotient,
    Root,
    Sum,
    Symbol,
    Transposed,
)
from tracer.lesson.steps import attention_reasons as why
from tracer.lesson.steps.attention_claims import (
    asks,
    best_key,
    crosses,
    found_by,
    hidden,
    leak,
    main_value,
    not_seen,
    passes_on,
    shares,
)
from tracer.lesson.steps.claims import main_source
from tracer.lesson.steps.kind import Kind, Naming, Step, SymbolOf, Telling
from tracer.lesson.steps.signs import linear
from tracer.lesson.told import Told

W_O, HIDDEN = Symbol("W", "O"), Number(Decimal("-Infinity"))
D_K_SYMBOL = Symbol("d", "k")
SCALE_SYMBOL = Root(D_K_SYMBOL)
EXPONENTIALS, THEIR_SUM = "The exponentials:", "Their sum:"
DIVIDED = "Each of them, divided by the sum:"


def of_head(letter: str) -> SymbolOf:
    """A letter with the head's number."""
    return lambda naming: Symbol(letter, above=naming.head)


def power(naming: Naming) -> Expression:
    """e to the operand."""
    return Exponential(naming.inputs[0])


# --- query, key, value ---------------------------------------------------------------------------


def _query_goal(step: Step, told: Told) -> Sentence:
    if crosses(step):
        return ("The query is what a token of the decoder asks of the encoder's tokens.",)
    return ("The query is what a token asks.",)


def _key_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Reused):
        return ("The keys of the encoder's tokens are reused from the turn before.",)
    if crosses(step):
        return ("The key is what a token of the encoder can be found by.",)
    return ("The key is what a token can be found by: queries are compared with it.",)


def _value_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Reused):
        return ("The values of the encoder's tokens are reused from the turn before.",)
    if crosses(step):
        return ("The value is what a token of the encoder passes on.",)
    return ("The value is what a token passes on to those that attend to it.",)


QUERY_STEP = Kind(
    "query",
    "Query",
    "what each token asks",
    _query_goal,
    {QUERY: Telling(of_head("Q"))},
    sign=(Symbol("Q"),),
    reasons=why.three_vectors,
    claim=asks,
    groups=("qkv",),
    inner=True,
)

KEY_STEP = Kind(
    "key",
    "Key",
    "what each token can be found by",
    _key_goal,
    {KEY: Telling(of_head("K")), KEYS: Telling(of_head("K"))},
    sign=(Symbol("K"),),
    reasons=(why.OF_ITS_OWN,),
    claim=found_by,
    groups=("qkv",),
    inner=True,
)

VALUE_STEP = Kind(
    "value",
    "Value",
    "what each token passes on",
    _value_goal,
    {VALUE: Telling(of_head("V")), VALUES: Telling(of_head("V"))},
    sign=(Symbol("V"),),
    reasons=(why.HANDED_OVER,),
    claim=passes_on,
    groups=("qkv",),
    inner=True,
)


# --- scores, mask --------------------------------------------------------------------------------


def _mask_goal(step: Step, told: Told) -> Sentence:
    mask = told.value(Place(), MASK)
    if mask is None or not _is_causal(mask, told):
        return ("The mask is added to the scores. Where it is ", HIDDEN, ", a token is not seen.")
    ahead: Sentence = (
        "A token may look at itself and back, never ahead: the score of every later token becomes ",
        *(HIDDEN, ", the others stay."),
    )
    if told.padding is None:
        return ahead
    return (*ahead, " So does the score of ", Name(told.padding), ", which only fills up.")


def _is_causal(mask: Value, told: Told) -> bool:
    """Whether it hides what comes later and what only fills up, and nothing else."""
    tokens, padding = told.trace.tokens, told.trace.scenario.padding
    first = len(tokens) - len(mask.numbers)
    return all(
        entry == (HIDDEN.value if j > i or tokens[j] == padding else 0)
        for i, row in enumerate(mask.numbers, first)
        for j, entry in enumerate(row)
    )


def _scores_sign(step: Step, told: Told) -> Sign:
    """A pinned d_k or root has no number that the shape tells."""
    given = any(isinstance(record.operation, Pinned) for record in step.records)
    divisor = SCALE_SYMBOL if given else Root(Number.of(step.records[0].inputs[0].numbers.shape[1]))
    return (Quotient(MatrixProduct(Symbol("Q"), Transposed(Symbol("K"))), divisor),)


SCORES_STEP = Kind(
    "scores",
    "Attention scores",
    "every query with every key",
    (
        "A query asks and every key answers: their dot product says how well the two fit. It is "
        "divided by the root of ",
        *(D_K_SYMBOL, ", the number of columns of both."),
    ),
    {
        DOT: Telling(lambda naming: MatrixProduct(naming.inputs[0], Transposed(naming.inputs[1]))),
        D_K: Telling(D_K_SYMBOL),
        SCALE: Telling(
            lambda naming: Root(naming.inputs[0]), "What the dot products are divided by:"
        ),
        SCORES: Telling(of_head("S"), "The query with the key of each token:"),
    },
    sign=_scores_sign,
    reasons=(why.SCALED,),
    claim=best_key,
    inner=True,
)

MASK_STEP = Kind(
    "mask",
    "Mask",
    "which tokens may be seen",
    _mask_goal,
    {MASKED: Telling(lambda naming: Sum(naming.inputs))},
    sign=("mask",),
    reasons=why.masked,
    claim=not_seen,
    inner=True,
)


# --- softmax -------------------------------------------------------------------------------------


def _softmax_goal(step: Step, told: Told) -> Sentence:
    made = "The scores become shares of 1: e to the power of each, divided by the sum of them all."
    if crosses(step):
        return (f"{made} No token is hidden here.",)
    unseen, weights = hidden(step, told), told.value(step.place, WEIGHTS)
    gathers = weights is None or any(weights.numbers[told.row(weights)])
    if gathers or len(unseen) < len(told.names):
        return (made, *((" ", Exponential(HIDDEN), " is 0.") if unseen else ()))
    nothing = ": its sum is 0, and there is nothing to divide. All its weights are set to 0."
    return (f"{made} Every key is hidden from ", told.who, nothing)


SOFTMAX_STEP = Kind(
    "softmax",
    "Softmax: the attention weights",
    "the scores as shares",
    _softmax_goal,
    {
        EXP: Telling(power, EXPONENTIALS),
        EXP_SUM: Telling(of_head("Σ"), THEIR_SUM),
        WEIGHTS: Telling(of_head("A"), DIVIDED),
    },
    sign=("softmax",),
    reasons=(why.EXPONENTIAL,),
    claim=shares,
    inner=True,
    picture="Attention weights",
)

UNMASKED_STEP = Kind(
    "unmasked",
    "Without the mask",
    "the weights if nothing were hidden",
    ("The same scores without the mask: what a token would look at if nothing were hidden.",),
    {
        UNMASKED_EXP: Telling(power, EXPONENTIALS),
        UNMASKED_EXP_SUM: Telling(of_head("Σ"), THEIR_SUM),
        UNMASKED_WEIGHTS: Telling(of_head("U"), DIVIDED),
    },
    sign=("no mask",),
    claim=leak,
    groups=("mask", "softmax"),
    inner=True,
    only_with="--no-mask",
    picture="Attention weights without the mask",
)


# --- heads together ------------------------------------------------------------------------------


def _concat_goal(step: Step, told: Told) -> Sentence:
    if len(step.last.inputs) == 1:
        return ("There is only one head here: its output goes on as it is.",)
    return ("The outputs of the heads stand side by side, one long row for each token.",)


def _side_by_side(naming: Naming) -> Expression:
    return Brackets(naming.inputs) if len(naming.inputs) > 1 else naming.inputs[0]


def _projection_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Copy):
        return ("There is no ", W_O, " here: the result of attention is passed on as it is.")
    if told.heads_of(step.place) > 1:
        return (W_O, " mixes what the heads have found into one vector for each token.")
    return (W_O, " makes a vector for each token of what the head has found.")


def _main_column(step: Step, told: Told) -> Sentence | None:
    """Which column of the heads most of the largest number comes from."""
    if not isinstance(step.last.operation, MatMul):
        return None
    columns = told.labels(step.last.inputs[0].axes[1])
    return main_source(step.last, told, lambda index: (Name(columns[index]),), len(columns))


def _of_all_heads(naming: Naming) -> Expression:
    return Call("Attention", (naming.x,))


def _concat_sign(step: Step, told: Told) -> Sign:
    """[O¹ O²], or [O¹ … O¹²]."""
    heads = tuple(told.symbols[value.address] for value in step.last.inputs)
    few = heads if len(heads) < 4 else (heads[0], Symbol("…"), heads[-1])
    return (Brackets(few) if len(few) > 1 else few[0],)


def _projection_sign(step: Step, told: Told) -> Sign:
    return ("no ", W_O) if isinstance(step.last.operation, Copy) else linear(step, told)


WEIGHTED_SUM_STEP = Kind(
    "weighted_sum",
    "Weighted sum of the values",
    "the values, each with its weight",
    ("The values are added up, and each counts as much as its attention weight says.",),
    {HEAD_OUTPUT: Telling(of_head("O"))},
    sign=(MatrixProduct(Symbol("A"), Symbol("V")),),
    reasons=(why.FROM_TOKEN_TO_TOKEN,),
    claim=main_value,
    inner=True,
)

CONCAT_STEP = Kind(
    "concat",
    "Concatenate the heads",
    "the heads side by side",
    _concat_goal,
    {CONCAT: Telling(_side_by_side)},
    sign=_concat_sign,
    reasons=why.not_added,
    inner=True,
)

PROJECTION_STEP = Kind(
    "projection",
    "Attention output",
    "what attention gives each token",
    _projection_goal,
    {ATTENTION_OUTPUT: Telling(_of_all_heads)},
    sign=_projection_sign,
    reasons=why.mixed,
    claim=_main_column,
    inner=True,
)

KINDS = (
    *(QUERY_STEP, KEY_STEP, VALUE_STEP, SCORES_STEP, MASK_STEP, SOFTMAX_STEP, UNMASKED_STEP),
    *(WEIGHTED_SUM_STEP, CONCAT_STEP, PROJECTION_STEP),
)
