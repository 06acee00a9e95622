"""Rotary positions of single layers: those of a scenario, as written, and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.helpers.rotary_scaling import drawn

DIVIDED = {"factors", "scaling"}
"""Keys of which a layer's own takes the place of both."""


def settings_of(tower: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an attention is rotated by: its own settings before the shared; None where by nothing.

    The keys are those of `positions.rotary`.
    """
    positions: Any = tower.get("positions") or "none"
    if positions == "none" or "rotary" not in positions or part.get("rotary") == "none":
        return None
    shared, own = positions["rotary"] or {}, part.get("rotary", {})
    if DIVIDED & own.keys():
        shared = {key: said for key, said in shared.items() if key not in DIVIDED}
    return {**shared, **own}


def every_setting(tower: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The different settings of layers, in their order; the shared first, if a layer has them."""
    layers = tower.get("layers") or []
    parts = [layer["attention"] for layer in layers if "attention" in layer]
    of_layers = [each for part in parts if (each := settings_of(tower, part)) is not None]
    shared = settings_of(tower, {})
    found: list[dict[str, Any]] = []
    for each in sorted(of_layers, key=lambda each: _numbers(each) != _numbers(shared or {})):
        if _numbers(each) not in map(_numbers, found):
            found.append(each)
    return found


def prefix(tower: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Where the angles of some settings are: nothing, or `rotary2.`."""
    number = [*map(_numbers, every_setting(tower))].index(_numbers(settings)) + 1
    return f"rotary{number}." if number > 1 else ""


def _numbers(settings: Mapping[str, Any]) -> list[Any]:
    """What the settings come to, with what holds where nothing is said."""
    factors = settings.get("factors")
    return [
        float(settings.get("base", 10000)),
        float(settings.get("share", 1)),
        factors and [*map(float, factors)],
        repr(settings.get("scaling")),
    ]


def scale_rotary(spec: dict[str, Any], rng: random.Random) -> None:
    """Scale frequencies that have no factors, in the decoder and in the encoder."""
    for tower in (spec, spec.get("encoder", {})):
        parts = [layer["attention"] for layer in tower.get("layers") or [] if "attention" in layer]
        shared = settings_of(tower, {})
        if parts and shared is not None and "factors" not in shared and rng.random() < 0.9:
            pairs = int(_width(parts[0]["heads"][0]) * shared.get("share", 1)) // 2
            scaled = {"scaling": drawn(lambda *choices: rng.choice(choices), pairs)}
            tower["positions"]["rotary"] = {**(tower["positions"]["rotary"] or {}), **scaled}


def _width(head: dict[str, Any]) -> int:
    return len((head["Q"] if "Q" in head else head["W_Q"])[0])


def rotate_layers(spec: dict[str, Any], rng: random.Random) -> None:
    """Give some layers rotary positions of their own, in the decoder and in the encoder."""
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers") or []:
            part = layer.get("attention")
            if part and settings_of(tower, part) is not None and rng.random() < 0.6:
                part["rotary"] = _drawn(part["heads"][0], rng)


def _drawn(head: dict[str, Any], rng: random.Random) -> Any:
    width = _width(head)
    base = {"base": rng.choice((3, 100, 10000))}
    share = rng.choice((Decimal(2) / width, Decimal(1)))
    pairs = int(width * share) // 2
    factors = [Decimal(rng.choice(("1", "0.5", "4"))) for _ in range(pairs)]
    scaled = drawn(lambda *choices: rng.choice(choices), pairs)
    own = ({"share": share, "factors": factors}, {"share": share, "scaling": scaled})
    return rng.choice(("none", base, base, *own))
