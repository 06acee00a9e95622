"""Quantized weights: computed from the papers in fractions, and drawn for random scenarios."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.lora import NUMBERS, WEIGHTS, parts_with_weights

Rows = list[list[Fraction]]

FOUR_BITS = tuple(Fraction(each) / 2 for each in (0, 1, 2, 3, 4, 6, 8, 12))
"""By their three bits without the sign: the last one is that of the mantissa."""


def quantize(spec: dict[str, Any], rng: random.Random) -> None:
    """Quantize most of the weights that are plain rows."""
    for part in parts_with_weights(spec):
        for name in WEIGHTS:
            if isinstance(part.get(name), list) and rng.random() < 0.7:
                part[name] = _quantized(part[name], rng)
    unembedding: Any = spec.get("unembedding")
    plain = isinstance(unembedding, dict) and isinstance(unembedding["W_U"], list)
    if plain and rng.random() < 0.5:
        unembedding["W_U"] = _quantized(unembedding["W_U"], rng)
    if trains := spec.get("optimizer", {}).get("trains"):
        trains[:] = ["*" if ".W_" in each else each for each in trains]


def quantize_frozen(spec: dict[str, Any], rng: random.Random) -> None:
    """Quantize some of the weights to which LoRA adds a product."""
    parts = [(part, name) for part in parts_with_weights(spec) for name in WEIGHTS]
    for part, name in [*parts, (spec.get("unembedding", {}), "W_U")]:
        own = part.get(name) if isinstance(part, dict) else None
        if isinstance(own, dict) and isinstance(own.get("frozen"), list) and rng.random() < 0.4:
            own["frozen"] = _quantized(own["frozen"], rng)


def _quantized(rows: list[list[Any]], rng: random.Random) -> dict[str, Any]:
    height = len(rows)
    groups = [n for n in range(1, height + 1) if height % n == 0]
    of = [[_weight(weight, rng) for weight in row] for row in rows]
    if rng.random() < 0.2:  # a group of zeros
        of[rng.randrange(height)] = [type(each)(0) for each in of[0]]
    if rng.random() < 0.3:
        how: dict[str, Any] = {"kind": "mxfp4"}
        if rng.random() < 0.6:
            how["group"] = rng.choice(groups)
        if rng.random() < 0.2:
            how["bits"] = 4
        return {"quantized": how, "of": of}
    how = {"bits": rng.choice((8, 8, 4, 4, 2, 3, 5, 6, 7))} if rng.random() < 0.9 else {}
    if rng.random() < 0.8:
        how["group"] = rng.choice(("tensor", "row", "column", *groups))
    if rng.random() < 0.5:
        how["zero_point"] = rng.random() < 0.8
    if rng.random() < 0.1:
        how["kind"] = "integers"
    return {"quantized": how, "of": of}


def _weight(weight: Any, rng: random.Random) -> Any:
    """The weight, or a number of which several are ties or equal."""
    return type(weight)(rng.choice(NUMBERS)) if rng.random() < 0.3 else weight


# --- what the papers say -------------------------------------------------------------------------


def groups_of(keys: dict[str, Any]) -> Iterator[list[tuple[int, int]]]:
    """The indices of the weights that share a scale."""
    how, rows, columns = keys["quantized"], len(keys["of"]), len(keys["of"][0])
    is_mx = how.get("kind") == "mxfp4"
    group = how.get("group", min(32, rows) if is_mx else "tensor")
    every = [(i, j) for i in range(rows) for j in range(columns)]
    match group:
        case "tensor":
            yield every
        case "row":
            yield from ([at for at in every if at[0] == i] for i in range(rows))
        case "column":
            yield from ([at for at in every if at[1] == j] for j in range(columns))
        case _:
            size = int(group)
            for j in range(columns):
                for start in range(0, rows, size):
                    yield [(i, j) for i in range(start, start + size)]


def stored(keys: dict[str, Any]) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """The scale, the zero point and the integer of each weight, and what they stand for."""
    shape = (len(keys["of"]), len(keys["of"][0]))
    names = ("scale", "zero_point", "integers")
    found = {name: np.full(shape, Fraction(0), object) for name in names}
    how = keys["quantized"]
    for group in groups_of(keys):
        weights = [Fraction(str(keys["of"][i][j])) for i, j in group]
        scale, zero, numbers = _of_group(weights, how)
        for at, number in zip(group, numbers, strict=True):
            found["scale"][at], found["zero_point"][at], found["integers"][at] = scale, zero, number
    numbers = found["scale"] * (found["integers"] - found["zero_point"])
    return found, numbers


def _of_group(weights: list[Fraction], how: dict[str, Any]) -> tuple[Fraction, int, list[Any]]:
    largest = max(map(abs, weights))
    if how.get("kind") == "mxfp4":
        exponent = -127
        if largest:
            exponent = max(exponent, _floor_log2(largest) - 2)
        scale = Fraction(2) ** exponent
        return scale, 0, [in_four_bits(weight / scale) for weight in weights]
    bits = int(how.get("bits", 8))
    if str(how.get("zero_point")).lower() != "true":
        scale = largest / (2 ** (bits - 1) - 1)
        return scale, 0, [round(weight / scale) if scale else 0 for weight in weights]
    most = 2**bits - 1
    low, high = min([Fraction(0), *weights]), max([Fraction(0), *weights])
    scale = Fraction(high - low) / most
    if not scale:
        return scale, 0, [0] * len(weights)
    zero = round(-low / scale)
    return scale, zero, [min(most, max(0, round(w / scale) + zero)) for w in weights]


def _floor_log2(x: Fraction) -> int:
    """The exponent of the largest power of two that is not larger."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    return exponent - (Fraction(2) ** exponent > x)


def in_four_bits(ratio: Fraction) -> Fraction:
    """The nearest number of E2M1; halfway between two, that whose last bit is 0."""
    size = min(abs(ratio), FOUR_BITS[-1])
    nearest = min(range(8), key=lambda bits: (abs(FOUR_BITS[bits] - size), bits % 2))
    return FOUR_BITS[nearest] if ratio > 0 else -FOUR_BITS[nearest]


def dequantized(keys: dict[str, Any]) -> NDArray[np.float64]:
    """The weights with which a model computes."""
    return np.asarray(stored(keys)[1].astype(float), np.float64)
