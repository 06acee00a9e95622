"""The rotary positions that a config.json describes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tracer.checkpoints.architecture import RotaryFactor, RotaryPositions
from tracer.checkpoints.families import PARTIAL_ROTARY
from tracer.checkpoints.settings import CheckpointSettings

Turns: TypeAlias = tuple[RotaryPositions, Mapping[int, RotaryPositions | None]]
"""The rotary positions of most layers, and those of the others by number; None rotates nothing."""
ReadTurns: TypeAlias = Callable[[CheckpointSettings, Sequence[int | None]], Turns]
"""Reads them from a configuration and the window of each layer."""

SCALINGS = ("default", "linear", "llama3")
NESTED = ("full_attention", "sliding_attention")


def rotary(
    base: float = 10000.0,
    key: str = "rope_theta",
    share: tuple[str, float] | None = None,
    scalings: Sequence[str] = SCALINGS,
) -> ReadTurns:
    """Read the same rotary positions for all layers.

    `base`: without `key`, which older files have. `share`: the older key of the share of each head
    that is rotated, and its default; None if all of it is. `scalings`: the kinds that transformers
    accepts and that are supported.
    """

    def read(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        return _read(settings, base, key, share, scalings), {}

    return read


def rotary_in_some_layers(base: float) -> ReadTurns:
    """Read rotary positions that some layers do not have (SmolLM3)."""

    def read(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        layers = range(1, len(windows) + 1)
        interval = settings.whole("no_rope_layer_interval", 4)
        rotated = [int(layer % interval != 0) for layer in layers]
        if settings.get("no_rope_layers") is not None:
            rotated = settings.entries("no_rope_layers", int, len(windows)) or rotated
        own = {layer: None for layer, has in zip(layers, rotated, strict=True) if not has}
        return _read(settings, base, "rope_theta", None, SCALINGS), own

    return read


def rotary_within_windows(read: ReadTurns) -> ReadTurns:
    """Read rotary positions that only layers with a window have (Command R7B)."""

    def read_some(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        shared, _ = read(settings, windows)
        return shared, {layer: None for layer, window in enumerate(windows, 1) if window is None}

    return read_some


def rotary_by_window(base: float, near: tuple[str, float]) -> ReadTurns:
    """Read one base for layers with a window, another for those without (Gemma 3).

    `base`: of layers without a window. `near`: the older key of the other one, and its default.
    """
    return lambda settings, windows: _read_by_window(settings, windows, base, *near)


def _read_by_window(
    settings: CheckpointSettings,
    windows: Sequence[int | None],
    default: float,
    older_key: str,
    default_near: float,
) -> Turns:
    nested, older = settings.within("rope_parameters"), settings.within("rope_scaling")
    local, full = nested.within(NESTED[1]), nested.within(NESTED[0])
    nested.nothing_else(NESTED)
    local.only("rope_type", "default")
    near = local.number("rope_theta", settings.number(older_key, default_near))
    local.nothing_else()
    scaling = older if settings.get("rope_scaling") else full
    base = full.number("rope_theta", settings.number("rope_theta", default))
    if older.says("rope_theta"):
        base = older.number("rope_theta")
    factor = _factor(scaling, base, ("default", "linear"))
    own = {
        layer: RotaryPositions(base, "halves", factor)
        for layer, window in enumerate(windows, 1)
        if window is None
    }
    return RotaryPositions(near, "halves", None), own


def _read(
    settings: CheckpointSettings,
    base: float,
    key: str,
    share: tuple[str, float] | None,
    scalings: Sequence[str],
) -> RotaryPositions:
    """Return the rotary positions; older files keep the base apart from the other values.

    If a file has both, transformers reads the older mapping, and the base inside of it.
    """
    newer, older = settings.within("rope_parameters"), settings.within("rope_scaling")
    scaling = older if settings.get("rope_scaling") else newer
    base = scaling.number("rope_theta", settings.number(key, base))
    rotated = 1.0
    if share:
        rotated = scaling.number("partial_rotary_factor", settings.number(*share))
    else:
        for part in (settings, scaling):
            part.only("partial_rotary_factor", 1.0, PARTIAL_ROTARY)
    return RotaryPositions(base, "halves", _factor(scaling, base, scalings), rotated)


def _factor(
    scaling: CheckpointSettings, base: float, scalings: Sequence[str]
) -> RotaryFactor | None:
    kind = "rope_type" if scaling.says("rope_type") else "type"
    read = scaling.one_of(kind, {name: FACTORS[name] for name in scalings}, "default")
    factor = read(scaling, base)
    if scaling.get(kind, "default") in scalings:  # else any key may belong to it
        scaling.nothing_else({"type", "finetuned"})
    return factor


def _linear(scaling: CheckpointSettings, base: float) -> RotaryFactor:
    factor = scaling.number("factor")
    return lambda pair, d_k: factor


def _llama3(scaling: CheckpointSettings, base: float) -> RotaryFactor:
    """Divide the angles of wavelengths that are long compared to the first context (Llama 3.1)."""
    factor, context = scaling.number("factor"), scaling.number("original_max_position_embeddings")
    low, high = scaling.number("low_freq_factor"), scaling.number("high_freq_factor")
    if low >= high:
        scaling.wrong("low_freq_factor", "expected less than high_freq_factor")

    def of_pair(pair: int, d_k: int) -> float:
        length = 2 * math.pi * math.pow(base, 2 * pair / d_k)
        kept = min(1.0, max(0.0, (context / length - low) / (high - low)))
        return 1 / ((1 - kept) / factor + kept)

    return of_pair


FACTORS: Mapping[str, Callable[[CheckpointSettings, float], RotaryFactor | None]] = {
    "default": lambda scaling, base: None,
    "linear": _linear,
    "llama3": _llama3,
}
"""The factors of the rotary angles, by the kind of scaling in the file."""
