"""Each step from the file's own numbers: bugs of small programs, in several types of numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.buggy_models import BUGS, Bug, Floats, Program, scenario_of
from tests.helpers.command import run
from tracer.check.checking import compared_with
from tracer.check.differences import Differences
from tracer.check.dumps import dump_of
from tracer.check.passes import Pass
from tracer.decoder.forward import PassOptions
from tracer.scenario.activations import DumpedArray
from tracer.scenario.loading import Origin, load_text

Dump = Mapping[str, DumpedArray]

MODELS = tuple(dict.fromkeys(bug.model for bug in BUGS))
KINDS = ("float64", "float32", "float16", "bfloat16")


@cache
def ours(model: str, outlier: bool) -> Pass:
    """The pass of the scenario of a model."""
    text = json.dumps(scenario_of(model, outlier))
    return Pass(load_text(text, Origin(model, f"{model}.yaml", Path())), PassOptions())


def of_heads(arrays: Iterable[DumpedArray], model: str) -> Dump:
    """The arrays by address, those of all heads split."""
    found = dump_of(arrays, ours(model, outlier=False).loaded.scenario, "theirs")
    assert not found.left_out
    return {address: array for address, [array] in found.arrays.items()}


def computed(model: str, kind: str = "float64", bug: str = "", outlier: bool = False) -> Dump:
    """What a program keeps."""
    arrays = Program(model, kind, bug, outlier).run()
    return of_heads((DumpedArray(name, kind, a) for name, a in arrays.items()), model)


def compared(model: str, dump: Dump, outlier: bool = False) -> Differences:
    """The comparison of a program's arrays with the scenario without a bug."""
    own = ours(model, outlier)
    assert dump.keys() <= own.trace.values.keys()
    return compared_with(own, {address: [array] for address, array in dump.items()}, "theirs")


def first_of(right: Dump, wrong: Dump, model: str) -> str:
    """The first value that a bug changes."""
    return next(
        address
        for address in ours(model, outlier=False).trace.values
        if address in right and not np.array_equal(right[address].numbers, wrong[address].numbers)
    )


def is_located(first: str, found: Differences) -> bool:
    return found.first is not None and found.first.value.address == first


def is_named(bug: Bug, found: Differences) -> bool:
    """Whether the cause of the first wrong value is the bug, or one that is the same here."""
    names = (found.cause.name, *found.cause.others) if found.cause else ("none",)
    return any(bug.cause.lower() in name.lower() for name in names)


@pytest.mark.parametrize("outlier", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_program_that_is_right_agrees(model: str, kind: str, outlier: bool) -> None:
    found = compared(model, computed(model, kind, outlier=outlier), outlier)
    assert [each.value.address for each in found.wrong] == []
    assert outlier or all(each.step for each in found.compared)  # beside one, some have no result
    assert kind != "float64" or not (found.is_float32 or found.hidden)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_found_where_it_is_with_its_cause(bug: Bug) -> None:
    right, wrong = computed(bug.model), computed(bug.model, bug=bug.name)
    found = compared(bug.model, wrong)
    assert is_located(first_of(right, wrong, bug.model), found), found.first
    assert is_named(bug, found), found.causes
    assert not found.is_float32


@pytest.mark.parametrize(
    ("bug", "change"),
    [
        ("epsilon 1e-6", "with ε = 0.000001"),
        ("epsilon 1e-12", "with ε = 0.000000000001"),
        ("epsilon outside", "with ε outside the square root"),
    ],
)
def test_what_an_outlier_hides_is_named(bug: str, change: str) -> None:
    """ε changes no digit of float32 where the variance is 500,000, so both programs agree."""
    for program in ("", bug):
        found = compared("gpt", computed("gpt", "float32", program, True), True)
        assert found.holds and change in found.hidden
        text = " ".join(map(str, found.document().introduction))
        assert "all agree" not in text and "rounding explains all differences" in text


class WithSoftmaxInFloat32(Program):
    """As those of transformers, whatever the type of the model."""

    def softmax(self, s: Floats, axis: int = -1) -> Floats:
        return np.float64(super().softmax(np.float32(s), axis))  # type: ignore[arg-type, return-value]


def test_values_whose_tokens_rounding_hides_are_named() -> None:
    """A last key and value that are those of the token before: a difference that bfloat16 hides."""
    found = compared("gpt", computed("gpt", "bfloat16", "stale cache", True), True)
    assert found.holds and "layer1.attention.head1.value" in found.hiding
    assert "hidden" in " ".join(map(str, found.document().introduction))
    clear = compared("gpt", computed("gpt", "bfloat16"))
    assert clear.holds and not clear.hiding


@pytest.mark.parametrize("bug", [None, *(bug for bug in BUGS if bug.name == "epsilon 1e-6")])
def test_a_file_of_float64_may_have_numbers_of_float32(bug: Bug | None) -> None:
    """They are no error, and hide none."""
    arrays = WithSoftmaxInFloat32("gpt", bug=bug.name if bug else "").run()
    found = compared("gpt", {name: DumpedArray(name, "float64", a) for name, a in arrays.items()})
    assert found.is_float32
    assert "agree only as float32" in " ".join(map(str, found.document().introduction))
    if bug is None:
        assert found.holds
    else:
        assert is_located("layer1.attention.norm", found) and is_named(bug, found)


NEAR_TIE = """
title: A near tie
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [0.25, 2]}
layers:
  - ffn:
      router: [[1, 1.0001], [0.5, 0.5]]
      top: 1
      experts:
        - {W_1: [[1, 0], [0, 1]], W_2: [[1, 2], [3, 1]]}
        - {W_1: [[2, 1], [0, 1]], W_2: [[1, 0], [1, 1]]}
      norm: none
      residual: false
rounding: {carry: never}
"""


def test_experts_are_those_that_the_file_s_logits_choose(tmp_path: Path) -> None:
    """In float16 the logits 1.25 and 1.2501 are equal: a program may choose the first expert."""
    (tmp_path / "tie.yaml").write_text(NEAR_TIE, encoding="utf-8")
    x = np.array([[1, 0.5], [0.25, 2]], np.float16)
    logits = np.full((2, 2), 1.25, np.float16)
    arrays: dict[str, Any] = {"input": x, "layer1.ffn.router.logits": logits}
    arrays["layer1.ffn.output"] = x @ np.array([[1, 2], [3, 1]], np.float16)
    np.savez(tmp_path / "dump.npz", **arrays)
    ran = run("check", f"{tmp_path}/tie.yaml", "--against", f"{tmp_path}/dump.npz")
    assert ran.exit_code == 0, ran.stdout


def test_a_factor_explains_no_value_with_another_factor() -> None:
    dump = dict(computed("gpt"))
    for address, factor in (("layer1.ffn.output", 2.5), ("layer2.ffn.output", 3.5)):
        dump[address] = dump[address]._replace(numbers=factor * dump[address].numbers)
    found = compared("gpt", dump)
    assert {cause.name: cause.explained for cause in found.causes} == {
        "multiplied by 2.5": {"layer1.ffn.output"},
        "multiplied by 3.5": {"layer2.ffn.output"},
    }
