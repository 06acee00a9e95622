"""The words around the steps: titles, what is worked out, where numbers come from."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.pencil import Pencil
from tracer.lesson.document import Inline, Reference, Sentence
from tracer.lesson.expression import Expression
from tracer.lesson.steps import Step, words
from tracer.lesson.steps.sub_layers import SUB_LAYERS
from tracer.lesson.told import Told, listed
from tracer.names import count
from tracer.scenario.carry import Carry

INPUTS, WORDS = "Inputs", "Output"
AT_A_GLANCE = (
    "The model, to be read from below. Beside each sign stands the shape of what it gives, rows×"
    "columns, and at the right the number of the step."
)
ATTENTIONS = {"attention": "masked self-attention", "cross_attention": "cross-attention"}
PARTS = {**ATTENTIONS, "ffn": "feed-forward network", "lens": "lens"}


def introduction(told: Told) -> list[Sentence]:
    """What is worked out, and what the signs mean."""
    position = f", position {told.token + 1} of {len(told.names)}."
    return [
        ("The calculation is worked for the token ", told.who, position),
        (
            "Where the sign is =, both sides are equal with the digits shown; "
            f"≈ means correctly rounded. {_carried(told.trace.pencil)}",
        ),
    ]


def _carried(pencil: Pencil) -> str:
    """Which number the next calculation uses, and which lines show more digits."""
    match pencil.carry:
        case Carry.LINE:
            return "Each number is rounded where it is printed, and used as it is printed."
        case Carry.STEP:
            more = count(pencil.rounding.working, "digit")
            inside = f"; inside a step it keeps up to {more} more" * (more[0] != "0")
            return (
                f"A number is rounded where its step ends{inside}. "
                "Products on the way to a result show more where it needs them."
            )
        case Carry.NEVER:
            return (
                "Nothing is rounded on the way, only what is printed. Where a line would not come "
                "out right with the usual digits, it shows more."
            )


def title(step: Step, told: Told) -> str:
    """`Layer 1, head 2 · Query`; only what there are several of is named."""
    place, words = where(step, told), _words(step)
    return f"{place[0].upper()}{place[1:]} · {words}" if place else words


def within(step: Step, told: Told) -> tuple[str, ...]:
    """`Head 2`, `Query`: the title under that of its part."""
    head = step.place.head
    return (*([f"Head {head}"] if head and told.heads > 1 else []), _words(step))


def _words(step: Step) -> str:
    """What a step is called, wherever it is."""
    if step.place.final:
        return f"{step.kind.title} behind the layers"
    if step.place.sub_layer and not step.kind.inner:
        return f"{step.kind.title} {_side(step)} {SUB_LAYERS[step.place.sub_layer]}"
    return step.kind.title


def picture(step: Step, told: Told) -> str:
    """The title of a picture of attention weights."""
    place = where(step, told)
    return f"{step.kind.picture}, {place}" if place else f"{step.kind.picture}"


def where(step: Step, told: Told) -> str:
    """`layer 1, head 2`: only what there are several of."""
    parts, place = [], step.place
    if place.layer and told.layers > 1:
        parts.append(f"layer {place.layer}")
    if told.crosses and step.kind.inner and place.sub_layer in ATTENTIONS:
        parts.append(ATTENTIONS[place.sub_layer])
    if place.head and told.heads > 1:
        parts.append(f"head {place.head}")
    return ", ".join(parts)


def _side(step: Step) -> str:
    """A LayerNorm in front of its sub-layer reads nothing of it."""
    inputs = step.records[0].inputs
    return "after" if any(value.place == step.place for value in inputs) else "before"


OTHER_ROWS = "The other rows are found in the same way, each from its own token's numbers."


def part(step: Step, told: Told) -> str:
    """The part of the text that a step belongs to: `Layer 2: cross-attention`."""
    place = step.place
    if place.sub_layer is None:
        return WORDS if step.kind in words.KINDS or place.final else INPUTS
    name = PARTS[place.sub_layer]
    if told.layers > 1:
        return f"Layer {place.layer}: {name}"
    return f"{name[0].upper()}{name[1:]}"


def as_in(before: Step, step: Step, told: Told) -> Sentence:
    """What a step is for was said before, of another head or layer."""
    place = where(step, told)
    here = f", here for {place}" if place else ""
    return ("As in ", Reference(before.number), f"{here}.")


def question(told: Told, *, predicts: bool) -> list[Sentence]:
    """What a tutorial works out, and how it goes about it."""
    asked = (
        "Which word comes next? A decoder answers with a probability for every word it knows."
        if predicts
        else "What does a decoder make of these tokens? It turns each of them into a vector"
        + (" that also tells of those before it." if told.looks_back else ".")
    )
    read: Sentence = ("It reads ", *listed(told.names), ".")
    plan = (
        "Every step of the calculation follows, in order, with its goal, its formula, the numbers "
        "put in, and the result. A pencil and a calculator are enough to check each line."
    )
    return [(asked,), read, (plan,), *introduction(told)]


def references(made: Expression, sources: Sequence[tuple[Expression, int]]) -> Sentence:
    """From which steps the numbers come that a step is made of."""
    parts: list[Inline] = []
    for i, (symbol, number) in enumerate(sources):
        if i:
            parts.append(" and " if i == len(sources) - 1 else ", ")
        parts += [symbol, " from ", Reference(number)]
    return (made, " is made of ", *parts, ".")
