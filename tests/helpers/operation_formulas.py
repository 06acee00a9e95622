"""What each operation computes, as a formula of NumPy: by its name and parameters in JSON.

The formulas share no code with the program. They take operands of floats or of Decimals.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np


def computed(
    name: str,
    parameters: dict[str, Any],
    x: list[Any],
    kept: Callable[[Any], Any] = lambda products: products,
) -> Any:
    """The result of an operation with operands x; `kept` rounds its intermediate products."""
    in_floats = bool(x) and x[0].dtype == np.float64
    p = SimpleNamespace(**_plain(parameters, in_floats), kept=kept)
    return np.asarray(FORMULAS[name](p, *x))


def _plain(parameter: Any, in_floats: bool) -> Any:
    """A parameter with whole numbers as integers; with floats, other numbers as floats."""
    match parameter:
        case dict():
            return {name: _plain(each, in_floats) for name, each in parameter.items()}
        case list() | tuple():
            return [_plain(each, in_floats) for each in parameter]
        case Decimal() if parameter.is_finite() and parameter == int(parameter):
            return int(parameter)
        case Decimal() if in_floats:
            return float(parameter)
        case _:
            return parameter


# --- functions of a number -----------------------------------------------------------------------


def _of_each(function: Callable[[Any], float]) -> Any:
    """A function of floats for each entry, which stays a float or a Decimal."""
    return np.frompyfunc(lambda number: type(number)(function(number)), 1, 1)


_sin, _cos, _tanh = map(_of_each, (math.sin, math.cos, math.tanh))
_ln = np.frompyfunc(lambda x: x.ln() if isinstance(x, Decimal) else np.log(x), 1, 1)


def _sigmoid(a: Any) -> Any:
    return 1 / (1 + np.exp(-a))


@_of_each
def _normal_share(x: Any) -> float:
    return math.erfc(-x / type(x)(math.sqrt(2))) / 2


@_of_each
def _approximate_share(x: Any) -> float:
    x = float(x)
    return (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def _slope(function: str, x: float) -> float:
    """How steep an activation function is: the imaginary part of it beside the real line."""
    aside = x + 1e-30j
    match function:
        case "relu":
            return float(x > 0)
        case "gelu":
            bell = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
            return math.erfc(-x / math.sqrt(2)) / 2 + x * bell
        case "gelu_tanh":
            inner = math.sqrt(2 / math.pi) * (aside + 0.044715 * aside**3)
            return (aside * (1 + cmath.tanh(inner)) / 2).imag / 1e-30
        case "silu":
            return (aside / (1 + cmath.exp(-aside))).imag / 1e-30
        case "sigmoid":
            return (1 / (1 + cmath.exp(-aside))).imag / 1e-30
        case "tanh":
            return cmath.tanh(aside).imag / 1e-30
        case "relu_squared":
            return 2 * max(x, 0)
    raise AssertionError(function)


def _steep(scale: Any) -> Any:
    """How steep a σ(c a) is, at each entry."""
    c = float(scale)

    def steep(x: Any) -> float:
        aside = float(x) + 1e-30j
        return (aside / (1 + cmath.exp(-c * aside))).imag / 1e-30

    return _of_each(steep)


def _clipped(a: Any, low: Any, high: Any) -> Any:
    kind: Any = float if a.dtype == np.float64 else Decimal
    below = a if high is None else np.minimum(a, kind(str(high)))
    return below if low is None else np.maximum(below, kind(str(low)))


# --- formulas of several lines -------------------------------------------------------------------


def _zeros(like: Any, *shape: int) -> Any:
    return np.full(shape, 0.0 if like.dtype == np.float64 else Decimal(0))


def _finite(largest: Any) -> Any:
    """The largest score of a row; 0 if all of the row are hidden."""
    return np.where(largest == -math.inf, 0, largest)


def _normalize(p: Any, a: Any, divisor: Any, *parameters: Any) -> Any:
    assert len(parameters) == p.gain + p.shift
    whole = a / divisor[:, None]
    if p.gain:
        whole = p.kept(whole) * (parameters[0] + getattr(p, "unit_offset", 0))
    return p.kept(whole) + parameters[-1] if p.shift else whole


def _root(p: Any, a: Any) -> Any:
    outside = p.epsilon * p.outside
    return np.sqrt(a + (p.epsilon - outside)) + outside


def _frequencies(p: Any, *operand: Any) -> Any:
    pairs = range((p.width + 1) // 2)
    base = abs(operand[0].item()) if operand else p.base
    powers = [Decimal(base) ** (Decimal(-2 * k) / p.width) for k in pairs]
    return np.array(powers) / np.array(p.factors or [1])


def _ramp(p: Any, a: Any, *computed: Any) -> Any:
    operands = iter(computed)
    start, end = (next(operands) if e is None else e for e in (p.start, p.end))
    return ((a - start) / (end - start)).clip(0, 1)


def _turned(p: Any, a: Any, cos: Any, sin: Any) -> Any:
    """Each pair of columns as a point, turned."""
    half = cos.shape[1]
    pairs = (slice(0, 2 * half, 2), slice(1, 2 * half, 2))
    first, second = pairs if p.layout == "pairs" else (slice(half), slice(half, 2 * half))
    turned = a.copy()
    turned[:, first] = a[:, first] * cos - a[:, second] * sin
    turned[:, second] = a[:, first] * sin + a[:, second] * cos
    return turned


def _mix(p: Any, weights: Any, *outputs: Any) -> Any:
    total = _zeros(weights, len(weights), outputs[0].shape[1])
    for expert, (own, y) in enumerate(zip(p.rows, outputs, strict=True)):
        for at, row in enumerate(own):
            total[row] = total[row] + weights[row, expert] * y[at]
    return total


def _expert_dots(p: Any, g: Any, *outputs: Any) -> Any:
    dots = _zeros(g, len(g), len(outputs))
    for expert, (own, y) in enumerate(zip(p.rows, outputs, strict=True)):
        for at, row in enumerate(own):
            dots[row, expert] = (g[row] * y[at]).sum()
    return dots


def _surprise(p: Any, shares: Any) -> Any:
    columns = zip(shares, p.columns, strict=True)
    return np.array([0 if j is None else -_ln(row[j]) for row, j in columns])


def _miss(p: Any, shares: Any) -> Any:
    right = np.array([[j == k for k in range(shares.shape[1])] for j in p.columns], int)
    counts = np.array([[j is not None] for j in p.columns], int)
    t = right + (p.smoothing * (type(shares.flat[0])(1) / p.words - right) if p.smoothing else 0)
    return (shares - t) * counts / p.counted


def _convolved_back(p: Any, g: Any, b: Any) -> Any:
    """Each row of g spreads over as many rows as b has, the last first."""
    found = _zeros(g, len(g) + len(b) - 1, *g.shape[1:])
    for i, row in enumerate(g):
        found[i : i + len(b)] = found[i : i + len(b)] + row * b
    return found


def _placed(a: Any, index: Any, *shape: int) -> Any:
    placed = _zeros(a, *shape)
    placed[index] = a
    return placed


def _keep(p: Any, a: Any) -> Any:
    chosen = [[j in own for j in range(a.shape[1])] for own in p.columns]
    return np.where(chosen, a, p.others)


def _by_word(p: Any, a: Any) -> Any:
    return np.equal.outer(range(p.table), p.words).astype(int) @ a


def _by_entry(p: Any, a: Any) -> Any:
    found = _zeros(a, p.table, p.columns)
    np.add.at(found[:, p.column], list(p.rows), a.ravel())
    return found


def _looked_up(p: Any, table: Any) -> Any:
    keys = (len(p.rows) + 1) // 2
    offsets = np.subtract.outer(np.arange(keys), np.arange(keys - p.queries, keys)).T
    return table[np.array(p.rows)[offsets + keys - 1], p.column]


def _argmax(p: Any, shares: Any, logits: Any) -> Any:
    ranked = [
        max(zip(x, y, range(0, -len(x), -1), p.words, strict=True))
        for x, y in zip(shares, logits, strict=True)
    ]
    return np.array([word for *_, word in ranked], dtype=object)


def _pick(p: Any, sums: Any, draw: Any) -> Any:
    above = [j for j, top in enumerate(sums[-1]) if top > draw]
    return np.array([p.words[above[0] if above else -1]], dtype=object)


def _rint(ratio: Any) -> Any:
    return np.rint(np.round(np.asarray(ratio, float), 9))


def _within(p: Any, integers: Any) -> Any:
    return integers if p.bounds is None else np.clip(integers, *p.bounds)


def _like(of: Any, numbers: Any) -> Any:
    """Floats, as Decimals beside Decimals."""
    return numbers if of.dtype == np.float64 else np.vectorize(Decimal, otypes=[object])(numbers)


def _quantized(p: Any, w: Any, s: Any, zero: Any = 0) -> Any:
    of_scales = np.asarray(w / np.where(s == 0, 1, s), float)  # of a group of zeros it is 0
    ratio = np.round(of_scales, 9)
    if hasattr(p, "bounds"):
        return _like(w, _within(p, np.rint(ratio) + np.asarray(zero, float)))
    numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    far = abs(abs(ratio)[..., None] - numbers) + 1e-12 * (np.arange(8) % 2)
    return _like(w, np.sign(ratio) * numbers[far.argmin(axis=-1)])


def _extreme(p: Any, w: Any) -> Any:
    rows, columns = w.shape[0] // p.height, w.shape[1] // p.width
    groups = w.reshape(rows, p.height, columns, p.width).transpose(0, 2, 1, 3)
    groups = groups.reshape(rows, columns, -1)
    if p.of == "magnitude":
        return abs(groups).max(axis=2)
    zero = groups[..., :1] * 0
    both = np.concatenate([zero, groups], axis=2)
    return both.max(axis=2) if p.of == "largest" else both.min(axis=2)


FORMULAS: dict[str, Callable[..., Any]] = {
    # --- sums of products
    "matmul": lambda p, x, w, *bias: p.kept(x[:, :, None] * w).sum(axis=1) + sum(bias),
    "dot": lambda p, q, k: p.kept(q[:, None] * k).sum(axis=2),
    "transposed_matmul": lambda p, a, b: a.T @ b,
    "sum": lambda p, a: a.sum(axis=1),
    "negative_sum": lambda p, a: -a.sum(axis=1),
    "column_sum": lambda p, a: a.sum(axis=0),
    "last_column_sum": lambda p, a: a[:, -1:].sum(axis=0),
    "column_dot": lambda p, a, b: (a * b).sum(axis=0),
    "convolve": lambda p, a, b: sum(
        p.kept(a[j : j + len(a) - len(b) + 1] * b[j]) for j in range(len(b))
    ),
    "convolve_back": _convolved_back,
    "row_dot": lambda p, a, b: (a * b).sum(axis=1) * (-1 if p.negative else 1),
    "mean": lambda p, a: a.sum(axis=1) / (a.shape[1] - p.sample),
    "sum_of": lambda p, a: a[p.counted].sum(),
    "mean_of": lambda p, a: a[p.counted].sum() / len(p.counted),
    "sum_of_squares": lambda p, a: (a * a).sum(),
    "cumulate": lambda p, a: a.cumsum(axis=1),
    "add_all": lambda p, *paths: sum(paths[1:], paths[0]),
    "add_by_word": _by_word,
    "add_by_entry": _by_entry,
    "mix_experts": _mix,
    "expert_dots": _expert_dots,
    # --- entry by entry
    "add": lambda p, a, b: a + b,
    "add_number": lambda p, a, b: b + a,
    "difference": lambda p, a, b: a - b,
    "bucket_of_distance": lambda p, d: (
        (p.buckets - p.exact) * _ln(d / p.exact) / _ln((d * 0 + p.max_distance) / p.exact) + p.exact
    ),
    "quantization_error": lambda p, w, of_integer: w - of_integer,
    "multiply": lambda p, a, b: a * b,
    "twice_product": lambda p, a, b: 2 * a * b,
    "square": lambda p, a: a * a,
    "multiplied_square": lambda p, a: a * a * p.factor,
    "sqrt": _root,
    "root_slope": lambda p, a, b: a / (2 * (b - p.epsilon)),
    "exp": lambda p, a: np.exp(a),
    "decay": lambda p, a: np.exp(-a),
    "sin": lambda p, a: _sin(a),
    "cos": lambda p, a: _cos(a),
    "sigmoid": lambda p, z: _sigmoid(z),
    "log": lambda p, a: _ln(a),
    "negative_log": lambda p, a: -_ln(a),
    "of_target": lambda p, a, t: t * a + (1 - t) * (1 - a),
    "elu_plus_one": lambda p, a: np.where(a > 0, a + 1, np.exp(a * (a < 0))),
    "sigmoid_of_target": lambda p, z, t: 1 / (1 + np.exp((1 - 2 * t) * z)),
    "relu": lambda p, a: a * (a > 0),
    "above_zero": lambda p, a: a * (a > 0),
    "silu": lambda p, a: a * _sigmoid(a),
    "tanh": lambda p, a: _tanh(a),
    "relu_squared": lambda p, a: (a * (a > 0)) ** 2,
    "gelu": lambda p, a: a * _normal_share(a),
    "gelu_tanh": lambda p, a: a * _approximate_share(a),
    "slope": lambda p, a: _of_each(lambda x: _slope(p.function, float(x)))(a),
    "scaled_silu": lambda p, a: a * _sigmoid(p.scale * a),
    "scaled_silu_gradient": lambda p, g, a: g * _steep(p.operation["parameters"]["scale"])(a),
    "at_most": lambda p, a: _clipped(a, None, p.limit),
    "at_most_gradient": lambda p, g, a: g * (a <= p.operation["parameters"]["limit"]),
    "clamp": lambda p, a: _clipped(a, -p.limit, p.limit),
    "clamp_gradient": lambda p, g, a: g * (abs(a) <= p.operation["parameters"]["limit"]),
    "multiply_shifted": lambda p, a, b: a * b + a * p.offset,
    "multiply_shifted_gradient": lambda p, g, a, b: (
        g * a if p.operand else g * b + g * p.operation["parameters"]["offset"]
    ),
    "softcap": lambda p, a: p.cap * _tanh(a / p.cap),
    "softcap_gradient": lambda p, g, a: g * (1 - _tanh(a / p.operation["parameters"]["cap"]) ** 2),
    "difference_gradient": lambda p, g, a, b: -g if p.operand else g,
    "decay_gradient": lambda p, g, a: -g * np.exp(-a),
    "sigmoid_gradient": lambda p, g, a: g * _sigmoid(a) * (1 - _sigmoid(a)),
    "above_zero_gradient": lambda p, g, a: g * (a > 0),
    "elu_plus_one_gradient": lambda p, g, a: g * np.where(a > 0, 1, np.exp(a * (a < 0))),
    "scale": lambda p, a: p.a * a,
    "divide_by": lambda p, a: a / p.divisor,
    "adapt": lambda p, a, b: a + p.kept(p.alpha * b / p.rank),
    "adapt_gradient": lambda p, g: p.alpha * g / p.rank,
    "squared_error_gradient": lambda p, a: a * 2 * p.factor / p.n,
    "binary_cross_entropy_gradient": lambda p, a, t: (a - t) / p.n,
    "combine": lambda p, a, b: p.a * a + p.b * b,
    "unbias": lambda p, a: a / (1 - p.beta**p.steps),
    "ratio": lambda p, a, b: a / (np.sqrt(b) + p.epsilon),
    # --- quantized weights
    "quantize": _quantized,
    "zero_point": lambda p, a, s: _like(a, _within(p, -_rint(a / s))),
    "dequantize": lambda p, q, s, z=0: s * (q - z),
    "range_scale": lambda p, a, b: (a - b) / p.parts,
    "shared_exponent": lambda p, a: _of_each(
        lambda x: math.floor(math.log2(x)) - 2 if x > 0 else -127
    )(a),
    "two_to_the": lambda p, a: _of_each(lambda x: 2.0 ** float(x))(a),
    "group_extreme": _extreme,
    "spread_groups": lambda p, a: a.repeat(p.height, axis=0).repeat(p.width, axis=1),
    # --- with a number for each row, for each column, or for all
    "subtract": lambda p, a, b: a - b[:, None],
    "below_maximum": lambda p, a, b: (a.T - _finite(b)).T,
    "share": lambda p, a, b: a / np.where((a != 0).any(axis=1), b, 1)[:, None],
    "divide": lambda p, a, b: a / b,
    "times": lambda p, a, b: a * b,
    "scale_rows": lambda p, a, b: (a.T * b).T,
    "divide_rows": lambda p, a, b: (a.T / b).T,
    "decay_rate": lambda p, a, b: np.exp(b) * _ln(1 + np.exp(a)),
    "divide_rows_gradient": lambda p, g, a, b: (
        -g * a / (b * b)[:, None] if p.operand else g / b[:, None]
    ),
    "decay_rate_gradient": lambda p, g, a, b: (
        g * np.exp(b) * (_ln(1 + np.exp(a)) if p.operand else _sigmoid(a))
    ),
    "times_row": lambda p, a, b: a * (b + getattr(p, "unit_offset", 0)),
    "penalize": lambda p, a, slope, distance: a - p.kept(slope * distance),
    "rescale": lambda p, a, f, b: p.kept(f * a.T).T + b,
    "outer": lambda p, a, b: a[:, None] * b,
    "spread": lambda p, a: np.repeat(a[:, None] / p.over, p.columns, axis=1),
    "normalize": _normalize,
    "times_expert_weight": lambda p, a, w: a[p.rows] * w[p.rows, p.expert][:, None],
    # --- with the column that counts in each row
    "neg_log": _surprise,
    "miss": _miss,
    "max": lambda p, a: _finite(a.max(axis=1)),
    "running_max": lambda p, a, *before: np.column_stack([a, *before]).max(axis=1),
    # --- positions
    "power_of_two": lambda p: Decimal(2) ** (Decimal(p.over) / p.under),
    "div_term": _frequencies,
    "turns": lambda p, a: p.context * a / (type(a.flat[0])(math.pi) * 2),
    "turning_pair": lambda p: (
        Decimal(p.width)
        * (Decimal(p.context) / (2 * Decimal(math.pi) * Decimal(p.turns))).ln()
        / (2 * Decimal(p.base).ln())
    ),
    "ramp": _ramp,
    "interpolate": lambda p, a, ramp: a - a * ramp + a * ramp / p.factor,
    "larger_base": lambda p: (
        (1 + Decimal(p.factor) * (p.tokens - p.context) / p.context)
        ** (Decimal(p.width) / (p.width - 2))
        * p.base
    ),
    "yarn_factor": lambda p: 1 + Decimal(p.factor).ln() / 10,
    "longrope_factor": lambda p: (1 + Decimal(p.factor).ln() / Decimal(p.context).ln()).sqrt(),
    "rotate": _turned,
    "rotate_back": lambda p, a, cos, sin: _turned(p, a, cos, -sin),
    # --- moves of entries
    "copy": lambda p, a: a,
    "append": lambda p, *parts: np.concatenate(parts),
    "join": lambda p, *parts: np.concatenate(parts),
    "concat": lambda p, *parts: np.concatenate(parts, axis=1),
    "stack": lambda p, *parts: np.vstack(parts),
    "append_column": lambda p, a, b: np.hstack([a, np.tile(b, (len(a), 1))]),
    "append_zeros": lambda p, a: np.hstack([a, a[:, :1] * 0]),
    "drop_column": lambda p, a: a[:, :-1],
    "columns": lambda p, a: a[:, p.start : p.stop],
    "rows": lambda p, a, *_: a[p.rows],
    "look_up": _looked_up,
    "select": lambda p, a: a[-1:, p.columns],
    "interleave": lambda p, *waves: np.stack(waves, axis=2).reshape(len(waves[0]), -1)[
        :, : len(p.features)
    ],
    "keep": _keep,
    "lower": lambda p, a: np.tril(np.ones_like(a, int)) * a,
    "collect": lambda p, *numbers: np.stack(numbers),
    "take_column": lambda p, a: a[:, [p.column]].T,
    "take_entry": lambda p, a: a[p.row, p.column],
    "take_number": lambda p, a: a[tuple(p.at)],
    "place_number": lambda p, a: _placed(a, tuple(p.at), *p.shape),
    "take_entries": lambda p, a: np.array([a[i, j] for i, j in p.entries]),
    "as_rows": lambda p, a: _by_word(p, a.T),
    "place_rows": lambda p, a: _placed(a, p.rows, p.n, a.shape[1]),
    "below_zeros": lambda p, a: np.concatenate([_zeros(a, p.zeros, a.shape[1]), a]),
    "place_columns": lambda p, a: _placed(a, np.s_[:, p.start : p.start + a.shape[1]], len(a), p.n),
    # --- words
    "argmax": _argmax,
    "pick": _pick,
}
