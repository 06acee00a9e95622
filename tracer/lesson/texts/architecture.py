"""A model's parameters, what its layers have in common, and which attention it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from tracer.decoder import roles
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, joined
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.survey import table_symbol
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.wiring import sub_layer_results

ARCHITECTURE = "Architecture"

MOST_LAYERS = 4
"""So many vectors are named in a chain of layers."""

PARAMETERS: doc.Sentence = (
    "Training can adjust these numbers; each row names a step that uses them.",
)
PARAMETERS_IN_PART: doc.Sentence = (
    "These numbers are learned; training would adjust those that the scenario names. Each row "
    "names a step that uses them.",
)
STACKED = (
    "Layers can be stacked because each returns vectors of the same shape as it reads, here {}. "
    "Each has its own weights. Positions are added only once, before the first layer."
)
MANY = (
    "A second layer reads vectors that hold what the first layer gathered, so it can follow "
    "relations that the first cannot. "
)
OF_GPT = "The smallest GPT-2 has 12 layers, the largest GPT-3 has 96."
OF_TRANSLATION = (
    "The original transformer, which translates, has 6 layers in its encoder and 6 in its decoder."
)
DECODER_ONLY: doc.Sentence = (
    "This model has no cross-attention, because it has no encoder to attend to. Models that only "
    "continue a text, such as GPT, need no encoder; for a translation, an encoder can read the "
    "source text.",
)
FROM_WHERE = (
    ("queries", "the decoder's tokens", "the decoder's tokens"),
    ("keys", "the decoder's tokens", "the encoder's tokens"),
    ("values", "the decoder's tokens", "the encoder's tokens"),
)
"""From which tokens they are computed, in self-attention and in cross-attention."""


def learned_parameters(teacher: Teacher) -> tuple[doc.Block, ...]:
    """A table of the learned parameters, and the steps that use them."""
    used = _used(teacher)
    if not used:
        return ()
    alike = _alike(teacher, used)
    rows = _parameters(teacher, used, alike)
    adjusts_all = teacher.trace.scenario.optimizer.trains is None
    said = PARAMETERS if adjusts_all else PARAMETERS_IN_PART
    table = doc.Table.of(("symbol", "shape", "how many", "parameters", "step"), rows)
    return (*doc.paragraphs(said, _several(alike)), table)


def architecture(teacher: Teacher) -> Iterator[doc.Section]:
    """Sections about stacking layers, self-attention and cross-attention."""
    ctx = teacher.ctx
    if layers := _layers(teacher):
        shape = " × ".join(map(str, ctx.trace[roles.INPUT.name].shape))
        known = OF_TRANSLATION if ctx.trace.scenario.encoder else OF_GPT
        several = (f"{MANY}{known}",) if _first_gathers(ctx) else None
        stacked = doc.paragraphs((f"{STACKED.format(shape)} ", *_chain(layers)), several)
        yield doc.Section(None, "Stacking layers", stacked, ARCHITECTURE)
    if ctx.trace.scenario.has_typed_heads:
        return
    if ctx.attends and ctx.trace.scenario.encoder is None:
        only = doc.Paragraph(DECODER_ONLY)
        yield doc.Section(None, "No cross-attention", (only,), ARCHITECTURE)
    elif ctx.attends_to_the_encoder:
        title = "Self-attention and cross-attention"
        table = doc.Table.of(("computed from", "self-attention", "cross-attention"), FROM_WHERE)
        yield doc.Section(None, title, (table,), ARCHITECTURE)


def _used(teacher: Teacher) -> dict[str, tuple[doc.Cell, Step]]:
    """The symbol of each parameter, and the first step that uses it, by address."""
    symbols, shapes = teacher.ctx.symbols, teacher.parameter_shapes
    used: dict[str, tuple[doc.Cell, Step]] = {}
    for step in teacher.steps:
        for value in (v for record in step.records for v in (*record.inputs, record.output)):
            role = roles.TABLES.get(value.role)
            address = value.place.address(role) if role else value.address
            if address in shapes:
                symbol = table_symbol(address) if role else symbols[address]
                used.setdefault(address, (symbol, step))
    return used


def _alike(teacher: Teacher, used: Mapping[str, tuple[doc.Cell, Step]]) -> list[list[str]]:
    """The addresses of the parameters of like shape that the steps of one kind use."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for address, (_, step) in used.items():
        place, _, name = address.rpartition(".")
        key = (re.sub(r"\d+", "", place), name, teacher.parameter_shapes[address], step.kind)
        alike.setdefault(key, []).append(address)
    return list(alike.values())


def _parameters(
    teacher: Teacher, used: Mapping[str, tuple[doc.Cell, Step]], alike: Sequence[Sequence[str]]
) -> list[tuple[str | doc.Cell, ...]]:
    """A row for the parameters that are alike."""
    rows: list[tuple[str | doc.Cell, ...]] = []
    for addresses in alike:
        cell, step = used[addresses[0]]
        shape, number = teacher.parameter_shapes[addresses[0]], len(addresses)
        counted = (" × ".join(map(str, shape)), str(number), f"{number * prod(shape):,}")
        rows.append((cell, *counted, f"{step.number} · {sentences.named(step)}"))
    return rows


def _several(alike: Sequence[Sequence[str]]) -> doc.Sentence | None:
    """Say where the other parameters of a row are, if it counts several."""
    elsewhere: list[doc.Sentence] = [
        (f"{noun}s",)
        for noun in ("head", "layer", "expert")
        if any(len(set(re.findall(rf"{noun}\d+", ".".join(each)))) > 1 for each in alike)
    ]
    if not elsewhere:
        return None
    first = "A row that counts several shows the first; the others belong to other "
    return (first, *joined(elsewhere, "or"), ".")


def _chain(vectors: Sequence[ex.Expression]) -> doc.Sentence:
    """`x⁽⁰⁾ → x⁽¹⁾ → … → x⁽ᴸ⁾, where x⁽⁰⁾ is X′ and x⁽¹⁾ is x₂.`"""
    numbered = [(_after_layers(str(i)), vector) for i, vector in enumerate(vectors)]
    shown: list[doc.Inline] = [name for name, _ in numbered]
    if len(shown) > MOST_LAYERS:
        shown = [*shown[: MOST_LAYERS - 1], "…", shown[-1]]
    elif len(shown) == 2:  # a model of more layers goes on in the same way
        shown = [*shown, "…", _after_layers("L")]
    chain = [part for name in shown for part in (" → ", name)][1:]
    named = joined([(name, " is ", vector) for name, vector in numbered if name in shown])
    more = "; L is the number of layers" if len(vectors) == 2 else ""
    return ("Layer by layer: ", *chain, ", where ", *named, f"{more}.")


def _after_layers(number: str) -> ex.Symbol:
    """The vectors after so many layers."""
    return ex.Symbol("x", above=f"({number})")


def _layers(teacher: Teacher) -> list[ex.Expression]:
    """The vectors before and after each layer, if each keeps the shape of the input.

    Nothing if no positions were added to it.
    """
    ctx = teacher.ctx
    reads, position = (ctx.value(roles.Place(), role) for role in (roles.INPUT, roles.POSITION))
    if reads is None or position is None:
        return []
    left = _leaving(ctx).values()
    if not left or any(value.shape != reads.shape for values in left for value in values):
        return []
    return [ctx.symbols[value.address] for value in (reads, *(values[-1] for values in left))]


def _first_gathers(ctx: LessonContext) -> bool:
    """Whether tokens can attend to others, or to the encoder's, in the first layer."""
    first = ctx.tower.layers[0]
    sees_others = first.attention and ctx.visible_tokens_at(roles.Place(1, "attention"))
    return bool(sees_others or first.cross_attention)


def _leaving(ctx: LessonContext) -> dict[int, list[Value]]:
    """The results of the sub-layers of each layer of the decoder."""
    found: dict[int, list[Value]] = {}
    for value in sub_layer_results(ctx.trace.records):
        place = value.place
        if place.layer and not place.encoder and place.example is None:
            found.setdefault(place.layer, []).append(value)
    return found
