"""The mask: which tokens a token may look at, in words that its numbers bear out, and why."""

from __future__ import annotations

from decimal import MIN_EMIN, Context, Decimal

import numpy as np

from tracer.decoder.elementwise import Add
from tracer.decoder.inputs import hidden_positions
from tracer.decoder.roles import MASKED, WEIGHTS, Place
from tracer.formula.expression import Exponential, Number
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Name, Sentence
from tracer.lesson.steps.kind import Step
from tracer.names import count
from tracer.scenario.fields import Mask, Window

HIDDEN = Number(Decimal("-Infinity"))


def mask_goal(step: Step, ctx: LessonContext) -> Sentence:
    """Say what a token can attend to."""
    fills_up: Sentence = ()
    if ctx.padding is not None:
        name = Name(ctx.padding)
        fills_up = (" The score of the padding token ", name, " becomes ", HIDDEN, ", too.")
    match mask_meaning(step, ctx):
        case Window(window=window):
            whom = (
                f"to itself and at most {count(window - 1, 'token')} just before it"
                if window > 1
                else "only to itself"
            )
            seen = f"Each token may attend {whom}: the mask adds "
            return (seen, HIDDEN, " to every other score.", *fills_up)
        case "causal":
            seen = " may attend only to itself and to earlier tokens: the mask adds "
            return (
                "Like every token, ",
                ctx.name,
                seen,
                HIDDEN,
                " to the score of every later token.",
                *fills_up,
            )
        case "none" if ctx.padding is not None:
            seen = (
                "Each token may attend to earlier and later tokens, but not to the padding token "
            )
            return (seen, Name(ctx.padding), ", whose score becomes ", HIDDEN, ".")
        case _:
            added, mask = "The mask is added to the scores.", step.last.inputs[1].array
            hides: Sentence = (" Where it is ", HIDDEN, ", the token is hidden.")
            return (added, *hides) if np.isneginf(mask).any() else (added,)


ANY_EXPONENT = Context(prec=2, Emin=MIN_EMIN)
"""A context of two digits in which e^(-10¹²) is not 0."""

TOO_SMALL = " Before rounding, its weight is greater than 0; it is printed as 0."


def still_weighted(step: Step, ctx: LessonContext) -> Sentence:
    """Say how much the key with the most negative finite number in the mask still gets."""
    weights, mask = ctx.value(step.place, WEIGHTS), ctx.mask_at(step.place)
    if mask is None or weights is None or not isinstance(ctx.operation(step.place, MASKED), Add):
        return ()
    row = ctx.row(mask)
    added = [ctx.number(mask, row, column) for column in range(mask.shape[1])]
    negative = [number for number in added if number.value.is_finite() and number.value < 0]
    if not negative:
        return ()
    lowest = min(negative, key=lambda number: number.value)
    key = added.index(lowest)
    weight, name = ctx.number(weights, row, key), Name(ctx.names[key])
    return (
        *(" The mask adds ", lowest, " to the score of ", name, ", which multiplies its "),
        *("exponential by ", Exponential(lowest), ", about "),
        *(Number(ANY_EXPONENT.exp(lowest.value)), "."),
        *((" Its weight is ", weight, ".") if weight.value else (TOO_SMALL,)),
    )


def why_masked(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why later tokens are hidden, if there are any and the mask hides them."""
    mask = step.last.inputs[1].array
    later = mask[np.triu_indices_from(mask, len(ctx.names) - len(mask) + 1)]
    if ctx.fills_in or not later.size or np.isfinite(later).any():
        return ()
    before = min(ctx.token, len(ctx.names) - 2)
    example = (Name(ctx.names[before + 1]), " after ", Name(ctx.names[before]))
    answer = "Later tokens are hidden because they contain the answer when a model is trained to "
    return ((f"{answer}predict ", *example, "."),)


def mask_of(place: Place, ctx: LessonContext) -> Mask:
    """The mask that the scenario sets for the self-attention at a place."""
    if ctx.in_encoder:
        return "none"
    part = ctx.attention_at(place)
    return (part and part.mask) or ctx.trace.scenario.mask


def mask_meaning(step: Step, ctx: LessonContext) -> Mask | None:
    """The mask that was asked for, or the causal one, if the numbers are of that."""
    mask = step.last.inputs[1].array
    masks: tuple[Mask, ...] = (mask_of(step.place, ctx), "causal")
    for asked in masks:
        if isinstance(asked, tuple):
            continue
        unseen = hidden_positions(ctx.tower.tokens, ctx.padding, asked)[-len(mask) :]
        if np.array_equal(mask, np.where(unseen, -np.inf, 0)):
            return asked
    return None
