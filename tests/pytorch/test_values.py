"""A layer of a model is explained where only its weights and captured values are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.checkpoints.test_transformers_configs import BASE
from tests.helpers.command import run
from tests.helpers.partial_checkpoints import keep_layer
from tests.helpers.torch_models import of_transformers
from tracer.pytorch.capture import capture
from tracer.pytorch.scenario import scenario_of

IDS = [3, 1, 4, 1, 5, 9]


def captured(folder: Path, model: Any, layer: int, only: list[str] | None = None) -> str:
    """A scenario of a model of which only a layer is there, and dump.safetensors beside it."""
    found = capture(model, IDS, folder / "dump.safetensors", only=only)
    scenario_of(model, found.token_ids or IDS).save(folder / "model.yaml")
    keep_layer(folder / "model", layer)
    return str(folder / "model.yaml")


@pytest.mark.parametrize("family", BASE)
def test_a_layer_of_each_family_is_explained_from_captured_values(
    family: str, tmp_path: Path
) -> None:
    path = captured(tmp_path, of_transformers(BASE[family]), 2)
    ran = run("run", path, "--layer", "2", "--values", str(tmp_path / "dump.safetensors"))
    assert (ran.exit_code, ran.stderr) == (0, "")
    words = " ".join(ran.stdout.split())
    assert "The calculation begins with numbers of “dump.safetensors” (float32): “layer1." in words
    assert "Each agrees, up to rounding to float32," in words


def test_the_lines_are_those_of_the_whole_model(tmp_path: Path) -> None:
    """With captured numbers in float64, of a model of twelve layers, in which one array is read."""
    model = of_transformers({**BASE["gpt2"], "n_layer": 12}).double()
    (tmp_path / "whole").mkdir()
    scenario_of(model, IDS).save(tmp_path / "whole" / "model.yaml")
    whole = run("run", str(tmp_path / "whole" / "model.yaml"), "--layer", "7").stdout
    path = captured(tmp_path, model, 7, ["layer6.ffn.residual", "layer7.*"])
    file = str(tmp_path / "dump.safetensors")
    ran = run("run", path, "--layer", "7", "--values", file)
    assert (ran.exit_code, ran.stderr) == (0, "")
    title = "Layer 7: "
    assert ran.stdout.partition(title)[2] == whole.partition(title)[2] != ""
