"""LoRA: the sum, what is learned of it, a batch, what is refused, how it is saved."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.every_part import ADAPTED
from tests.helpers.part_tests import refusals_of
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.training import TrainingOptions, train
from tracer.formula.arithmetic import FLOAT64
from tracer.scenario.loading import load, parse
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.parts import frozen_weights, learned
from tracer.scenario.varying import varied
from tracer.scenario.writer import written

NEVER = "rounding: {carry: never}\n"
W_Q = "layer1.attention.head1.W_Q"
MATRICES = (
    *(f"layer1.attention.head1.{name}" for name in ("W_Q", "W_K", "W_V")),
    "layer1.attention.W_O",
    *(f"layer1.ffn.{name}" for name in ("W_1", "W_3", "W_2")),
    "unembedding.W_U",
)


def numbers(found: Any, address: str) -> Any:
    return found[address].numbers.astype(float)


def test_the_sum_is_that_of_the_paper() -> None:
    """Computed in float64 from what is typed, with the product added to rows of the input."""
    scenario = parse(ADAPTED + NEVER, "f.yaml")
    for arithmetic in (None, FLOAT64):
        found = trace("f", scenario, PassOptions(arithmetic=arithmetic))
        for address in MATRICES:
            parts = (f"{address}.frozen", f"{address}.A", f"{address}.B", address)
            frozen, a, b, w = (numbers(found, each) for each in parts)
            alpha = {"W_Q": 2, "W_V": 0.5, "W_3": 3}.get(address.rpartition(".")[2], 1)
            x = np.random.default_rng(1).normal(size=(3, len(frozen)))
            assert_allclose(x @ w, x @ frozen + ((x @ a) @ b) * alpha / a.shape[1], rtol=1e-12)


def test_the_model_is_that_of_peft() -> None:
    """Its layer has weights with a row for each output, as all of PyTorch."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    peft = pytest.importorskip("peft", reason="peft is not installed")
    found = traced(ADAPTED + NEVER)
    frozen, a, b, w = (numbers(found, W_Q + end) for end in (".frozen", ".A", ".B", ""))
    model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False)).double()
    asked = peft.LoraConfig(r=1, lora_alpha=2, target_modules=["0"])
    adapted = peft.get_peft_model(model, asked).double()
    layer = adapted.base_model.model[0]
    layer.base_layer.weight.data = torch.tensor(frozen.T)
    layer.lora_A["default"].weight.data = torch.tensor(a.T)
    layer.lora_B["default"].weight.data = torch.tensor(b.T)
    x = torch.tensor([[1.0, 0.5], [-0.5, 2.0]], dtype=torch.float64)
    assert_allclose(adapted(x).detach(), x.numpy() @ w, rtol=1e-12)


def test_only_a_and_b_learn() -> None:
    scenario = parse(ADAPTED + NEVER, "f.yaml")
    inside = {address for address in learned(scenario) if address != "embeddings"}
    assert inside == {f"{address}.{part}" for address in MATRICES for part in "AB"}
    assert set(frozen_weights(scenario)) == {f"{address}.frozen" for address in MATRICES}
    ran = train("f", scenario, TrainingOptions(Optimizer(), 2))
    first, after = ran.steps[0], ran.after
    for address in MATRICES:
        assert_allclose(numbers(after, f"{address}.frozen"), numbers(first, f"{address}.frozen"))
        assert f"gradient.{address}.frozen" not in first.values
        moved = [numbers(after, address) - numbers(first, address)]
        assert any(change.any() for change in moved)


def test_saved_training_is_written_as_lora() -> None:
    scenario = parse(ADAPTED, "f.yaml")
    ran = train("f", scenario, TrainingOptions(Optimizer(), 1))
    again = parse(written(ran.trained), "f.yaml")
    assert again.layers == ran.trained.layers


def test_examples_share_the_sum() -> None:
    scenario = parse(ADAPTED, "f.yaml")
    ran = train("f", scenario, TrainingOptions(Optimizer(), 1)).steps[0]
    assert W_Q in ran.values and f"example2.{W_Q}" not in ran.values
    example = ADAPTED.replace("tokens: [b],", f"tokens: [b], given: {{{W_Q}.A: [[1], [1]]}},")
    told = run("train", "-", stdin=example)
    assert told.exit_code == 2 and "all have the same parameters" in told.stderr


def test_another_variant_has_other_frozen_weights_and_stays_at_its_start() -> None:
    scenario = parse(ADAPTED, "f.yaml")
    other: Any = varied(scenario, "1").layers[0].attention
    before: Any = scenario.layers[0].attention
    w_q, w_v = (getattr(other.heads[0], name) for name in ("W_Q", "W_V"))
    assert w_q.frozen != before.heads[0].W_Q.frozen
    assert ((Decimal(0), Decimal(0)),) == w_v.B


def test_given_values_take_the_place_of_each_part() -> None:
    for given in ("", ".low_rank", ".frozen"):
        found = traced(f"{ADAPTED}given: {{{W_Q}{given}: [[1, 2], [3, 4]]}}\n")
        assert found[W_Q + given].numbers.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("trains", ["['*.B']", f"[{W_Q}.A]", "['*W_Q.*', embeddings]"])
def test_lora_is_trained_as_far_as_asked(trains: str) -> None:
    text = f"{ADAPTED}optimizer: {{trains: {trains}}}\n"
    values = json.loads(printed("train", "-", "--format", "json", stdin=text))["values"]
    updated = {v["address"] for v in values if v["address"].startswith("update.")}
    names = {address.rpartition("1.")[2].removeprefix("update.") for address in updated}
    expected = {"['*.B']": ".B", f"[{W_Q}.A]": "W_Q.A"}.get(trains)
    if expected:
        assert updated and all(address.endswith(expected) for address in updated)
    else:
        assert names == {"W_Q.A", "W_Q.B", "embeddings"}
    for form in ("terminal", "latex", "markdown"):
        shown = " ".join(printed("train", "-", "--format", form, stdin=text).split())
        assert "All other weights are" not in shown


def test_the_bundled_scenario_learns_in_one_step() -> None:
    ran = train("lora", load("lora").scenario, TrainingOptions(load("lora").scenario.optimizer))
    words = [each["prediction"].numbers[-1] for each in ran.passes]
    assert words == ["cash", "fish"]
    first = ran.steps[0]
    for name in ("W_Q", "W_V"):
        address = f"layer1.attention.head1.{name}"
        assert not first[f"gradient.{address}.A"].numbers.any()
        assert first[f"gradient.{address}.B"].numbers.any()


OF_W_Q = ADAPTED.partition("W_Q: ")[2].partition("\n")[0]

F, A, B = "frozen: [[1, 0], [0.5, 1]]", "A: [[1], [2]]", "B: [[0, 0]]"
MISFITS = {
    f"{F}, A: [[1], [2], [3]], {B}, alpha: 2": ".A: 3 rows, expected 2 (as many as frozen has)",
    f"{F}, {A}, B: [[0, 0], [0, 0]], alpha: 2": ".B: 2 rows, expected 1 (one per column of A)",
    f"{F}, {A}, B: [[0, 0, 0]], alpha: 2": ".B row 1: 3 columns, expected 2 (as many as frozen has",
    f"{F}, {A}, {B}": ".alpha: missing, expected alpha: 2",
    f"{F}, {A}, {B}, alpha: 0": ".alpha: expected more than 0, got '0'",
    f"{A}, {B}, alpha: 2": ".frozen: missing, expected frozen: ",
    f"{F}, {A}, {B}, alpha: 2, rate: 1": ".rate: unknown key",
    f"{F}, A: {{random: {{}}}}, B: {{random: {{}}}}, alpha: 2": (
        ".A: how many columns? expected {random: {columns: 2}}"
    ),
    "frozn: [[1, 0], [0.5, 1]]": ": expected a list of rows, identity",
}

test_what_does_not_fit = refusals_of(
    OF_W_Q, ADAPTED, {f"{{{keys}}}": f"{W_Q}{told}" for keys, told in MISFITS.items()}
)


def test_short_forms_have_the_sizes_of_the_frozen_weights() -> None:
    random = "{random: {columns: 3}}"
    forms = f"{{frozen: identity, A: {random}, B: {{random: {{seed: 2}}}}, alpha: 3}}"
    found = traced(ADAPTED.replace(OF_W_Q, forms))
    assert found[f"{W_Q}.A"].shape == (2, 3) and found[f"{W_Q}.B"].shape == (3, 2)
    turned = "{frozen: {transposed: [[1, 0.5], [0, 1]]}, A: {random: {}}, B: [[1, 2]], alpha: 3}"
    found = traced(ADAPTED.replace(OF_W_Q, turned))
    assert found[f"{W_Q}.frozen"].numbers.tolist() == [[1, 0], [Decimal("0.5"), 1]]
    assert found[f"{W_Q}.A"].shape == (2, 1)
