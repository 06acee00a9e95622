"""Norms of head outputs in random scenarios, and what is said of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import norm_of_rows, parts_with
from tests.helpers.scenario_yaml import Scenario

Array = NDArray[np.float64]


def draw(spec: Scenario, rng: random.Random) -> None:
    """The norm of the heads' outputs of some attentions."""
    for part in parts_with(spec, "heads"):
        own = [head for head in part["heads"] if "shares" not in head]
        widths = {len(head["W_V" if "W_V" in head else "V"][0]) for head in own}
        if rng.random() < 0.2:
            norm = norm_of_rows(widths, rng)
            part["output_norm"] = "none" if rng.random() < 0.2 else norm


def outputs(
    attention: Mapping[str, Any], x: Array, own: Sequence[Array]
) -> tuple[dict[str, Array], list[Array]]:
    """What is computed of the norms, and the outputs of all heads behind them."""
    norm = attention.get("output_norm", "none")
    if norm == "none":
        return {}, list(own)
    found: dict[str, Array] = {}
    behind = [of_head(norm, rows, f"head{h}.output_norm", found) for h, rows in enumerate(own, 1)]
    return found, behind


def of_head(norm: Mapping[str, Any], rows: Array, at: str, found: dict[str, Array]) -> Array:
    """The normalized rows, by the length of what is left of each row without its mean."""
    by_root = norm.get("kind") == "rms_norm"
    mean = rows.mean(axis=1, keepdims=True) * (not by_root)
    less = rows.shape[1] - (norm.get("deviation") == "sample")
    square = np.linalg.norm(rows - mean, axis=1) ** 2 / less
    epsilon = float(norm.get("epsilon", 0))
    outside = epsilon * bool(norm.get("epsilon_outside"))
    root = np.sqrt(square + (epsilon - outside)) + outside
    factor = np.array(norm.get("gain", 1), np.float64) + bool(norm.get("unit_offset"))
    shift = np.array(norm.get("shift", 0), np.float64)
    found[at] = (rows - mean) / root[:, np.newaxis] * factor + shift
    found[f"{at}.squared"] = (rows - mean) ** 2
    if by_root:
        found |= {f"{at}.mean_square": square, f"{at}.rms": root}
    else:
        found |= {f"{at}.mean": mean[:, 0], f"{at}.deviation": rows - mean}
        found |= {f"{at}.variance": square, f"{at}.std": root}
    return found[at]


PART = JudgedPart(
    draw=draw,
    outputs=outputs,
    titles_of_heads={"Output, normalized": "output_norm"},
    titles_of_attention={"scale of the outputs": "output_norm.gain"},
    backward_titles={
        "the norm of the head's output": "Output, normalized",
        "the scale of the outputs": "scale of the outputs",
    },
    phrases={"The head's output for each token, normalized.": "output_norm"},
    learned={r"output_norm\.gain": "output_norm.gain output_norm.shift"},
)
