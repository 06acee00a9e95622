"""What the operations of training give, of their operands and parameters and of nothing else."""

from __future__ import annotations

import cmath
import math
from decimal import Decimal
from typing import Any

import numpy as np


def training_again(operation: str, given: dict[str, Any], inputs: list[Any]) -> Any:
    """The entries that an operation should give; a and b are its operands."""
    match operation, inputs:
        case "miss", [p]:
            right = [[int(j == k) for k in range(p.shape[1])] for j in given["columns"]]
            counts = [[int(j is not None)] for j in given["columns"]]
            return (p - np.array(right)) * np.array(counts) / int(given["counted"])
        case "difference", [a, b]:
            return a - b
        case "rows", [a, *_]:
            return a[[int(i) for i in given["rows"]]]
        case "place_rows", [a]:
            placed = np.full((int(given["n"]), a.shape[1]), Decimal(0))
            placed[[int(i) for i in given["rows"]]] = a
            return placed
        case "place_columns", [a]:
            placed = np.full((a.shape[0], int(given["n"])), Decimal(0))
            placed[:, int(given["start"]) : int(given["start"]) + a.shape[1]] = a
            return placed
        case "sum_of", [a]:
            return np.asarray(sum((a[int(i)] for i in given["counted"]), Decimal(0)))
        case "sigmoid", [z]:
            return np.vectorize(lambda x: x.exp() / (x.exp() + 1), otypes=[object])(z)
        case "of_target", [p, t]:
            return np.where(t == 1, p, 1 - p)
        case "negative_log", [a]:
            return np.vectorize(lambda x: -x.ln(), otypes=[object])(a)
        case "squared_error_gradient", [a]:
            return a * 2 * given["factor"] / int(given["n"])
        case "binary_cross_entropy_gradient", [p, t]:
            return (p - t) / int(given["n"])
        case "transposed_matmul", [a, b]:
            return a.T @ b
        case "column_sum", [a]:
            return a.sum(axis=0)
        case "column_dot", [a, b]:
            return (a * b).sum(axis=0)
        case "row_dot", [a, b]:
            return (a * b).sum(axis=1) * (-1 if given["negative"] else 1)
        case "negative_sum", [a]:
            return -a.sum(axis=1)
        case "times_row", [a, b]:
            return a * (b + given.get("unit_offset", 0))
        case "times", [a, b]:
            return a * b
        case "adapt_gradient", [g]:
            return g * given["alpha"] / given["rank"]
        case "root_slope", [a, b]:
            return a / (2 * (b - Decimal(given["epsilon"])))
        case "twice_product", [a, b]:
            return 2 * a * b
        case "slope", [a]:
            slopes = [Decimal(repr(slope(given["function"], float(x)))) for x in a.flat]
            return np.array(slopes).reshape(a.shape)
        case "spread", [a]:
            return np.outer(a / int(given["over"]), [1] * int(given["columns"]))
        case "rotate_back", [a, cos, sin]:
            return turned_back(a, cos, sin, given["layout"])
        case "columns", [a]:
            return a[:, int(given["start"]) : int(given["stop"])]
        case "append_zeros", [a]:
            return np.hstack([a, a[:, :1] * 0])
        case "last_column_sum", [a]:
            return a[:, -1:].sum(axis=0)
        case "drop_column", [a]:
            return a[:, :-1]
        case "join", rows:
            return np.concatenate(rows)
        case "add_all", ways:
            return sum(ways[1:], ways[0])
        case "add_by_word", [a]:
            table = range(int(given["table"]))
            which = np.array([[word == row for word in given["words"]] for row in table])
            return which.astype(int) @ a
        case "keep", [a]:
            others = Decimal(str(given["others"]).replace("inf", "Infinity"))
            both = zip(a, given["columns"], strict=True)
            return np.array(
                [[x if j in own else others for j, x in enumerate(r)] for r, own in both]
            )
        case "mix_experts", [weights, *outputs]:
            total = np.full((len(weights), outputs[0].shape[1]), Decimal(0))
            for e, (own, y) in enumerate(zip(given["rows"], outputs, strict=True)):
                for at, row in enumerate(map(int, own)):
                    total[row] = total[row] + weights[row, e] * y[at]
            return total
        case "expert_dots", [g, *outputs]:
            dots = np.full((len(g), len(outputs)), Decimal(0))
            for e, (own, y) in enumerate(zip(given["rows"], outputs, strict=True)):
                for at, row in enumerate(map(int, own)):
                    dots[row, e] = (g[row] * y[at]).sum()
            return dots
        case "times_expert_weight", [g, weights]:
            own = list(map(int, given["rows"]))
            return g[own] * weights[own, int(given["expert"])][:, None]
        case "as_rows", [a]:
            table = range(int(given["table"]))
            which = np.array([[word == row for word in given["words"]] for row in table])
            return which.astype(int) @ a.T
        case "combine", [a, b]:
            return exactly(given["a"]) * a + exactly(given["b"]) * b
        case "scale", [a]:
            return exactly(given["a"]) * a
        case "divide_by", [a]:
            return a / exactly(given["divisor"])
        case "unbias", [a]:
            return a / (1 - exactly(given["beta"]) ** int(given["steps"]))
        case "ratio", [a, b]:
            roots = np.vectorize(lambda x: x.sqrt(), otypes=[object])(b)
            return a / (roots + exactly(given["epsilon"]))
        case "softcap_gradient", [g, a]:
            cap = exactly(given["operation"]["parameters"]["cap"])
            shares = np.array([Decimal(math.tanh(x / cap)) for x in a.flat]).reshape(a.shape)
            return g * (1 - shares**2)
        case "sum_of_squares", [a]:
            return np.asarray((a * a).sum())
    raise AssertionError(operation)


def exactly(parameter: Any) -> Decimal:
    """A parameter with the digits that the JSON has."""
    return Decimal(str(parameter))


def slope(function: str, x: float) -> float:
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


def turned_back(a: Any, cos: Any, sin: Any, layout: str) -> Any:
    """Each pair of columns as a point, turned by the negative angle."""
    half = cos.shape[1]
    pairs = (slice(0, 2 * half, 2), slice(1, 2 * half, 2))
    first, second = pairs if layout == "pairs" else (slice(half), slice(half, 2 * half))
    back = a.copy()
    back[:, first] = a[:, first] * cos + a[:, second] * sin
    back[:, second] = a[:, second] * cos - a[:, first] * sin
    return back
