"""The words around the arithmetic: titles, goals, captions and what a result says.

Every number in a sentence is one that the tape holds, as it is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tracer.document import Inline, Name, Percent
from tracer.expression import Number
from tracer.operations import Copy, DivTerm, Normalize
from tracer.rounding import Carry, Rounding
from tracer.steps import Stage
from tracer.symbols import role
from tracer.tape import Step, Value

Sentence: TypeAlias = tuple[Inline, ...]

TITLES = {
    "embedding": "Tokens and embeddings",
    "position": "Positions",
    "input": "Input vectors",
    "query": "Query",
    "key": "Key",
    "value": "Value",
    "scores": "Attention scores",
    "mask": "Causal mask",
    "softmax": "Softmax: the attention weights",
    "weighted_sum": "Weighted sum of the values",
    "concat": "Concatenate the heads",
    "projection": "Attention output",
    "residual": "Residual connection",
    "norm": "LayerNorm",
    "hidden": "FFN: hidden layer",
    "activation": "FFN: activation",
    "ffn_output": "FFN: output",
    "output": "Output of the decoder",
    "logits": "Logits",
    "probabilities": "Softmax: the probabilities",
    "prediction": "Prediction",
}

GOALS = {
    "embedding": "Each token is looked up in a table and becomes a vector, its embedding.",
    "input": "Embedding and position are added, so that each vector says what and where.",
    "query": "The query is what a token asks of the others.",
    "key": "The key is what a token can be found by: queries are compared with it.",
    "value": "The value is what a token passes on to those that attend to it.",
    "scores": (
        "Query times key says how well a token's question and another's key fit. The square root "
        "of their length d_k keeps the scores small however long they are."
    ),
    "mask": (
        "A token may look at itself and back, never ahead: the score of every later token becomes "
        "-∞, the others stay."
    ),
    "softmax": "The scores become shares: positive, and together 1. e^(-∞) is 0.",
    "weighted_sum": "Each value counts as much as its attention weight says.",
    "residual": "What went in is added to what came out: nothing of it is lost.",
    "output": "What leaves the last layer is the decoder's answer, a vector for each token.",
    "logits": "The answer is compared with every word of the vocabulary: one logit for each.",
    "probabilities": "The logits become probabilities: positive, and together 1.",
    "prediction": "The most probable word is the model's guess at the next token.",
}

CAPTIONS = {
    "position.div_term": "The frequencies, one for each sine and the cosine beside it:",
    "position.angle": "The position times each frequency:",
    "position": "The sine in the even columns, the cosine in the odd ones, counted from 0:",
    "attention.head.scale": "What the dot products are divided by:",
    "attention.head.scores": "The query with the key of each token:",
    "attention.head.exp": "The exponentials:",
    "attention.head.exp_sum": "Their sum:",
    "attention.head.weights": "Each of them divided by the sum:",
    "probabilities.exp": "The exponentials:",
    "probabilities.exp_sum": "Their sum:",
    "probabilities": "Each of them divided by the sum:",
    "norm.mean": "The mean:",
    "norm.deviation": "How far each number is from it:",
    "norm.squared": "The square of each deviation:",
    "norm.variance": "The variance, which is the mean of the squares:",
    "norm.std": "The standard deviation:",
}

CARRIES = {
    Carry.LINE: "Each number is rounded where it is printed, and the next line works on with it.",
    Carry.STEP: (
        "A number is rounded where its step ends; inside a step the work goes on unrounded."
    ),
    Carry.NEVER: "Nothing is rounded on the way, only what is printed.",
}


@dataclass(frozen=True)
class Told:
    """What prose may know of the run: how numbers are printed, which token is followed."""

    rounding: Rounding
    token: int
    names: tuple[str, ...]
    layers: int
    heads: int

    @property
    def who(self) -> Name:
        """The token that is followed."""
        return Name(self.names[self.token])


def introduction(told: Told) -> list[Sentence]:
    """What is worked out, and what the signs mean."""
    position = f", position {told.token + 1} of {len(told.names)}."
    return [
        ("The calculation is worked for the token ", told.who, position),
        (
            "Where the sign is =, both sides are equal with the digits shown; "
            "≈ means correctly rounded. "
            + CARRIES[told.rounding.carry]
            + " Where a line would not come out right with the usual digits, it shows more.",
        ),
    ]


def title(stage: Stage, told: Told) -> str:
    """`Layer 1, head 2: Query`; layer and head are named only where there are several."""
    where = []
    if stage.layer and told.layers > 1:
        where.append(f"layer {stage.layer}")
    if stage.head and told.heads > 1:
        where.append(f"head {stage.head}")
    words = TITLES[stage.kind]
    if stage.kind in ("residual", "norm"):
        words += " after the FFN" if stage.sub_layer == "ffn" else " after attention"
    return f"{', '.join(where).capitalize()}: {words}" if where else words


def goal(stage: Stage) -> Sentence:
    """What the step is for, in a sentence or two."""
    last = stage.steps[-1]
    copied = isinstance(last.operation, Copy)
    match stage.kind:
        case "position":
            computed = any(isinstance(step.operation, DivTerm) for step in stage.steps)
            if computed:
                return (
                    "Attention alone does not see the order of the tokens, so each position has a "
                    "vector too: waves of different lengths, read off at the position.",
                )
            return (
                "Attention alone does not see the order of the tokens, so each position has a "
                "vector too.",
            )
        case "input" if copied:
            return ("There are no positions here: the embeddings go in as they are.",)
        case "concat":
            return ("The outputs of the heads stand side by side, one long row for each token.",)
        case "projection" if copied:
            return ("There is no W_O here: the result of attention is passed on as it is.",)
        case "projection":
            return ("W_O mixes what the heads have found into one vector for each token.",)
        case "norm":
            return (
                "Each token's numbers are moved to mean 0 and brought to the same spread, so that "
                "no feature counts more only because it is large.",
            )
        case "hidden":
            units = Number.of(last.output.array.shape[1])
            return (
                "Now each token is by itself: its numbers are combined into ",
                units,
                " hidden ones.",
            )
        case "activation" if copied:
            return ("There is no activation function here: the hidden numbers stay.",)
        case "activation":
            return ("ReLU keeps what is positive and makes the rest 0.",)
        case "ffn_output":
            features = Number.of(last.output.array.shape[1])
            return ("The hidden numbers are combined into ", features, " again, the FFN's output.")
        case kind:
            return (GOALS[kind],)


def caption(step: Step) -> str | None:
    """A few words before the lines of one of a stage's steps."""
    name = role(step.output.address)
    if isinstance(step.operation, Normalize):
        gain = ", times γ" if step.operation.gain else ""
        shift = ", plus β" if step.operation.shift else ""
        return f"Each deviation, measured in standard deviations{gain}{shift}:"
    _, norm, part = name.partition("norm.")
    return CAPTIONS.get(norm + part if norm else name)


def reading(stage: Stage, told: Told, printed: Sequence[Number]) -> Sentence | None:
    """What the result says of the followed token; `printed` is its row of the last step."""
    value = stage.steps[-1].output
    match stage.kind:
        case "scores" if len(printed) > 1:
            return _best(value, told, printed, "The query of ", " fits the key of ", " best: ")
        case "mask":
            return _masked(told)
        case "softmax":
            return _shares(told, printed)
        case "residual":
            return _largest_change(stage.steps[-1], told.token)
        case "norm":
            return _extremes(value, printed)
        case "activation" if not isinstance(stage.steps[-1].operation, Copy):
            return _kept(value, printed)
        case "logits" if len(printed) > 1:
            return _best(value, told, printed, "For ", " the largest logit is that of “", "”: ")
        case _:
            return None


def prediction(words: Value, told: Told, printed: Number) -> Sentence:
    """Which word is guessed, and how sure the model is."""
    word = Name(str(words.array[told.token]))
    return (
        *("After “", told.who, "” the model says “", word, "”, with a probability of "),
        *(Percent(printed), "."),
    )


def _best(
    value: Value, told: Told, printed: Sequence[Number], before: str, between: str, after: str
) -> Sentence | None:
    largest = max(number.value for number in printed)
    if sum(number.value == largest for number in printed) > 1:
        return None
    column = [number.value for number in printed].index(largest)
    labels = told.names if value.axes[1].name == "key" else value.axes[1].labels
    return (before, told.who, between, Name(labels[column]), after, Number(largest), ".")


def _masked(told: Told) -> Sentence:
    later = told.names[told.token + 1 :]
    if not later:
        return (told.who, " is the last token: nothing is hidden from it.")
    return (told.who, " does not see ", *_listed(later), ".")


def _shares(told: Told, printed: Sequence[Number]) -> Sentence:
    if told.token == 0:
        return ("The first token sees only itself: all of its attention stays there.",)
    weights = [number.value for number in printed]
    order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)
    first, second = order[:2]
    if weights[first] == weights[second]:
        alike = [told.names[i] for i in sorted(order) if weights[i] == weights[first]]
        share = Percent(printed[first])
        return (
            "The largest shares of ",
            told.who,
            " go to ",
            *_listed(alike),
            ": ",
            share,
            " each.",
        )

    def receiver(index: int) -> Inline:
        return "itself" if index == told.token else Name(told.names[index])

    share = Percent(printed[first])
    sentence: Sentence = (told.who, " gives ", share, " of its attention to ", receiver(first))
    if weights[second]:
        sentence += (", then ", Percent(printed[second]), " to ", receiver(second))
    return (*sentence, ".")


def _largest_change(step: Step, token: int) -> Sentence | None:
    change = step.inputs[1].array[token]
    sizes = [abs(number) for number in change]
    if len(sizes) < 2 or sizes.count(max(sizes)) > 1:
        return None
    label = Name(step.output.axes[1].labels[sizes.index(max(sizes))])
    what = "The FFN" if "ffn" in step.output.address else "Attention"
    return (f"{what} changes ", label, " most.")


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
    return ("ReLU keeps ", *_listed(kept), " and zeroes ", *_listed(zeroed), ".")


def _listed(names: Sequence[str]) -> Sentence:
    """a, b and c."""
    listed: list[Inline] = []
    for i, name in enumerate(names):
        if i:
            listed.append(" and " if i == len(names) - 1 else ", ")
        listed.append(Name(name))
    return tuple(listed)
