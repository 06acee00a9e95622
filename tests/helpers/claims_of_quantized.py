"""What is said of quantized weights: each form with its check."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

from tests.helpers.claims_of_learning import keys_of
from tests.helpers.judge import Check, Judge, Said
from tests.helpers.quantized import groups_of


def _keys(at: Judge) -> Any:
    """What the scenario types in place of the rows of the weights."""
    assert re.search(r"\.W_[QKVO123U](\.frozen)?$", at.address)
    found: Any = at.spec
    for key in keys_of(at.address, at.spec):
        found = found[key]
    assert {"quantized", "of"} == set(found)
    return found


def _how(at: Judge) -> tuple[bool, int, bool]:
    """Whether it is MXFP4, the bits, and whether there is a zero point."""
    how = _keys(at)["quantized"]
    is_mx = how.get("kind") == "mxfp4"
    zero = str(how.get("zero_point")).lower() == "true"
    return is_mx, 4 if is_mx else int(how.get("bits", 8)), zero


def _sizes(at: Judge) -> tuple[int, int, int]:
    """The weights, the groups, and the weights of each group."""
    keys = _keys(at)
    groups = list(groups_of(keys))
    return len(keys["of"]) * len(keys["of"][0]), len(groups), len(groups[0])


def _symbol(at: Judge, end: str = "") -> Any:
    return at.values[at.address + end]["symbol"]


def stored(at: Judge, said: Said) -> None:
    keys, (is_mx, bits, zero) = _keys(at), _how(at)
    assert (said["f"], said["w"]) == (_symbol(at, ".of"), _symbol(at))
    assert said["how"] == ("numbers of 4 bits (E2M1)" if is_mx else f"integers of {bits} bits")
    assert bool(said["zero"]) == zero
    height, width = len(keys["of"]), len(keys["of"][0])
    [own, *_] = groups_of(keys)
    rows, columns = ({at[axis] for at in own} for axis in (0, 1))
    match said["shared"].split():
        case ["the", "whole", "matrix"]:
            assert len(own) == height * width
        case ["each", "row"]:
            assert len(own) == width and len(rows) == 1
        case ["each", "column"]:
            assert len(own) == height and len(columns) == 1
        case ["each", "group", "of", number, "weight" | "weights", "in", "a", "column"]:
            assert len(own) == int(number) and len(columns) == 1


def divided(at: Judge, said: Said) -> None:
    is_mx, bits, zero = _how(at)
    most = 2 ** (bits - 1) - 1
    assert not is_mx and not zero and {int(said[name]) for name in "abc"} == {most}
    integers = np.array(at.values[f"{at.address}.integers"]["data"], float)
    assert abs(integers).max() <= most


def ranged(at: Judge, said: Said) -> None:
    is_mx, bits, zero = _how(at)
    assert not is_mx and zero and {int(said["a"]), int(said["b"])} == {2**bits - 1}
    integers = np.array(at.values[f"{at.address}.integers"]["data"], float)
    assert integers.min() >= 0 and integers.max() <= 2**bits - 1


def sized(at: Judge, said: Said) -> None:
    (is_mx, bits, zero), (weights, groups, _) = _how(at), _sizes(at)
    assert int(said["weights"]) == weights and int(said["bits"]) == bits
    per_group = 8 if is_mx else 16
    assert int(said["scale"]) == per_group
    assert bool(said["zero"]) == zero
    assert said["of_zero"] in (None, str(bits))
    total = weights * bits + groups * (per_group + bits * zero)
    assert int(said["total"]) == total
    mean = Fraction(total, weights)
    assert bool(said["about"]) == (Fraction(said["mean"]) != mean)
    assert abs(Fraction(said["mean"]) - mean) <= Fraction(1, 200)


def brought(at: Judge, _: Said) -> None:
    exponent = np.array(at.values[f"{at.address}.exponent"]["data"], float)
    largest = np.array(at.values[f"{at.address}.largest"]["data"], float)
    scale = np.array(at.values[f"{at.address}.scale"]["data"], float)
    assert (scale == 2.0**exponent).all()
    assert _how(at)[0] and (largest / scale >= 4).all() and (largest / scale < 8).all()


def of_zeros(at: Judge, _: Said) -> None:
    largest = np.array(at.values[f"{at.address}.largest"]["data"], float)
    exponent = np.array(at.values[f"{at.address}.exponent"]["data"], float)
    assert not largest.all() and (exponent[largest == 0] == -127).all()


def frozen(at: Judge, said: Said) -> None:
    assert (said["f"], said["w"]) == (_symbol(at, ".of"), _symbol(at))
    assert f"gradient.{at.address}.of" not in at.values
    assert f"gradient.{at.address}" not in at.values


def no_error(at: Judge, said: Said) -> None:
    assert (said["f"], said["w"]) == (_symbol(at, ".of"), _symbol(at))
    assert not np.array(at.values[f"{at.address}.error"]["data"], float).any()


def largest_error(at: Judge, said: Said) -> None:
    error, of = (at.values[at.address + end] for end in (".error", ".of"))
    sizes = abs(np.array(error["data"], float))
    index = np.unravel_index(sizes.argmax(), sizes.shape)
    shown = error["printed"][index[0]][index[1]]
    assert said["error"] == shown.removeprefix("-") and sizes[index]
    assert said["weight"] == of["printed"][index[0]][index[1]]
    labels = [axis["labels"][i] for axis, i in zip(error["axes"], index, strict=True)]
    assert [said["row"], said["column"]] == labels
    assert bool(said["several"]) == ((sizes == sizes.max()).sum() > 1)


def _is(kind: str) -> Check:
    """Whether the weights are quantized, and by which kind."""

    def check(at: Judge, _: Said) -> bool:
        is_mx, _bits, zero = _how(at)
        return {"any": True, "mx": is_mx, "integers": not is_mx, "zero": zero}[kind]

    return check


CLAIMS: dict[str, Check] = {
    "The weights {f} are stored as {how:numbers of 4 bits \\(E2M1\\)|integers of [0-9]+ bits} with a scale[zero: and a zero point] for {shared:[a-z0-9 ]+}. The model computes with {w}, the numbers that are left of them.": stored,
    "The scale is the largest absolute value of a group, divided by {a:int}, so that the integers are between -{b:int} and {c:int}.": divided,
    "The integers are between 0 and {a:int}. The scale divides the range of a group, which includes 0, into {b:int} equal parts. The zero point is the integer that stands for 0.": ranged,
    "A ratio halfway between two integers becomes the even one, as in NumPy and PyTorch.": _is(
        "integers"
    ),
    "{weights:int} {:weights?} of {bits:int} bits, with {scale:int} bits for each scale[zero: and {of_zero:int} bits for each zero point], take {total:int} bits: {about?:about }{mean:[0-9.]+} bits per weight.": sized,
    "Each scale is a power of two: divided by it, the largest absolute value of its group is at least 4 and less than 8.": brought,
    "The exponent of the scale of a group of zeros is -127, the smallest that there is.": of_zeros,
    "E2M1 has the numbers 0, 0.5, 1, 1.5, 2, 3, 4 and 6, and their negatives. A ratio becomes the nearest of them; halfway between two, it becomes 0, 1, 2 or 4, whose mantissa is even. More than 6 becomes 6.": _is(
        "mx"
    ),
    "Weights are quantized after training: training leaves {f} as it is, and so {w}.": frozen,
    "All errors are 0: {w} equals {f}.": no_error,
    "The largest error is {error:[^ ]+?}, [several:first ]at the weight {weight} in row {row:.+?} and column {column:.+}.": largest_error,
    "The largest absolute value of each group:": _is("any"),
    "The largest weight of each group, or 0:": _is("zero"),
    "The smallest weight of each group, or 0:": _is("zero"),
    "The exponent of each scale:": _is("mx"),
    "The scale of each group:": _is("any"),
    "The zero point of each group:": _is("zero"),
    "The integers:": _is("integers"),
    "The numbers of 4 bits:": _is("mx"),
    "The weights that they stand for:": _is("any"),
    "The errors:": _is("any"),
}
