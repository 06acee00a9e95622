"""The feed-forward network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import (
    Activate,
    AtMost,
    Clamp,
    Elementwise,
    GradientOf,
    Slope,
)
from tracer.decoder.operations import Copy
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.expression import Call, Expression, Symbol
from tracer.lesson.context import LessonContext, listed
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.claims import FollowedRow, largest_named, main_column
from tracer.lesson.steps.gradients import of_weights
from tracer.lesson.steps.illustrations import activation
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step, linear_sign
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.names import count, distinct, with_article

MOST_NAMED = 6
"""The most hidden units to name."""


def _hidden_goal(step: Step, ctx: LessonContext) -> Sentence:
    maps = f" maps its vector to {count(step.last.output.shape[1], 'hidden unit')}."
    network, subject = step.place.network, "The FFN"
    if network:
        noun = with_article(network.noun)
        subject = f"{noun[0].upper()}{noun[1:]} is an FFN. It"
    return (f"{subject} treats each token separately: ", _matrix(step, ctx), maps)


def _matrix(step: Step, ctx: LessonContext) -> Expression:
    """Return the symbol of a step's weights, without the number of its network."""
    symbol = ctx.symbols[step.records[0].inputs[1].address]
    assert isinstance(symbol, Symbol)
    return Symbol(symbol.base, symbol.below) if step.place.network else symbol


def _activation_goal(step: Step, ctx: LessonContext) -> Sentence:
    operation = step.last.operation
    if isinstance(operation, Activate):
        return ACTIVATIONS[operation.function].goal
    goes_on = ctx.passed_on(step.last)
    return (f"There is no activation function here: the numbers are passed on{goes_on}.",)


def activation_claim(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which hidden units of a token ReLU keeps; for many units, how many and the largest."""
    if step.last.operation != Activate("relu"):
        return None
    value = step.last.inputs[0]
    units, hidden = distinct(value.axes[1].labels), value.numbers[ctx.row(value)]
    kept = [unit for unit, x in zip(units, hidden, strict=True) if x > 0]
    zeroed = [unit for unit, x in zip(units, hidden, strict=True) if x < 0]
    if len(units) < 2 or not (kept or zeroed):
        return None
    if not zeroed:
        return ("ReLU changes no hidden unit: none is negative.",)
    if not kept:
        return ("ReLU keeps no hidden unit: none is positive.",)
    if len(units) > MOST_NAMED:
        counts = (
            f"ReLU keeps {len(kept)} of the {len(units)} hidden units and sets {len(zeroed)} to 0"
        )
        row = FollowedRow.of(step.last.output, ctx)
        largest: Sentence = ()
        if ranked := row.ranked():
            largest = ("; the largest is ", *row.name(ranked[0]), " with ", row.printed(ranked[0]))
        return (counts, *largest, ".")
    return ("ReLU keeps ", *listed(kept), " and sets ", *listed(zeroed), " to 0.")


NOT_LINEAR: Sentence = (
    "Attention mixes values linearly; the FFN adds a nonlinear step within each token.",
)

UNITS: Sentence = (
    *("Each hidden unit has its own column of weights in ", Symbol("W", "1"), ", so that it is "),
    "large for vectors that match this column. Large models often have four times as many hidden "
    "units as features.",
)

BIAS: Sentence = (
    *("The bias ", Symbol("b", "1"), " gives each hidden unit an offset, because without it a "),
    "vector of zeros would always lead to hidden units of 0.",
)

NO_BIAS: Sentence = (
    "Many models also add a learned bias to each hidden unit; this layer does not.",
)

GATED_ANEW: Sentence = (
    "The gate and the gated numbers are computed with different weights, so that a unit can pass "
    "on something other than what opens its gate.",
)


def why_gated(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what a gate is for, if its weights are not those of the gated numbers."""
    at = step.place.address
    pairs = ((roles.W_1, roles.W_3), (roles.B_1, roles.B_3))
    weights = [[ctx.trace.values.get(at(role)) for role in pair] for pair in pairs]
    same = all(a is b or (a and b and np.array_equal(a.array, b.array)) for a, b in weights)
    return () if same else (GATED_ANEW,)


def why_hidden(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what the hidden layer adds to attention, and what its weights are for."""
    has_bias = any(value.role is roles.B_1 for value in step.last.inputs)
    behind = (roles.ACTIVATION, roles.GATED, roles.FFN_OUTPUT)
    bends = any(isinstance(ctx.operation(step.place, r), Elementwise) for r in behind)
    needed = [NOT_LINEAR] if bends and ctx.attends else []
    return (*needed, UNITS, BIAS if has_bias else NO_BIAS)


def _why_bent(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what the FFN would be without its activation function; nothing with a gate."""
    if not isinstance(step.last.operation, Activate) or ctx.value(step.place, roles.GATED):
        return ()
    bias = " and a bias" * any(ctx.value(step.place, role) for role in (roles.B_1, roles.B_2))
    both: Sentence = (Symbol("W", "1"), " and ", Symbol("W", "2"))
    return (("Without the activation, ", *both, f" could be replaced by a single matrix{bias}."),)


def _of_rows(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say that the product is a sum of the rows of W₂."""
    of, weights, *bias = (ctx.symbols[value.address] for value in step.records[0].inputs)
    at_the_end = (" ", *bias, " is added at the end.") if bias else ()
    return (
        (
            *("Each unit adds its row of ", weights, ", multiplied by its number in ", of, ". "),
            *("A unit at 0 adds nothing.", *at_the_end),
        ),
    )


def _gate_goal(step: Step, ctx: LessonContext) -> Sentence:
    activated = isinstance(ctx.operation(step.place, roles.ACTIVATION), Activate)
    what = "activation" if activated else "hidden layer"
    return (
        f"The {what} is a gate: a second projection of the same vectors is multiplied by it "
        f"element "
        "by element.",
    )


def _largest_behind_gate(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which unit has the largest product, if the author has named it."""
    found = largest_named(step.last.output, ctx)
    largest: Sentence = ("The largest number of ", ctx.name, " after the gate is ")
    return found and (*largest, *found[0], *found[1], ".")


def _output_goal(step: Step, ctx: LessonContext) -> Sentence:
    numbers = count(step.last.output.shape[1], "number")
    goal: Sentence = (_matrix(step, ctx), f" maps the hidden units of each token to {numbers}.")
    match step.last.operation:
        case Activate(function):
            return (*goal, " The activation is applied afterward. ", *ACTIVATIONS[function].goal)
        case Copy():
            return (*goal, " There is no activation function here.")
        case _:
            return goal


def _output_sign(step: Step, ctx: LessonContext) -> Sign:
    behind = (", ", *_activation_sign(step, ctx)) if len(step.records) > 1 else ()
    return (*linear_sign(step, ctx), *behind)


def _activation_sign(step: Step, ctx: LessonContext) -> Sign:
    operation = step.last.operation
    if isinstance(operation, Activate):
        return (ACTIVATIONS[operation.function].title,)
    return ("no activation",)


STOPPED_BY_LIMIT: Sentence = (
    "ReLU′ is 1 for positive numbers and 0 for all others. The limit therefore passes the gradient "
    "of a number that it keeps, and stops that of a number beyond it.",
)


def _through_limits(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what a limit passes back, in a step that goes back through one."""
    operations = (record.operation for record in step.records)
    limited = (o.operation for o in operations if isinstance(o, GradientOf))
    return (STOPPED_BY_LIMIT,) * any(isinstance(o, AtMost | Clamp) for o in limited)


HIDDEN_STEP = InnerKind(
    "hidden",
    "FFN: hidden layer",
    "the hidden units of each token",
    _hidden_goal,
    {roles.HIDDEN: RoleText(head_symbol("h"))},
    gradient=Gradient(
        *("at the hidden layer", "each hidden unit", (roles.W_1, roles.B_1)),
        reasons=_through_limits,
    ),
    sign=linear_sign,
    short="hidden units",
    reasons=why_hidden,
)

OF_SLOPES = RoleText(Symbol("a′"), "The slope of the activation at each hidden unit:")

P, T = Symbol("p"), Symbol("t")


def through_activation(step: Step, ctx: LessonContext) -> Sentence:
    """Say what happens to the gradient at the activation function."""
    operations = [record.operation for record in step.records]
    if any(operation == Slope("relu") for operation in operations):
        return (
            "ReLU passes the gradient where its input is positive and stops it elsewhere: its "
            "slope is 1 or 0.",
        )
    if any(isinstance(operation, Slope) for operation in operations):
        return ("The gradient is multiplied by the slope of the activation function.",)
    forward = ctx.operation(replace(step.place, phase="forward"), roles.ACTIVATION)
    if isinstance(forward, Elementwise):
        return ("Compute the gradient at each activation.",)
    return ("There is no activation function here: the gradient is passed on.",)


ACTIVATION_STEP = InnerKind(
    "activation",
    "FFN: activation",
    "the hidden units after the activation",
    _activation_goal,
    {roles.ACTIVATION: RoleText(head_symbol("a"))},
    gradient=Gradient(
        "at the activations",
        through_activation,
        own={roles.SLOPE: OF_SLOPES, roles.OPEN: OF_SLOPES},
    ),
    sign=_activation_sign,
    short="activation",
    reasons=_why_bent,
    claim=activation_claim,
    illustrate=activation,
)

GATE_STEP = InnerKind(
    "gate",
    "FFN: gate",
    "the hidden units after the gate",
    _gate_goal,
    {
        roles.UP: RoleText(head_symbol("u"), "The second projection:"),
        roles.GATED: RoleText(head_symbol("g"), "Each number multiplied by its gate:"),
    },
    gradient=Gradient(
        *("at the gated hidden units", "each gated hidden unit", (roles.W_3, roles.B_3)),
        reasons=_through_limits,
    ),
    sign=(Symbol("W", "3"), ", gate"),
    short="gate",
    reasons=why_gated,
    claim=_largest_behind_gate,
)

FFN_OUTPUT_STEP = InnerKind(
    "ffn_output",
    "FFN: output",
    "the result of the FFN",
    _output_goal,
    {
        roles.PROJECTED: RoleText(head_symbol("s")),
        roles.FFN_OUTPUT: RoleText(
            lambda naming: Symbol("F", "", naming.head) if naming.head else Call("FFN", (naming.x,))
        ),
    },
    gradient=Gradient(
        "at the FFN output", "the FFN output", (roles.W_2, roles.B_2), reasons=of_weights
    ),
    sign=_output_sign,
    short="FFN output",
    reasons=_of_rows,
    claim=main_column,
)

KINDS = (HIDDEN_STEP, ACTIVATION_STEP, GATE_STEP, FFN_OUTPUT_STEP)
