"""Linear attention and the gated delta rule without a recurrence, as whole-array algebra.

The state after token t is the sum of k_jᵀ u_j over the tokens j up to t, each times the gates of
the tokens from j + 1 to t. In linear attention u is the value. By the delta rule it solves a
triangular system (Yang et al. 2024): u_t + β_t Σ_(j<t) g_tj (k_t · k_j) u_j = β_t v_t.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def floats(numbers: Any) -> Array:
    return np.array(numbers, np.float64)


def gates(attention: Mapping[str, Any], x: Array, tokens: int) -> dict[str, Array]:
    """The gates and the β of all tokens and heads, and their logits, by the end of the address."""
    found: dict[str, Array] = {}
    heads = len(attention["heads"])
    for name, letter in (("gate", "A"), ("beta", "B")):
        typed = attention.get(name, 1)
        if not isinstance(typed, Mapping):
            each = np.broadcast_to(floats(typed), (tokens,))
            found[name] = np.repeat(each[:, np.newaxis], heads, axis=1)
            continue
        logits = x @ floats(typed[f"W_{letter}"]) + floats(typed.get(f"b_{letter}", 0))
        found[f"{name}.logits"] = logits
        found[name] = 1 / (1 + np.exp(-logits))
        if typed.get("A_log") is not None:
            rate = np.exp(floats(typed["A_log"])) * np.logaddexp(0, logits)
            found[name] = np.exp(-rate)
    return found


def on_the_way(attention: Mapping[str, Any], x: Array, name: str) -> tuple[Array, dict[str, Array]]:
    """Queries or keys as they reach the state, and what they are on the way there."""
    found: dict[str, Array] = {}
    if attention.get("feature_map", "none") != "none":
        grows = attention["feature_map"] == "elu_plus_1"
        below = np.exp(np.minimum(x, 0)) - 1 if grows else 0
        x = found[f"mapped_{name}"] = np.maximum(x, 0) + below + grows
    if attention.get("unit_length", "none") != "none":
        epsilon = float(attention["unit_length"].get("epsilon", 0))
        length = np.linalg.norm(np.column_stack([x, np.full(len(x), np.sqrt(epsilon))]), axis=1)
        found[f"unit_{name}.length"] = length
        x = found[f"unit_{name}"] = x / length[:, np.newaxis]
    return x, found


def between(alpha: Array) -> Array:
    """g_tj: the product of the gates of the tokens from j + 1 to t, 0 for j > t."""
    n = len(alpha)
    rows = [[np.prod(alpha[j + 1 : t + 1]) * (j <= t) for j in range(n)] for t in range(n)]
    return floats(rows)


def head(
    attention: Mapping[str, Any], q: Array, k: Array, v: Array, alpha: Array, beta: Array
) -> dict[str, Array]:
    """The values of a head by the end of the address; q and k as positions leave them."""
    q, found = on_the_way(attention, q, "query")
    k, of_keys = on_the_way(attention, k, "key")
    found |= of_keys
    scale = attention.get("scale", "sqrt")
    if scale != "none":
        q = q / (np.sqrt(q.shape[1]) if scale == "sqrt" else float(scale))
        found["scaled_query"] = q
    g: Array = between(alpha)
    u: Any = v
    if attention["kind"] == "delta":
        below = np.tril(beta[:, np.newaxis] * g * (k @ k.T), -1)
        u = np.linalg.solve(np.eye(len(k)) + below, beta[:, np.newaxis] * v)
    scores = g * (q @ k.T)
    found["output"] = scores @ u
    if attention.get("normalizer"):
        divisors = scores.sum(axis=1, keepdims=True)
        found |= {f"token{t + 1}.divisor": each for t, each in enumerate(divisors)}
        found["output"] = found["output"] / divisors
    for t in range(len(k)):
        at = f"token{t + 1}."
        found[f"{at}state"] = np.einsum("j,jk,jv->kv", g[t], k, u)
        found[f"{at}read"] = found["output"][t : t + 1]
        if t and "gate" in attention:
            found[f"{at}kept"] = np.einsum("j,jk,jv->kv", g[t, :t], k[:t], u[:t])
        if t and attention["kind"] == "delta":
            predicted = (g[t, :t] * (k[:t] @ k[t])) @ u[:t]
            found[f"{at}predicted"] = predicted[np.newaxis]
            found[f"{at}error"] = (v[t] - predicted)[np.newaxis]
    return found
