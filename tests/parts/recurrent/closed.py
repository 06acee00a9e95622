"""Linear attention and the gated delta rule without a recurrence, as whole-array algebra.

The state after token t is the sum of k_jᵀ u_j over the tokens j up to t, each times the gates of
the tokens from j + 1 to t. In linear attention u is the value. By the delta rule it solves a
triangular system (Yang et al. 2024): u_t + β_t Σ_(j<t) g_tj (k_t · k_j) u_j = β_t v_t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def floats(numbers: Any) -> Array:
    return np.array(numbers, np.float64)


def gates(attention: Mapping[str, Any], x: Array, tokens: int) -> dict[str, Array]:
    """What is computed of gates and β, by the end of the address."""
    found: dict[str, Array] = {}
    for name, letter in (("gate", "A"), ("beta", "B")):
        typed = attention.get(name)
        if not isinstance(typed, Mapping):
            continue
        logits = x @ floats(typed[f"W_{letter}"])
        if typed.get(f"b_{letter}") is not None:
            logits = logits + floats(typed[f"b_{letter}"])
        found[f"{name}.logits"] = logits
        found[name] = 1 / (1 + np.exp(-logits))
        if typed.get("A_log") is not None:
            found["gate.rate"] = np.exp(floats(typed["A_log"])) * np.logaddexp(0, logits)
            found[name] = np.exp(-found["gate.rate"])
    return found


def of_head(
    attention: Mapping[str, Any], computed: Mapping[str, Array], name: str, head: int, tokens: int
) -> Array:
    """The gate or β of each token of a head, counted from 0; 1 without one."""
    if name in computed:
        return computed[name][:, head]
    typed = attention.get(name)
    return np.broadcast_to(floats(1 if typed is None else typed), (tokens,))


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
        found[f"unit_{name}.squares"] = length**2 - epsilon
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
        if scale == "sqrt":
            found["scaled_query.divisor"] = np.sqrt(floats(q.shape[1]))
        q = q / (np.sqrt(q.shape[1]) if scale == "sqrt" else float(scale))
        found["scaled_query"] = q
    n, corrects = len(k), attention["kind"] == "delta"
    g: Array = between(alpha)
    u: Any = v
    if corrects:
        below = np.tril(beta[:, np.newaxis] * g * (k @ k.T), -1)
        u = np.linalg.solve(np.eye(n) + below, beta[:, np.newaxis] * v)
    scores = g * (q @ k.T)
    numerators = scores @ u
    divisors = scores.sum(axis=1, keepdims=True)
    normalized = bool(attention.get("normalizer", False))
    found["output"] = numerators / divisors if normalized else numerators
    states = np.einsum("tj,jk,jv->tkv", g, k, u)
    chunk = attention.get("chunk")
    for t in range(n):
        at, one = f"token{t + 1}.", slice(t, t + 1)
        found |= {f"{at}key": k[one], f"{at}value": v[one], f"{at}query": q[one]}
        found |= {f"{at}state": states[t], f"{at}read": found["output"][one]}
        if _is_of_tokens(attention, "gate") and (t or chunk):
            found[f"{at}gate"] = alpha[t]
        if _is_of_tokens(attention, "beta"):
            found[f"{at}beta"] = beta[t]
        if corrects and "beta" in attention:
            found[f"{at}correction"] = u[one]
        if normalized:
            found |= {f"{at}numerator": numerators[one], f"{at}divisor": divisors[t]}
            found[f"{at}key_sum"] = (g[t] @ k)[np.newaxis]
        if not t:
            continue
        before = np.einsum("j,jk,jv->kv", g[t, :t], k[:t], u[:t])
        found[f"{at}written"] = np.outer(k[t], u[t])
        if "gate" in attention:
            found[f"{at}kept"] = before
            if normalized:
                found[f"{at}kept_key_sum"] = (g[t, :t] @ k[:t])[np.newaxis]
        if corrects:
            predicted = (g[t, :t] * (k[:t] @ k[t])) @ u[:t]
            found |= {f"{at}predicted": predicted[np.newaxis], f"{at}error": v[one] - predicted}
    plain = not corrects and "gate" not in attention and not normalized
    if size := chunk or (plain and n):
        found |= in_chunks(attention, (q, k, v, u), alpha, states, int(size))
        found["chunks.output"] = numerators
    return found


def _is_of_tokens(attention: Mapping[str, Any], name: str) -> bool:
    """Whether each token has a gate or β of its own."""
    typed = attention.get(name)
    return isinstance(typed, Mapping) or (isinstance(typed, list | tuple) and len(typed) > 1)


def in_chunks(
    attention: Mapping[str, Any],
    rows: tuple[Array, Array, Array, Array],
    alpha: Array,
    states: Array,
    size: int,
) -> dict[str, Array]:
    """What is computed for each chunk, of what the tokens write and of the states after them."""
    found: dict[str, Array] = {}
    gated, corrects = "gate" in attention, attention["kind"] == "delta"
    for number, start in enumerate(range(0, len(alpha), size), start=1):
        at, own = f"block{number}.", slice(start, start + size)
        q, k, v, u = (each[own] for each in rows)
        found |= {f"{at}key": k, f"{at}value": v, f"{at}query": q}
        decays: Any = np.cumprod(alpha[own])
        writing, reading = k / decays[:, np.newaxis], k * decays[:, np.newaxis]
        if gated:
            found |= {f"{at}decays": decays, f"{at}writing_key": writing}
            found |= {f"{at}token{start + i + 1}.decay": x for i, x in enumerate(decays)}
            found[f"{at}reading_query"] = q = q * decays[:, np.newaxis]
        found[f"{at}scores"] = q @ writing.T
        found[f"{at}masked"] = np.tril(q @ writing.T)
        inside = np.tril(q @ writing.T) @ u
        before = states[start - 1] if start else np.zeros_like(states[0])
        found[f"{at}read"] = q @ before + inside
        after = states[min(start + size, len(alpha)) - 1]
        found[f"{at}state"] = after
        if start:
            found |= {f"{at}inside": inside, f"{at}from_state": q @ before}
        if start or gated:
            found[f"{at}written"] = writing.T @ u
        if start and gated:
            found[f"{at}with_written"] = before + writing.T @ u
        if corrects:
            if gated:
                found[f"{at}reading_key"] = reading
            found |= _corrected(attention, at, start, (reading, writing, v, u), before)
    return found


def _corrected(
    attention: Mapping[str, Any],
    at: str,
    start: int,
    rows: tuple[Array, Array, Array, Array],
    before: Array,
) -> dict[str, Array]:
    """What is computed of the errors in a chunk."""
    reading, writing, v, u = rows
    found = {f"{at}key_products": reading @ writing.T, f"{at}corrections": u}
    errors = v - reading @ before
    if start:
        found |= {f"{at}predicted": reading @ before, f"{at}error": errors}
    for i in range(len(v)):
        token, one = f"{at}token{start + i + 1}.", slice(i, i + 1)
        found[f"{token}own_error"] = errors[one]
        if i:
            dots = reading[one] @ writing.T
            found |= {f"{token}products": dots, f"{token}earlier_products": dots[:, :i]}
            found |= {f"{token}earlier_corrections": u[:i]}
            found[f"{token}corrected"] = dots[:, :i] @ u[:i]
            found[f"{token}rest"] = errors[one] - dots[:, :i] @ u[:i]
        if "beta" in attention:
            found[f"{token}correction"] = u[one]
    return found


def heads(
    attention: Mapping[str, Any],
    x: Array,
    q: Sequence[Array],
    k: Sequence[Array],
    v: Sequence[Array],
) -> dict[str, Array] | None:
    """The values of all heads of an attention with a state; None of another one."""
    if attention.get("kind", "softmax") == "softmax":
        return None
    found = gates(attention, x, len(x))
    for h, rows in enumerate(zip(q, k, v, strict=True)):
        numbers = (of_head(attention, found, name, h, len(x)) for name in ("gate", "beta"))
        own = head(attention, *rows, *numbers)
        found = found | {f"head{h + 1}.{address}": value for address, value in own.items()}
    return found
