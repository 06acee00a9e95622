"""Parts of newer models, added to a random scenario by a seed of their own.

Everything else of the scenario stays as it was drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from tests.helpers.scenario_ways import width_behind
from tests.helpers.scenario_yaml import Scenario

Part: TypeAlias = Callable[[Scenario, random.Random], None]


def with_parts(spec: Scenario, seed: int) -> Scenario:
    """The scenario with some of the parts; which ones follows from the seed."""
    for name, part in PARTS.items():
        part(spec, random.Random(f"{seed} {name}"))
    return spec


def unit_offset(spec: Scenario, rng: random.Random) -> None:
    """Norms that multiply by 1 + γ; more of them, with γ and β, behind the layers."""
    for tower in (spec, spec.get("encoder", {})):
        width = width_behind(spec, decoder=tower is spec) if "layers" in tower else 0
        if width and rng.random() < 0.3:
            tower.setdefault("final_norm", {"epsilon": Decimal("0.1")})
        norm = tower.get("final_norm", "none")
        if width and norm != "none":
            norm.setdefault("gain", _tenths(width, rng))
            if rng.random() < 0.5:
                norm.setdefault("shift", _tenths(width, rng))
    for norm in _norms(spec):
        if "gain" in norm and rng.random() < 0.7:
            norm["unit_offset"] = rng.random() < 0.6


def embedding_scale(spec: Scenario, rng: random.Random) -> None:
    """A factor of the embeddings, of the decoder and of an encoder that is computed."""
    for tower in (spec, spec.get("encoder", {})):
        if "embeddings" in tower and rng.random() < 0.4:
            tower["embedding_scale"] = rng.choice(("sqrt", "none", 2, Decimal("0.5")))


def _tenths(number: int, rng: random.Random) -> list[Decimal]:
    return [Decimal(rng.randint(-9, 9)) / 10 for _ in range(number)]


def _norms(data: Any) -> Iterator[dict[str, Any]]:
    """The norms in a part of a scenario."""
    for key, inner in data.items() if isinstance(data, dict) else enumerate(data):
        if str(key).endswith("norm") and isinstance(inner, dict):
            yield inner
        elif isinstance(inner, dict | list):
            yield from _norms(inner)


PARTS: dict[str, Part] = {
    "unit offset": unit_offset,
    "embedding scale": embedding_scale,
}
