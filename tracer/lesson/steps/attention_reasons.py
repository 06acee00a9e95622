"""Why attention is done, and done as it is."""

from __future__ import annotations

import numpy as np

from tracer.decoder import roles
from tracer.decoder.operations import Copy, Pinned
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attention_claims import crosses
from tracer.lesson.steps.kind import Step

THREE_VECTORS: Sentence = (
    "Attention uses a query, a key and a value because what a token looks for, what it can be "
    "found by and what it passes on are different things. The weights that compute them are the "
    "same for every token; in a trained model they are learned.",
)

ACROSS: Sentence = (
    "Queries come from the decoder's tokens, keys and values from the encoder's. So every token "
    "of the decoder can use every token that the encoder has read.",
)

OF_ITS_OWN: Sentence = (
    "The key is separate from the query, so that a token can be found by something other than what "
    "it looks for.",
)

PASSED_ON: Sentence = (
    "The value is separate from the key, so that a token can pass on something other than what "
    "makes it easy to find.",
)

FIT: Sentence = (
    "Numbers of the same sign in the same column raise the dot product, numbers of opposite signs "
    "lower it, so that it is large where the two vectors fit.",
)

TURNED: Sentence = (
    "When a query that is turned by its position meets a key that is turned by its own, only the "
    "difference of the two positions counts, because a dot product does not change when both of "
    "its vectors are turned together. So a token can ask for “the one before me” wherever it "
    "stands.",
)

EXPONENTIAL: Sentence = (
    "The exponential of every finite score is positive, so that the results can be shares of a "
    "whole. Before rounding, a larger score gets a larger share, and a score that is larger by 1 "
    "gets e times the share, about 2.7 times.",
)

FROM_TOKEN_TO_TOKEN: Sentence = (
    "Only attention moves information from one token to another; everything else in a layer is "
    "done to each token by itself.",
)

OF_ONE_WIDTH: Sentence = (
    "The result is a sum, so that it has the width of a value however many tokens there are.",
)

MIXED: Sentence = (
    *("Each head's result has its own columns; ", Symbol("W", "O"), " combines them, because "),
    "what follows reads all of them as one vector.",
)

WIDTH_OF_THE_INPUT: Sentence = (
    *("The result of ", Symbol("W", "O"), " has the width of the sub-layer's input, so that the "),
    "two can be added.",
)

NOT_ADDED: Sentence = (
    "They are not added up, because what each head has found would then be mixed before anything "
    "could weigh it.",
)


def three_vectors(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Why there are queries, keys and values; why the encoder's, and why several heads."""
    several = [_several_heads(step, ctx)] if ctx.heads_of(step.place) > 1 else []
    return (THREE_VECTORS, *([ACROSS] if crosses(step) else []), *several)


def _several_heads(step: Step, ctx: LessonContext) -> Sentence:
    part = ctx.attention_at(step.place)
    own = "queries" if part and any(head.shares for head in part.heads) else "weights"
    return (
        f"There are several heads, each with {own} of its own, because a head has one set of "
        "attention weights per token: several heads can follow several relations.",
    )


def scaled(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """When a dot product is large; why it is divided, if that makes it smaller."""
    scale = ctx.value(step.place, roles.SCALE)
    if scale is None or scale.array <= 1:
        return (FIT,)
    divided: Sentence = (
        "Dot products of longer vectors tend to be larger, and between scores that are far apart "
        "the softmax gives nearly all of its weight to one token, where its gradient nearly "
        "vanishes. Dividing by ",
        *(ctx.symbols[scale.address], " brings the scores closer together."),
    )
    return (FIT, divided)


def turned(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Why queries and keys are turned, if each is by its own position."""
    return (TURNED,) if turns_by_position(step, ctx) else ()


def turns_by_position(step: Step, ctx: LessonContext) -> bool:
    """Whether the angles and their sines and cosines are computed from the positions."""
    place = roles.Place(encoder=step.place.encoder)
    waves = (roles.ROTARY_ANGLE, roles.ROTARY_SIN, roles.ROTARY_COS)
    return not any(isinstance(ctx.operation(place, role), Pinned) for role in waves)


def moved(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """That information moves between tokens, if a token attends to another; why a sum."""
    weights = step.last.inputs[0].array
    rows, keys = weights.shape
    itself = np.eye(rows, keys, keys - rows, dtype=bool)
    moves = crosses(step) or weights[~itself].any()
    return (*([FROM_TOKEN_TO_TOKEN] if moves else []), OF_ONE_WIDTH)


def mixed(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Why there is a W_O, if there is one."""
    part = ctx.attention_at(step.place)
    if isinstance(step.last.operation, Copy) or part is None:
        return ()
    several, added = len(part.heads) > 1, part.residual
    return (*([MIXED] if several else []), *([WIDTH_OF_THE_INPUT] if added else []))


def not_added(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Why the heads stand side by side, if there are several."""
    return () if len(step.last.inputs) == 1 else (NOT_ADDED,)
