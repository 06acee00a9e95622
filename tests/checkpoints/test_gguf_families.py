"""The same numbers in a GGUF file and in a folder are the same model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader
from numpy.testing import assert_allclose

from tests.helpers import tiny_checkpoints as tiny
from tests.helpers.converted import convert
from tests.helpers.tiny_models import naming
from tracer.checkpoints.opening import open_checkpoint
from tracer.decoder.forward import trace
from tracer.errors import TracerError
from tracer.scenario.loading import load

IDS = [3, 1, 4, 1, 5, 9]
EXPERTS, UNITS = 3, 24
Said = Mapping[str, Any]
FULL, SLIDING = "full_attention", "sliding_attention"
QUERY_PARTS = {"query_pre_attn_scalar": tiny.D_K, "head_dim": tiny.D_K, "sliding_window": 3}
CAPS = {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}
FEW_EXPERTS = {"num_experts_per_tok": 2, "num_local_experts": EXPERTS}
NEOX = {"rotary_pct": 0.5, "hidden_act": "gelu_new", "layer_norm_eps": 0.5}
GRANITE = {
    **{"embedding_multiplier": 12.0, "attention_multiplier": 0.125},
    **{"residual_multiplier": 0.25, "logits_scaling": 8.0},
}
GPT_OSS = {
    **{"num_local_experts": EXPERTS, "num_experts_per_tok": 2, "head_dim": tiny.D_K},
    **{"sliding_window": 3, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
}
YARN = {
    **{"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "truncate": True},
    **{"original_max_position_embeddings": 64, "beta_fast": 32.0, "beta_slow": 1.0},
}
OTHER_WIDTH = {"head_dim": 6, "query_pre_attn_scalar": tiny.D // tiny.HEADS}
"""llama.cpp knows the widest models by their number of layers."""

MODELS: Mapping[str, tuple[str, Said]] = {
    "llama": ("llama", {}),
    "mistral": ("mistral", {"sliding_window": None}),
    "qwen2": ("qwen2", {}),
    "qwen3": ("qwen3", {"head_dim": tiny.D_K}),
    "gemma": ("gemma", {"head_dim": tiny.D_K}),
    "phi3": ("phi3", {}),
    "olmo2": ("olmo2", {}),
    "olmo2 with a key for each head": ("olmo2", {"num_key_value_heads": tiny.HEADS}),
    "olmo2 with a head": ("olmo2", {"num_attention_heads": 1, "num_key_value_heads": 1}),
    "gemma2": ("gemma2", {**QUERY_PARTS, **CAPS}),
    "gemma2 with other caps": (
        "gemma2",
        {**QUERY_PARTS, "attn_logit_softcapping": 0.5, "final_logit_softcapping": 0.25},
    ),
    "gemma2 with a longer window": ("gemma2", {**QUERY_PARTS, **CAPS, "sliding_window": 5}),
    "the widest gemma2": ("gemma2", {**QUERY_PARTS, **CAPS, **OTHER_WIDTH, "layers": 46}),
    "gemma3": ("gemma3_text", {**QUERY_PARTS, "layers": 7}),
    "gemma3 with a cap": (
        "gemma3_text",
        {**QUERY_PARTS, "layers": 6, "final_logit_softcapping": 0.5},
    ),
    "gemma3 with longer angles": (
        "gemma3_text",
        {
            **QUERY_PARTS,
            "layers": 7,
            "rope_parameters": {
                FULL: {"rope_type": "linear", "factor": 8.0, "rope_theta": 50.0},
                SLIDING: {"rope_type": "default", "rope_theta": 10000.0},
            },
        },
    ),
    "gemma3 without windows": ("gemma3_text", {**QUERY_PARTS, "layer_types": [FULL] * 2}),
    "the widest gemma3": ("gemma3_text", {**QUERY_PARTS, **OTHER_WIDTH, "layers": 62}),
    "gpt_neox": ("gpt_neox", NEOX),
    "gpt_neox with all columns rotated": ("gpt_neox", {**NEOX, "rotary_pct": 1.0}),
    "gpt_neox one after the other": ("gpt_neox", {**NEOX, "use_parallel_residual": False}),
    "granite": ("granite", GRANITE),
    "granite with other factors": (
        "granite",
        {
            **{"embedding_multiplier": 0.5, "attention_multiplier": 2.0},
            **{"residual_multiplier": 1.0, "logits_scaling": 0.25},
        },
    ),
    "mixtral": ("mixtral", FEW_EXPERTS),
    "mixtral with one expert": ("mixtral", {**FEW_EXPERTS, "num_experts_per_tok": 1}),
    "qwen3_moe": (
        "qwen3_moe",
        {
            **{"num_experts": EXPERTS, "num_experts_per_tok": 2, "norm_topk_prob": True},
            **{"moe_intermediate_size": UNITS, "head_dim": tiny.D_K},
        },
    ),
    "olmoe": ("olmoe", {"num_experts": EXPERTS, "num_experts_per_tok": 2}),
    "gpt_oss": ("gpt_oss", GPT_OSS),
    "gpt_oss with its angles": ("gpt_oss", {**GPT_OSS, "rope_parameters": YARN}),
    "gpt_oss with an expert": (
        "gpt_oss",
        {**GPT_OSS, "num_experts_per_tok": 1, "sliding_window": 1},
    ),
    "smollm3": ("smollm3", {"layers": 5, "tie_word_embeddings": False}),
    "smollm3 with one table": ("smollm3", {"layers": 4, "tie_word_embeddings": True}),
}


def tensors_of(family: str, layers: int, said: Said) -> tiny.Tensors:
    """Random numbers, multiples of 1/256: 1 more than each is exact in float32, too."""
    shapes = shapes_of_neox() if family == "gpt_neox" else shapes_of(family, said)
    drawn = tiny.drawn(shapes, layers=layers)
    return {name: np.round(numbers * 256) / 256 for name, numbers in drawn.items()}


def shapes_of(family: str, said: Said) -> dict[str, tuple[int, ...]]:
    """The shapes of a family that differs from Llama in some tensors."""
    shapes = tiny.shapes_of_llama(said.get("head_dim", tiny.D_K), biases=family == "qwen2")
    layer = "model.layers.{}"
    if family.startswith("gemma") or said.get("tie_word_embeddings"):
        del shapes["lm_head.weight"]
    if family.startswith(("qwen3", "gemma3")):
        d_k = (said.get("head_dim", tiny.D_K),)
        shapes |= {f"{layer}.self_attn.{part}_norm.weight": d_k for part in "qk"}
    if family.startswith(("gemma2", "gemma3")):
        names = ("pre_feedforward", "post_feedforward")
        shapes |= {f"{layer}.{name}_layernorm.weight": (tiny.D,) for name in names}
    if family in ("olmo2", "olmoe"):
        heads, keys = (said.get(f"num_{of}_heads") for of in ("attention", "key_value"))
        keys = (keys or tiny.KEY_HEADS) * tiny.D // (heads or tiny.HEADS)
        if family == "olmo2":
            del shapes[f"{layer}.input_layernorm.weight"]
            shapes[f"{layer}.post_feedforward_layernorm.weight"] = (tiny.D,)
        shapes |= {f"{layer}.self_attn.{part}_proj.weight": (keys, tiny.D) for part in "kv"}
        shapes[f"{layer}.self_attn.q_norm.weight"] = (tiny.D,)
        shapes[f"{layer}.self_attn.k_norm.weight"] = (keys,)
    if family == "phi3":
        fusions = {"self_attn.qkv": ["q", "k", "v"], "mlp.gate_up": ["gate", "up"]}
        for fused, parts in fusions.items():
            module = f"{layer}.{fused.partition('.')[0]}"
            rows = sum(shapes.pop(f"{module}.{part}_proj.weight")[0] for part in parts)
            shapes[f"{layer}.{fused}_proj.weight"] = (rows, tiny.D)
    if family == "gpt_oss":
        shapes |= shapes_of_gpt_oss(shapes)
        shapes = {
            name: shape
            for name, shape in shapes.items()
            if "_proj.weight" not in name or "self_attn" in name
        }
    if family in ("mixtral", "olmoe", "qwen3_moe"):
        shapes = {name: shape for name, shape in shapes.items() if ".mlp." not in name}
        of_mixtral = family == "mixtral"
        place = f"{layer}.block_sparse_moe" if of_mixtral else f"{layer}.mlp"
        matrices = ("w1", "w2", "w3") if of_mixtral else ("gate_proj", "down_proj", "up_proj")
        units = said.get("moe_intermediate_size", tiny.HIDDEN)
        sizes = [(units, tiny.D), (tiny.D, units), (units, tiny.D)]
        shapes[f"{place}.gate.weight"] = (EXPERTS, tiny.D)
        for expert in range(EXPERTS):
            for name, size in zip(matrices, sizes, strict=True):
                shapes[f"{place}.experts.{expert}.{name}.weight"] = size
    return shapes


def shapes_of_gpt_oss(llama: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    layer, d, units = "model.layers.{}", tiny.D, tiny.HIDDEN
    attention = [name for name in llama if "self_attn" in name]
    return {
        **{name.replace("weight", "bias"): llama[name][:1] for name in attention},
        f"{layer}.self_attn.sinks": (tiny.HEADS,),
        f"{layer}.mlp.router.weight": (EXPERTS, d),
        f"{layer}.mlp.router.bias": (EXPERTS,),
        f"{layer}.mlp.experts.gate_up_proj": (EXPERTS, d, 2 * units),
        f"{layer}.mlp.experts.gate_up_proj_bias": (EXPERTS, 2 * units),
        f"{layer}.mlp.experts.down_proj": (EXPERTS, units, d),
        f"{layer}.mlp.experts.down_proj_bias": (EXPERTS, d),
    }


def shapes_of_neox() -> dict[str, tuple[int, ...]]:
    layer, d = "gpt_neox.layers.{}", tiny.D
    parts = {
        f"{layer}.input_layernorm": (d,),
        f"{layer}.post_attention_layernorm": (d,),
        f"{layer}.attention.query_key_value": (3 * d, d),
        f"{layer}.attention.dense": (d, d),
        f"{layer}.mlp.dense_h_to_4h": (tiny.HIDDEN, d),
        f"{layer}.mlp.dense_4h_to_h": (d, tiny.HIDDEN),
        "gpt_neox.final_layer_norm": (d,),
    }
    return {
        "gpt_neox.embed_in.weight": (tiny.WORDS, d),
        "embed_out.weight": (tiny.WORDS, d),
        **{f"{name}.weight": shape for name, shape in parts.items()},
        **{f"{name}.bias": shape[:1] for name, shape in parts.items()},
    }


def folder_of(name: str, folder: Path) -> Path:
    family, said = MODELS[name]
    layers = said.get("layers", tiny.LAYERS)
    own = {key: value for key, value in said.items() if key != "layers"}
    tensors = tensors_of(family, layers, said)
    return tiny.write_folder(
        folder / "folder", family, tensors, {**own, "num_hidden_layers": layers, "pad_token_id": 0}
    )


def logits(path: Path) -> Any:
    return trace("tiny", load(naming(path, token_ids=IDS)).scenario)["logits"].numbers


@pytest.mark.parametrize("name", MODELS)
def test_both_formats_hold_the_same_model(name: str, tmp_path: Path) -> None:
    folder = folder_of(name, tmp_path)
    ours = logits(folder)
    assert np.ptp(ours) > 0.1
    assert_allclose(logits(convert(folder, tmp_path / "tiny.gguf")), ours, rtol=1e-9)


# --- experts ----------------------------------------------------------------------------------


def mixtral_in(
    tmp_path: Path, change: Callable[[tiny.Tensors], tiny.Tensors], **options: Any
) -> Path:
    """Mixtral's file with other tensors."""
    file = convert(folder_of("mixtral", tmp_path), tmp_path / "whole.gguf")
    read = GGUFReader(file)
    tensors = {each.name: np.array(each.data) for each in read.tensors}
    said = {"expert_count": EXPERTS, "expert_used_count": 2, "rope.freq_base": 500.0}
    values = {f"llama.{key}": value for key, value in said.items()}
    return tiny.write_gguf(tmp_path / "tiny.gguf", "llama", change(tensors), values, **options)


def apart(tensors: tiny.Tensors) -> tiny.Tensors:
    """One matrix for each expert, as older files have them."""
    found: tiny.Tensors = {}
    for name, numbers in tensors.items():
        begin, stacked, _ = name.partition("_exps.")
        own = {f"{begin}.{expert}.weight": each for expert, each in enumerate(numbers)}
        found |= own if stacked else {name: numbers}
    return found


def test_older_files_have_a_matrix_for_each_expert(tmp_path: Path) -> None:
    expected = logits(folder_of("mixtral", tmp_path))
    assert_allclose(logits(mixtral_in(tmp_path, apart)), expected, rtol=1e-9)


def test_a_stack_may_be_quantized(tmp_path: Path) -> None:
    expected = logits(folder_of("mixtral", tmp_path))
    layers = range(tiny.LAYERS)
    names = [f"blk.{i}.ffn_{part}_exps.weight" for i in layers for part in ("gate", "up", "down")]
    kinds = dict.fromkeys(names, GGMLQuantizationType.Q8_0)
    found = logits(mixtral_in(tmp_path, lambda tensors: tensors, kinds=kinds))
    assert_allclose(found, expected, atol=0.05 * np.ptp(expected))
    assert np.abs(found - expected).max() > 0


def test_a_stack_has_a_matrix_for_each_expert(tmp_path: Path) -> None:
    def shorter(tensors: tiny.Tensors) -> tiny.Tensors:
        name = "blk.1.ffn_up_exps.weight"
        return {**tensors, name: tensors[name][1:], "blk.0.ffn_up_exps.weight": np.ones((2, 2))}

    each = "one matrix or row for each of the 3 experts"
    file = mixtral_in(tmp_path, shorter)
    with pytest.raises(TracerError) as caught:
        open_checkpoint(file)
    assert str(caught.value).splitlines() == [
        f"{file}: blk.0.ffn_up_exps.weight: 2 × 2, expected {each}",
        f"{file}: blk.1.ffn_up_exps.weight: 2 × 64 × 32, expected {each}",
    ]


# --- keys -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "key", "value", "told"), [
    ("gemma2", "final_logit_softcapping", 0.0, "got 0.0, expected a positive number"),
    ("gemma2", "attention.sliding_window_pattern", 0, "got 0, expected a whole number from 1"),
    ("gemma2", "attention.sliding_window_pattern", [1, 0], "got [1, 0], expected a whole number"),
    ("gemma2", "rope.freq_base_swa", 7.0, "got 7.0, this key is unknown and may change"),
    ("gemma2", "rope.dimension_count", 4, "got 4, supported is 8"),
    ("gemma3", "attn_logit_softcapping", 5.0, "got 5.0, not supported: it belongs to soft caps"),
    ("gemma3", "rope.freq_base_swa", 0.0, "got 0.0, expected a positive number"),
    ("olmo2", "attention.sliding_window", 3, "got 3, not supported: it belongs to windows in"),
    ("olmo2", "rope.scaling.type", "longrope", "got 'longrope', supported are linear, none"),
    ("gpt_neox", "use_parallel_residual", 1, "got 1, expected true or false"),
    ("gpt_neox", "rope.dimension_count", 9, "got 9, expected an even number up to 8"),
    ("gpt_neox", "rope.dimension_count", 3, "got 3, expected an even number up to 8"),
    ("qwen3_moe", "expert_count", 0, "got 0, expected a whole number from 1"),
    ("qwen3_moe", "expert_weights_scale", 2.0, "got 2.0, this key is unknown and may change"),
    ("granite", "rope.scaling.finetuned", False, "supported is true: queries and keys are not"),
    ("granite", "residual_scale", 0.0, "got 0.0, expected a positive number"),
    ("granite", "logit_scale", None, "logit_scale: missing, expected a positive number"),
    ("granite", "expert_count", 2, "got 2, not supported: it belongs to a mixture of experts"),
    ("smollm3", "expert_count", 2, "got 2, not supported: it belongs to a mixture of experts"),
    ("smollm3", "attention.scale", 0.5, "got 0.5, not supported: it belongs to its own score"),
])  # fmt: skip
def test_what_is_wrong_is_told(name: str, key: str, value: Any, told: str, tmp_path: Path) -> None:
    folder = folder_of(name, tmp_path)
    file = convert(folder, tmp_path / "tiny.gguf", {key: value})
    with pytest.raises(TracerError) as caught:
        open_checkpoint(file)
    assert told in str(caught.value) and str(caught.value).startswith(f"{file}: ")


@pytest.mark.parametrize(("name", "key", "value"), [
    ("gemma2", "attention.sliding_window_pattern", 3),
    ("gemma3", "attention.sliding_window_pattern", 2),
    ("gemma3", "rope.freq_base_swa", 7.0),
    ("gemma2", "attention.sliding_window", 1),
    ("gpt_neox", "rope.freq_base", 3.0),
    ("gpt_neox", "use_parallel_residual", False),
    ("mixtral", "expert_used_count", 1),
    *(("granite", key, 3.0) for key in ("embedding_scale", "residual_scale", "logit_scale")),
    *(("granite", key, None) for key in ("embedding_scale", "residual_scale", "attention.scale")),
])  # fmt: skip
def test_a_key_is_read(name: str, key: str, value: Any, tmp_path: Path) -> None:
    folder = folder_of(name, tmp_path)
    usual = logits(convert(folder, tmp_path / "usual.gguf"))
    assert np.abs(logits(convert(folder, tmp_path / "tiny.gguf", {key: value})) - usual).max() > 0


@pytest.mark.parametrize("name", ["gemma2", "gemma3", "gpt_neox", "qwen3_moe"])
def test_defaults_are_those_of_llama_cpp(name: str, tmp_path: Path) -> None:
    keys = {
        "gemma2": ("attn_logit_softcapping", "final_logit_softcapping"),
        "gemma3": ("rope.freq_base_swa",),
        "gpt_neox": ("use_parallel_residual", "rope.freq_base"),
        "qwen3_moe": ("expert_shared_count",),
    }[name]
    folder = folder_of(name, tmp_path)
    whole = convert(folder, tmp_path / "tiny.gguf")
    without = convert(folder, tmp_path / "less.gguf", dict.fromkeys(keys))
    assert np.array_equal(logits(whole), logits(without))
