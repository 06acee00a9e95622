"""The rotary positions that a config.json describes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tracer.checkpoints.architecture import RotaryPositions, RotaryScaling
from tracer.checkpoints.families import PARTIAL_ROTARY
from tracer.checkpoints.settings import CheckpointSettings

Turns: TypeAlias = tuple[RotaryPositions, Mapping[int, RotaryPositions | None]]
"""The rotary positions of most layers, and those of the others by number; None rotates nothing."""
ReadTurns: TypeAlias = Callable[[CheckpointSettings, Sequence[int | None]], Turns]
"""Reads them from a configuration and the window of each layer."""

SCALINGS = ("default", "linear", "llama3", "yarn", "longrope", "dynamic")
KINDS = {name: name for name in SCALINGS}
NESTED = ("full_attention", "sliding_attention")
CONTEXT, ORIGINAL = "max_position_embeddings", "original_max_position_embeddings"
CHANGES_NOTHING = {
    *("type", "finetuned", "factor", ORIGINAL, "low_freq_factor", "high_freq_factor"),
    *("attention_factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow", "truncate"),
    *("short_factor", "long_factor", "short_mscale", "long_mscale"),
}
"""Keys that transformers does not read unless the kind of scaling has them."""


def rotary(
    base: float = 10000.0,
    key: str = "rope_theta",
    share: tuple[str, float] | None = None,
    scalings: Sequence[str] = SCALINGS,
    older: Mapping[str, str] | None = None,
    original: int | None = None,
    harmless: Sequence[str] = (),
    missing: Mapping[str, Any] | None = None,
) -> ReadTurns:
    """Read the same rotary positions for all layers.

    `base`: without `key`, which older files have. `share`: the older key of the share of each head
    that is rotated, and its default; None if all of it is. `scalings`: the kinds that transformers
    accepts and that are supported; `older` are other names of them. `original`: the number of
    tokens of the first training if a file does not say it at the top, and its scaling's key is not
    read. `harmless`: further keys of a scaling that are not read. `missing`: the values of
    `rope_parameters` if a file has none.
    """
    kinds = {name: name for name in scalings} | dict(older or {})

    def read(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        return _read(settings, base, key, share, kinds, original, harmless, missing), {}

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
        return _read(settings, base, "rope_theta", None, KINDS), own

    return read


def rotary_if(key: str, value: str, read: ReadTurns) -> ReadTurns:
    """Read rotary positions that no layer has if a key has another value (Granite 4)."""

    def read_or_none(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        shared, own = read(settings, windows)
        if settings.get(key) == value:
            return shared, own
        return shared, dict.fromkeys(range(1, len(windows) + 1))

    return read_or_none


def rotary_within_windows(read: ReadTurns) -> ReadTurns:
    """Read rotary positions that only layers with a window have (Command R7B)."""

    def read_some(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        shared, _ = read(settings, windows)
        return shared, {layer: None for layer, window in enumerate(windows, 1) if window is None}

    return read_some


def rotary_of_windows(full_base: float, near_base: float, near_key: str) -> ReadTurns:
    """Read one base for layers with a window, another and a scaling for those without.

    `full_base`, `near_base`: without the keys `rope_theta` and `near_key`.
    """

    def read(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
        nested, older = settings.within("rope_parameters"), settings.within("rope_scaling")
        local, full = nested.within(NESTED[1]), nested.within(NESTED[0])
        nested.nothing_else(NESTED)
        local.only("rope_type", "default")
        near = local.number("rope_theta", settings.number(near_key, near_base))
        local.nothing_else()
        scaling = older if settings.get("rope_scaling") else full
        base = full.number("rope_theta", settings.number("rope_theta", full_base))
        if older.says("rope_theta"):
            base = older.number("rope_theta")
        if scaling is older and settings.get("rope_parameters"):
            settings.wrong("rope_scaling", "expected rope_parameters alone")
        # In the older mapping, transformers does not read `type`.
        type_key = "rope_type" if scaling is older else "type"
        changed = _scaling(settings, scaling, KINDS, None, type_key, at_top=False)
        if changed and changed["kind"] == "yarn":
            changed = {**changed, "truncate": True}  # transformers does not read it here
        own = {
            layer: RotaryPositions(base, "halves", None, scaling=changed)
            for layer, window in enumerate(windows, 1)
            if window is None
        }
        return RotaryPositions(near, "halves", None), own

    return read


def _read(
    settings: CheckpointSettings,
    base: float,
    key: str,
    share: tuple[str, float] | None,
    kinds: Mapping[str, str],
    original: int | None = None,
    harmless: Sequence[str] = (),
    missing: Mapping[str, Any] | None = None,
) -> RotaryPositions:
    """Return the rotary positions; older files keep the base apart from the other values.

    If a file has both, transformers reads the older mapping, and the base inside of it.
    """
    newer, older = settings.within("rope_parameters", missing), settings.within("rope_scaling")
    scaling = older if settings.get("rope_scaling") else newer
    for each in harmless:
        scaling.says(each)
    base = scaling.number("rope_theta", settings.number(key, base))
    rotated = 1.0
    if key != "rope_theta":  # such as GPT-NeoX, whose file may have these keys, too
        settings.says("rope_theta")
        settings.says("partial_rotary_factor")
    if share:
        rotated = scaling.number("partial_rotary_factor", settings.number(*share))
    else:
        for part in (settings, scaling):
            part.only("partial_rotary_factor", 1.0, PARTIAL_ROTARY)
    changed = _scaling(settings, scaling, kinds, original)
    return RotaryPositions(base, "halves", None, rotated, changed)


def _scaling(
    settings: CheckpointSettings,
    scaling: CheckpointSettings,
    kinds: Mapping[str, str],
    original: int | None = None,
    type_key: str = "type",
    *,
    at_top: bool = True,
) -> RotaryScaling | None:
    """Return how the frequencies change for long texts, as transformers 5.24 reads it.

    `at_top`: whether the number of tokens of the first training is also read beside the mapping.
    """
    settings.says(ORIGINAL)  # which only some kinds read
    name = "rope_type" if scaling.says("rope_type") else type_key
    kind = scaling.one_of(name, kinds, "default")
    if scaling.get(name, "default") not in kinds:
        return None  # any key may belong to it
    scaling.nothing_else(CHANGES_NOTHING)
    read: dict[str, float] = {}
    if kind in ("linear", "dynamic", "llama3"):
        read["factor"] = scaling.number("factor")
    if kind == "dynamic":
        read[ORIGINAL] = settings.number(CONTEXT)
    if kind in ("llama3", "yarn", "longrope"):
        read[ORIGINAL] = _original(settings, scaling, original, at_top=at_top)
    match kind:
        case "default":
            return None
        case "llama3":
            low, high = scaling.number("low_freq_factor"), scaling.number("high_freq_factor")
            if low >= high:
                scaling.wrong("low_freq_factor", "expected less than high_freq_factor")
            read |= {"low_freq_factor": low, "high_freq_factor": high}
        case "yarn" | "longrope":
            read |= _of_long_texts(settings, scaling, kind, read[ORIGINAL])
    return {"kind": kind, **read}


def _original(
    settings: CheckpointSettings, scaling: CheckpointSettings, default: int | None, *, at_top: bool
) -> float:
    """Return the number of tokens of the first training: the value at the top comes first."""
    if "su" in (scaling.get("rope_type"), scaling.get("type")) and not scaling.says(ORIGINAL):
        scaling.wrong(ORIGINAL, "expected a number: with su, transformers raises an error")
    if default or (at_top and settings.says(ORIGINAL)):
        return float(settings.whole(ORIGINAL, default))
    missing = None if scaling.says(ORIGINAL) else settings.number(CONTEXT)
    return scaling.number(ORIGINAL, missing)


def _of_long_texts(
    settings: CheckpointSettings, scaling: CheckpointSettings, kind: str, original: float
) -> dict[str, Any]:
    """Return the settings of YaRN and LongRoPE beside the number of tokens."""
    if kind == "yarn" and not scaling.says("factor"):
        scaling.wrong("factor", "expected a number or null")
    longer = settings.number(CONTEXT) / original
    factor = scaling.number_or_none("factor", None) or longer
    read: dict[str, Any] = {"factor": factor}
    attention = scaling.number_or_none("attention_factor", None)
    if attention is None and kind == "yarn":
        scales = [_number_or_zero(scaling, key) for key in ("mscale", "mscale_all_dim")]
        if all(scales):
            own, other = (0.1 * scale * math.log(max(1.0, factor)) + 1 for scale in scales)
            attention = own / other
    if attention is not None:
        read["attention_factor"] = attention
    if kind == "yarn":
        turns = {key: _number_or_zero(scaling, key) for key in ("beta_fast", "beta_slow")}
        read |= {key: number for key, number in turns.items() if number}
        return read | {"truncate": scaling.flag("truncate", True)}
    for key in ("short_factor", "long_factor"):
        read[key] = tuple(scaling.numbers(key))
    return read


def _number_or_zero(scaling: CheckpointSettings, key: str) -> float:
    """Return a positive number; 0 if it is missing, null or 0, for which there is a default."""
    return scaling.number(key) if scaling.get(key) else 0.0
