"""What surrounds attention and the FFN in a layer: residual and LayerNorm."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.operations import Normalize, SquareRoot
from tracer.decoder.roles import (
    DEVIATION,
    MEAN,
    NORM,
    RESIDUAL,
    SQUARED,
    STD,
    VARIANCE,
    SubLayer,
)
from tracer.decoder.tape import Record
from tracer.lesson.document import Name, Sentence
from tracer.lesson.expression import Difference, Number, Power, Symbol
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.told import Told

SUB_LAYERS: dict[SubLayer, str] = {
    "attention": "attention",
    "cross_attention": "cross-attention",
    "ffn": "the FFN",
}
"""A sub-layer inside a sentence."""


def _changes_most(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    assert step.place.sub_layer
    change = step.last.inputs[1].numbers[told.row(step.last.output)]
    sizes = [abs(number) for number in change]
    if len(sizes) < 2 or sizes.count(max(sizes)) > 1:
        return None
    label = Name(step.last.output.axes[1].labels[sizes.index(max(sizes))])
    what = SUB_LAYERS[step.place.sub_layer]
    return (f"{what[0].upper()}{what[1:]} changes ", label, " most.")


RESIDUAL_STEP = Kind(
    "residual",
    "Residual connection",
    "what went in is added",
    ("What went in is added to what came out: nothing of it is lost.",),
    {RESIDUAL: Telling(lambda naming: Symbol("r", naming.sub_layer))},
    sign=("+",),
    reason=(
        "A sub-layer then only has to say what it would change, because what was known before is "
        "kept. In training the way back goes through the sum as well: the gradient passes it "
        "unchanged, so that it reaches the first of many layers, where it would otherwise fade.",
    ),
    claim=_changes_most,
)


def _in_standard_deviations(record: Record) -> str:
    operation = record.operation
    gain = isinstance(operation, Normalize) and operation.gain
    shift = isinstance(operation, Normalize) and operation.shift
    further = ", times γ" * gain + ", plus β" * shift
    return f"Each deviation, measured in standard deviations{further}:"


def _why_normalized(step: Step, told: Told) -> Sentence:
    why = (
        "Sums grow from layer to layer, and numbers that are very large or very small are hard to "
        "learn with. Therefore each token's numbers are measured anew: from their own mean, in "
        "units of their own spread."
    )
    operation, std = step.last.operation, step.records[-2].operation
    parts: list[str] = [why]
    if isinstance(operation, Normalize) and (operation.gain or operation.shift):
        names = " and ".join(["γ"] * operation.gain + ["β"] * operation.shift)
        parts.append(f" {names}, learned for each feature, can give back what was taken away.")
    if isinstance(std, SquareRoot) and std.epsilon:
        parts.append(" ε stands under the root so that equal numbers do not lead to 0 / 0.")
    return ("".join(parts),)


def _extremes(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    numbers = [number.value for number in printed]
    high, low = max(numbers), min(numbers)
    if numbers.count(high) > 1 or numbers.count(low) > 1:
        return None
    labels = step.last.output.axes[1].labels
    return (
        *("The largest is now ", Name(labels[numbers.index(high)])),
        *(" with ", Number(high), ", the smallest ", Name(labels[numbers.index(low)])),
        *(" with ", Number(low), "."),
    )


NORM_STEP = Kind(
    "norm",
    "LayerNorm",
    "mean 0, the same spread for all",
    (
        "Each token's numbers are moved to mean 0 and brought to the same spread, so that "
        "no feature counts more only because it is large.",
    ),
    {
        MEAN: Telling(Symbol("μ"), "The mean:"),
        DEVIATION: Telling(lambda n: Difference(*n.inputs), "How far each number is from it:"),
        SQUARED: Telling(
            lambda naming: Power(naming.inputs[0], Number.of(2)), "The square of each deviation:"
        ),
        VARIANCE: Telling(
            Power(Symbol("σ"), Number.of(2)), "The variance, which is the mean of the squares:"
        ),
        STD: Telling(Symbol("σ"), "The standard deviation:"),
        # Behind its sub-layer a LayerNorm is the sub-layer's end, and called x.
        NORM: Telling(lambda naming: Symbol("n", naming.sub_layer), _in_standard_deviations),
    },
    sign=("LayerNorm",),
    reason=_why_normalized,
    claim=_extremes,
)

KINDS = (RESIDUAL_STEP, NORM_STEP)
