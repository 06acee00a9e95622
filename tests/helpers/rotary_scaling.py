"""Frequencies of rotary positions that are scaled for long texts: drawn, and as NumPy has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def frequencies(asked: Mapping[str, Any], width: int, tokens: int) -> dict[str, Array]:
    """By its name, each value that the frequencies of some settings are computed from."""
    scaling = asked.get("scaling") or {"kind": "none"}
    base, pair = float(asked.get("base", 10000)), np.arange((width + 1) // 2)
    factor = float(scaling.get("factor") or 1)
    context = float(scaling.get("original_max_position_embeddings") or math.inf)
    found: dict[str, Array] = {}
    if scaling["kind"] == "dynamic" and tokens > context:
        base *= (1 + factor * (tokens - context) / context) ** (width / (width - 2))
        found["base"] = np.array(base)
    plain = 1 / np.power(base, 2 * pair / width)
    by = np.array(asked.get("factors") or [1], float)
    match scaling["kind"]:
        case "linear":
            by = np.full(len(pair), factor)
        case "longrope":
            by = np.array(scaling[f"{'long' if tokens > context else 'short'}_factor"], float)
        case "llama3":
            found |= {"unscaled": plain, "turns": (turns := context * plain / (2 * math.pi))}
            low, high = (float(scaling[f"{end}_freq_factor"]) for end in ("low", "high"))
            found["ramp"] = ramp = np.interp(turns, [low, high], [1.0, 0.0])
            by = 1 / (1 - ramp + ramp / factor)
        case "yarn":
            fast, slow = float(scaling.get("beta_fast", 32)), float(scaling.get("beta_slow", 1))
            # The pair, not always whole, that turns so often within the context.
            first, last = (
                width * math.log(context / (2 * math.pi * turns)) / math.log(base) / 2
                for turns in (fast, slow)
            )
            if scaling.get("truncate", True):
                first, last = math.floor(first), math.ceil(last)
            first, last = max(first, 0), min(last, width - 1)
            ends = {"ramp_start": first, "ramp_end": last}
            found |= {name: np.array(end) for name, end in ends.items() if end % 1}
            last += 0.001 * (first == last)
            found |= {"unscaled": plain, "turns": context * plain / (2 * math.pi)}
            found |= {"pair": pair, "ramp": np.clip((pair - first) / (last - first), 0, 1)}
            by = 1 / (1 - found["ramp"] + found["ramp"] / factor)
    return found | {"div_term": plain / by}


def attention_factor(asked: Mapping[str, Any]) -> float:
    """What cosines and sines are multiplied by."""
    scaling = asked.get("scaling") or {"kind": "none"}
    if scaling["kind"] not in ("yarn", "longrope"):
        return 1
    if scaling.get("attention_factor"):
        return float(scaling["attention_factor"])
    longer = math.log(max(1, scaling["factor"]))
    if scaling["kind"] == "yarn":
        return 1 + longer / 10
    return math.sqrt(1 + longer / math.log(scaling["original_max_position_embeddings"]))


def drawn(choose: Callable[..., Any], pairs: int) -> dict[str, Any]:
    """Settings of any kind for so many pairs; `choose` chooses one of its arguments."""
    kinds = ("linear", "llama3", "yarn", "yarn", "longrope", *["dynamic"] * 2 * (pairs > 1))
    kind, context = choose(*kinds), choose(2, 3, 16, 100)
    factor, of_context = (
        {"factor": choose(2, 8, Decimal("1.5"))},
        {"original_max_position_embeddings": context},
    )
    attention = choose({}, {"attention_factor": choose(1, Decimal("1.25"))})
    own: dict[str, Any] = {"kind": kind, **factor}
    match kind:
        case "dynamic":
            own |= of_context
        case "llama3":
            own |= of_context | {"low_freq_factor": choose(1, Decimal("0.5"))}
            own["high_freq_factor"] = choose(4, Decimal("1.5"))
        case "yarn":
            of_context["original_max_position_embeddings"] = choose(context, 100, 1000)
            own |= of_context | attention | choose({}, {"truncate": True}, {"truncate": False})
            own |= choose({}, *[{"beta_fast": choose(2, 4)}] * 2)
            own |= choose({}, *[{"beta_slow": choose(Decimal("0.5"), Decimal("0.01"))}] * 2)
        case "longrope":
            own |= of_context | attention
            own |= {
                f"{length}_factor": [choose(1, 2, Decimal("1.3")) for _ in range(pairs)]
                for length in ("short", "long")
            }
            if attention and choose(True, False):
                del own["factor"]
    return own
