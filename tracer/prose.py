"""The words around the arithmetic: titles, goals, captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from tracer.carry import Carry
from tracer.document import Inline, Name
from tracer.expression import Exponential, Expression, Number, Symbol
from tracer.operations import Copy, DivTerm, Normalize
from tracer.rounding import Rounding
from tracer.steps import Stage
from tracer.symbols import role
from tracer.tape import Step, Value

Sentence: TypeAlias = tuple[Inline, ...]

HIDDEN, W_O = Number(Decimal("-Infinity")), Symbol("W", "O")

TITLES = {
    "embedding": "Tokens and embeddings",
    "position": "Positions",
    "input": "Input vectors",
    "encoder": "Output of the encoder",
    "query": "Query",
    "key": "Key",
    "value": "Value",
    "scores": "Attention scores",
    "mask": "Causal mask",
    "softmax": "Softmax: the attention weights",
    "unmasked": "Without the mask",
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
    "loss": "Cross-entropy loss",
    "sampling": "Drawing the next word",
}

GOALS: dict[str, Sentence] = {
    "embedding": ("Each token is looked up in a table and becomes a vector, its embedding.",),
    "input": ("Embedding and position are added, so that each vector says what and where.",),
    "encoder": ("The encoder has read the input and made one vector of each of its tokens.",),
    "query": ("The query is what a token asks of the others.",),
    "key": ("The key is what a token can be found by: queries are compared with it.",),
    "value": ("The value is what a token passes on to those that attend to it.",),
    "scores": (
        "Query times key says how well a token's question and another's key fit. The square root "
        "of their length ",
        Symbol("d", "k"),
        " keeps the scores small however long they are.",
    ),
    "mask": (
        "A token may look at itself and back, never ahead: the score of every later token becomes ",
        HIDDEN,
        ", the others stay.",
    ),
    "unmasked": (
        "The same scores without the mask: what the token would look at if it could look ahead.",
    ),
    "loss": (
        "At each position the model was to guess the token that comes next. The less probable it "
        "held the right one, the larger the loss there; the loss of all is their mean.",
    ),
    "sampling": (
        "The most probable word need not be said: one is drawn, each with its probability.",
    ),
    "softmax": (
        *("The scores become shares: positive, and together 1. ", Exponential(HIDDEN), " is 0."),
    ),
    "weighted_sum": ("Each value counts as much as its attention weight says.",),
    "residual": ("What went in is added to what came out: nothing of it is lost.",),
    "output": ("What leaves the last layer is the decoder's answer, a vector for each token.",),
    "logits": ("The answer is compared with every word of the vocabulary: one logit for each.",),
    "probabilities": ("The logits become probabilities: positive, and together 1.",),
    "prediction": ("The most probable word is the model's guess at the next token.",),
}

CAPTIONS = {
    "position.div_term": "The frequencies, one for each sine and the cosine beside it:",
    "position.angle": "The position times each frequency:",
    "position.sin": "The sines, which go to the even columns, counted from 0:",
    "position.cos": "The cosines, which go to the odd ones:",
    "loss.token": "The loss at each position, with the probability of the right token:",
    "loss": "Their mean:",
    "sampling.scaled": "The logits, divided by the temperature:",
    "sampling.exp": "The exponentials:",
    "sampling.exp_sum": "Their sum:",
    "sampling.probabilities": "Each of them divided by the sum:",
    "sampling.candidates": "The words that stay, the most probable first:",
    "sampling.candidates_sum": "What their probabilities come to:",
    "sampling.renormalized": "Each of them divided by that, so that they come to 1 again:",
    "sampling.cumulative": "Their running sums:",
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

ATTENTIONS = {"attention": "masked self-attention", "cross_attention": "cross-attention"}

CROSS_GOALS: dict[str, Sentence] = {
    "softmax": ("The scores become shares: positive, and together 1. No token is hidden here.",),
    "query": ("The query is what a token of the decoder asks of the encoder's tokens.",),
    "key": (
        "The keys are made of the encoder's vectors: what the input's tokens can be found by.",
    ),
    "value": ("The values are made of the encoder's vectors too: what its tokens pass on.",),
}

SUMMARIES = {
    "embedding": "tokens become vectors",
    "position": "a vector for each position",
    "input": "embedding plus position",
    "encoder": "the input's tokens as vectors, given",
    "query": "what each token asks",
    "key": "what each token can be found by",
    "value": "what each token passes on",
    "scores": "every query with every key",
    "mask": "later tokens are hidden",
    "softmax": "scores become weights that sum to 1",
    "unmasked": "the weights if nothing were hidden",
    "weighted_sum": "the values, each with its weight",
    "concat": "the heads side by side",
    "projection": "what attention adds for each token",
    "residual": "what went in is added",
    "norm": "mean 0, the same spread for all",
    "hidden": "each token by itself, combined anew",
    "activation": "what the hidden numbers pass on",
    "ffn_output": "what the FFN adds for each token",
    "output": "the decoder's answer",
    "logits": "a score for each word",
    "probabilities": "scores become probabilities",
    "prediction": "the most probable word",
    "loss": "how surprised the model is",
    "sampling": "a word is drawn",
}
"""Each kind of step in a few words, for the summary of a tutorial."""

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
    crosses: bool
    padding: str | None

    def row(self, value: Value) -> int:
        """The followed token's row in a value."""
        return value.row(self.token, len(self.names))

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
    """`Layer 1, head 2: Query`; only what there are several of is named."""
    words = TITLES[stage.kind]
    if stage.kind in ("residual", "norm"):
        words += f" {_side(stage)} {name_of(stage.sub_layer)}"
    where = _where(stage, told)
    return f"{where[0].upper()}{where[1:]}: {words}" if where else words


def picture(stage: Stage, told: Told) -> str:
    """The title of a picture of attention weights."""
    unmasked = " without the mask" if stage.kind == "unmasked" else ""
    where = _where(stage, told)
    return f"Attention weights{unmasked}, {where}" if where else f"Attention weights{unmasked}"


def _where(stage: Stage, told: Told) -> str:
    where = []
    if stage.layer and told.layers > 1:
        where.append(f"layer {stage.layer}")
    if told.crosses and stage.sub_layer in ATTENTIONS and stage.kind not in ("residual", "norm"):
        where.append(ATTENTIONS[stage.sub_layer])
    if stage.head and told.heads > 1:
        where.append(f"head {stage.head}")
    return ", ".join(where)


def name_of(sub_layer: str | None) -> str:
    """A sub-layer inside a sentence."""
    names = {"ffn": "the FFN", "cross_attention": "cross-attention"}
    return names.get(sub_layer or "", "attention")


def _side(stage: Stage) -> str:
    """A LayerNorm in front of its sub-layer reads nothing of it."""
    own = f"layer{stage.layer}.{stage.sub_layer}."
    inputs = stage.steps[0].inputs
    return "after" if any(value.address.startswith(own) for value in inputs) else "before"


def goal(stage: Stage, told: Told) -> Sentence:
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
        case "mask" if told.padding is not None:
            return (
                *(*GOALS["mask"], " So does the score of “", Name(told.padding), "”, which only "),
                "fills up the sequence.",
            )
        case "concat" if len(last.inputs) == 1:
            return ("There is only one head: its output goes on as it is.",)
        case "concat":
            return ("The outputs of the heads stand side by side, one long row for each token.",)
        case "projection" if copied:
            return ("There is no ", W_O, " here: the result of attention is passed on as it is.")
        case "projection":
            return (W_O, " mixes what the heads have found into one vector for each token.")
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
        case "key" | "value" if copied:
            return (f"The {stage.kind}s of the encoder's tokens are reused from the turn before.",)
        case kind if stage.sub_layer == "cross_attention" and kind in CROSS_GOALS:
            return CROSS_GOALS[kind]
        case kind:
            return GOALS[kind]


def question(told: Told, *, predicts: bool) -> list[Sentence]:
    """What a tutorial works out, and how it goes about it."""
    asked = (
        "Which word comes next? A decoder answers with a probability for every word it knows."
        if predicts
        else "What does a decoder make of these tokens? It turns each into a vector that also "
        "says what stands around it."
    )
    read: Sentence = ("It reads ", *listed(told.names), ".")
    plan = (
        "Every step of the calculation follows, in order, with its goal, its formula, the numbers "
        "put in, and the result. A pencil and a calculator are enough to check each line."
    )
    return [(asked,), read, (plan,), *introduction(told)]


def references(sources: Sequence[tuple[Expression, int]]) -> Sentence | None:
    """From which steps the numbers of a step come."""
    parts: list[Inline] = []
    for i, (symbol, number) in enumerate(sources):
        if i:
            parts.append(" and " if i == len(sources) - 1 else ", ")
        parts += [symbol, f" from step {number}"]
    return ("It takes ", *parts, ".") if parts else None


def listed(names: Sequence[str]) -> Sentence:
    """a, b and c."""
    parts: list[Inline] = []
    for i, name in enumerate(names):
        if i:
            parts.append(" and " if i == len(names) - 1 else ", ")
        parts.append(Name(name))
    return tuple(parts)


def given(symbol: Expression) -> Sentence:
    """What is pinned is not computed."""
    return (symbol, " is given here: it is not computed from what stands above.")


def caption(step: Step) -> str | None:
    """A few words before the lines of one of a stage's steps, where there are any to say."""
    name = role(step.output.address).removeprefix("cross_").replace(".unmasked", "")
    if isinstance(step.operation, Normalize):
        gain = ", times γ" if step.operation.gain else ""
        shift = ", plus β" if step.operation.shift else ""
        return f"Each deviation, measured in standard deviations{gain}{shift}:"
    _, norm, part = name.partition("norm.")
    return CAPTIONS.get(norm + part if norm else name)
