"""The feed-forward network; what is told of an activation hangs on its operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from tracer.decoder.operations import Activation, Copy, Relu
from tracer.decoder.roles import ACTIVATION, FFN_OUTPUT, HIDDEN
from tracer.lesson.document import Sentence
from tracer.lesson.expression import Call, Number, Symbol
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.told import Told, listed


def _hidden_goal(step: Step, told: Told) -> Sentence:
    units = Number.of(step.last.output.numbers.shape[1])
    return ("Now each token is by itself: its numbers are combined into ", units, " hidden ones.")


def _activation_goal(step: Step, told: Told) -> Sentence:
    operation = step.last.operation
    if not isinstance(operation, Activation):
        return ("The activation function decides what the hidden numbers pass on.",)
    match operation:
        case Relu():
            return ("ReLU keeps what is positive and makes the rest 0.",)
        case Copy():
            return ("There is no activation function here: the hidden numbers stay.",)
        case _:
            assert_never(operation)


def _activation_claim(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    operation = step.last.operation
    if not isinstance(operation, Activation):
        return None
    match operation:
        case Relu():
            return _kept(step, printed)
        case Copy():
            return None
        case _:
            assert_never(operation)


def _kept(step: Step, printed: Sequence[Number]) -> Sentence:
    labels = step.last.output.axes[1].labels
    kept = [label for label, number in zip(labels, printed, strict=True) if number.value]
    zeroed = [label for label, number in zip(labels, printed, strict=True) if not number.value]
    if not zeroed:
        return ("ReLU keeps them all: none is negative.",)
    if not kept:
        return ("ReLU keeps none: all are 0 from here on.",)
    return ("ReLU keeps ", *listed(kept), " and zeroes ", *listed(zeroed), ".")


def _output_goal(step: Step, told: Told) -> Sentence:
    features = Number.of(step.last.output.numbers.shape[1])
    return ("The hidden numbers are combined into ", features, " again, the FFN's output.")


HIDDEN_STEP = Kind(
    "hidden",
    "FFN: hidden layer",
    "each token by itself, combined anew",
    _hidden_goal,
    {HIDDEN: Telling(Symbol("h"))},
    inner=True,
)

ACTIVATION_STEP = Kind(
    "activation",
    "FFN: activation",
    "what the hidden numbers pass on",
    _activation_goal,
    {ACTIVATION: Telling(Symbol("a"))},
    claim=_activation_claim,
    inner=True,
)

FFN_OUTPUT_STEP = Kind(
    "ffn_output",
    "FFN: output",
    "what the FFN adds for each token",
    _output_goal,
    {FFN_OUTPUT: Telling(lambda naming: Call("FFN", (naming.x,)))},
    inner=True,
)

KINDS = (HIDDEN_STEP, ACTIVATION_STEP, FFN_OUTPUT_STEP)
