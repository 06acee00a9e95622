"""Queries and keys that are rotated by the angles of their tokens (Su et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.inputs import waves_at
from tracer.decoder.operations import DivTerm, Rotate
from tracer.decoder.part import AttentionContext, HeadContext, Part, Sources
from tracer.decoder.roles import Role, RoundingRule, WaveRoles
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.rotary.scenario import AttentionKeys, PositionKeys, Rotary, rotated_columns
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
        rotated = rotated_columns(rotating[asked], asked)
        frequencies = DivTerm(rotated, asked.base, asked.factors or ())
        with tape.at(rotary=number if number > 1 else None):
            sin, cos = waves_at(tape, WAVES, start, tokens, frequencies)
        found[asked] = RotaryAngles(Rotate(asked.layout), cos, sin)
    own = {keys_of(part, AttentionKeys).rotary: found.get(rotary_of(tower, part)) for part in parts}
    return {WAVES.angle: own}


def apply_rotary(tape: Tape, role: Role, rows: Value, at: AttentionContext) -> Value:
    """Queries or keys, each row rotated by its position: (n, d_k) → (n, d_k)."""
    own = keys_of(at.parameters, AttentionKeys).rotary
    turn: RotaryAngles | None = at.inputs.of_tower.get(WAVES.angle, {}).get(own)
    return tape.record(role, turn.rotate, rows, turn.cos, turn.sin) if turn else rows


def positions(
    tape: Tape, at: HeadContext, sources: Sources, q: Value, k: Value | None
) -> tuple[Value, Value | None]:
    """Q (n, d_k) and K (m, d_k), rotated."""
    q = apply_rotary(tape, ROTATED_QUERY, q, at.attention)
    return q, apply_rotary(tape, ROTATED_KEY, k, at.attention) if k else None


PART = Part(
    roles={
        roles.POSITION: tuple(vars(WAVES).values()),
        roles.VALUE: (ROTATED_QUERY, ROTATED_KEY),
        roles.KEYS: (ROTATED_KEYS,),
    },
    tower=angles,
    positions=positions,
    with_earlier={ROTATED_KEY: ROTATED_KEYS},
)
