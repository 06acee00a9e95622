"""Queries and keys that are rotated by the angles of their tokens (Su et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import (
    Interpolate,
    LargerBase,
    LongRopeFactor,
    Ramp,
    Scale,
    Times,
    TurningPair,
    Turns,
    YarnFactor,
)
from tracer.decoder.inputs import waves_at
from tracer.decoder.operations import DivTerm, Rotate
from tracer.decoder.part import AttentionContext, HeadContext, Part, Sources
from tracer.decoder.roles import Role, RoundingRule, WaveRoles
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.errors import Problem, TracerError
from tracer.parts.rotary.scenario import (
    AttentionKeys,
    PositionKeys,
    Rotary,
    RotaryScaling,
    rotated_columns,
)
from tracer.scenario.layers import Attention
from tracer.scenario.model import Tower
from tracer.scenario.part import keys_of

WAVES = WaveRoles(
    index=Role("position.index"),
    div_term=Role("position.div_term", RoundingRule.WORKING),
    angle=Role("position.angle", RoundingRule.WORKING),
    sin=Role("position.sin"),
    cos=Role("position.cos"),
)
UNSCALED = Role("position.unscaled", RoundingRule.WORKING)
TURNS = Role("position.turns", RoundingRule.WORKING)
PAIR = Role("position.pair")
RAMP_ENDS = (
    Role("position.ramp_start", RoundingRule.WORKING),
    Role("position.ramp_end", RoundingRule.WORKING),
)
RAMP = Role("position.ramp", RoundingRule.WORKING)
BASE = Role("position.base", RoundingRule.WORKING)
ATTENTION_FACTOR = Role("position.attention_factor", RoundingRule.WORKING)
SCALED_SIN, SCALED_COS = Role("position.scaled_sin"), Role("position.scaled_cos")
SCALED_WAVES = (
    *(WAVES.index, BASE, UNSCALED, TURNS, PAIR, *RAMP_ENDS, RAMP, WAVES.div_term),
    *(WAVES.angle, WAVES.sin, WAVES.cos, ATTENTION_FACTOR, SCALED_SIN, SCALED_COS),
)
"""All roles of angles, in the order of a pass."""
ROTATED_QUERY = Role("rotated_query")
ROTATED_KEY = Role("rotated_key")
ROTATED_KEYS = Role("keys")


@dataclass(frozen=True)
class RotaryAngles:
    """cos and sin of the angles by which queries and keys are rotated, each (n, r / 2)."""

    rotate: Rotate
    cos: Value
    sin: Value


def rotary_of(tower: Tower, part: Attention) -> Rotary | None:
    """The rotary positions of a self-attention; None where nothing is rotated."""
    shared = tower.positions and keys_of(tower.positions, PositionKeys).rotary
    own = keys_of(part, AttentionKeys).rotary
    if not shared or own == "none":
        return None
    return own.of(shared) if own else shared


def rotary_settings(tower: Tower) -> tuple[Rotary, ...]:
    """The different rotary positions that layers have: those of `positions` come first."""
    shared = tower.positions and keys_of(tower.positions, PositionKeys).rotary
    of_layers = [rotary_of(tower, layer.attention) for layer in tower.layers if layer.attention]
    first = [shared] if shared in of_layers else []
    return tuple(dict.fromkeys(each for each in (*first, *of_layers) if each))


def angles(tape: Tape, tower: Tower, tokens: Axis) -> Mapping[Role, Any]:
    """cos and sin of the angles, each (n, r / 2), by what an attention has of its own.

    r is the number of rotated columns: d_k, or a share of it. Layers with equal settings share
    them.
    """
    parts = [layer.attention for layer in tower.layers if layer.attention]
    rotating = {rotary_of(tower, part): part for part in parts}
    found: dict[Rotary | None, RotaryAngles] = {}
    for number, asked in enumerate(rotary_settings(tower), 1):
        start = asked.start + len(tower.tokens) - len(tokens.labels)
        width, length = rotated_columns(rotating[asked], asked), len(tower.tokens)
        _check_cache(asked, length - len(tokens.labels), length)
        recorded = partial(frequencies, tape, asked, width, length)
        with tape.at(rotary=number if number > 1 else None):
            sin, cos = waves_at(tape, WAVES, start, tokens, recorded)
            if asked.scaling:
                sin, cos = scaled_waves(tape, asked.scaling, sin, cos)
        found[asked] = RotaryAngles(Rotate(asked.layout), cos, sin)
    own = {keys_of(part, AttentionKeys).rotary: found.get(rotary_of(tower, part)) for part in parts}
    return {WAVES.angle: own}


def _check_cache(asked: Rotary, earlier: int, tokens: int) -> None:
    """Raise a TracerError if the angles of cached keys would be other ones in a longer text."""
    kind = asked.scaling and asked.scaling.kind
    if not earlier or not asked.scaling or kind not in ("dynamic", "longrope"):
        return
    context = asked.scaling.context
    if tokens > context and (kind == "dynamic" or earlier <= context):
        message = f"cached keys have the angles of a shorter text, and {kind} changes them"
        raise TracerError(Problem(message, address="positions.rotary.scaling"))


def frequencies(tape: Tape, asked: Rotary, width: int, tokens: int) -> Value:
    """The frequency of each pair of `width` columns, in a text of so many tokens: (r / 2,)."""
    scaling = asked.scaling
    if scaling is None:
        return tape.record(WAVES.div_term, DivTerm(width, asked.base, asked.factors or ()))
    if scaling.kind == "dynamic" and tokens > scaling.context:
        assert scaling.factor is not None
        larger = LargerBase(asked.base, scaling.factor, tokens, scaling.context, width)
        return tape.record(WAVES.div_term, DivTerm(width, None), tape.record(BASE, larger))
    ends = scaling.ramp(width, asked.base)
    if ends is None:
        factors = scaling.factors((width + 1) // 2, tokens)
        return tape.record(WAVES.div_term, DivTerm(width, asked.base, factors))
    assert scaling.factor is not None
    unscaled = tape.record(UNSCALED, DivTerm(width, asked.base))
    place = tape.record(TURNS, Turns(scaling.context), unscaled)
    if scaling.kind == "yarn":
        numbers = [Decimal(pair) for pair in range((width + 1) // 2)]
        place = tape.given(PAIR, numbers, unscaled.axes)
    pairs = [
        tape.record(role, TurningPair(width, asked.base, scaling.context, turns))
        for role, end, turns in zip(RAMP_ENDS, ends, scaling.turns, strict=True)
        if end is None
    ]
    ramp = tape.record(RAMP, Ramp(*ends), place, *pairs)
    return tape.record(WAVES.div_term, Interpolate(scaling.factor), unscaled, ramp)


def scaled_waves(tape: Tape, scaling: RotaryScaling, sin: Value, cos: Value) -> tuple[Value, Value]:
    """sin and cos times the attention factor of a scaling, if it has one other than 1."""
    factor, asked = scaling.factor, scaling.attention_factor
    computes = asked is None and factor is not None and factor > 1
    if scaling.kind not in ("yarn", "longrope") or asked == 1 or not (asked or computes):
        return sin, cos
    if asked:
        times = Scale(asked)
        return tape.record(SCALED_SIN, times, sin), tape.record(SCALED_COS, times, cos)
    assert factor is not None
    longrope = scaling.kind == "longrope"
    computed = LongRopeFactor(factor, scaling.context) if longrope else YarnFactor(factor)
    m = tape.record(ATTENTION_FACTOR, computed)
    return tape.record(SCALED_SIN, Times(), sin, m), tape.record(SCALED_COS, Times(), cos, m)


def apply_rotary(tape: Tape, role: Role, rows: Value, at: AttentionContext) -> Value:
    """Queries or keys, each row rotated by its position: (n, d_k) → (n, d_k)."""
    turn = angles_of(at)
    return tape.record(role, turn.rotate, rows, turn.cos, turn.sin) if turn else rows


def angles_of(at: AttentionContext) -> RotaryAngles | None:
    """The angles of a layer; None where nothing is rotated."""
    own = keys_of(at.parameters, AttentionKeys).rotary
    found: RotaryAngles | None = at.inputs.of_tower.get(WAVES.angle, {}).get(own)
    return found


def positions(
    tape: Tape, at: HeadContext, sources: Sources, q: Value, k: Value | None
) -> tuple[Value, Value | None]:
    """Q (n, d_k) and K (m, d_k), rotated."""
    q = apply_rotary(tape, ROTATED_QUERY, q, at.attention)
    return q, apply_rotary(tape, ROTATED_KEY, k, at.attention) if k else None


PART = Part(
    roles={
        roles.POSITION: SCALED_WAVES,
        roles.VALUE: (ROTATED_QUERY, ROTATED_KEY),
        roles.KEYS: (ROTATED_KEYS,),
    },
    tower=angles,
    positions=positions,
    with_earlier={ROTATED_KEY: ROTATED_KEYS},
)
