"""LoRA on quantized weights (QLoRA, Dettmers et al. 2023): the update keeps full precision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from tests.check.test_against import against
from tests.helpers.command import printed
from tests.helpers.every_part import QLORA as SPEC
from tests.helpers.part_tests import CARRIES, in_carry, page_edits, programs, refusals
from tests.helpers.quantized import dequantized
from tests.helpers.reference import reference
from tests.helpers.traces import traced
from tests.helpers.truth import false_equations
from tests.lesson.test_every_claim import wrong
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.training import TrainingOptions, train
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.parts import frozen_weights, learned
from tracer.scenario.writer import written

HEAD = "layer1.attention.head1"
QUANTIZED = (f"{HEAD}.W_Q", f"{HEAD}.W_K", "unembedding.W_U")


def typed(address: str) -> dict[str, Any]:
    spec: Any = yaml.safe_load(SPEC)
    if address == "unembedding.W_U":
        return dict(spec["unembedding"]["W_U"])
    return dict(spec["layers"][0]["attention"]["heads"][0][address.rpartition(".")[2]])


@pytest.mark.parametrize("address", QUANTIZED)
def test_weights_are_those_of_the_papers(address: str) -> None:
    """ŵ + α / r A B, in float64."""
    keys, found = typed(address), traced(SPEC)
    a, b = (np.array(keys[name], float) for name in "AB")
    left = dequantized(keys["frozen"])
    assert_allclose(found[f"{address}.frozen"].array, left, rtol=1e-12)
    assert (left != np.array(keys["frozen"]["of"], float)).any()
    assert_allclose(found[address].array, left + keys["alpha"] / a.shape[1] * a @ b, rtol=1e-12)


def test_only_a_and_b_learn() -> None:
    before = parse(SPEC, "f.yaml")
    expected = {f"{address}.{name}" for address in (*QUANTIZED, f"{HEAD}.W_V") for name in "AB"}
    assert set(learned(before)) == {"embeddings", *expected}
    of = {f"{address}.frozen.of" for address in QUANTIZED}
    assert set(frozen_weights(before)) == {*of, f"{HEAD}.W_V.frozen", "layer1.attention.W_O.of"}
    ran = train("f", before, TrainingOptions(Optimizer(), 2))
    first, after = ran.steps[0], ran.after
    assert not [at for at in first.values if at.startswith("gradient.") and ".frozen" in at]
    for address in QUANTIZED:
        assert (first[f"{address}.frozen"].numbers == after[f"{address}.frozen"].numbers).all()
        assert (first[address].numbers != after[address].numbers).any()
    assert parse(written(ran.trained), "f.yaml").layers == ran.trained.layers


def loss_with(address: str, at: tuple[int, ...], step: float) -> float:
    spec: Any = yaml.safe_load(SPEC)
    *_, name = address.split(".")
    part = spec["layers"][0]["attention"]["heads"][0]["W_Q"]
    part[name][at[0]][at[1]] += step
    scenario = parse(yaml.safe_dump(spec), "f.yaml")
    return float(trace("f", scenario, PassOptions(loss=True))["loss"].numbers)


@pytest.mark.parametrize("name", "AB")
def test_gradients_are_central_differences(name: str) -> None:
    ran = trace("f", parse(SPEC, "f.yaml"), PassOptions(gradients=True))
    found, h = ran[f"gradient.{HEAD}.W_Q.{name}"].array, 1e-5
    for at in np.ndindex(found.shape):
        rise, fall = (loss_with(f"W_Q.{name}", at, step) for step in (h, -h))
        assert_allclose(found[at], (rise - fall) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("carry", CARRIES)
def test_lines_and_sentences_are_true(carry: str) -> None:
    text = in_carry(carry, SPEC)
    shown = printed("run", "-", "--detail", "full", stdin=text)
    assert false_equations(shown) == []
    assert "Only the frozen weights are quantized, as in QLoRA; A_Q and B_Q are not." in shown
    assert "the sum can be stored as one matrix" in " ".join(shown.split())  # of W_V
    for command in ("tutorial", "train"):
        assert wrong(command, yaml.safe_load(text), stdin=text) == []


def test_sizes_count_the_frozen_weights() -> None:
    """By hand: 4 matrices of 4 weights; 4 × 4 + 16, 4 × 4 + 2 × 8, 4 × 4 + 16, 4 × 8 + 2 × 24."""
    shown = " ".join(printed("shapes", "-", stdin=SPEC).split())
    assert "Of the parameters, 16 are quantized." in shown
    assert "they take 22 bytes in place of 32 as float16: 11 bits per weight." in shown


test_edits_of_a_page = page_edits({carry: in_carry(carry, SPEC) for carry in CARRIES}, 4)
test_programs_compute_the_numbers = programs({"QLoRA": SPEC})


def test_lora_is_compared_with_its_quantized_self() -> None:
    """Its frozen weights are quantized, and no A or B is."""
    found = json.loads(printed("compare", "lora", "--quantize", "4", "--format", "json"))
    assert found["first_difference"].endswith(".frozen")


def test_a_program_without_quantization_is_recognized(tmp_path: Path) -> None:
    spec, plain = yaml.safe_load(SPEC), yaml.safe_load(SPEC)
    attention = plain["layers"][0]["attention"]
    attention["W_O"] = attention["W_O"]["of"]
    for name in ("W_Q", "W_K"):
        weights = attention["heads"][0][name]
        weights["frozen"] = weights["frozen"]["of"]
    arrays = reference(plain)
    names = (f"{HEAD}.query", f"{HEAD}.key", "layer1.attention.output")
    ran = against(tmp_path, {each: arrays[each] for each in names}, "-f", "json", spec=spec)
    assert json.loads(ran.stdout)["cause"]["variant"] == "without quantization"


# fmt: off
test_what_does_not_fit = refusals(
    SPEC,
    ("{bits: 4}, of: [[1, 0.2]", "{bits: 4, group: 3}, of: [[1, 0.2]",
     "W_Q.frozen: quantized.group: 3 does not divide the 2 rows"),
    ("of: [[1, 0.2], [0.5, -0.9]]", "of: [[1, 0.2]]", "W_Q.frozen.of: 1 row, expected 2"),
    ("{bits: 4}, of: [[1, 0.2]", "{bits: 9}, of: [[1, 0.2]",
     "W_Q.frozen.quantized.bits: expected at most 8, got '9'"),
    ("B: [[0.2, -0.4]]", "B: [[0.2]]", "W_Q.B row 1: 1 column, expected 2"),
    (", of: [[1, 0.2], [0.5, -0.9]]}", "}", "W_Q.frozen.of: missing"),
)
# fmt: on
