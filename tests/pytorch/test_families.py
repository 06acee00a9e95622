"""Each family of transformers is captured as it is computed here: one text, a batch, a cache."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest

import tracer
from tests.checkpoints.test_transformers_configs import BASE
from tests.helpers import tiny_marian
from tests.helpers.torch_models import of_transformers, torch
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.errors import TracerError
from tracer.library import trace
from tracer.pytorch.capture import Captured, capture
from tracer.pytorch.scenario import scenario_of
from tracer.testing import assert_matches

TOLERANCE = {"float64": 1e-6, "float32": 3e-5}
"""transformers computes rotary positions and some norms in float32, whatever the model's type."""
FIRST, SECOND = [3, 1, 4, 1, 5, 9], [7, 2, 6, 8]
"""The second text has as many tokens as there are heads."""
IN_EVERY_FAMILY = {
    *("embedding", "input", "layer1.attention.head1.query", "layer2.attention.head1.value"),
    *("layer1.attention.head2.weights", "layer2.attention.concat", "layer1.attention.output"),
    *("layer1.ffn.output", "layer1.ffn.residual", "layer2.ffn.residual", "output", "logits"),
}
NOT_HERE = {
    # Its last norm learns nothing: it has no tensor with a name.
    "output": {"olmo"},
    # The module that looks up the embeddings multiplies them.
    "embedding": {"biogpt", "gemma", "gemma2", "gemma3_text", "vaultgemma"},
}


def test_each_family_has_a_model_here() -> None:
    of_images = {family for family in FAMILIES if "_vl_" in family}
    assert {*FAMILIES} - {"marian", *of_images} == {*BASE}


@pytest.mark.parametrize("family", BASE)
def test_a_family_is_captured(family: str) -> None:
    model = of_transformers(BASE[family]).double()
    found = capture(model, FIRST)
    assert found.token_ids == tuple(FIRST)
    missing = IN_EVERY_FAMILY - {*found}
    assert ("embedding" in missing) == ("embedding.scaled" in found)
    assert missing == {address for address, families in NOT_HERE.items() if family in families}
    agree(model, found)
    agree(model, capture(model, SECOND))


@pytest.mark.parametrize("family", BASE)
def test_padding_and_a_cache_change_nothing(family: str) -> None:
    model = of_transformers(BASE[family])  # in float64, padding is NaN with eager attention
    batch = padded(model)
    found = capture(model, batch, row=1)
    assert found.token_ids == tuple(SECOND)
    tracer.testing.assert_matches(model, model, batch, row=1)
    del batch["position_ids"]
    later = capture(model, batch, row=1, step=3)
    assert later.token_ids is not None
    assert later.token_ids[:4] == tuple(SECOND)
    assert len(later.token_ids) == len(SECOND) + 2
    assert later.keys() == found.keys()
    agree(model, later)
    tracer.testing.assert_matches(model, model, batch, row=1, step=3)


@pytest.mark.fuzz
@pytest.mark.parametrize("family", BASE)
def test_gradients_of_a_family_are_those_of_autograd(family: str) -> None:
    """Without token 1, for which some families have no gradient, as it is their padding."""
    model = of_transformers(BASE[family])
    ids = torch.tensor([[token + 1 for token in FIRST]])
    assert_matches(model, model, {"input_ids": ids, "labels": ids}, backward=True)


def padded(model: Any) -> dict[str, Any]:
    """A batch with padding on the left, and the positions that generation gives to its tokens."""
    ids = torch.tensor([FIRST, [0, 0, *SECOND]])
    mask = torch.tensor([[1] * 6, [0, 0, 1, 1, 1, 1]])
    batch = {"input_ids": ids, "attention_mask": mask, "position_ids": None}
    if "position_ids" in signature(model.forward).parameters:
        batch["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
    return batch


def agree(model: Any, found: Captured) -> None:
    """Each captured value is one of the scenario's pass, and has its numbers."""
    own = trace(scenario_of(model, found.token_ids or (), found.encoder_token_ids))
    assert {*found} - {*own} == set()
    for address, array in found.items():
        allowed = TOLERANCE[found.kinds[address]] * np.abs(own[address].array).max()
        np.testing.assert_allclose(array, own[address].array, allowed, allowed, err_msg=address)


def test_a_translation_is_captured_with_its_encoder() -> None:
    model = of_transformers(tiny_marian.CONFIG, "AutoModelForSeq2SeqLM").double()
    sources = torch.tensor([[3, 1, 4, 1, 5, 0], [3, 1, 7, 0, 9, 9]])
    batch = {
        "input_ids": sources,
        "attention_mask": torch.tensor([[1] * 6, [1, 1, 1, 1, 0, 0]]),
        "decoder_input_ids": torch.tensor([[tiny_marian.PAD, 7, 2], [tiny_marian.PAD, 8, 3]]),
    }
    found = capture(model, batch, row=1)
    assert found.token_ids == (tiny_marian.PAD, 8, 3)
    assert found.encoder_token_ids == (3, 1, 7, 0)
    assert found["layer2.cross_attention.head1.weights"].shape == (3, 4)
    assert {"encoder.layer2.ffn.norm", "layer1.cross_attention.head2.key"} <= {*found}
    agree(model, found)
    assert len(capture(model, batch, row=1, only=["logits"])["logits"]) == 3
    agree(model, capture(model, lambda: model(**batch), row=1))
    with pytest.raises(TracerError, match="runs before the model"):
        capture(model, lambda: model.generate(sources))
    later = capture(model, batch, row=1, step=2)
    assert later["layer1.attention.head1.weights"].shape == (4, 4)
    agree(model, later)


def test_the_text_half_of_a_model_of_images_is_captured() -> None:
    text = {**BASE["qwen2"], "model_type": "qwen2_5_vl_text"}
    text |= {"rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]}}
    vision = {"depth": 1, "hidden_size": 16, "out_hidden_size": 32, "num_heads": 2}
    config = {"model_type": "qwen2_5_vl", "text_config": text, "vision_config": vision}
    model = of_transformers(config, "AutoModelForImageTextToText").double()
    found = capture(model, FIRST)
    assert {*found} >= IN_EVERY_FAMILY
    agree(model, found)
