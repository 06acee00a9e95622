"""The feed-forward network."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.elementwise import Activate, Multiply
from tracer.decoder.operations import Copy
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.expression import Call, Symbol
from tracer.lesson.context import LessonContext, listed
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.claims import Row, largest_named, main_column
from tracer.lesson.steps.kind import InnerKind, RoleText, Step, linear
from tracer.names import count, distinct

MOST_NAMED = 6
"""Of more hidden units nobody reads the names."""


def _hidden_goal(step: Step, ctx: LessonContext) -> Sentence:
    units = count(step.last.output.shape[1], "hidden number")
    return (f"The FFN takes each token by itself: of its vector it makes {units}.",)


def _activation_goal(step: Step, ctx: LessonContext) -> Sentence:
    operation = step.last.operation
    if isinstance(operation, Activate):
        return ACTIVATIONS[operation.function].goal
    goes_on = ctx.passed_on(step.last)
    return (f"There is no activation function here: each number goes on {goes_on}.",)


def _activation_claim(step: Step, ctx: LessonContext) -> Sentence | None:
    """Which hidden units of one token ReLU keeps; of many, how many, and the largest."""
    if step.last.operation != Activate("relu"):
        return None
    value = step.last.inputs[0]
    units, hidden = distinct(value.axes[1].labels), value.numbers[ctx.row(value)]
    kept = [unit for unit, x in zip(units, hidden, strict=True) if x > 0]
    zeroed = [unit for unit, x in zip(units, hidden, strict=True) if x < 0]
    if len(units) < 2 or not (kept or zeroed):
        return None
    if not zeroed:
        return ("ReLU keeps them all: none is negative.",)
    if not kept:
        return ("ReLU keeps none: none is positive.",)
    if len(units) > MOST_NAMED:
        counts = f"ReLU keeps {len(kept)} of the {len(units)} numbers and zeroes {len(zeroed)}"
        row = Row.of(step.last.output, ctx)
        largest: Sentence = ()
        if ranked := row.ranked():
            largest = ("; the largest is ", *row.name(ranked[0]), " with ", row.printed(ranked[0]))
        return (counts, *largest, ".")
    return ("ReLU keeps ", *listed(kept), " and zeroes ", *listed(zeroed), ".")


NOT_LINEAR: Sentence = (
    "Attention mixes values linearly; the FFN is needed because it adds a nonlinear step within "
    "each token.",
)

UNITS: Sentence = (
    *("Each hidden unit has weights of its own, a column of ", Symbol("W", "1"), ", so that its "),
    "number is large where the token's vector fits that column. Large models often have four times "
    "as many hidden units as features.",
)

BIAS: Sentence = (
    *("The bias ", Symbol("b", "1"), " is added to every row, because without it a vector of "),
    "zeros could only become zeros: with it a unit can start from a number of its own.",
)

GATED_ANEW: Sentence = (
    "With a gate a unit can decide by one thing and pass on another, because what opens it and "
    "what goes through are found with different weights.",
)


def _why_hidden(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    has_bias = any(value.role is roles.B_1 for value in step.last.inputs)
    behind = (roles.ACTIVATION, roles.GATED, roles.FFN_OUTPUT)
    bends = any(isinstance(ctx.operation(step.place, r), Activate | Multiply) for r in behind)
    needed = [NOT_LINEAR] if bends and ctx.attends else []
    return (*needed, UNITS, *([BIAS] if has_bias else []))


def _why_bent(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """What the FFN would be without its activation function; with a gate it would be more."""
    if not isinstance(step.last.operation, Activate) or ctx.value(step.place, roles.GATED):
        return ()
    bias = " and a bias" * any(ctx.value(step.place, role) for role in (roles.B_1, roles.B_2))
    both: Sentence = (Symbol("W", "1"), " and ", Symbol("W", "2"))
    return (("Without it ", *both, f" in turn would do no more than a single matrix{bias}."),)


def _of_rows(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """That the product is a sum of the rows of W₂."""
    of, weights, *bias = (ctx.symbols[value.address] for value in step.records[0].inputs)
    product = ctx.symbols[step.records[0].output.address]
    plus = (", plus ", *bias) if bias else ()
    return (
        (
            *(product, " is the sum of the rows of ", weights, ", each multiplied by its unit's "),
            *("number in ", of, *plus, ", so that a unit whose number is 0 adds nothing."),
        ),
    )


def _gate_goal(step: Step, ctx: LessonContext) -> Sentence:
    activated = isinstance(ctx.operation(step.place, roles.ACTIVATION), Activate)
    what = "The activation is" if activated else "The hidden numbers are"
    return (
        f"{what} a gate here: a second projection of the same vectors is multiplied by it, number "
        "by number.",
    )


def _largest_behind_gate(step: Step, ctx: LessonContext) -> Sentence | None:
    """The unit with the largest product, if the author has named it."""
    found = largest_named(step.last.output, ctx)
    largest: Sentence = ("The largest number of ", ctx.name, " after the gate is ")
    return found and (*largest, *found[0], *found[1], ".")


def _output_goal(step: Step, ctx: LessonContext) -> Sentence:
    numbers = count(step.last.output.shape[1], "number")
    goal = f"The hidden layer becomes the FFN's output, {numbers} for each token."
    match step.last.operation:
        case Activate(function):
            return (f"{goal} The activation stands behind it here. ", *ACTIVATIONS[function].goal)
        case Copy():
            return (f"{goal} There is no activation function here.",)
        case _:
            return (goal,)


def _output_sign(step: Step, ctx: LessonContext) -> Sign:
    behind = (", ", *_activation_sign(step, ctx)) if len(step.records) > 1 else ()
    return (*linear(step, ctx), *behind)


def _activation_sign(step: Step, ctx: LessonContext) -> Sign:
    operation = step.last.operation
    if isinstance(operation, Activate):
        return (ACTIVATIONS[operation.function].title,)
    return ("no activation",)


HIDDEN_STEP = InnerKind(
    "hidden",
    "FFN: hidden layer",
    "each token by itself, combined anew",
    _hidden_goal,
    {roles.HIDDEN: RoleText(Symbol("h"))},
    sign=linear,
    reasons=_why_hidden,
)

ACTIVATION_STEP = InnerKind(
    "activation",
    "FFN: activation",
    "what the hidden numbers pass on",
    _activation_goal,
    {roles.ACTIVATION: RoleText(Symbol("a"))},
    sign=_activation_sign,
    reasons=_why_bent,
    claim=_activation_claim,
)

GATE_STEP = InnerKind(
    "gate",
    "FFN: gate",
    "what the gate lets through",
    _gate_goal,
    {
        roles.UP: RoleText(Symbol("u"), "What is to be let through:"),
        roles.GATED: RoleText(Symbol("g"), "Each number, times its gate:"),
    },
    sign=(Symbol("W", "3"), ", gate"),
    reasons=(GATED_ANEW,),
    claim=_largest_behind_gate,
)

FFN_OUTPUT_STEP = InnerKind(
    "ffn_output",
    "FFN: output",
    "what the FFN gives each token",
    _output_goal,
    {
        roles.PROJECTED: RoleText(Symbol("s")),
        roles.FFN_OUTPUT: RoleText(lambda naming: Call("FFN", (naming.x,))),
    },
    sign=_output_sign,
    reasons=_of_rows,
    claim=main_column,
)

KINDS = (HIDDEN_STEP, ACTIVATION_STEP, GATE_STEP, FFN_OUTPUT_STEP)
