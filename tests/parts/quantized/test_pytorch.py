"""Quantized weights as PyTorch has them: fake quantization, captured models, what is refused."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.parts.quantized.test_decoder import NEVER, W, scenario
from tracer.errors import TracerError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

ROWS = [["1.03", "0.31", "-0.52"], ["-0.23", "0.53", "0.11"], ["0.71", "-0.47", "0.25"]]
WEIGHTS = np.array(ROWS, float)


def faked(**how: Any) -> Any:
    """The weights after fake quantization in float64; ranges include 0."""
    w = torch.tensor(WEIGHTS)
    bits = how["bits"]
    axis = {"row": 0, "column": 1}.get(how.get("group", "tensor"))
    others = () if axis is None else (1 - axis,)
    least, most = (0, 2**bits - 1) if how.get("zero_point") else (1 - 2 ** (bits - 1),) * 2
    if how.get("zero_point"):
        low, high = w.amin(others).clamp(max=0), w.amax(others).clamp(min=0)
        scale = (high - low) / most
        zero = (-low / scale).round().to(torch.int32)
    else:
        most = -least
        scale = w.abs().amax(others) / most
        zero = torch.zeros_like(scale).to(torch.int32)
    if axis is None:
        return torch.fake_quantize_per_tensor_affine(w, float(scale), int(zero), least, most)
    fake = torch.fake_quantize_per_channel_affine
    return fake(w.float(), scale.float(), zero, axis, least, most).double()


@pytest.mark.parametrize("how", [
    {"bits": 4}, {"bits": 8}, {"bits": 3, "group": "row"}, {"bits": 4, "group": "column"},
    {"bits": 4, "zero_point": True}, {"bits": 8, "group": "column", "zero_point": True},
])  # fmt: skip
def test_the_weights_are_those_of_fake_quantization(how: dict[str, Any]) -> None:
    found = traced(to_yaml(scenario({"quantized": how, "of": ROWS}, rounding=NEVER)))
    tolerance = 1e-12 if "group" not in how else 1e-6  # per channel, PyTorch has float32 scales
    assert_allclose(found[W].array, faked(**how).numpy(), atol=tolerance)


def test_a_captured_model_agrees_with_the_quantized_scenario(tmp_path: Path) -> None:
    """A model whose weights were quantized before is captured like any other."""
    from tracer.pytorch.capture import capture

    how = {"bits": 4, "group": "column"}

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.Embedding(1, 3)
            self.up, self.down = (torch.nn.Linear(3, 3, bias=False) for _ in range(2))
            self.words.weight.data = torch.ones(1, 3)
            self.up.weight.data = faked(**how).T.float()
            self.down.weight.data = torch.ones(3, 3)

        def forward(self, ids: Any) -> Any:
            x = self.words(ids)
            return x + self.down(torch.relu(self.up(x)))

    names = {"up": "layer1.ffn.hidden", "down": "layer1.ffn.output"}
    capture(Model(), [0], tmp_path / "dump.npz", names=names)
    file = tmp_path / "ours.yaml"
    file.write_text(to_yaml(scenario({"quantized": how, "of": ROWS}, rounding=NEVER)), "utf-8")
    report = " ".join(printed("check", str(file), "--against", f"{tmp_path}/dump.npz").split())
    assert "2 values of “dump.npz” compared with the scenario: all agree." in report


def test_weights_that_pytorch_packs_are_captured_but_are_no_scenario() -> None:
    from tests.helpers.torch_models import NanoGPT, nn, shaken
    from tracer.pytorch.capture import capture
    from tracer.pytorch.scenario import scenario_of

    model = shaken(NanoGPT())
    quantize = torch.ao.quantization.quantize_dynamic
    with warnings.catch_warnings(action="ignore"):
        packed = quantize(copy.deepcopy(model), {nn.Linear})
    ids = [3, 1, 4]
    before, after = capture(model, ids), capture(packed, ids)
    assert {*before} == {*after}
    block = packed.transformer.h[0]
    x = torch.tensor(after["layer1.ffn.activation"])
    with torch.no_grad():
        expected = block.mlp.c_proj(x).numpy()
    assert_allclose(after["layer1.ffn.output"], expected, atol=1e-6)
    with pytest.raises(TracerError, match="quantized by PyTorch, expected a model whose weights"):
        scenario_of(packed, ids)
