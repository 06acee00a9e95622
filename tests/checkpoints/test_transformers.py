"""Plain NumPy on what is read from a checkpoint, and the tape, say what transformers says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers import tiny_checkpoints
from tests.helpers.reference_of_checkpoint import reference_of
from tests.helpers.tiny_models import naming, tokenizer_json
from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.opening import open_checkpoint
from tracer.decoder.forward import trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.errors import TracerError
from tracer.scenario.loading import load

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

IDS = [3, 1, 4, 1, 5, 9, 2, 6]
MOST = 3

GPT2: dict[str, Any] = {
    **{"vocab_size": 40, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 4},
    **{"bos_token_id": 0, "eos_token_id": 0},
}
LLAMA: dict[str, Any] = {
    **{"vocab_size": 40, "max_position_embeddings": 16, "hidden_size": 32, "intermediate_size": 48},
    **{"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
}
LINEAR = {"rope_type": "linear", "rope_theta": 99.0, "factor": 3.0}
LLAMA_3 = {
    **{"rope_type": "llama3", "rope_theta": 10.0, "factor": 8.0},
    **{"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32},
}


@pytest.mark.parametrize(("name", "settings", "said"), [
    ("GPT2LMHeadModel", GPT2, {}),
    ("GPT2LMHeadModel", GPT2, {"activation_function": "gelu", "n_inner": 24}),
    ("GPT2LMHeadModel", GPT2, {"tie_word_embeddings": False}),
    ("LlamaForCausalLM", LLAMA, {}),
    ("LlamaForCausalLM", LLAMA, {"num_key_value_heads": 4, "tie_word_embeddings": True}),
    ("LlamaForCausalLM", LLAMA, {"attention_bias": True, "head_dim": 6}),
    ("LlamaForCausalLM", LLAMA, {"rope_parameters": LLAMA_3}),
    ("LlamaForCausalLM", LLAMA, {"rope_parameters": LINEAR}),
    ("MistralForCausalLM", LLAMA, {"sliding_window": 3}),
    ("MistralForCausalLM", LLAMA, {"sliding_window": None}),
    ("Qwen2ForCausalLM", LLAMA, {}),
])  # fmt: skip
def test_numbers_are_those_of_transformers(
    name: str, settings: dict[str, Any], said: dict[str, Any], tmp_path: Path
) -> None:
    torch.manual_seed(1)
    kind = getattr(transformers, name)
    config = kind.config_class(**settings | said)
    model = kind._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        # Biases and gains begin as 0 and 1, and a small model's scores as nearly nothing.
        for numbers in model.parameters():
            numbers += torch.randn_like(numbers) * 0.3
    folder = tmp_path / "model"
    model.save_pretrained(folder)

    with torch.no_grad():
        theirs = model(torch.tensor([IDS]), output_attentions=True)
    checkpoint = open_checkpoint(folder)
    ours = reference_of(checkpoint, IDS)

    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    scenario = load(naming(folder, token_ids=IDS)).scenario
    taped = trace("tiny", scenario)

    assert_allclose(ours["logits"], theirs.logits[0].numpy(), atol=1e-4)
    assert_allclose(taped["logits"].numbers, theirs.logits[0].numpy(), atol=1e-4)
    for layer, heads in enumerate(theirs.attentions, 1):
        for head, weights in enumerate(heads[0].numpy(), 1):
            found = ours[f"layer{layer}.attention.head{head}.weights"]
            assert_allclose(found, weights, atol=1e-5)
            assert_allclose(
                taped[f"layer{layer}.attention.head{head}.weights"].numbers, weights, atol=1e-5
            )
            assert np.ptp(weights[-1]) > 0.01  # else any weights would do

    for cached in (False, True):
        options = GenerationOptions(scenario.beginning, MOST, cached=cached)
        text = generate("tiny", scenario, options).text
        words = scenario.vocabulary or ()
        assert text == tuple(words[id] for id in gone_on(model))


@pytest.mark.parametrize(("family", "said"), [
    *((family, {"return_dict": False}) for family in FAMILIES),
    *((family, {"use_return_dict": True}) for family in FAMILIES),
    ("gpt2", {"n_embd": 34}),
    ("gpt2", {"scale_attn_weights": None}),
    ("gpt2", {"add_cross_attention": None}),
    ("llama", {"hidden_size": 34, "head_dim": 8}),
    ("llama", {"mlp_bias": None}),
    ("llama", {"rope_parameters": False}),
    ("mistral", {"num_key_value_heads": None}),
    ("mistral", {"sliding_window": None, "head_dim": 8, "layer_types": ["full_attention"] * 2}),
    ("mistral", {"sliding_window": 3, "layer_types": ["sliding_attention"] * 2}),
    ("qwen2", {"head_dim": None}),
    ("qwen2", {"use_sliding_window": None}),
])  # fmt: skip
def test_what_transformers_cannot_run_is_refused(
    family: str, said: dict[str, Any], tmp_path: Path
) -> None:
    values = tiny_checkpoints.config(family) | {"pad_token_id": 0} | said
    (tmp_path / "config.json").write_text(json.dumps(values), encoding="utf-8")
    strict = pytest.importorskip("huggingface_hub.errors").StrictDataclassError
    with pytest.raises((AttributeError, TypeError, ValueError, strict)), torch.no_grad():
        theirs = transformers.AutoConfig.from_pretrained(tmp_path)
        transformers.AutoModelForCausalLM.from_config(theirs)(torch.tensor([IDS]))
    with pytest.raises(TracerError):
        architecture_of(values, "config.json")


def gone_on(model: Any) -> list[int]:
    """The text and some tokens more, the most probable each time."""
    ids = list(IDS)
    with torch.no_grad():
        while len(ids) < len(IDS) + MOST:
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids
