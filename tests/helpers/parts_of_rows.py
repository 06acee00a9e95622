"""An independent attribution: the parts of a token's row of a value, each carried forward alone.

For a logit, the program carries a direction back; for a score, it carries all parts forward at
once. Here each component is carried forward by itself: between the heads, the hidden layers and the
row, a model is linear if the divisors of its norms are held. The part of a component is then what
the model computes if all others are zero. It reads the JSON of a pass.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = Mapping[str, Any]
Row = NDArray[np.float64]

HEAD = re.compile(r"head\d+\.(output|gated_output)$")
HIDDEN = re.compile(r"ffn\.(expert\d+\.|shared\.)?(activation|gated|hidden)")
LINEAR = (
    *("copy", "add", "matmul", "concat", "mix_experts", "rotate"),
    *("normalize", "scale", "divide_by", "subtract"),
)


class Parts:
    """The parts of a token's row of a value: `rows`, by the address of what adds them."""

    def __init__(self, values: Values, address: str, token: int) -> None:
        self.values, self.token = values, token
        self.leaves: set[str] = set()
        self._reach(address)
        self.rows = {leaf: self._row(address, leaf) for leaf in self.leaves}

    def times(self, direction: Sequence[float]) -> dict[str, float]:
        """The dot product of each part with a row: 1 for a word, -1 for one to subtract."""
        return {leaf: float(row @ np.array(direction)) for leaf, row in self.rows.items()}

    def _reach(self, address: str) -> None:
        """Find all components that the entry is a sum of."""
        if self._ends(address):
            self.leaves.add(address)
            return
        for operand in self._summed(address):
            self._reach(operand)

    def _summed(self, address: str) -> list[str]:
        """The operands that a value is linear in: not weights, divisors, shares of experts."""
        value = self.values[address]
        operands: list[str] = value["operands"]
        match value["operation"]:
            case "copy" | "subtract" | "scale" | "divide_by" | "rotate":
                return operands[:1]
            case "add" | "concat":
                return operands
            case "matmul":
                return [operands[0], *operands[2:]]
            case "mix_experts":
                return [y for y in operands[1:] if self._own_row(y) is not None]
            case "normalize":
                return [operands[0], *(x for x in operands[2:] if x.endswith(".shift"))]
            case other:
                raise AssertionError(f"{address}: {other} is not linear")

    def _ends(self, address: str) -> bool:
        value = self.values[address]
        if HEAD.search(address) or HIDDEN.search(address):
            return True
        if value["operation"] == "subtract":
            mean = self.values[value["operands"][1]]
            return bool(mean["operation"] != "mean" or mean["operands"] != value["operands"][:1])
        return value["operation"] not in LINEAR

    def _own_row(self, address: str) -> int | None:
        """The token's row of a value; an expert has those of its tokens."""
        axis = self.values[address]["axes"][0]
        if "positions" not in axis:
            return self.token
        positions = axis["positions"]
        return positions.index(self.token + 1) if self.token + 1 in positions else None

    def _numbers(self, address: str) -> Row:
        return np.array(self.values[address]["data"], float)

    def _row(self, address: str, leaf: str) -> Row:
        """The token's row of a value if all components but one are zero."""
        value = self.values[address]
        numbers = self._numbers(address)
        if self._ends(address):
            row = numbers if numbers.ndim == 1 else numbers[self._own_row(address)]
            return row if address == leaf else np.zeros_like(row)
        first, *others = value["operands"]
        if value["operation"] == "mix_experts":
            gates = self._numbers(first)[self.token]
            outputs = [(e, y) for e, y in enumerate(others) if self._own_row(y) is not None]
            return np.asarray(sum(gates[e] * self._row(y, leaf) for e, y in outputs))
        x = self._row(first, leaf)
        match value["operation"]:
            case "add":
                return np.asarray(x + self._row(others[0], leaf))
            case "subtract":
                return np.asarray(x - x.mean())
            case "scale":
                return np.asarray(x * float(value["parameters"]["a"]))
            case "divide_by":
                return np.asarray(x / float(value["parameters"]["divisor"]))
            case "concat":
                return np.concatenate([x, *(self._row(head, leaf) for head in others)])
            case "matmul":
                biases = sum(self._row(b, leaf) for b in others[1:])
                return np.asarray(x @ self._numbers(others[0]) + biases)
            case "normalize":
                gains = [self._numbers(each) for each in others if each.endswith(".gain")]
                one = 1 if value["parameters"].get("unit_offset") else 0
                x = x / self._numbers(others[0])[self._own_row(others[0])]
                shifts = [self._row(each, leaf) for each in others if each.endswith(".shift")]
                return np.asarray(x * (gains[0] + one if gains else 1) + sum(shifts))
            case "rotate":
                return self._rotated(x, others, value["parameters"]["layout"])
            case _:
                return x

    def _rotated(self, x: Row, waves: list[str], layout: str) -> Row:
        """Each pair as a complex number, times e^(i angle)."""
        cos, sin = (self._numbers(wave)[self._own_row(wave)] for wave in waves)
        half = len(cos)
        index = np.arange(2 * half).reshape((half, 2) if layout == "pairs" else (2, half))
        first, second = index.T if layout == "pairs" else index
        points = (x[first] + 1j * x[second]) * (cos + 1j * sin)
        turned = x.copy()
        turned[first], turned[second] = points.real, points.imag
        return turned
