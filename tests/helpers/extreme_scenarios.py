"""Changes of a random scenario toward extremes, where a general sentence may be false.

One token, one feature and layers without attention are drawn by `random_scenarios`, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any

from tests.helpers.scenario_yaml import Scenario


def extreme(spec: Scenario, seed: int) -> Scenario:
    """The scenario with one to three of the extremes; which ones follows from the seed."""
    rng, changed = random.Random(f"extreme {seed}"), deepcopy(spec)
    for name in rng.sample(sorted(EXTREMES), rng.randint(1, 3)):
        EXTREMES[name](changed, rng)
    return changed


def _sub_layers(spec: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers") or ():
            for name in ("attention", "cross_attention", "ffn"):
                if name in layer:
                    yield name, layer[name]


def _networks(spec: Scenario) -> Iterator[dict[str, Any]]:
    for name, part in _sub_layers(spec):
        if name == "ffn":
            yield from part.get("experts", (part,))


def equal_weights(spec: Scenario, rng: random.Random) -> None:
    """All numbers of a matrix are equal, so that all scores, shares and features are."""
    number = Decimal(rng.choice(("0", "0.5", "1", "-1")))

    def fill(data: Any) -> None:
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            is_matrix = isinstance(value, list) and value and isinstance(value[0], list)
            if is_matrix and (str(key).startswith("W_") or key in ("router", "shared_gate")):
                data[key] = [[number] * len(row) for row in value]
            elif isinstance(value, dict | list):
                fill(value)

    for _, part in _sub_layers(spec):
        fill(part)


def gate_like_the_gated(spec: Scenario, rng: random.Random) -> None:
    """A gate is computed with the weights of the numbers that it gates."""
    for network in _networks(spec):
        if "W_3" in network:
            network["W_3"] = deepcopy(network["W_1"])
            network.pop("b_1", None), network.pop("b_3", None)


def window_of_1(spec: Scenario, rng: random.Random) -> None:
    """Each token sees itself alone."""
    spec["mask"] = {"window": 1}
    for layer in spec["layers"]:
        layer.get("attention", {}).pop("mask", None)


def little_scale(spec: Scenario, rng: random.Random) -> None:
    """Scores are far apart."""
    for name, part in _sub_layers(spec):
        if name != "ffn":
            part["scale"] = Decimal(rng.choice(("0.01", "0.1", "100")))


def alike_heads(spec: Scenario, rng: random.Random) -> None:
    """All heads have the weights of the first, but for their biases."""
    for name, part in _sub_layers(spec):
        first, *others = part.get("heads", [{}]) if name != "ffn" else [{}]
        for head in others:
            for matrix in {*first} & {*head} & {"W_Q", "W_K", "W_V"}:
                if len(first[matrix][0]) == len(head[matrix][0]):
                    head[matrix] = deepcopy(first[matrix])


def factor_that_shrinks(spec: Scenario, rng: random.Random) -> None:
    """Little of a change is added, or what reverses it."""
    for _, part in _sub_layers(spec):
        if part.get("residual", False):
            part["residual_scale"] = Decimal(rng.choice(("0.01", "0.5", "3")))


EXTREMES: dict[str, Callable[[Scenario, random.Random], None]] = {
    "equal weights": equal_weights,
    "gate": gate_like_the_gated,
    "window": window_of_1,
    "scale": little_scale,
    "heads": alike_heads,
    "factor": factor_that_shrinks,
}

OPTIMIZERS: tuple[dict[str, Any], ...] = (
    {"kind": "adam", "epsilon": 1000},
    {"kind": "adamw", "epsilon": 0, "learning_rate": Decimal("0.001")},
    {"kind": "adamw", "weight_decay": 30, "learning_rate": Decimal("0.1")},
    {"kind": "adam", "beta_1": 0, "beta_2": Decimal("0.5")},
    {"learning_rate": Decimal("0.000001")},
    {"learning_rate": 1, "weight_decay": 3, "momentum": Decimal("0.99")},
)
"""Large ε, no ε, weight decay past 0, no memory, hardly a step, a step too far."""
