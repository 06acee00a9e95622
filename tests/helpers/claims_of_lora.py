"""What is said of weights with LoRA: each form with its check."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.helpers.claims_of_learning import keys_of
from tests.helpers.judge import Check, Judge, Said, number


def _parts(at: Judge) -> dict[str, Any]:
    """The values of the sum, the frozen weights, A and B."""
    assert re.search(r"\.W_[QKVO123U]$", at.address)
    names = {"w": "", "frozen": ".frozen", "a": ".A", "b": ".B"}
    return {name: at.values[at.address + end] for name, end in names.items()}


def _typed(at: Judge) -> Any:
    found: Any = at.spec
    for key in keys_of(at.address, at.spec):
        found = found[key]
    return found


def _are_named(at: Judge, said: Said) -> dict[str, Any]:
    """The values, which a sentence calls by their symbols."""
    parts = _parts(at)
    for name, value in parts.items():
        assert said.get(name) in (None, value["symbol"]), name
    return parts


def is_quantized(at: Judge) -> bool:
    """Whether the frozen weights, and nothing else of the sum, have a scale."""
    found = [end for end in ("", ".frozen", ".A", ".B") if f"{at.address}{end}.scale" in at.values]
    assert found in ([], [".frozen"]) and bool(found) == ("quantized" in _typed(at)["frozen"])
    return bool(found)


def adapted(at: Judge, said: Said) -> None:
    parts = _are_named(at, said)
    w, frozen, a, b = (np.array(value["data"], float) for value in parts.values())
    assert number(said["alpha"]) == float(_typed(at)["alpha"])
    assert int(said["rank"]) == a.shape[1] and said["same"] == said["a"]
    if at.rounding["carry"] == "never":
        factor = float(_typed(at)["alpha"]) / a.shape[1]
        assert np.allclose(w, frozen + factor * a @ b, rtol=1e-9, atol=1e-9)


def learned(at: Judge, said: Said) -> None:
    parts = _are_named(at, said)
    sizes = {name: np.array(value["data"]).size for name, value in parts.items()}
    assert int(said["learned"]) == sizes["a"] + sizes["b"]
    assert int(said["kept"]) == sizes["frozen"] and said["again"] == said["frozen"]


def nothing_added(at: Judge, said: Said) -> None:
    parts = _are_named(at, said)
    [zeros] = [parts[name] for name in "ab" if parts[name]["symbol"] == said["of"]]
    assert not np.array(zeros["data"], float).any()
    assert parts["w"]["data"] == parts["frozen"]["data"]


def says_that_nothing_is_added(at: Judge) -> bool:
    """Whether A or B is 0, and the sum therefore equal to the frozen weights."""
    if f"{at.address}.frozen" not in at.values:  # quantized weights
        return False
    parts = {name: np.array(value["data"], float) for name, value in _parts(at).items()}
    zero = not (parts["a"].any() and parts["b"].any())
    return zero and np.array_equal(parts["w"], parts["frozen"])


CLAIMS: dict[str, Check] = {
    "{w} is the sum of the frozen weights {frozen} and the product of {a} and {b}, multiplied by α / r = {alpha} / {rank:int}, where r is the number of columns of {same}.": adapted,
    "Training leaves {frozen} as it is; only {a} and {b} can learn. They have {learned:int} numbers together, {again} has {kept:int}.": learned,
    "The product:": lambda at, _: bool(_parts(at)),
    "The sum:": lambda at, _: bool(_parts(at)),
    "After training, the sum can be stored as one matrix; the adapted model then needs no more computation than the original one.": lambda at, _: (
        bool(_parts(at)) and not is_quantized(at)
    ),
    "Only the frozen weights are quantized, as in QLoRA; {a} and {b} are not.": lambda at, said: (
        bool(_are_named(at, said)) and is_quantized(at)
    ),
    "All numbers of {of} are 0, so {w} equals {frozen}.": nothing_added,
    "The gradient passes from the sum to the product; the frozen weights need none.": lambda at, _: (
        bool(re.search(r"\.W_[QKVO123U]$", at.address))
        and at.address in at.values
        and f"{at.address}.low_rank" in at.values
        and f"{at.address}.frozen" not in at.values
    ),
}
