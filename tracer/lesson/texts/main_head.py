"""The head that matters most to what comes out for the followed token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from tracer.decoder import roles
from tracer.decoder.comparison import Floats, predicted
from tracer.decoder.forward import Trace
from tracer.decoder.patches import without
from tracer.decoder.value import Entry
from tracer.errors import TracerError
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention import SOFTMAX_STEP
from tracer.lesson.steps.kind import Step

MOST_TRIED = 8
"""A pass is computed without each of so many heads: those that read another token most."""


@dataclass(frozen=True)
class MainHead:
    """A head by the step of its attention weights, and the word that the model predicts without it.

    The word is None if it is that of the whole model, or if there are no words.
    """

    softmax: Step
    word_without: str | None = None


def main_head(steps: Sequence[Step], ctx: LessonContext) -> MainHead | None:
    """Return the head without which the result for the followed token changes most.

    This is the head that raises the predicted word's logit most; without a prediction, the one that
    adds the longest vector to the token's. If the decoder attends to an encoder, it is a head of
    cross-attention, which connects the two. Of heads that are alike in this, it is the one in which
    the token attends most to one other token.
    """
    heads = [
        step
        for step in steps
        if step.kind is SOFTMAX_STEP and not step.place.encoder and ctx.follows(step.last.output)
    ]
    crossing = [step for step in heads if step.place.sub_layer == "cross_attention"]
    tried = sorted(crossing or heads, key=lambda step: -_most(step, ctx))[:MOST_TRIED]
    if not tried:
        return None
    return max((_tried(step, ctx) for step in tried), key=lambda each: each[0])[1]


def _most(step: Step, ctx: LessonContext) -> float:
    """The most attention that the followed token gives to another one."""
    weights = step.last.output
    row = weights.array[ctx.row(weights)].copy()
    if step.place.sub_layer == "attention" and ctx.token < len(row):
        row[ctx.token] = 0
    return float(row.max(initial=0))


def _tried(step: Step, ctx: LessonContext) -> tuple[float, MainHead]:
    """The effect of a head on the result for a token, and the head."""
    whole, token = ctx.trace, ctx.token
    output = whole.values.get(replace(step.place, block=None).address(roles.HEAD_OUTPUT))
    unknown = -inf, MainHead(step)
    if output is None:
        return unknown
    try:
        changed = without(whole, output)
    except TracerError:
        return unknown
    own, other = predicted(whole, token), predicted(changed, token)
    if own and other:
        effect = _read(whole, own) - _read(changed, own)
        word = other.value.axes[1].labels[other.at[1]] if other.at != own.at else None
    else:
        added = _added(step, whole, token) - _added(step, changed, token)
        effect, word = float(np.linalg.norm(added)), None
    return (effect, MainHead(step, word)) if isfinite(effect) else unknown


def _read(found: Trace, entry: Entry) -> float:
    """The number at the place of an entry in a pass."""
    return float(found[entry.value.address].read(entry.at))


def _added(step: Step, found: Trace, token: int) -> Floats:
    """What all heads of the sub-layer add for a token."""
    value = found[replace(step.place, head=None, block=None).address(roles.ATTENTION_OUTPUT)]
    return np.asarray(value.read((value.row(token, len(found.tokens)),)), float)
