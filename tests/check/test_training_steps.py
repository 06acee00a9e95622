"""Each step of a backward pass and of an optimizer from the file's own numbers before it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.buggy_training import BUGS, OPTIMIZERS, Bug, Training, scenario_of
from tests.helpers.command import printed, run
from tests.helpers.mutated_files import npz
from tests.helpers.scenario_yaml import to_yaml
from tracer.check.against import ComparedValue, Steps, compared
from tracer.check.causes import Cause, Search
from tracer.check.passes import Pass
from tracer.decoder.forward import PassOptions
from tracer.scenario.activations import DumpedArray
from tracer.scenario.loading import Origin, load_text

KINDS = ("float64", "float32", "bfloat16")


@cache
def ours(model: str, optimizer: str) -> Pass:
    """The first step of training of a model's scenario."""
    text = json.dumps(scenario_of(model, optimizer))
    loaded = load_text(text, Origin(model, f"{model}.yaml", Path()))
    return Pass(loaded, PassOptions.recording(["update.embeddings"]))


def wrong(
    training: Training,
) -> tuple[list[ComparedValue], tuple[Cause, ...]]:
    """The wrong values, and their causes."""
    own, kind = ours(training.model, training.optimizer), training.kind
    dump = {name: [DumpedArray(name, kind, array)] for name, array in training.run().items()}
    assert dump.keys() <= own.trace.values.keys()
    steps = Steps.of(own.on_demand, dump)
    found = [each for each in compared(own.trace, steps, dump, None) if each.is_wrong]
    return found, Search(steps.own, own, {kind}).causes(found)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", ["gpt", "llama"])
def test_a_training_that_is_right_agrees(model: str, optimizer: str) -> None:
    for kind in KINDS:
        found, _ = wrong(Training(model, optimizer, kind, is_detailed=True))
        assert [each.value.address for each in found] == []


def is_located(bug: Bug, found: list[ComparedValue]) -> bool:
    return [each.value.address for each in found][:1] == [bug.first]


def is_named(bug: Bug, causes: tuple[Cause, ...]) -> bool:
    names = [name for cause in causes[:1] for name in (cause.name, *cause.others)]
    return any(bug.cause in name for name in names)


EVERY_FOURTH = BUGS[::4]
"""Enough to see that the search works."""


@pytest.mark.parametrize(
    "bug",
    [bug if bug in EVERY_FOURTH else pytest.param(bug, marks=pytest.mark.fuzz) for bug in BUGS],
    ids=lambda bug: f"{bug.name}, {bug.model}",
)
def test_a_bug_of_training_is_found_where_it_is_with_its_cause(bug: Bug) -> None:
    found, causes = wrong(Training(bug.model, bug.optimizer, bug=bug.name))
    assert is_located(bug, found), [each.value.address for each in found[:3]]
    assert is_named(bug, causes), [cause.name for cause in causes]


@pytest.mark.fuzz
@pytest.mark.parametrize(("kind", "least"), [("float32", (51, 51)), ("bfloat16", (44, 42))])
def test_most_bugs_are_found_in_other_types(kind: str, least: tuple[int, int]) -> None:
    found = [(b, *wrong(Training(b.model, b.optimizer, kind, b.name))) for b in BUGS]
    located = sum(is_located(bug, values) for bug, values, _ in found)
    named = sum(is_named(bug, causes) for bug, _, causes in found)
    assert located >= least[0] and named >= least[1], (located, named)


def against(folder: Path, arrays: Mapping[str, Any], spec: dict[str, Any], *options: str) -> str:
    """The report in one line, or the message of an error."""
    (folder / "own.yaml").write_text(to_yaml(spec), encoding="utf-8")
    (folder / "their.npz").write_bytes(npz(arrays))
    ran = run("check", str(folder / "own.yaml"), "--against", str(folder / "their.npz"), *options)
    return " ".join((ran.stdout + ran.stderr).split())


def test_the_report_works_out_the_first_wrong_gradient(tmp_path: Path) -> None:
    """The line and the number of its step are those of `train`."""
    spec = scenario_of("gpt", "sgd")
    report = against(tmp_path, Training("gpt", "sgd", bug="all tokens counted").run(), spec)
    found = re.search(r"step (\d+), (Gradient at [a-z ]+) ─.* follows: (.*) Value", report)
    assert found
    number, title, line = found.groups()
    token = ("--token", line.partition(",")[0])
    calculation = line.partition(": ")[2]
    trained = " ".join(printed("train", str(tmp_path / "own.yaml"), *token).split())
    assert f"{number} · {title} " in trained
    assert calculation and calculation in trained
    assert "in all 30 numbers averaged over all tokens, also those without a target." in report


def test_gradients_in_the_layout_of_pytorch_are_said_to_be_transposed(tmp_path: Path) -> None:
    arrays = Training("gpt", "sgd").run()
    of_linear = {"gradient.layer1.ffn.W_1": arrays["gradient.layer1.ffn.W_1"].T}
    report = against(tmp_path, of_linear, scenario_of("gpt", "sgd"))
    assert "is 10×8 in the file and 8×10 in the scenario. Transposed, it agrees." in report
    report = against(tmp_path, {k: v + 1 for k, v in of_linear.items()}, scenario_of("gpt", "sgd"))
    assert "8×10 in the scenario. The" not in report and "Transposed" not in report


def test_what_train_writes_agrees_with_all_examples_of_the_batch(tmp_path: Path) -> None:
    spec = scenario_of("gpt", "plain adamw") | {
        "training": [
            {"tokens": ["tea", "milk", "and"], "targets": ["milk", "and", "none"]},
            {"tokens": ["honey", "and"], "targets": ["and", "tea"]},
        ]
    }
    (tmp_path / "own.yaml").write_text(to_yaml(spec), encoding="utf-8")
    written = tmp_path / "written.npz"
    printed("train", str(tmp_path / "own.yaml"), "-f", "npz", "-o", str(written))
    arrays = dict(np.load(written))
    assert "all agree" in against(tmp_path, arrays, spec)
    assert {"gradient.example2.logits", "update.embeddings"} < {*arrays}
    arrays["update.embeddings"] += 0.01
    report = json.loads(against(tmp_path, arrays, spec, "-f", "json"))
    assert (report["first"], report["holds"]) == ("update.embeddings", False)


def test_gradients_ask_for_a_loss(tmp_path: Path) -> None:
    spec = scenario_of("gpt", "sgd") | {"targets": ["none"] * 5}
    said = against(tmp_path, {"gradient.input": np.zeros((5, 8))}, spec)
    assert "their.npz: gradient.input: gradients need a loss: add targets to the scenario" in said
