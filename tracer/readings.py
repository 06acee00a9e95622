"""What a result says of the followed token, in a sentence computed from the values.

Every number in a sentence is one that the tape holds, as it is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from tracer.document import Inline, Name, Percent
from tracer.expression import Number
from tracer.names import count, distinct
from tracer.operations import Append, Copy, MeanOf
from tracer.prose import Sentence, Told, listed, name_of
from tracer.steps import Stage
from tracer.tape import Step, Value


def reading(stage: Stage, told: Told, printed: Sequence[Number]) -> Sentence | None:
    """The sentence for a stage, if there is anything to say.

    `printed` is the token's row of its result; none where only a part of the stage is shown.
    """
    step = stage.steps[-1]
    value = step.output
    if not printed and stage.kind not in ("key", "value"):
        return None
    match stage.kind:
        case "scores" if len(printed) > 1:
            return _best(value, told, printed, "The query of ", " fits the key of ", " best: ")
        case "mask":
            return _masked(step, told)
        case "softmax":
            return _shares(value, told, printed, itself=stage.sub_layer == "attention")
        case "unmasked":
            return _leak(told, printed)
        case "residual":
            return _largest_change(step, told.row(value), name_of(stage.sub_layer))
        case "norm":
            return _extremes(value, printed)
        case "key" | "value" if isinstance(step.operation, Append):
            return _reused(step, stage.kind)
        case "activation" if not isinstance(step.operation, Copy):
            return _kept(value, printed)
        case "logits" if len(printed) > 1:
            return _best(value, told, printed, "For ", " the largest logit is that of “", "”: ")
        case _:
            return None


def prediction(words: Value, told: Told, printed: Number) -> Sentence:
    """Which word is guessed, and how sure the model is."""
    word = Name(str(words.array[told.row(words)]))
    return (
        *("After “", told.who, "” the model says “", word, "”, with a probability of "),
        *(Percent(printed), "."),
    )


def counted(step: Step) -> Sentence | None:
    """Which positions do not count in a loss."""
    operation = step.operation
    assert isinstance(operation, MeanOf)
    left_out = len(step.inputs[0].array) - len(operation.counted)
    if not left_out:
        return None
    one = left_out == 1
    verb, what = ("does", "it has") if one else ("do", "they have")
    positions = count(left_out, "position")
    return (f"{positions} {verb} not count in the mean: {what} no next token to guess.",)


def drawn(step: Step) -> Sentence:
    """Which word a random number falls on."""
    draw = Number(step.inputs[1].array.item())
    word = Name(str(step.output.array[0]))
    return ("The random number is ", draw, ": it falls on “", word, "”.")


def _best(
    value: Value, told: Told, printed: Sequence[Number], before: str, between: str, after: str
) -> Sentence | None:
    numbers = [number.value for number in printed]
    largest = max(numbers)
    if numbers.count(largest) > 1:
        return None
    label = Name(distinct(value.axes[1].labels)[numbers.index(largest)])
    return (before, told.who, between, label, after, Number(largest), ".")


def _reused(step: Step, kind: str) -> Sentence:
    old, new = (list(value.axes[0].labels) for value in step.inputs)
    return (
        *(f"The {kind}s of ", *listed(old), " were computed before and are reused; only "),
        *(*listed(new), " is new." if len(new) == 1 else " are new."),
    )


def _masked(step: Step, told: Told) -> Sentence:
    hidden = [
        name
        for name, number in zip(told.names, step.output.array[told.row(step.output)], strict=True)
        if number.is_infinite()
    ]
    if not hidden:
        return ("From ", told.who, " nothing is hidden.")
    if len(hidden) == len(told.names):
        return ("From ", told.who, " everything is hidden, itself too.")
    return (told.who, " does not see ", *listed(hidden), ".")


def _shares(value: Value, told: Told, printed: Sequence[Number], *, itself: bool) -> Sentence:
    names = distinct(value.axes[1].labels)
    weights = [number.value for number in printed]
    if not any(weights):
        return (
            *("Every key is hidden from ", told.who, ": the sum is 0, and there is nothing to "),
            "divide. All its weights are set to 0, so it gathers nothing.",
        )

    def receiver(index: int) -> Inline:
        return "itself" if itself and index == told.token else Name(names[index])

    order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)
    first, second = order[0], order[1] if len(order) > 1 else None
    if second is None or not weights[second]:
        return ("All of the attention of ", told.who, " goes to ", receiver(first), ".")
    share = Percent(printed[first])
    if weights[first] == weights[second]:
        alike = [names[i] for i in sorted(order) if weights[i] == weights[first]]
        to = (" go to ", *listed(alike), ": ")
        return ("The largest shares of ", told.who, *to, share, " each.")
    to = (" of its attention to ", receiver(first))
    then: Sentence = (", then ", Percent(printed[second]), " to ", receiver(second))
    return (told.who, " gives ", share, *to, *then, ".")


def _leak(told: Told, printed: Sequence[Number]) -> Sentence:
    later = told.names[told.token + 1 :]
    if not later:
        return (told.who, " comes last: the mask takes nothing from it.")
    share = sum((number.value for number in printed[told.token + 1 :]), Decimal(0))
    return (
        *("Without the mask ", told.who, " would give ", Percent(Number(share))),
        *(" of its attention to ", *listed(later), ", which come later: data leakage, for in "),
        "use they are not there yet.",
    )


def _largest_change(step: Step, row: int, what: str) -> Sentence | None:
    change = step.inputs[1].array[row]
    sizes = [abs(number) for number in change]
    if len(sizes) < 2 or sizes.count(max(sizes)) > 1:
        return None
    label = Name(step.output.axes[1].labels[sizes.index(max(sizes))])
    return (f"{what[0].upper()}{what[1:]} changes ", label, " most.")


def _extremes(value: Value, printed: Sequence[Number]) -> Sentence | None:
    numbers = [number.value for number in printed]
    high, low = max(numbers), min(numbers)
    if numbers.count(high) > 1 or numbers.count(low) > 1:
        return None
    labels = value.axes[1].labels
    return (
        *("The largest is now ", Name(labels[numbers.index(high)])),
        *(" with ", Number(high), ", the smallest ", Name(labels[numbers.index(low)])),
        *(" with ", Number(low), "."),
    )


def _kept(value: Value, printed: Sequence[Number]) -> Sentence:
    labels = value.axes[1].labels
    kept = [label for label, number in zip(labels, printed, strict=True) if number.value]
    zeroed = [label for label, number in zip(labels, printed, strict=True) if not number.value]
    if not zeroed:
        return ("ReLU keeps them all: none is negative.",)
    if not kept:
        return ("ReLU keeps none: all are 0 from here on.",)
    return ("ReLU keeps ", *listed(kept), " and zeroes ", *listed(zeroed), ".")
