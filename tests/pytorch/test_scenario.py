"""A scenario of a model: its weights, its files, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.checkpoints.test_transformers_configs import BASE
from tests.helpers import tiny_marian
from tests.helpers.command import printed
from tests.helpers.torch_models import NanoGPT, OwnModel, nn, of_transformers, shaken, torch
from tracer.errors import TracerError
from tracer.library import load, trace
from tracer.pytorch.capture import capture
from tracer.pytorch.scenario import scenario_of

IDS = [3, 1, 4, 1, 5]


@pytest.mark.parametrize("bias", [False, True])
def test_a_model_as_nano_gpt_is_computed_as_it_is(bias: bool) -> None:
    model = shaken(NanoGPT(bias=bias))
    found = capture(model, IDS)
    own = trace(scenario_of(model, IDS))
    assert len(found) == 5 + 2 * (4 * 4 + 9)  # in a layer 4 of each of 4 heads, and 9 others
    for address, array in found.items():
        np.testing.assert_allclose(array, own[address].array, atol=1e-5, err_msg=address)


@pytest.mark.parametrize("family", ["gpt2", "llama", "mixtral", "marian"])
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_a_saved_scenario_is_the_same(family: str, kind: str, tmp_path: Path) -> None:
    is_marian = family == "marian"
    config = tiny_marian.CONFIG if is_marian else BASE[family]
    name = "AutoModelForSeq2SeqLM" if is_marian else "AutoModelForCausalLM"
    model = of_transformers(config, name).to(getattr(torch, kind))
    scenario = scenario_of(model, torch.tensor([IDS]), [7, 2, 0] if is_marian else None)
    scenario.save(tmp_path / "model.yaml")
    read = trace(load(tmp_path / "model.yaml"))
    for address, value in trace(scenario).items():
        np.testing.assert_array_equal(read[address].array, value.array)
    capture(
        model,
        {"input_ids": torch.tensor([[7, 2, 0]]), "decoder_input_ids": torch.tensor([IDS])}
        if is_marian
        else IDS,
        tmp_path / "dump.npz",
    )
    report = printed("check", f"{tmp_path}/model.yaml", "--against", f"{tmp_path}/dump.npz")
    agrees = "all agree" if kind == "float32" else "rounding explains all differences"
    assert agrees in " ".join(report.split())
    assert "Not compared" not in report


def test_words_of_a_scenario_are_ids() -> None:
    scenario = scenario_of(shaken(NanoGPT()), IDS)
    assert scenario.tokens == ("[3]", "[1]", "[4]", "[1]", "[5]")


class WithoutHeads(NanoGPT):
    def __init__(self) -> None:
        super().__init__()
        for block in self.transformer["h"]:
            del block.attn.n_head


class WithoutActivation(NanoGPT):
    def __init__(self) -> None:
        super().__init__()
        for block in self.transformer["h"]:
            block.mlp["gelu"] = nn.Identity()


def of_another_family() -> Any:
    sizes = {"d_model": 16, "d_ff": 32, "num_layers": 1, "num_heads": 2, "vocab_size": 40}
    return of_transformers({"model_type": "t5", **sizes}, "AutoModelForSeq2SeqLM")


@pytest.mark.parametrize(("model", "message"), [
    (WithoutHeads, "nothing says the number of heads"),
    (WithoutActivation, "no module says the activation"),
    (OwnModel, "nothing says the architecture"),
    (of_another_family, "which needs relative position biases"),
])  # fmt: skip
def test_a_model_that_is_not_known_is_refused(model: Any, message: str) -> None:
    with pytest.raises(TracerError, match=message):
        scenario_of(model(), IDS)


def test_ids_and_paths_are_checked(tmp_path: Path) -> None:
    model = NanoGPT()
    with pytest.raises(TracerError, match="99, expected 0 to 39"):
        scenario_of(model, [99])
    with pytest.raises(TracerError, match=r"expected a \.yaml file"):
        scenario_of(model, IDS).save(tmp_path / "model.txt")
