"""What `tracer.capture` keeps of any module: names, rows, steps, number types, gradients."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.torch_models import HEADS, WIDTH, NanoGPT, OwnModel, nn, shaken, torch
from tracer.errors import TracerError
from tracer.pytorch.capture import Captured, capture
from tracer.scenario.activations import read_arrays

checkpoint = torch.utils.checkpoint.checkpoint
IDS = [3, 1, 4, 1, 5]
OWN = {
    "words": "input",
    "blocks.*.pre": "layer*.attention.norm",
    "blocks.*.qkv": "layer*.attention.W_QKV",
    "blocks.*.mix": "layer*.attention.dot",
    "blocks.*.proj.input": "layer*.attention.concat",
    "blocks.*.proj": "layer*.attention.output",
}


@pytest.fixture(scope="module")
def own() -> Any:
    return shaken(OwnModel())


def test_named_modules_are_captured(own: Any) -> None:
    found = capture(own, IDS, names=OWN)
    ids, block = torch.tensor([IDS]), own.blocks[0]
    with torch.no_grad():
        normed = block.pre(own.words(ids))
        fused = block.qkv(normed)[0].numpy()
    assert {*found} == {
        *("input", "layer1.attention.norm", "layer1.attention.query", "layer1.attention.key"),
        *("layer1.attention.value", "layer1.attention.dot", "layer1.attention.concat"),
        "layer1.attention.output",
    }
    np.testing.assert_array_equal(found["input"], own.words.weight.detach().numpy()[IDS])
    np.testing.assert_array_equal(found["layer1.attention.norm"], normed[0].numpy())
    np.testing.assert_array_equal(found["layer1.attention.value"], fused[:, 2 * WIDTH :])
    assert found["layer1.attention.dot"].shape == (HEADS, 5, 5)
    assert (found.token_ids, {*found.kinds.values()}) == (tuple(IDS), {"float32"})


def test_another_tensor_of_a_module_is_captured() -> None:
    model = shaken(NanoGPT())
    known, address = capture(model, IDS), "layer1.attention.weights"
    found = capture(model, IDS, names={"transformer.h.0.attn[1]": address}, only=[address])
    heads = [known[f"layer1.attention.head{head}.weights"] for head in range(1, HEADS + 1)]
    np.testing.assert_array_equal(found[address], heads)


def test_only_what_is_asked_for_is_kept(own: Any) -> None:
    assert {*capture(own, IDS, names=OWN, only=["*.value", "input"])} == {
        *("input", "layer1.attention.value"),
    }
    assert {*capture(own, IDS, names=OWN, only="in*")} == {"input"}


def test_a_row_of_a_batch_has_its_own_numbers(own: Any) -> None:
    batch = torch.tensor([IDS, [9, 8, 7, 6, 5]])
    alone, within = capture(own, [9, 8, 7, 6, 5], names=OWN), capture(own, batch, names=OWN, row=1)
    assert within.token_ids == (9, 8, 7, 6, 5)
    for address, array in alone.items():
        np.testing.assert_allclose(within[address], array, atol=1e-6)


@pytest.mark.parametrize(("said", "message"), [
    ({"names": None}, "no module has a known name, expected names="),
    ({"names": {"block.*.qkv": "layer*.attention.query"}}, "no module has the name 'block.*.qkv'; "
     "did you mean 'blocks.*.qkv'"),
    ({"names": {"blocks.*.qkv": "layer1.attention.query"}}, "expected as many * as in"),
    ({"names": {"words": "layer1.attention.W_QKV"}}, "as many columns of queries as inputs"),
    ({"only": ["layer1.attention.quer"]}, "no module returned it; did you mean "
     "'layer1.attention.query'"),
    ({"row": 1}, "row: 1, expected 0 to 0"),
    ({"step": 1}, "step: 1: expected a step from 1 and a model of transformers"),
    ({"path": "x.txt"}, "x.txt: expected a .npz or .safetensors file"),
    ({"backward": True}, "backward: expected one pass, and a loss"),
])  # fmt: skip
def test_what_cannot_be_captured_is_told(own: Any, said: dict[str, Any], message: str) -> None:
    with pytest.raises(TracerError) as caught:
        capture(own, IDS, **{"names": OWN, **said})
    assert message in str(caught.value)


class Returns(nn.Module):  # type: ignore[misc]
    """A model whose only module returns a tensor."""

    def __init__(self, tensor: Any) -> None:
        super().__init__()
        self.tensor, self.inner = tensor, nn.Identity()

    def forward(self, ids: Any, attention_mask: Any = None) -> Any:
        return self.inner(self.tensor)


BATCH = torch.arange(2 * 5 * 4 * 3).reshape(2, 5, 4, 3)
"""Vectors of 3 numbers for 2 texts of 5 tokens, and 4 heads."""
ORDERS = {
    **{"b t h c": BATCH, "b t hc": BATCH.flatten(2), "b h t c": BATCH.transpose(1, 2)},
    **{"bh t c": BATCH.transpose(1, 2).flatten(0, 1), "bt hc": BATCH.flatten(0, 1).flatten(1)},
    **{"t b h c": BATCH.transpose(0, 1), "t b hc": BATCH.transpose(0, 1).flatten(2)},
}
WITHOUT_A_BATCH = {
    **{"t h c": BATCH[1], "t hc": BATCH[1].flatten(1), "h t c": BATCH[1].transpose(0, 1)}
}


@pytest.mark.parametrize("order", [*ORDERS, *WITHOUT_A_BATCH])
def test_vectors_of_heads_have_any_order(order: str) -> None:
    address, inputs, row = "layer1.attention.query", torch.tensor([IDS, IDS]), 1
    if order in WITHOUT_A_BATCH:
        inputs, row = inputs[0], 0
    model = Returns((ORDERS | WITHOUT_A_BATCH)[order])
    found = capture(model, inputs, names={"inner": address}, row=row)
    np.testing.assert_array_equal(found[address], BATCH[1].flatten(1))


def test_columns_of_padding_are_left_out() -> None:
    weights, address = torch.arange(4 * 5 * 5).reshape(1, 4, 5, 5), "layer1.attention.weights"
    inputs = {"ids": [IDS], "attention_mask": torch.tensor([[0, 1, 1, 1, 0]])}
    found = capture(Returns(weights), inputs, names={"inner": address})
    np.testing.assert_array_equal(found[address], weights[0, :, 1:4, 1:4])


@pytest.mark.parametrize(("address", "shape", "message"), [
    ("output", (2, 2, 3), "output: inner: 2 × 2 × 3, expected 1 × 5 × columns (batch, tokens)"),
    ("layer1.attention.query", (1, 3, 3, 2), "inner: 3 × 3 × 2, expected 5 tokens and some heads"),
    ("layer1.attention.query", (1, 5, 5, 2), "query: inner: 5 tokens and as many heads"),
])  # fmt: skip
def test_a_tensor_of_another_shape_is_told(
    address: str, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(TracerError) as caught:
        capture(Returns(torch.zeros(shape)), IDS, names={"inner": address})
    assert message in str(caught.value)


def test_a_function_has_its_own_steps(own: Any) -> None:
    with pytest.raises(TracerError, match="step: a function as inputs has its own steps"):
        capture(own, lambda: own(torch.tensor([IDS])), names=OWN, step=2)


@pytest.mark.parametrize(("inputs", "message"), [
    ("text", "inputs: got str, expected token ids"),
    ([[1, 2], [3]], "inputs: expected token ids, as many in each text"),
])  # fmt: skip
def test_what_is_no_text_is_told(own: Any, inputs: Any, message: str) -> None:
    with pytest.raises(TracerError) as caught:
        capture(own, inputs, names=OWN)
    assert message in str(caught.value)


def test_what_is_no_model_is_told() -> None:
    with pytest.raises(TracerError, match=r"expected a torch\.nn\.Module"):
        capture(np.ones(3), IDS)


def test_hooks_are_removed(own: Any) -> None:
    with pytest.raises(TracerError):
        capture(own, IDS, names=OWN, row=4)
    capture(own, IDS, names=OWN)
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in own.modules())


def test_passes_of_a_function_are_one_text() -> None:
    """What a loop without a cache computes anew counts once."""
    model = shaken(NanoGPT())

    def run() -> None:
        with torch.no_grad():
            for end in (3, 4, 5):
                model(torch.tensor([IDS[:end]]))

    found, whole = capture(model, run), capture(model, IDS)
    assert found.token_ids == tuple(IDS)
    for address, array in whole.items():
        np.testing.assert_array_equal(found[address], array)


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
@pytest.mark.parametrize("kind", ["float64", "float32", "bfloat16", "float16"])
def test_a_file_has_the_numbers_and_their_type(kind: str, ending: str, tmp_path: Path) -> None:
    model = shaken(NanoGPT()).to(getattr(torch, kind))
    path = tmp_path / f"dump.{ending}"
    found = capture(model, IDS, path, only=["layer1.*"])
    read = {each.name: each for each in read_arrays(path)}
    assert read.keys() == found.keys()
    for address, array in found.items():
        assert (read[address].kind, found.kinds[address]) == (kind, kind)
        np.testing.assert_array_equal(read[address].numbers, array)
    assert found["layer1.ffn.hidden"].dtype == ("float32" if kind == "bfloat16" else kind)


def test_gradients_are_those_of_autograd() -> None:
    model = shaken(NanoGPT(bias=True))
    targets = torch.tensor([[1, 4, 1, 5, 9]])
    before = {name: torch.ones_like(each) for name, each in model.named_parameters()}
    for name, each in model.named_parameters():
        each.grad = before[name]
    found = capture(model, {"ids": torch.tensor([IDS]), "targets": targets}, backward=True)
    assert all(each.grad is before[name] for name, each in model.named_parameters())

    model.zero_grad()
    held: list[Any] = []

    def keep(module: Any, args: Any, output: Any) -> None:
        output.retain_grad()
        held.append(output)

    with model.transformer["h"][1].mlp["c_fc"].register_forward_hook(keep):
        model(torch.tensor([IDS]), targets)[1].backward()
    attention = model.transformer["h"][0].attn.c_attn
    np.testing.assert_allclose(found["gradient.layer2.ffn.hidden"], held[0].grad[0])
    of_head_2 = attention.weight.grad[WIDTH + 8 : WIDTH + 16].T
    np.testing.assert_allclose(found["gradient.layer1.attention.head2.W_K"], of_head_2)
    np.testing.assert_allclose(
        found["gradient.layer1.attention.head4.b_Q"], attention.bias.grad[24:32]
    )
    assert found["gradient.layer1.attention.head1.query"].shape == (5, 8)
    assert found["gradient.positions.table"].shape == (16, WIDTH)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reentrant", [False, True])
def test_modules_that_run_again_in_the_backward_pass_have_gradients(reentrant: bool) -> None:
    model, batch = shaken(NanoGPT()), {"ids": [IDS], "targets": [IDS]}
    plain = capture(model, batch, backward=True)
    for block in model.transformer["h"]:
        block.forward = partial(checkpoint, block.forward, use_reentrant=reentrant)
    assert_equal(capture(model, batch, backward=True), plain)


def test_a_frozen_parameter_has_no_gradient() -> None:
    model = shaken(NanoGPT())
    model.transformer["wpe"].weight.requires_grad_(False)
    batch = {"ids": torch.tensor([IDS]), "targets": torch.tensor([IDS])}
    found = capture(model, batch, backward=True, only=["gradient.*"])
    assert "gradient.embeddings" in found
    assert "gradient.positions.table" not in found
    assert all(address.startswith("gradient.") for address in found)


def test_a_compiled_model_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in eager mode, so that the hooks are not compiled."""
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    model = shaken(NanoGPT())
    whole, compiled = capture(model, IDS), torch.compile(model, backend=backend)
    compiled(torch.tensor([IDS]))
    for block in model.transformer["h"]:
        monkeypatch.setattr(block, "forward", torch.compile(block.forward, backend=backend))
    with torch.no_grad():
        model(torch.tensor([IDS]))
    number = len(graphs)
    assert number >= 2
    assert_equal(capture(compiled, IDS), whole)
    assert_equal(capture(model, IDS), whole)
    assert len(graphs) == number


def assert_equal(found: Captured, other: Captured) -> None:
    assert found.keys() == other.keys()
    for address, array in other.items():
        np.testing.assert_array_equal(found[address], array)


def test_the_library_does_not_import_torch() -> None:
    code = "import sys, tracer; tracer.load, tracer.capture, tracer.testing; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "tracer.pytorch.capture" in ran.stdout.split()
    assert "torch" not in ran.stdout.split()
