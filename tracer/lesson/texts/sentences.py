"""The words around the steps: titles, what is worked out, where numbers come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import Phase, Place, SubLayer
from tracer.formula.expression import Expression, Symbol
from tracer.lesson.context import COLUMNS_SHOWN, MOST_COLUMNS, LessonContext, joined, listed
from tracer.lesson.document import Reference, Sentence
from tracer.lesson.steps import training, words
from tracer.lesson.steps.attribution import DIRECTION_STEP
from tracer.lesson.steps.declared import FORWARD
from tracer.lesson.steps.inputs import ENCODER_STEP, OF_EACH_TOWER
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import with_parts
from tracer.lesson.steps.sub_layers import NORM_AFTER_STEP, SUB_LAYERS
from tracer.lesson.texts.symbols import ENCODER, of_encoder
from tracer.lesson.working.sums import Terms
from tracer.names import count
from tracer.scenario.carry import Carry
from tracer.scenario.parts import parts_of

AT_THE_END = [kind.name for kind in (*with_parts((*words.KINDS, DIRECTION_STEP)), *training.KINDS)]
PARTS: dict[SubLayer, str] = {
    "attention": "self-attention",
    "cross_attention": "cross-attention",
    "ffn": "feed-forward network",
    "lens": "lens",
}
"""A sub-layer as the heading of its part."""
PHASES: dict[Phase, str] = {
    "gradient": "Backward pass",
    "update": "Update",
    "attribution": "Attribution",
}
"""A phase after the forward pass as the heading of its part."""


def introduction(ctx: LessonContext, terms: Terms) -> list[Sentence]:
    """What is worked out, and what is shown of it."""
    position = f", position {ctx.token + 1} of {len(ctx.names)}."
    return [
        ("The calculation follows the token ", ctx.name, position),
        *([_of_encoder(ctx.of_encoder)] if ctx.has_two_towers else []),
        *([(*cut_rows(ctx), *_cut_sums(terms))] if ctx.trace.scenario.on_demand else []),
    ]


def signs(pencil: Pencil) -> Sentence:
    """Say what the signs of worked lines mean."""
    return (
        "The sign = means that both sides are equal with the digits shown, ≈ that the right side "
        f"is rounded. {_carried(pencil)}",
    )


def _of_encoder(ctx: LessonContext) -> Sentence:
    """Which of the encoder's tokens is worked, and how its symbols are told from the decoder's."""
    position = f", position {ctx.token + 1} of {len(ctx.names)}. The encoder's symbols carry an "
    signs: Sentence = (Symbol("", above=ENCODER), ": ", of_encoder(Symbol("Q")))
    ends: Sentence = (" is the encoder's query, ", Symbol("Q"), " the decoder's.")
    return ("In the encoder it follows ", ctx.name, position, *signs, *ends)


def cut_rows(ctx: LessonContext) -> Sentence:
    """What is shown of long rows."""
    columns = count(COLUMNS_SHOWN, "number")
    rows = f" With more than {MOST_COLUMNS} tokens, a matrix shows only the row of "
    tokens = (rows, ctx.name, ".") if len(ctx.names) > MOST_COLUMNS else ()
    return (
        f"A row of more than {MOST_COLUMNS} numbers is cut to {columns}: the largest in magnitude "
        "for ",
        *(ctx.name, "; for words of the vocabulary, the highest; in a row that belongs to no "),
        "token, the first.",
        *tokens,
    )


def _cut_sums(terms: Terms) -> Sentence:
    """What is shown of long sums."""
    sums = count(terms.shown, "term")
    return (
        f" A sum of more than {count(terms.most, 'term')} is cut to {sums}: the "
        f"{'largest' if terms.largest else 'first'} products, or the largest numbers of a row. "
        "The brackets after them contain the number of the other terms and their sum; for a "
        "maximum, the largest of the others.",
    )


def _carried(pencil: Pencil) -> str:
    match pencil.carry:
        case Carry.LINE:
            return (
                "Each number is rounded where it is printed, and the rounded number is used from "
                "there on."
            )
        case Carry.STEP:
            more = count(pencil.rounding.working, "digit")
            inside = f"; inside a step, it shows up to {more} more" * (more[0] != "0")
            return f"A number is rounded where its step ends{inside}."
        case Carry.NEVER:
            return "Only the printed digits are rounded; the calculation keeps all of them."


def title(step: Step, ctx: LessonContext) -> str:
    """`Layer 1, head 2 · Query`; only what there are several of is named."""
    places = ", ".join(_tower(step, ctx) + _within_tower(step, ctx))
    return f"{_capitalized(places)} · {named(step)}" if places else named(step)


def within(step: Step, ctx: LessonContext) -> tuple[str, ...]:
    """`Head 2`, `Query`: the title under that of its part."""
    head = step.place.head
    network = [_capitalized(step.place.network.name)] if step.place.network else []
    return (*([f"Head {head}"] if head and ctx.heads > 1 else network), named(step))


def named(step: Step) -> str:
    """Return the name of a step: `LayerNorm after attention`."""
    if number := step.place.block or step.place.token:
        return f"{step.kind.title} {number}"
    if step.place.rotary:
        return f"{step.kind.title}, set {step.place.rotary}"
    if step.place.tower_norm:
        *gradient_through, norm = step.kind.title.split()
        which = step.place.tower_norm.removesuffix("_norm")
        return _capitalized(" ".join((*gradient_through, which, norm)))
    if step.place.sub_layer and not step.kind.inner:
        after = "after" if FORWARD.get(step.kind) is NORM_AFTER_STEP else "of"
        side = _side(step) if step.place.phase == "forward" else after
        return f"{step.kind.title} {side} {SUB_LAYERS[step.place.sub_layer]}"
    return step.kind.title


def picture(step: Step, ctx: LessonContext) -> str:
    """The title of a picture of attention weights."""
    return ", ".join(filter(None, (step.kind.picture, where(step, ctx))))


def where(step: Step, ctx: LessonContext) -> str:
    """`layer 1, head 2`, `the encoder, head 2`: only what there are several of."""
    tower = [f"the {name}" for name in _tower(step, ctx)]
    return ", ".join(tower + _within_tower(step, ctx))


def _tower(step: Step, ctx: LessonContext) -> list[str]:
    """Encoder or decoder, where both have such steps."""
    name = "encoder" if step.place.encoder else "decoder"
    either = step.place.layer or step.place.tower_norm or step.kind in OF_EACH_TOWER
    return [name] if ctx.has_two_towers and either else []


def _within_tower(step: Step, ctx: LessonContext) -> list[str]:
    parts, place = [], step.place
    if place.layer and ctx.layers > 1:
        parts.append(f"layer {place.layer}")
    if ctx.crosses and step.kind.inner and place.sub_layer != "ffn" and place.sub_layer:
        parts.append(_sub_layer(place.sub_layer, place, ctx))
    if place.head and ctx.heads > 1:
        parts.append(f"head {place.head}")
    if place.network:
        parts.append(place.network.name)
    return parts


def _side(step: Step) -> str:
    """A LayerNorm in front of its sub-layer reads nothing of it."""
    inputs = step.records[0].inputs
    return "after" if any(value.place == step.place for value in inputs) else "before"


def other_rows(others: int) -> Sentence:
    """Say how the rows of the other tokens are computed."""
    if others == 1:
        return ("The other row is computed in the same way.",)
    return (f"The other {others} rows are computed in the same way.",)


def part(step: Step, ctx: LessonContext) -> str:
    """The part of the text that a step belongs to: `Layer 2: cross-attention`, `Inputs`."""
    if step.place.phase != "forward":
        kind, place = FORWARD.get(step.kind, step.kind), replace(step.place, phase="forward")
        of = part(replace(step, kind=kind, place=place), ctx)
        return f"{PHASES[step.place.phase]}, {of[0].lower()}{of[1:]}"
    place = step.place
    name = _sub_layer(place.sub_layer, place, ctx) if place.sub_layer else ""
    layer = f"layer {place.layer}" if place.layer and ctx.layers > 1 else ""
    return heading(step.kind.name, place, layer, name, towers=1 + ctx.has_two_towers)


def heading(step: str, place: Place, layers: str, sub_layer: str, *, towers: int) -> str:
    """`Encoder, layer 1: FFN`: what the step of a name belongs to, as far as that is to be said."""
    of_encoder = step == ENCODER_STEP.name
    is_final = place.tower_norm == "final_norm"
    ends = step in AT_THE_END or is_final or (towers > 1 and of_encoder)
    tower = "encoder" if place.encoder or of_encoder else "" if ends else "decoder"
    where = ", ".join(filter(None, (tower if towers > 1 else "", layers)))
    name = sub_layer or ("output" if ends else "inputs")
    return _capitalized(f"{where}: {name}" if where else name)


def _capitalized(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _sub_layer(name: SubLayer, place: Place, ctx: LessonContext) -> str:
    masked = name == "attention" and ctx.mask_at(place)
    return f"masked {PARTS[name]}" if masked else PARTS[name]


def same_as_in(before: Step) -> Sentence:
    """What a step is for was said before, of another head or layer."""
    return ("As in ", Reference(before.number), ".")


EACH = "Each step shows its goal, its formula, its numbers and its result."
NEW = "A step of a new kind is worked; a step that repeats another shows its result."


def question(
    ctx: LessonContext, terms: Terms, *, predicts: bool, whole: bool, every: bool = True
) -> list[Sentence]:
    """What a tutorial works out, and how it goes about it; of a `whole` calculation or a part.

    `every` step is worked, or only one of each kind.
    """
    follows: Sentence = ("Which word comes next?",)
    if ctx.fills_in:
        follows = ("Which word belongs in the place of ", ctx.name, "?")
    words = f" The {ctx.model} computes a probability for every word of its vocabulary."
    computes = f"What does a {ctx.model} do with these tokens? It rewrites each token's vector"
    using = f" using {ctx.visible_tokens}" if ctx.visible_tokens else ""
    of_typed = (
        "What does attention compute from given queries, keys and values? For each query, it "
        "computes a weighted sum of the values."
    )
    asked: Sentence = (of_typed if ctx.trace.scenario.has_typed_heads else f"{computes}{using}.",)
    if predicts:
        asked = (*follows, words)
    read: Sentence = ("The model reads ", *listed(ctx.names), ".")
    if ctx.trace.scenario.has_typed_heads:
        read = _typed(ctx)
    elif ctx.crosses:
        also = "It also attends" if ctx.attends_to_the_encoder else "No layer attends"
        names = listed(ctx.of_encoder.names)
        read = (*read, f" {also} to the encoder's vectors for ", *names, ".")
    part = "" if whole else "This is a part of the calculation. "
    plan = (
        f"{part}{EACH if every else NEW} You can check each line with a calculator{_with_phi(ctx)}."
    )
    first, *others = introduction(ctx, terms)
    followed: list[Sentence] = [(plan,), first] if every else [(f"{plan} ", *first)]
    return [asked, read, *followed, *others]


def _typed(ctx: LessonContext) -> Sentence:
    """Whose queries, keys and values are given."""
    whose = listed(ctx.names)
    if not ctx.trace.scenario.layers[0].attention:
        keys: Sentence = ("; keys and values belong to the encoder's ",)
        return ("The queries belong to ", *whose, *keys, *listed(ctx.of_encoder.names), ".")
    beside: Sentence = ()
    if ctx.attends_to_the_encoder:
        names = listed(ctx.of_encoder.names)
        beside = (" A later part attends to the encoder's vectors for ", *names, ".")
    return ("The queries, keys and values belong to ", *whose, ".", *beside)


def _with_phi(ctx: LessonContext) -> str:
    every = (part for _, part in parts_of(ctx.trace.scenario))
    has_phi = any(getattr(part, "activation", None) == "gelu" for part in every)
    return " that has the normal distribution" if has_phi else ""


def references(
    made: Expression,
    sources: Sequence[tuple[Expression, int]],
    before: Step | None,
    lacks: str = "",
) -> Sentence:
    """Say from which steps the operands come, and that it is computed as in a step `before`.

    What it `lacks` of that step's parameters is said, too.
    """
    how: Sentence = (" as in ", Reference(before.number)) if before else ()
    how += (f", but without {lacks}",) if lacks else ()
    if not sources:
        return (made, " is computed", *how, ".")
    parts = joined([(symbol, " (", Reference(number), ")") for symbol, number in sources])
    comma = "," * bool(before)
    return (made, " is computed", *how, f"{comma} from ", *parts, ".")
