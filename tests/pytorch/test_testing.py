"""`tracer.testing.assert_matches` in a test suite: silence, or the first step that differs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tracer
from tests.checkpoints.test_transformers_configs import BASE
from tests.helpers.command import run
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.torch_models import NanoGPT, of_transformers, shaken, torch
from tests.pytorch.test_capture import OWN
from tracer.errors import TracerError

IDS = [3, 1, 4, 1, 5]


@pytest.fixture
def model() -> Any:
    return shaken(NanoGPT())


@pytest.fixture
def other(model: Any) -> Any:
    found = NanoGPT()
    found.load_state_dict(model.state_dict())
    return found


def test_equal_models_match(model: Any, other: Any) -> None:
    tracer.testing.assert_matches(model, other, IDS)
    batch = torch.tensor([[1, 2, 3], [3, 1, 4]])
    tracer.testing.assert_matches(model, tracer.scenario_of(other, [3, 1, 4]), batch, row=1)


def test_the_first_step_that_differs_is_named(model: Any, other: Any) -> None:
    with torch.no_grad():
        model.transformer["h"][1].mlp["c_fc"].weight[2, 3] += 1
    with pytest.raises(AssertionError) as caught:
        tracer.testing.assert_matches(model, other, IDS)
    message = " ".join(str(caught.value).split())
    assert re.search(r"First difference: step \d+, Layer 2 · FFN: hidden", message)
    assert re.search(r"“layer2\.ffn\.hidden\[\[[0-9]\]( \([0-9]\))?,h₃\]” is", message)
    assert re.search(r"\[[0-9]\]( \([0-9]\))?, h₃: .*×", message)  # how the scenario computes it
    assert "Value by value" not in message
    assert "the file" not in message
    tracer.testing.assert_matches(model, other, IDS, only=["layer1.*"])
    tracer.testing.assert_matches(model, other, IDS, tolerance=0.9)


def test_the_cause_is_named(model: Any, other: Any, tmp_path: Path) -> None:
    """As `check --against` names it: the first one in a sentence, others in a table."""
    model.double(), other.double()
    for block in model.transformer["h"]:
        block.ln_2.eps = 1e-6
        block.mlp["gelu"].approximate = "tanh"
    with pytest.raises(AssertionError) as caught:
        tracer.testing.assert_matches(model, other, IDS)
    tracer.scenario_of(other, IDS).save(tmp_path / "other.yaml")
    tracer.capture(model, IDS, tmp_path / "dump.npz")
    ran = run("check", f"{tmp_path}/other.yaml", "--against", f"{tmp_path}/dump.npz")
    for shown in (str(caught.value), ran.stdout):
        assert "It agrees in all 160 numbers with ε = 0.000001." in " ".join(shown.split())
        assert re.search(r"layer1\.ffn\.activation .*tanh", shown)


def test_gradients_match_and_the_first_wrong_one_is_named(model: Any, other: Any) -> None:
    """A hook doubles the gradient of W₂, as two backward passes without zero_grad do for all."""
    targets = torch.tensor([[*IDS[1:], -100]])
    inputs = {"ids": torch.tensor([IDS]), "targets": targets}
    tracer.testing.assert_matches(model, other, inputs, backward=True)
    model.transformer["h"][0].mlp["c_proj"].weight.register_hook(lambda gradient: 2 * gradient)
    with pytest.raises(AssertionError) as caught:
        tracer.testing.assert_matches(model, other, inputs, backward=True)
    message = " ".join(str(caught.value).split())
    assert re.search(r"1 differs\. .*First difference: step \d+, Layer 1 · Gradient at", message)
    assert re.search(r"“gradient\.layer1\.ffn\.W_2\[h.+,.+\]” is", message)
    assert "added up over two equal backward passes" in message


def test_a_scenario_of_typed_numbers_splits_the_heads(tmp_path: Any) -> None:
    """Queries, keys, values and scores of all heads at once, which a plain model has."""
    model = own_model()
    (tmp_path / "own.yaml").write_text(to_yaml(as_scenario(model)), encoding="utf-8")
    tracer.testing.assert_matches(model, tmp_path / "own.yaml", [0, 1, 2], names=OWN)
    with torch.no_grad():
        model.blocks[0].qkv.weight[32 + 8] += 0.5  # the first column of the second head's keys
    with pytest.raises(AssertionError, match=r"“layer1\.attention\.head2\.key\[.,.₁\]”"):
        tracer.testing.assert_matches(model, tmp_path / "own.yaml", [0, 1, 2], names=OWN)


def own_model() -> Any:
    from tests.helpers.torch_models import OwnModel

    return shaken(OwnModel()).double()


def as_scenario(model: Any) -> dict[str, Any]:
    """The scenario that a person would type for this model and three words."""
    block = model.blocks[0]
    rows, biases = block.qkv.weight.detach().numpy(), block.qkv.bias.detach().numpy()

    def of(part: int, head: int) -> slice:
        begin = 32 * part + 8 * head
        return slice(begin, begin + 8)

    heads = [
        {
            **{f"W_{x}": rows[of(i, head)].T.tolist() for i, x in enumerate("QKV")},
            **{f"b_{x}": biases[of(i, head)].tolist() for i, x in enumerate("QKV")},
        }
        for head in range(4)
    ]
    norm = {
        **{"kind": "layer_norm", "placement": "pre", "epsilon": "1e-5"},
        **{"gain": block.pre.weight.tolist(), "shift": block.pre.bias.tolist()},
    }
    attention = {
        **{"heads": heads, "norm": norm, "b_O": block.proj.bias.tolist()},
        "W_O": block.proj.weight.detach().numpy().T.tolist(),
    }
    return {
        **{"tokens": ["a", "b", "c"], "rounding": {"carry": "never"}},
        "embeddings": dict(zip("abc", model.words.weight.detach()[:3].tolist(), strict=True)),
        "layers": [{"attention": attention}],
    }


def test_what_cannot_be_compared_is_told(model: Any) -> None:
    names = {"transformer.h.*.mlp.c_fc": "layer*.ffn.hiden"}
    with pytest.raises(TracerError, match=r"layer1\.ffn\.hiden: no such .*'layer1\.ffn\.hidden'"):
        tracer.testing.assert_matches(model, model, IDS, names=names)
    reads_vectors = of_transformers(BASE["llama"])
    with pytest.raises(TracerError, match="reads vectors"):
        vectors = {"inputs_embeds": torch.ones(1, 3, 32)}
        tracer.testing.assert_matches(reads_vectors, reads_vectors, vectors)
    with pytest.raises(TracerError, match="no such file or scenario"):
        tracer.testing.assert_matches(model, "nothing.yaml", IDS)
    with pytest.raises(TracerError, match="no array has a known name"):
        names = {"transformer.wte": "something"}
        tracer.testing.assert_matches(model, model, IDS, names=names, only=["something"])
