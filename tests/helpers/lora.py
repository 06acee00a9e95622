"""LoRA at some weights of a random scenario."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_3")
NUMBERS = ("0", "1", "-1", "0.5", "0.2", "1.25", "-0.75", "0.001")


def adapt(spec: dict[str, Any], rng: random.Random) -> None:
    """Give most of the weights LoRA; what is trained is found where it is then."""
    for part in parts_with_weights(spec):
        for name in WEIGHTS:
            if isinstance(part.get(name), list) and rng.random() < 0.8:
                part[name] = _with_lora(part[name], rng)
    unembedding: Any = spec.get("unembedding")
    plain = isinstance(unembedding, dict) and isinstance(unembedding["W_U"], list)
    if plain and rng.random() < 0.5:
        unembedding["W_U"] = _with_lora(unembedding["W_U"], rng)
    if trains := spec.get("optimizer", {}).get("trains"):
        trains[:] = [f"{each}*" if ".W_" in each else each for each in trains]


def parts_with_weights(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The sub-layers, heads and experts."""
    for layers in (spec.get("layers", []), spec.get("encoder", {}).get("layers", [])):
        for layer in layers:
            for name in ("attention", "cross_attention", "ffn"):
                yield layer.get(name, {})
                for inside in ("heads", "experts"):
                    yield from layer.get(name, {}).get(inside, ())
                yield layer.get(name, {}).get("shared", {})


def _with_lora(frozen: list[list[Decimal]], rng: random.Random) -> dict[str, Any]:
    rank = rng.choice((1, 1, 2, 3))
    a = [[_number(rng) for _ in range(rank)] for _ in frozen]
    b = [[_number(rng) for _ in frozen[0]] for _ in range(rank)]
    if rng.random() < 0.25:
        b = [[Decimal(0) for _ in row] for row in b]
    elif rng.random() < 0.1:
        a = [[Decimal(0) for _ in row] for row in a]
    alpha = Decimal(rng.choice(("1", "2", "0.5", "16")))
    return {"frozen": frozen, "A": a, "B": b, "alpha": alpha}


def _number(rng: random.Random) -> Decimal:
    return Decimal(rng.choice(NUMBERS))
