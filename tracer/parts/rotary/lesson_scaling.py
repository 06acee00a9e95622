"""The words of rotary positions whose frequencies are scaled for long texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tracer.decoder.elementwise import Interpolate, Ramp, Scale, TurningPair
from tracer.decoder.roles import Place
from tracer.decoder.tape import Record
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import Naming, RoleText, Step, SymbolOf
from tracer.parts.query_key_norm.scenario import normalizes_rotated
from tracer.parts.rotary.decoder import (
    ATTENTION_FACTOR,
    BASE,
    PAIR,
    RAMP,
    RAMP_ENDS,
    SCALED_COS,
    SCALED_SIN,
    TURNS,
    UNSCALED,
    WAVES,
    rotary_of,
    rotary_settings,
)


def of_set(
    letter: str, function: Literal["", "sin", "cos"] = "", *, scaled: bool = False
) -> SymbolOf:
    """Return a letter with the number of the rotary positions, or its sine or cosine.

    If that is `scaled`, it is multiplied by the attention factor.
    """

    def symbol(naming: Naming) -> ex.Expression:
        own = ex.Symbol(letter, naming.rotary)
        wave = ex.Call(function, (own,)) if function else own
        return ex.Product((ex.Symbol("m", naming.rotary), wave)) if scaled else wave

    return symbol


def _of_ramp(record: Record) -> str | None:
    """Say between which pairs, or numbers of turns, the divided part grows from none to all."""
    ramp = record.operation
    if not isinstance(ramp, Ramp):
        return None
    what = "The part of each frequency that is divided"
    is_of_pairs = record.inputs[0].role is PAIR
    if ramp.start is None or ramp.end is None or (is_of_pairs and ramp.end < ramp.start):
        return f"{what}:"
    if is_of_pairs:
        return f"{what}, which grows from pair {ramp.start} to pair {ramp.end}:"
    return f"{what}, which grows from {ramp.start} turns down to {ramp.end}:"


def _of_end(record: Record) -> str | None:
    """Say how often the pair at an end of the ramp turns."""
    pair = record.operation
    if not isinstance(pair, TurningPair):
        return None
    times = "once" if pair.turns == 1 else f"{pair.turns} times"
    texts = "the texts of the first training"
    return f"The pair that turns {times} in {texts}; it need not be a whole number:"


SCALED_TEXTS = {
    BASE: RoleText(of_set("b"), "The base for this number of tokens:"),
    UNSCALED: RoleText(
        of_set("φ"), "The frequencies before scaling, one for each pair of columns:"
    ),
    TURNS: RoleText(of_set("τ"), "How often each pair turns in the texts of the first training:"),
    PAIR: RoleText(of_set("k")),
    RAMP_ENDS[0]: RoleText(lambda at: ex.Symbol("k", "fast", at.rotary), _of_end),
    RAMP_ENDS[1]: RoleText(lambda at: ex.Symbol("k", "slow", at.rotary), _of_end),
    RAMP: RoleText(of_set("γ"), _of_ramp),
    ATTENTION_FACTOR: RoleText(of_set("m"), "The attention factor:"),
    SCALED_SIN: RoleText(of_set("θ", "sin", scaled=True), "The sines times the attention factor:"),
    SCALED_COS: RoleText(
        of_set("θ", "cos", scaled=True), "The cosines times the attention factor:"
    ),
}
"""The texts of what only scaled frequencies have."""


def why_scaled(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what the scaling does to the frequencies, and the attention factor to scores."""
    settings = rotary_settings(ctx.tower)[(step.place.rotary or 1) - 1]
    scaling = settings.scaling
    if scaling is None:
        return ()
    attentions = [layer.attention for layer in ctx.tower.layers if layer.attention]
    later = any(
        normalizes_rotated(part) for part in attentions if rotary_of(ctx.tower, part) == settings
    )
    found = [_longer(step, ctx)] if scaling.kind in ("dynamic", "longrope") else []
    ramp, scaled = ctx.value(step.place, RAMP), ctx.operation(step.place, SCALED_COS)
    computed = ctx.operation(step.place, RAMP)
    interpolates = isinstance(ctx.operation(step.place, WAVES.div_term), Interpolate)
    if ramp and interpolates and scaling.factor and isinstance(computed, Ramp):
        parts = [float(ramp.read((i,))) for i in range(ramp.shape[0])]
        # Past the last pair, YaRN's ramp falls, so that even the fastest pair is divided.
        slow_last = scaling.kind == "llama3" or parts[0] == 0
        if slow_last and parts == sorted(parts):
            name = "YaRN" if scaling.kind == "yarn" else "This scaling"
            found.append(_of_pairs(name, parts, ex.Number(scaling.factor), ramp.axes[0].labels))
    for m in attention_factor(ctx, step.place):
        here = (", here ", ex.Number(scaled.a)) if isinstance(scaled, Scale) else ()
        effect: Sentence = (
            " Before rounding, this multiplies the part of a score that comes from rotated "
            "columns by ",
            *(ex.Power(m, ex.Number.of(2)), "."),
        )
        scales = () if later else effect
        found.append(("Cosines and sines are multiplied by ", m, *here, ".", *scales))
    return tuple(found)


def attention_factor(ctx: LessonContext, place: Place) -> tuple[ex.Expression, ...]:
    """Return the symbol of the factor of cosines and sines, if there is one."""
    cos = ctx.value(place, SCALED_COS)
    symbol = cos and ctx.symbols[cos.address]
    return symbol.factors[:1] if isinstance(symbol, ex.Product) else ()


def _longer(step: Step, ctx: LessonContext) -> Sentence:
    """Say whether the text is longer than those of the first training, and what follows."""
    scaling = rotary_settings(ctx.tower)[(step.place.rotary or 1) - 1].scaling
    assert scaling
    tokens, context = len(ctx.tower.tokens), scaling.context
    is_longer = tokens > context
    if scaling.kind == "dynamic":
        rest = "the base grows with the text" if is_longer else "the base stays as it is"
    else:
        rest = f"the factors are those for {'long' if is_longer else 'short'} texts"
    than = "more than" if is_longer else "not more than"
    return (
        *("The text has ", ex.Number.of(tokens), f" tokens, {than} the ", ex.Number(context)),
        f" of the first training, so that {rest}.",
    )


def _of_pairs(
    name: str, parts: Sequence[float], factor: ex.Number, labels: Sequence[str]
) -> Sentence:
    """Say which pairs keep their frequencies, and of which they are divided."""
    pairs = [*zip(parts, labels, strict=True)]
    kept = [label for part, label in pairs if part == 0]
    divided = [label for part, label in pairs if part == 1]
    between = [label for part, label in pairs if 0 < part < 1]
    clauses: list[Sentence] = []
    if kept:
        clauses.append((f"keeps the frequencies of pairs that turn fast ({_listed(kept)})",))
    if divided:
        slow = "divides those" if kept else "divides the frequencies"
        clauses.append((f"{slow} of pairs that turn slowly ({_listed(divided)}) by ", factor))
    if between:
        clauses.append((f"divides only a part of those in between ({_listed(between)})",))
    sentence: Sentence = (f"{name} ",)
    for i, clause in enumerate(clauses):
        joint = "" if not i else " and " if i == len(clauses) - 1 else ", "
        sentence = (*sentence, joint, *clause)
    return (*sentence, ".")


def _listed(labels: Sequence[str]) -> str:
    """`ω₀`, `ω₀, ω₁` or `ω₀ to ω₉`; the pairs follow each other."""
    return f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else ", ".join(labels)
