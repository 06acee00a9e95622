"""What is said of weights with LoRA: each form with its check."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.helpers.claims_of_learning import keys_of
from tests.helpers.judge import Judge, form, number


def _parts(at: Judge) -> dict[str, Any]:
    """The values of the sum, the frozen weights, A and B."""
    assert re.search(r"\.W_[QKVO123]$", at.address)
    names = {"w": "", "frozen": ".frozen", "a": ".A", "b": ".B"}
    return {name: at.values[at.address + end] for name, end in names.items()}


def _typed(at: Judge) -> Any:
    found: Any = at.spec
    for key in keys_of(at.address, at.spec):
        found = found[key]
    return found


def _are_named(at: Judge, said: dict[str, Any]) -> dict[str, Any]:
    """The values, which a sentence calls by their symbols."""
    parts = _parts(at)
    for name, value in parts.items():
        assert said.get(name) in (None, value["symbol"]), name
    return parts


@form(
    r"(?P<w>\S+) is the sum of the frozen weights (?P<frozen>\S+) and the product of (?P<a>\S+) "
    r"and (?P<b>\S+), multiplied by α / r = (?P<alpha>\S+) / (?P<rank>\d+), where r is the number "
    r"of columns of (?P<same>\S+)\."
)
def adapted(at: Judge, said: dict[str, Any]) -> None:
    parts = _are_named(at, said)
    w, frozen, a, b = (np.array(value["data"], float) for value in parts.values())
    assert number(said["alpha"]) == float(_typed(at)["alpha"])
    assert int(said["rank"]) == a.shape[1] and said["same"] == said["a"]
    if at.rounding["carry"] == "never":
        factor = float(_typed(at)["alpha"]) / a.shape[1]
        assert np.allclose(w, frozen + factor * a @ b, rtol=1e-9, atol=1e-9)


@form(
    r"Training leaves (?P<frozen>\S+) as it is; only (?P<a>\S+) and (?P<b>\S+) can learn\. They "
    r"have (?P<learned>\d+) numbers together, (?P<again>\S+) has (?P<kept>\d+)\."
)
def learned(at: Judge, said: dict[str, Any]) -> None:
    parts = _are_named(at, said)
    sizes = {name: np.array(value["data"]).size for name, value in parts.items()}
    assert int(said["learned"]) == sizes["a"] + sizes["b"]
    assert int(said["kept"]) == sizes["frozen"] and said["again"] == said["frozen"]


@form(r"The product:")
def product(at: Judge, said: dict[str, Any]) -> None:
    assert _parts(at)


@form(r"The sum:")
def total(at: Judge, said: dict[str, Any]) -> None:
    assert _parts(at)


@form(
    r"After training, the sum can be stored as one matrix; the adapted model then needs no more "
    r"computation than the original one\."
)
def of_lora(at: Judge, said: dict[str, Any]) -> None:
    assert _parts(at)


@form(r"All numbers of (?P<of>\S+) are 0, so (?P<w>\S+) equals (?P<frozen>\S+)\.")
def nothing_added(at: Judge, said: dict[str, Any]) -> None:
    parts = _are_named(at, said)
    [zeros] = [parts[name] for name in "ab" if parts[name]["symbol"] == said["of"]]
    assert not np.array(zeros["data"], float).any()
    assert parts["w"]["data"] == parts["frozen"]["data"]


@form(r"The gradient passes from the sum to the product; the frozen weights need none\.")
def back(at: Judge, said: dict[str, Any]) -> None:
    assert re.search(r"\.W_[QKVO123]$", at.address) and at.address in at.values
    assert f"{at.address}.low_rank" in at.values and f"{at.address}.frozen" not in at.values


def says_that_nothing_is_added(at: Judge) -> bool:
    """Whether A or B is 0, and the sum therefore equal to the frozen weights."""
    parts = {name: np.array(value["data"], float) for name, value in _parts(at).items()}
    zero = not (parts["a"].any() and parts["b"].any())
    return zero and np.array_equal(parts["w"], parts["frozen"])
