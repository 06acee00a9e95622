"""Each config.json: the logits are those of transformers in float64, or the folder is refused.

Nothing that transformers computes otherwise is accepted, and nothing that it cannot run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.tiny_models import naming
from tracer.checkpoints.hugging_face import architecture_of
from tracer.decoder.forward import trace
from tracer.errors import TracerError
from tracer.scenario.loading import load

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
safetensors = pytest.importorskip("safetensors.torch")
torch.set_num_threads(1)  # which is faster for matrices this small

IDS = [3, 1, 4, 1, 5, 9, 2, 6]
Json = dict[str, Any]
Weights = dict[str, Any]
Edit = Callable[[Weights, Path], Weights | None]
GPT2: Json = {
    **{"model_type": "gpt2", "vocab_size": 40, "n_positions": 16, "n_embd": 32, "n_layer": 2},
    **{"n_head": 4, "bos_token_id": 0, "eos_token_id": 0},
}
LLAMA: Json = {
    **{"vocab_size": 40, "max_position_embeddings": 16, "hidden_size": 32, "intermediate_size": 48},
    **{"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
    **{"rms_norm_eps": 1e-3, "bos_token_id": 0, "eos_token_id": 0},
}
BASE: Mapping[str, Json] = {
    "gpt2": GPT2,
    **{family: {"model_type": family, **LLAMA} for family in ("llama", "mistral", "qwen2")},
}
MISSING = "missing"
TOLERANCE = 1e-6
"""Relative; transformers computes the angles of rotary positions in float32."""

# --- configurations --------------------------------------------------------------------------

DEFAULT = {"rope_type": "default", "rope_theta": 99.0}
LINEAR = {"rope_type": "linear", "rope_theta": 99.0, "factor": 3.0}
LLAMA_3 = {
    **{"rope_type": "llama3", "rope_theta": 10.0, "factor": 8.0},
    **{"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32},
}
OLDER = {"type": "linear", "factor": 2.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}
FULL, SLIDING = "full_attention", "sliding_attention"

OF_ALL: tuple[Json, ...] = (
    {},
    {"tie_word_embeddings": True},
    {"tie_word_embeddings": False},
    {"is_causal": False},
    {"quantization_config": {"quant_method": "gptq", "bits": 4}},
    {"return_dict": False},
    {"add_cross_attention": True},
    {"num_local_experts": None},
    {"num_local_experts": 4},
    {"some_other_key": 1},
)
OF_GPT2: tuple[Json, ...] = (
    *({"activation_function": name} for name in ("gelu", "relu", "silu", "gelu_fast", "tanh")),
    {"n_inner": 24},
    {"n_head": 1},
    {"n_head": 3},
    {"layer_norm_epsilon": 0.1},
    {"scale_attn_weights": False},
    {"scale_attn_by_inverse_layer_idx": True},
    {"num_hidden_layers": 2, "hidden_size": 32},
    {"num_hidden_layers": 1},
    {"n_ctx": 4, "summary_type": "first", "resid_pdrop": 0.5},
    {"n_positions": 4},
)
OF_THE_OTHERS: tuple[Json, ...] = (
    *({"hidden_act": name} for name in ("gelu", "gelu_pytorch_tanh", "relu", "relu2", "mish")),
    {"num_key_value_heads": 4},
    {"num_key_value_heads": 1},
    {"num_key_value_heads": 3},
    {"num_key_value_heads": None},
    {"num_key_value_heads": MISSING, "num_attention_heads": 8},
    {"head_dim": 6},
    {"head_dim": 7},
    {"head_dim": None},
    {"hidden_size": 34, "head_dim": 8},
    {"attention_bias": True},
    {"mlp_bias": True},
    {"rope_theta": 50.0},
    *({"rope_parameters": form} for form in (DEFAULT, LINEAR, LLAMA_3, YARN, None, {})),
    *({"rope_scaling": form, "rope_theta": 50.0} for form in (OLDER, LLAMA_3, YARN, None)),
    {"rope_parameters": None, "rope_scaling": OLDER, "rope_theta": 50.0},
    {"rope_parameters": DEFAULT, "rope_scaling": OLDER},
    {"rope_parameters": LINEAR, "rope_theta": 7.0},
    {"rope_scaling": LINEAR, "rope_theta": 7.0},
    {"rope_scaling": {**OLDER, "attention_factor": 2.0}},
    {"rope_parameters": {**DEFAULT, "partial_rotary_factor": 0.5}},
    {"partial_rotary_factor": 0.5},
    {"sliding_window": 3},
    {"sliding_window": None},
    {"sliding_window": 3, "use_sliding_window": True, "max_window_layers": 0},
    {"sliding_window": 3, "use_sliding_window": True, "max_window_layers": 1},
    {"sliding_window": 3, "use_sliding_window": True},
    *(
        {"sliding_window": 3, "head_dim": 8, "layer_types": kinds}
        for kinds in (None, [FULL, FULL], [SLIDING, SLIDING], [SLIDING, FULL], [FULL])
    ),
    {"layer_types": [FULL, FULL]},
)


# --- weights ---------------------------------------------------------------------------------


def shards(weights: Weights, folder: Path) -> None:
    names = [*weights]
    index = {name: f"{i % 2}.safetensors" for i, name in enumerate(names)}
    for i in range(2):
        save({name: weights[name] for name in names[i::2]}, folder / f"{i}.safetensors")
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {}, "weight_map": index}), encoding="utf-8")


def stale_shards(weights: Weights, folder: Path) -> Weights:
    shards({name: numbers * 2 for name, numbers in weights.items()}, folder)
    return weights


def pickled(weights: Weights, folder: Path) -> None:
    torch.save(weights, folder / "pytorch_model.bin")


def of_type(kind: str) -> Edit:
    return lambda weights, _: {n: each.to(getattr(torch, kind)) for n, each in weights.items()}


def without_prefix(weights: Weights, folder: Path) -> Weights:
    return {re.sub(r"^(model|transformer)\.", "", name): weights[name] for name in weights}


def changed(part: str, change: Callable[[Any], Any] | None) -> Edit:
    """Change the last tensor whose name has a part, or remove it."""

    def edit(weights: Weights, folder: Path) -> Weights:
        name = [name for name in weights if part in name][-1]
        new = {} if change is None else {name: change(weights[name]).contiguous()}
        return {other: each for other, each in weights.items() if other != name} | new

    return edit


def added(name: str, *shape: int) -> Edit:
    return lambda weights, _: weights | {name: torch.ones(shape)}


EDITS: Mapping[str, Edit] = {
    "shards": shards,
    "stale shards": stale_shards,
    "a pickle": pickled,
    **{kind: of_type(kind) for kind in ("float16", "bfloat16", "float64")},
    "no prefix": without_prefix,
    "another unembedding": added("lm_head.weight", 40, 32),
    "whole numbers": changed("mlp", lambda numbers: (numbers * 100).to(torch.int8)),
    "8 bits": changed("mlp", lambda numbers: numbers.to(torch.float8_e4m3fn)),
    "a missing matrix": changed("mlp", None),
    "a turned matrix": changed("down_proj", lambda numbers: numbers.T),
    "fewer words": changed("embed_tokens", lambda numbers: numbers[:-1]),
    "a bias": added("model.layers.0.self_attn.q_proj.bias", 32),
    "a norm of queries": added("model.layers.0.self_attn.q_norm.weight", 8),
    "not a number": changed("mlp", lambda numbers: numbers * float("nan")),
}


OF_LLAMA = ("a turned matrix", "fewer words")
TIED = ("shards", "no prefix", "another unembedding")
"""The edits for which it matters whether the embeddings are the unembedding."""
EDITED = [
    (family, name, tied)
    for family in ("gpt2", "llama", "qwen2")
    for name in EDITS
    for tied in ((False, True) if name in TIED else (False,))
    if family != "gpt2" or name not in OF_LLAMA
]


# --- both ------------------------------------------------------------------------------------


def save(weights: Weights, path: Path) -> None:
    safetensors.save_file(weights, path, {"format": "pt"})


def drawn(folder: Path, config: Json) -> Weights:
    """Draw the weights of a configuration; those of the family if transformers refuses it."""
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    try:
        read = transformers.AutoConfig.from_pretrained(folder)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            model = transformers.AutoModelForCausalLM.from_config(read)
            with torch.no_grad():
                for numbers in model.parameters():
                    numbers += torch.randn_like(numbers) * 0.3
    except Exception:
        return drawn(folder, BASE[config["model_type"]])
    tied = read.tie_word_embeddings
    held = model.state_dict().items()
    return {n: each.clone() for n, each in held if not (tied and n == "lm_head.weight")}


def theirs(folder: Path) -> Any:
    """The logits; None if transformers does not compute them, and some are then not numbers."""
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager"
        )
        with torch.no_grad():
            found = model.eval()(torch.tensor([IDS])).logits[0].numpy()
    except Exception:
        return None
    return found if np.isfinite(found).all() else None


def check(folder: Path, config: Json) -> tuple[bool, set[str]]:
    """Compare what both compute.

    Return whether transformers computes it, and the addresses of the problems that refuse it here.
    """
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    expected = theirs(folder)
    try:
        found = trace("tiny", load(naming(folder, token_ids=IDS)).scenario)["logits"].numbers
    except TracerError as error:
        return expected is not None, {problem.address or "" for problem in error.problems}
    assert expected is not None, "transformers raises an error"
    assert np.abs(found - expected).max() < TOLERANCE * np.abs(expected).max()
    return True, set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    return path


NOT_SUPPORTED = {
    *("activation_function", "hidden_act", "scale_attn_weights", "scale_attn_by_inverse_layer_idx"),
    *("is_causal", "add_cross_attention", "num_local_experts", "some_other_key", "mlp_bias"),
    *("attention_bias", "layer_types", "sliding_window", "use_sliding_window", "max_window_layers"),
    *("num_hidden_layers", "partial_rotary_factor", "rope_parameters.partial_rotary_factor"),
    *("rope_parameters.rope_type", "rope_scaling.rope_type", "rope_scaling.attention_factor"),
}
"""Keys for whose sake a configuration is refused that transformers computes."""


@pytest.mark.parametrize("family", BASE)
def test_a_configuration_is_computed_or_refused(family: str, folder: Path) -> None:
    computed = 0
    for change in (*OF_ALL, *(OF_GPT2 if family == "gpt2" else OF_THE_OTHERS)):
        config = {k: v for k, v in {**BASE[family], **change}.items() if v != MISSING}
        save(drawn(folder, config), folder / "model.safetensors")
        try:
            by_transformers, refused = check(folder, config)
            assert not by_transformers or refused <= NOT_SUPPORTED
        except AssertionError as error:
            raise AssertionError(f"{family} {change}") from error
        computed += not refused
    assert computed >= (12 if family == "gpt2" else 24)


@pytest.mark.parametrize("family", BASE)
def test_every_key_of_transformers_is_understood_or_changes_nothing(family: str) -> None:
    whole = transformers.AutoConfig.for_model(**BASE[family]).to_dict()
    assert len(whole) > 20
    assert architecture_of(whole, "x") == architecture_of(BASE[family], "x")


ACCEPTED = {
    *("shards", "stale shards", "a pickle", "no prefix", "another unembedding"),
    *("float16", "bfloat16", "float64"),
}


@pytest.mark.parametrize(("family", "name", "tied"), EDITED)
def test_weights_are_read_or_refused(family: str, name: str, tied: bool, folder: Path) -> None:
    config = BASE[family] | {"tie_word_embeddings": tied}
    weights = EDITS[name](drawn(folder, config), folder)
    if weights:
        save(weights, folder / "model.safetensors")
    _, refused = check(folder, config)
    has_biases = name == "a bias" and family == "qwen2"
    assert bool(refused) != (name in ACCEPTED or has_biases)
