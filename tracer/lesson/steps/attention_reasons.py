"""Reasons for the steps of attention."""

from __future__ import annotations

import numpy as np

from tracer.decoder import roles
from tracer.decoder.operations import Copy
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext, counted
from tracer.lesson.document import Name, Plain, Sentence
from tracer.lesson.steps.attention_claims import crosses, hidden_tokens
from tracer.lesson.steps.kind import Step

THEIR_WEIGHTS = (
    " Queries, keys and values each have a weight matrix, which all tokens share, so that its size "
    "does not depend on the length of the text."
)

ACROSS: Sentence = (
    "Queries come from the decoder's tokens, keys and values from the encoder's tokens. Every "
    "decoder token can attend to every encoder token.",
)

MIXED: Sentence = ("Each column of ", Symbol("W", "O"), " weights the numbers of all heads.")

WIDTH_OF_THE_INPUT: Sentence = (
    *("The result of ", Symbol("W", "O"), " is as wide as the sub-layer's input, so that the "),
    "residual connection can add the two.",
)

CONCATENATED = "Because they are concatenated, "
NOT_ADDED: Sentence = (CONCATENATED, Symbol("W", "O"), " can weight each head separately.")
NOT_ADDED_YET: Sentence = (f"{CONCATENATED}later weights can treat each head separately.",)


def three_vectors(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why there are queries, keys and values, of the encoder if so, and several heads."""
    several = [_several_heads(step, ctx)] if ctx.heads_of(step.place) > 1 else []
    weights = "" if ctx.is_typed_at(step.place) else THEIR_WEIGHTS
    compared = f" with keys, and adds up values.{weights}"
    three: Sentence = ("Attention compares the query of ", ctx.name, compared)
    return (three, *([ACROSS] if crosses(step) else []), *several)


def why_own_keys(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why a key is not the query."""
    found = " be found by something other than what it looks for."
    return (("A separate key lets ", _whose(step, ctx), found),)


def why_own_values(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why a value is not the key."""
    passed_on = " pass on something other than what makes it easy to find."
    return (("A separate value lets ", _whose(step, ctx), passed_on),)


def _whose(step: Step, ctx: LessonContext) -> Name | Plain:
    """The token of a key; of the encoder's, none is followed."""
    return Plain("an encoder token") if crosses(step) else ctx.name


def _several_heads(step: Step, ctx: LessonContext) -> Sentence:
    part = ctx.attention_at(step.place)
    queries = part and any(head.shares or head.Q for head in part.heads)
    own = "queries" if queries else "weight matrices"
    return (
        f"Each head has its own {own}, so several heads can follow several relations between "
        "tokens at once.",
    )


def why_scaled(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Where the keys stand, when a dot product is large, why it is divided if that lowers it."""
    scale, keys = ctx.value(step.place, roles.SCALE), _where_the_keys_are(step, ctx)
    match: Sentence = (
        *("A large score means that a key matches the query of ", ctx.name),
        ": numbers of the same sign increase a dot product; numbers of opposite signs decrease it.",
    )
    if scale is None or scale.array <= 1:
        return (*keys, match)
    divided: Sentence = (
        "Vectors of more numbers tend to have dot products of larger magnitude. Dividing by ",
        *(ctx.symbols[scale.address], " brings the scores closer together; otherwise the softmax "),
        "may give nearly all weight to one token, so that its gradient nearly vanishes.",
    )
    return (*keys, match, divided)


def _where_the_keys_are(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say where the keys of the other tokens are, if there are several."""
    dot = ctx.value(step.place, roles.DOT)
    record = ctx.trace.producers[dot] if dot else step.records[0]
    keys = record.inputs[-1]
    if step.place.block or not keys.axes or keys.shape[0] < 2:
        return ()
    return (("Each row of ", ctx.symbols[keys.address], " is the key of one token."),)


def why_exponential(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what the exponential does to a score, and to a difference of two."""
    larger = "before rounding, a score that is larger by 1 gets e times the attention of "
    return (
        (
            f"The exponential makes a finite score positive, so that it can be a share; {larger}",
            *(ctx.name, ", about 2.7 times."),
        ),
    )


def why_weighted_sum(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say that the token gets information, if it can attend to another; why by a sum."""
    weights = step.last.inputs[0].array
    rows, keys = weights.shape
    itself = np.eye(rows, keys, keys - rows, dtype=bool)
    others = keys - 1 - len(hidden_tokens(step, ctx))
    moves = crosses(step) or (weights[~itself].any() and others > 0)
    gets: Sentence = (
        *("Only attention moves information from other tokens to ", ctx.name),
        "; all other parts of a layer treat each token separately.",
    )
    width: Sentence = (
        *("Because the output is a sum, it has ", *counted(step.last.output.shape[1], "number")),
        ", like one value, however many tokens there are.",
    )
    return (*([gets] if moves else []), width)


def why_w_o(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what W_O is for, if there is one."""
    part = ctx.attention_at(step.place)
    if isinstance(step.last.operation, Copy) or part is None:
        return ()
    several, added = len(part.heads) > 1, part.residual
    return (*([MIXED] if several else []), *([WIDTH_OF_THE_INPUT] if added else []))


def why_concatenated(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why the heads are concatenated, if there are several."""
    if len(step.last.inputs) == 1:
        return ()
    part = ctx.attention_at(step.place)
    return (NOT_ADDED if part and part.W_O is not None else NOT_ADDED_YET,)
