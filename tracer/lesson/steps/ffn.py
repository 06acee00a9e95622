"""The feed-forward network; what is told of an activation function stands in `activations.py`."""

from __future__ import annotations

from tracer.decoder.operations import Activate
from tracer.decoder.roles import ACTIVATION, B_1, FFN_OUTPUT, HIDDEN
from tracer.lesson import activations
from tracer.lesson.document import Name, Sentence, Sign
from tracer.lesson.expression import Call, Symbol
from tracer.lesson.steps.claims import Row, main_source
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.steps.signs import linear
from tracer.lesson.told import Told
from tracer.names import count


def _hidden_goal(step: Step, told: Told) -> Sentence:
    units = count(step.last.output.numbers.shape[1], "hidden number")
    return (f"The FFN takes each token by itself: of its vector it makes {units}.",)


def _activation_goal(step: Step, told: Told) -> Sentence:
    match step.last.operation:
        case Activate(function):
            return activations.goal(function)
        case _:
            return ("There is no activation function here: the hidden numbers stay.",)


def _activation_claim(step: Step, told: Told) -> Sentence | None:
    operation = step.last.operation
    if not isinstance(operation, Activate):
        return None
    hidden = step.last.inputs[0]
    units = told.labels(hidden.axes[1])
    largest = Row.of(step.last.output, told).largest()
    return activations.claim(operation.function, units, hidden.numbers[told.row(hidden)], largest)


COMBINED: Sentence = (
    "It is needed because attention only carries numbers from token to token; to make something "
    "new of them, the features of one token have to be combined with each other. Each hidden unit ",
    *(
        "does so with weights of its own, a column of ",
        Symbol("W", "1"),
        ": it is large where the ",
    ),
    "token's vector fits that column. Large models often have four times as many hidden units as "
    "features, so that there is room for many patterns.",
)

BIAS: Sentence = (
    *("The bias ", Symbol("b", "1"), " is added to every row, because without it a vector of "),
    "zeros could only become zeros: with it a unit can start from a number of its own.",
)

BENT: Sentence = (
    *("Without it the two matrices of the FFN would be one: whatever ", Symbol("W", "1"), " and "),
    *(Symbol("W", "2"), " do in turn, their product does at once. The bend between them is what "),
    "lets the FFN treat large and small numbers differently.",
)

WHAT_A_UNIT_SAYS: Sentence = (
    *(
        "A row of ",
        Symbol("W", "2"),
        " is what its hidden unit says when it is active: the output ",
    ),
    "is the sum of these rows, each as often as its unit is large, so that the FFN can hold what "
    "was learned about the world, one unit for one pattern.",
)


def _why_hidden(step: Step, told: Told) -> tuple[Sentence, ...]:
    has_bias = any(value.role is B_1 for value in step.last.inputs)
    return (COMBINED, *([BIAS] if has_bias else []))


def _why_bent(step: Step, told: Told) -> tuple[Sentence, ...]:
    return (BENT,) if isinstance(step.last.operation, Activate) else ()


def _output_goal(step: Step, told: Told) -> Sentence:
    numbers = count(step.last.output.numbers.shape[1], "number")
    return (f"The hidden layer becomes the FFN's output, {numbers} for each token.",)


def _main_unit(step: Step, told: Told) -> Sentence | None:
    """Which hidden unit most of the largest number comes from."""
    units = told.labels(step.last.inputs[0].axes[1])
    return main_source(step.last, told, lambda index: (Name(units[index]),), len(units))


def _activation_sign(step: Step, told: Told) -> Sign:
    match step.last.operation:
        case Activate(function):
            return (activations.name(function),)
        case _:
            return ("no activation",)


HIDDEN_STEP = Kind(
    "hidden",
    "FFN: hidden layer",
    "each token by itself, combined anew",
    _hidden_goal,
    {HIDDEN: Telling(Symbol("h"))},
    sign=linear,
    reasons=_why_hidden,
    inner=True,
)

ACTIVATION_STEP = Kind(
    "activation",
    "FFN: activation",
    "what the hidden numbers pass on",
    _activation_goal,
    {ACTIVATION: Telling(Symbol("a"))},
    sign=_activation_sign,
    reasons=_why_bent,
    claim=_activation_claim,
    inner=True,
)

FFN_OUTPUT_STEP = Kind(
    "ffn_output",
    "FFN: output",
    "what the FFN gives each token",
    _output_goal,
    {FFN_OUTPUT: Telling(lambda naming: Call("FFN", (naming.x,)))},
    sign=linear,
    reasons=(WHAT_A_UNIT_SAYS,),
    claim=_main_unit,
    inner=True,
)

KINDS = (HIDDEN_STEP, ACTIVATION_STEP, FFN_OUTPUT_STEP)
