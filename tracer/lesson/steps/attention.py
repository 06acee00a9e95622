"""Attention, of one head and of all: what each of its steps is for, and what its result says."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from tracer.decoder.operations import Append, Copy, Pinned, Reused
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
)
from tracer.lesson.document import Inline, Name, Percent, Sentence, Sign
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
from tracer.lesson.steps.claims import best
from tracer.lesson.steps.kind import Kind, Naming, Step, SymbolOf, Telling
from tracer.lesson.steps.signs import linear
from tracer.lesson.told import Told, listed
from tracer.names import distinct

W_O, HIDDEN = Symbol("W", "O"), Number(Decimal("-Infinity"))
D_K_SYMBOL = Symbol("d", "k")
SCALE_SYMBOL = Root(D_K_SYMBOL)
EXPONENTIALS, THEIR_SUM = "The exponentials:", "Their sum:"
DIVIDED = "Each of them divided by the sum:"


def of_head(letter: str) -> SymbolOf:
    """A letter with the head's number."""
    return lambda naming: Symbol(letter, above=naming.head)


def power(naming: Naming) -> Expression:
    """e to the operand."""
    return Exponential(naming.inputs[0])


def crosses(step: Step) -> bool:
    """Whether keys and values are the encoder's."""
    return step.place.sub_layer == "cross_attention"


# --- query, key, value ---------------------------------------------------------------------------


def _query_goal(step: Step, told: Told) -> Sentence:
    if crosses(step):
        return ("The query is what a token of the decoder asks of the encoder's tokens.",)
    return ("The query is what a token asks of the others.",)


def _key_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Reused):
        return ("The keys of the encoder's tokens are reused from the turn before.",)
    if crosses(step):
        made = "The keys are made of the encoder's vectors: what the input's tokens can be found by"
        return (f"{made}.",)
    return ("The key is what a token can be found by: queries are compared with it.",)


def _value_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Reused):
        return ("The values of the encoder's tokens are reused from the turn before.",)
    if crosses(step):
        return ("The values are made of the encoder's vectors too: what its tokens pass on.",)
    return ("The value is what a token passes on to those that attend to it.",)


def _three_vectors(step: Step, told: Told) -> Sentence:
    three = (
        "Three vectors are made of each token, because what it looks for, what it can be found by "
        "and what it hands over are different things. Each is the token's vector times a matrix "
        "of weights; the weights are learned, and they are the same for every token."
    )
    if told.heads < 2:
        return (three,)
    return (
        f"{three} There are several heads, each with weights of its own, because one softmax can "
        "favour only one thing at a time: with more of them a token can look for several at once.",
    )


def _needed_of_all(step: Step, told: Told) -> Sentence:
    return (
        "It is a vector of its own because being found and looking are not the same: “pizza” may "
        "look for who eats it, and be looked for by what is eaten. The query of one token will "
        "meet the keys of all, so that every row of the table below is needed.",
    )


def _handed_over(step: Step, told: Told) -> Sentence:
    return (
        "If the key were handed over too, what makes a token easy to find would be all that it "
        "could say; therefore it has a value beside it.",
    )


def _why_scaled(step: Step, told: Told) -> Sentence:
    return (
        "The dot product is large where both vectors are large in the same place. It is divided "
        "by ",
        *(SCALE_SYMBOL, " because the more numbers are multiplied, the larger the sums become: "),
        "the softmax behind it would give nearly everything to one token, and could not learn to "
        "do otherwise, since where a share is almost 1 or 0 a small change of the scores changes "
        "almost nothing.",
    )


def _why_masked(step: Step, told: Told) -> Sentence:
    if told.masks is None:
        return ()
    return (
        "In training all positions are computed at once, and the word that a position is to guess "
        "stands right behind it: without the mask it could look the answer up instead of learning "
        "to predict it. In use there is nothing behind it yet, so a model that had learned to "
        "look there would be lost.",
    )


def _why_exponential(step: Step, told: Told) -> Sentence:
    return (
        "The exponential makes every number positive, so that they can be shares of a whole, and "
        "it keeps the order: a larger score is a larger share. A score that is larger by 1 counts "
        "e times as much, about 2.7 times.",
    )


def _why_weighted(step: Step, told: Told) -> Sentence:
    return (
        "This is the one place where something goes from token to token: everything else in the "
        "decoder is done to each token by itself. The sum has the width of a value, however many "
        "tokens there are.",
    )


def _why_mixed(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Copy):
        return ()
    heads = (
        "Each head has written into columns of its own; "
        if told.heads_of(step.place) > 1
        else "The head has written into columns of its own; "
    )
    return (
        *(heads, W_O, " turns them into what the token's vector is made of, so that the result "),
        "can be added to it. Its weights are learned like the others.",
    )


def _reused(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    if not isinstance(step.last.operation, Append):
        return None
    old, new = (list(value.axes[0].labels) for value in step.last.inputs)
    return (
        *(
            f"The {step.kind.name}s of ",
            *listed(old),
            " were computed before and are reused; only ",
        ),
        *(*listed(new), " is new." if len(new) == 1 else " are new."),
    )


QUERY_STEP = Kind(
    "query",
    "Query",
    "what each token asks",
    _query_goal,
    {QUERY: Telling(of_head("Q"))},
    sign=(Symbol("Q"),),
    reason=_three_vectors,
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
    reason=_needed_of_all,
    claim=_reused,
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
    reason=_handed_over,
    claim=_reused,
    groups=("qkv",),
    inner=True,
)


# --- scores, mask --------------------------------------------------------------------------------


def _best_key(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    return best(step, told, printed, "The query of ", " fits the key of ", " best: ")


def _mask_goal(step: Step, told: Told) -> Sentence:
    ahead: Sentence = (
        "A token may look at itself and back, never ahead: the score of every later token becomes ",
        *(HIDDEN, ", the others stay."),
    )
    if told.padding is None:
        return ahead
    fills = "”, which only fills up the sequence."
    return (*ahead, " So does the score of “", Name(told.padding), fills)


def _hidden(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    row = step.last.output.numbers[told.row(step.last.output)]
    hidden = [name for name, x in zip(told.names, row, strict=True) if x == HIDDEN.value]
    if not hidden:
        return ("From ", told.who, " nothing is hidden.")
    if len(hidden) == len(told.names):
        return ("From ", told.who, " everything is hidden, itself too.")
    return (told.who, " does not see ", *listed(hidden), ".")


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
    reason=_why_scaled,
    claim=_best_key,
    inner=True,
)

MASK_STEP = Kind(
    "mask",
    "Causal mask",
    "later tokens are hidden",
    _mask_goal,
    {MASKED: Telling(lambda naming: Sum(naming.inputs))},
    sign=("mask",),
    reason=_why_masked,
    claim=_hidden,
    inner=True,
)


# --- softmax -------------------------------------------------------------------------------------


def _softmax_goal(step: Step, told: Told) -> Sentence:
    shares = "The scores become shares: positive, and together 1. "
    if crosses(step):
        return (f"{shares}No token is hidden here.",)
    return (shares, Exponential(HIDDEN), " is 0.")


def _shares(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    value = step.last.output
    names = distinct(value.axes[1].labels)
    shares = list(value.computed[told.row(value)])
    if not any(shares):
        return (
            *("Every key is hidden from ", told.who, ": the sum is 0, and there is nothing to "),
            "divide. All its weights are set to 0, so it gathers nothing.",
        )

    def receiver(index: int) -> Inline:
        itself = not crosses(step) and index == told.token
        return "itself" if itself else Name(names[index])

    order = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    first, second = order[0], order[1] if len(order) > 1 else None
    if second is None or not shares[second]:
        return ("All of the attention of ", told.who, " goes to ", receiver(first), ".")
    share = Percent(printed[first])
    if shares[first] == shares[second]:
        alike = [names[i] for i in sorted(order) if shares[i] == shares[first]]
        to = (" go to ", *listed(alike), ": ")
        return ("The largest shares of ", told.who, *to, share, " each.")
    to = (" of its attention to ", receiver(first))
    then: Sentence = (", then ", Percent(printed[second]), " to ", receiver(second))
    return (told.who, " gives ", share, *to, *then, ".")


def _leak(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    later = told.names[told.token + 1 :]
    if not later:
        return (told.who, " comes last: the mask takes nothing from it.")
    share = sum((number.value for number in printed[told.token + 1 :]), Decimal(0))
    return (
        *("Without the mask ", told.who, " would give ", Percent(Number(share))),
        *(" of its attention to ", *listed(later), ", which come later: data leakage, for in "),
        "use they are not there yet.",
    )


SOFTMAX_STEP = Kind(
    "softmax",
    "Softmax: the attention weights",
    "scores become weights that sum to 1",
    _softmax_goal,
    {
        EXP: Telling(power, EXPONENTIALS),
        EXP_SUM: Telling(of_head("Σ"), THEIR_SUM),
        WEIGHTS: Telling(of_head("A"), DIVIDED),
    },
    sign=("softmax",),
    reason=_why_exponential,
    claim=_shares,
    inner=True,
    picture="Attention weights",
)

UNMASKED_STEP = Kind(
    "unmasked",
    "Without the mask",
    "the weights if nothing were hidden",
    ("The same scores without the mask: what the token would look at if it could look ahead.",),
    {
        UNMASKED_EXP: Telling(power, EXPONENTIALS),
        UNMASKED_EXP_SUM: Telling(of_head("Σ"), THEIR_SUM),
        UNMASKED_WEIGHTS: Telling(of_head("U"), DIVIDED),
    },
    sign=("no mask",),
    claim=_leak,
    groups=("mask", "softmax"),
    inner=True,
    only_with="--no-mask",
    picture="Attention weights without the mask",
)


# --- heads together ------------------------------------------------------------------------------


def _concat_goal(step: Step, told: Told) -> Sentence:
    if len(step.last.inputs) == 1:
        return ("There is only one head: its output goes on as it is.",)
    return ("The outputs of the heads stand side by side, one long row for each token.",)


def _side_by_side(naming: Naming) -> Expression:
    return Brackets(naming.inputs) if len(naming.inputs) > 1 else naming.inputs[0]


def _projection_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Copy):
        return ("There is no ", W_O, " here: the result of attention is passed on as it is.")
    return (W_O, " mixes what the heads have found into one vector for each token.")


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
    ("Each value counts as much as its attention weight says.",),
    {HEAD_OUTPUT: Telling(of_head("O"))},
    sign=(MatrixProduct(Symbol("A"), Symbol("V")),),
    reason=_why_weighted,
    inner=True,
)

CONCAT_STEP = Kind(
    "concat",
    "Concatenate the heads",
    "the heads side by side",
    _concat_goal,
    {CONCAT: Telling(_side_by_side)},
    sign=_concat_sign,
    inner=True,
)

PROJECTION_STEP = Kind(
    "projection",
    "Attention output",
    "what attention adds for each token",
    _projection_goal,
    {ATTENTION_OUTPUT: Telling(_of_all_heads)},
    sign=_projection_sign,
    reason=_why_mixed,
    inner=True,
)

KINDS = (
    *(QUERY_STEP, KEY_STEP, VALUE_STEP, SCORES_STEP, MASK_STEP, SOFTMAX_STEP, UNMASKED_STEP),
    *(WEIGHTED_SUM_STEP, CONCAT_STEP, PROJECTION_STEP),
)
