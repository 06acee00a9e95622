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

from tests.helpers import of_transformers
from tests.helpers.tiny_models import naming
from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.decoder.forward import trace
from tracer.errors import TracerError
from tracer.scenario.loading import load

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
safetensors = pytest.importorskip("safetensors.torch")
torch.set_num_threads(1)  # which is faster for matrices this small

MISSING = "missing"
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
NEOX: Json = {
    **{"vocab_size": 40, "max_position_embeddings": 16, "hidden_size": 32, "intermediate_size": 48},
    **{"num_hidden_layers": 2, "num_attention_heads": 4, "bos_token_id": 0, "eos_token_id": 0},
}
OPT: Json = {
    **{"vocab_size": 40, "max_position_embeddings": 16, "hidden_size": 32, "ffn_dim": 48},
    **{"num_hidden_layers": 2, "num_attention_heads": 4, "bos_token_id": 0, "eos_token_id": 0},
    **{"word_embed_proj_dim": 32, "pad_token_id": 1},
}
BERT: Json = {
    **{"vocab_size": 40, "max_position_embeddings": 16, "hidden_size": 32, "intermediate_size": 48},
    **{"num_hidden_layers": 2, "num_attention_heads": 4, "pad_token_id": 0},
}
OF_LLAMA_SIZES = (
    *("arcee", "granite", "llama", "mistral", "olmo2", "qwen2", "qwen3", "gemma", "phi3"),
)
LAYER_NORM = {key: value for key, value in LLAMA.items() if key != "rms_norm_eps"}
BASE: Mapping[str, Json] = {
    **{family: {**GPT2, "model_type": family, "rotary_dim": 4} for family in ("gptj", "codegen")},
    **{family: {**GPT2, "model_type": family} for family in ("gpt2", "gpt_bigcode")},
    "gpt_neo": {
        **{"model_type": "gpt_neo", "vocab_size": 40, "max_position_embeddings": 16},
        **{"hidden_size": 32, "num_layers": 2, "num_heads": 4, "window_size": 3},
        **{"attention_types": [[["global", "local"], 1]], "bos_token_id": 0, "eos_token_id": 0},
    },
    "mpt": {
        **{"model_type": "mpt", "vocab_size": 40, "max_seq_len": 16, "d_model": 32, "n_layers": 2},
        **{"n_heads": 4},
    },
    "bloom": {
        **{"model_type": "bloom", "vocab_size": 40, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    },
    "falcon": {
        **{"model_type": "falcon", "vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2},
        **{"num_attention_heads": 4, "max_position_embeddings": 16},
    },
    **{
        family: {"model_type": family, **BERT}
        for family in ("bert", "camembert", "roberta", "xlm-roberta")
    },
    "distilbert": {
        **{"model_type": "distilbert", "vocab_size": 40, "max_position_embeddings": 16},
        **{"dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4, "pad_token_id": 0},
    },
    "gpt_neox": {"model_type": "gpt_neox", **NEOX},
    "opt": {"model_type": "opt", **OPT},
    **{family: {"model_type": family, "pad_token_id": 0, **LLAMA} for family in OF_LLAMA_SIZES},
    **{
        family: {"model_type": family, "pad_token_id": 0, **LAYER_NORM, "layer_norm_eps": 1e-3}
        for family in ("phi", "stablelm", "cohere")
    },
    "cohere2": {
        **{"model_type": "cohere2", "pad_token_id": 0, **LAYER_NORM, "layer_norm_eps": 1e-3},
        **{"sliding_window": 3, "sliding_window_pattern": 2},
    },
    "olmo": {"model_type": "olmo", "pad_token_id": 0, **LAYER_NORM},
    "starcoder2": {"model_type": "starcoder2", **LAYER_NORM, "norm_epsilon": 1e-3},
    **{
        family: {
            "model_type": family,
            "pad_token_id": 0,
            **LLAMA,
            "head_dim": 8,
            "sliding_window": 3,
        }
        for family in ("gemma2", "gemma3_text", "vaultgemma", "olmo3", "exaone4")
    },
    **{
        family: {"model_type": family, "pad_token_id": 0, **LLAMA, "head_dim": 8}
        for family in ("glm", "glm4", "ernie4_5", "seed_oss", "helium", "hunyuan_v1_dense")
    },
    "nemotron": {"model_type": "nemotron", **LAYER_NORM, "norm_eps": 1e-3},
    "ministral": {"model_type": "ministral", **LLAMA, "head_dim": 8, "sliding_window": 3},
    "granitemoehybrid": {
        **{"model_type": "granitemoehybrid", "pad_token_id": 0, **LLAMA, "num_local_experts": 0},
        **{"shared_intermediate_size": 24, "layer_types": ["attention"] * 2},
        **{"position_embedding_type": "rope", "mamba_n_heads": 4},
    },
    "biogpt": {
        **{"model_type": "biogpt", "vocab_size": 40, "max_position_embeddings": 16},
        **{"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
        **{"intermediate_size": 48, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1},
    },
    "smollm3": {
        **{"model_type": "smollm3", "pad_token_id": 0, **LLAMA},
        **{"num_hidden_layers": 4, "no_rope_layer_interval": 2},
    },
    "olmoe": {
        **{"model_type": "olmoe", "pad_token_id": 0, **LLAMA, "num_experts": 3},
        "num_experts_per_tok": 2,
    },
    "mixtral": {"model_type": "mixtral", **LLAMA, "num_local_experts": 3},
    "gpt_oss": {
        **{"model_type": "gpt_oss", **LLAMA, "intermediate_size": 64, "num_local_experts": 3},
        **{"num_experts_per_tok": 2, "head_dim": 8, "sliding_window": 3},
    },
    "qwen2_moe": {
        **{"model_type": "qwen2_moe", **LLAMA, "num_experts": 3, "moe_intermediate_size": 24},
        **{"num_experts_per_tok": 2, "shared_expert_intermediate_size": 20},
    },
    "qwen3_moe": {
        **{"model_type": "qwen3_moe", **LLAMA, "num_experts": 3, "moe_intermediate_size": 24},
        **{"num_experts_per_tok": 2, "head_dim": 8},
    },
    "qwen3_next": {
        **{"model_type": "qwen3_next", **LLAMA, "num_experts": 3, "moe_intermediate_size": 24},
        **{"num_experts_per_tok": 2, "shared_expert_intermediate_size": 20, "head_dim": 8},
        **{"num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4},
        **{"linear_key_head_dim": 6, "linear_value_head_dim": 5, "linear_conv_kernel_dim": 3},
        "layer_types": ["full_attention", "full_attention", "linear_attention", "linear_attention"],
    },
}
TOLERANCE = 1e-6
"""Relative; transformers computes the angles of rotary positions in float32."""
ROUNDS_MORE = {"gpt_oss": 10, "qwen3_next": 10}
"""How much larger the difference may be; with norms in float64, it is 100 times smaller.

Qwen3-Next computes its states in float32; in float64, the difference is below 1e-14.
"""

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
DELTA = "linear_attention"

ACTIVATIONS = (
    *("gelu", "gelu_python", "gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast"),
    *("gelu_accurate", "silu", "swish", "relu", "tanh", "mish", "relu6", "gelu_10", "quick_gelu"),
)
EARLIER: Json = {
    **{"xla_device": None, "output_past": True, "eos_token_ids": None, "num_labels": 1},
    **{"pruned_heads": {}, "finetuning_task": None, "torchscript": False, "use_bfloat16": False},
    **{"is_decoder": False, "do_sample": False, "num_beams": 1, "custom_pipelines": {}},
    **{"attention_probs_dropout_prob": 0.1, "ffn_dropout": 0.1, "tf_legacy_loss": False},
}
"""What transformers 2 to 4 and programs of those years wrote."""
LATER: Json = {
    **{"dtype": "float32", "_attn_implementation_internal": None, "base_model_tp_plan": None},
    **{"auto_map": {"AutoModelForCausalLM": "modeling.Model"}, "num_nextn_predict_layers": 0},
    **{"max_window_layers": 28, "use_mrope": False, "qk_layernorm": False, "bias": False},
}
OF_ALL: tuple[Json, ...] = (
    EARLIER,
    LATER,
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
    *({"activation_function": name} for name in ACTIVATIONS),
    {"n_inner": 24},
    {"n_head": 1},
    {"n_head": 3},
    *({"layer_norm_epsilon": said} for said in (0.1, 0.0)),
    {"scale_attn_weights": False},
    {"scale_attn_by_inverse_layer_idx": True},
    {"num_hidden_layers": 2, "hidden_size": 32},
    {"num_hidden_layers": 2, "n_layer": MISSING, "num_attention_heads": 4, "n_head": MISSING},
    {"num_hidden_layers": 1},
    {"n_ctx": 4, "summary_type": "first", "resid_pdrop": 0.5},
    {"n_positions": 4},
)
OF_SHARE = tuple({"partial_rotary_factor": said} for said in (0.25, 0.75, 1.0, 2 / 3))
OF_GPT_J: tuple[Json, ...] = (
    *(change for change in OF_GPT2 if "n_head" not in change),
    *({"rotary_dim": said} for said in (1, 2, 6, 8, 9, None)),
    {"n_head": 8},
)
OF_GPT_NEO: tuple[Json, ...] = (
    *({"activation_function": name} for name in ("gelu", "relu", "silu", "gelu_fast", "tanh")),
    *({"window_size": said} for said in (1, 2, 8)),
    {"attention_types": [[["local"], 2]]},
    {"attention_types": [[["global"], 1], [["local"], 1]]},
    {"attention_types": [[["global", "local"], 2]]},
    {"attention_types": [[["global", "other"], 1]]},
    {"attention_types": None},
    {"intermediate_size": 24},
    {"layer_norm_epsilon": 0.1},
    {"num_heads": 3},
    {"num_hidden_layers": 2, "num_attention_heads": 4},
    {"max_position_embeddings": 4},
)
OF_MPT: tuple[Json, ...] = (
    *({"n_heads": heads, "d_model": 8 * heads} for heads in (1, 3, 4, 6)),
    *({"attn_config": {"alibi_bias_max": said}} for said in (4, 8)),
    {"attn_config": {"alibi": False}},
    {"attn_config": {"clip_qkv": 0.5}},
    {"attn_config": {"softmax_scale": 0.5}},
    {"attn_config": {"qk_ln": True, "attn_type": "multiquery_attention"}},
    {"attn_config": {"attn_impl": "torch", "attn_pdrop": 0}},
    {"attn_config": None},
    {"expansion_ratio": 2},
    {"logit_scale": 2.0},
    {"no_bias": False},
    {"norm_type": "layernorm"},
    {"layer_norm_epsilon": 0.1},
    {"max_seq_len": 4},
    {"learned_pos_emb": False, "resid_pdrop": 0.5, "init_device": "cpu"},
)
OF_BLOOM: tuple[Json, ...] = (
    *({"n_head": heads, "hidden_size": 8 * heads} for heads in (1, 3, 6)),
    *({"n_embed": said} for said in (32, 16)),
    {"n_head": 3},
    {"apply_residual_connection_post_layernorm": True},
    *({"slow_but_exact": True, "pretraining_tp": said} for said in (1, 2)),
    {"n_inner": 24, "offset_alibi": 100, "skip_bias_add": True, "seq_length": 4},
    {"layer_norm_epsilon": 0.1},
    {"num_hidden_layers": 2, "num_attention_heads": 4},
)
OF_NEWER_FALCON: tuple[Json, ...] = (
    {},
    *({"num_kv_heads": number} for number in (1, 2, None)),
    {"num_kv_heads": 2, "num_ln_in_parallel_attn": 1, "bias": True},
    *({"num_ln_in_parallel_attn": number} for number in (2, 3)),
    {"num_kv_heads": 2, "multi_query": False, "rope_theta": 50.0},
    {"parallel_attn": False},
)
OF_FALCON: tuple[Json, ...] = (
    *({"activation": name} for name in ("gelu_new", "relu", "tanh")),
    *({"parallel_attn": said} for said in (True, False)),
    *({"multi_query": said} for said in (True, False)),
    *({"bias": said} for said in (True, False)),
    {"parallel_attn": False, "multi_query": False, "bias": True},
    *({"new_decoder_architecture": True, **said} for said in OF_NEWER_FALCON),
    {"num_ln_in_parallel_attn": 1},
    {"num_kv_heads": 4},
    {"alibi": True},
    {"ffn_hidden_size": 24},
    {"layer_norm_epsilon": 0.1},
    {"rope_theta": 50.0},
    {"rope_scaling": OLDER, "rope_theta": 50.0},
    {"head_dim": 8},
    {"head_dim": 4},
    {"num_attention_heads": 3},
)
OF_NEOX: tuple[Json, ...] = (
    *({"hidden_act": name} for name in ("gelu_fast", "silu")),
    {"use_parallel_residual": False},
    {"rotary_pct": 0.5},
    {"rotary_pct": 1.0, "rotary_emb_base": 50},
    *(
        {"rotary_pct": share, "num_attention_heads": heads, "hidden_size": width * heads}
        for width, heads in ((6, 6), (12, 3), (5, 4), (10, 2))
        for share in (*(k / width for k in range(1, width + 1)), 0.37, 1.2)
    ),
    {"rope_parameters": {"rope_type": "default", "rope_theta": 99.0}},
    {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.75}, "rotary_pct": 0.5},
    {"rope_scaling": {"type": "linear", "factor": 2.0}},
    {"attention_bias": False},
    {"layer_norm_eps": 0.1},
    {"hidden_size": 34},
    {"num_attention_heads": 1},
    {"classifier_dropout": 0.5, "max_position_embeddings": 4},
)
OF_OPT: tuple[Json, ...] = (
    *({"activation_function": name} for name in ("gelu", "silu")),
    {"word_embed_proj_dim": None},
    {"do_layer_norm_before": False},
    {"_remove_final_layer_norm": True},
    {"enable_bias": False},
    {"layer_norm_elementwise_affine": False},
    {"layer_norm_eps": 0.1},
    {"word_embed_proj_dim": 16},
    {"num_attention_heads": 3},
    {"dropout": 0.5, "layerdrop": 0.5, "init_std": 1.0},
    {"max_position_embeddings": 8},
    {"max_position_embeddings": 4},
)
OF_ANY_BERT: tuple[Json, ...] = (
    *({"max_position_embeddings": said} for said in (4, 8, 9)),
    *({"pad_token_id": said} for said in (3, 8, 15, 16, 39, 40, -1, -41, None, MISSING)),
    *({"is_decoder": said} for said in (True, False)),
    {"tie_word_embeddings": None},
    {"chunk_size_feed_forward": 2},
)
OF_BERT: tuple[Json, ...] = (
    *OF_ANY_BERT,
    *({"hidden_act": name} for name in ("gelu_new", "relu", "silu", "gelu_fast", "tanh", "mish")),
    *({"type_vocab_size": said} for said in (0, 1, 3)),
    *({"position_embedding_type": said} for said in ("absolute", "relative_key")),
    *({"num_attention_heads": said} for said in (1, 3)),
    {"layer_norm_eps": 0.1},
    {"intermediate_size": 24},
    {"classifier_dropout": 0.5, "gradient_checkpointing": False, "hidden_dropout_prob": 0.5},
)
OF_DISTIL_BERT: tuple[Json, ...] = (
    *OF_ANY_BERT,
    *({"activation": name} for name in ("gelu_new", "relu", "silu", "gelu_fast", "tanh")),
    *({"n_heads": said} for said in (1, 3)),
    *({"sinusoidal_pos_embds": said} for said in (True, False)),
    {"hidden_dim": 24},
    {"layer_norm_eps": 0.1},
    {"qa_dropout": 0.5, "seq_classif_dropout": 0.5, "tie_weights_": True},
    {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2},
    {"dim": MISSING, "hidden_size": 32},
)
OF_BIO_GPT: tuple[Json, ...] = (
    *({"hidden_act": name} for name in ("gelu_new", "relu", "tanh")),
    *({"scale_embedding": said} for said in (True, False)),
    *({"max_position_embeddings": said} for said in (4, 8)),
    {"layer_norm_eps": 0.1},
    {"num_attention_heads": 3},
    {"intermediate_size": 24},
    {"layerdrop": 0.5, "activation_dropout": 0.5},
)
OF_GEMMAS: tuple[Json, ...] = (
    *({"hidden_activation": name, "hidden_act": "relu"} for name in ("gelu", "silu")),
    {"sliding_window_size": 3},
    {"sliding_window_size": 4},
    *({"query_pre_attn_scalar": said} for said in (8, 4, None)),
    *({"attn_logit_softcapping": said} for said in (0.5, None)),
    *({"final_logit_softcapping": said} for said in (5.0, None)),
    *({"layer_types": kinds} for kinds in ([FULL] * 2, [SLIDING] * 2, [FULL, SLIDING], [FULL])),
    *({"sliding_window": said} for said in (1, 5, None)),
    {"rope_theta": 50.0},
    *({"use_bidirectional_attention": said} for said in (True, False)),
    {"attention_bias": True},
    {"head_dim": None},
    {"head_dim": 6},
    {"num_key_value_heads": 4},
    {"cache_implementation": "hybrid"},
)
OF_GEMMA_3: tuple[Json, ...] = (
    *OF_GEMMAS,
    *({"sliding_window_pattern": said} for said in (2, 3)),
    {"rope_local_base_freq": 7.0},
    {"rope_theta": 50.0, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    {
        "rope_parameters": {
            FULL: {"rope_type": "linear", "factor": 8.0, "rope_theta": 50.0},
            SLIDING: {"rope_type": "default", "rope_theta": 7.0},
        }
    },
)
OF_SMOLLM3: tuple[Json, ...] = (
    *({"no_rope_layer_interval": said} for said in (1, 3, 4)),
    *({"no_rope_layers": said} for said in ([1, 0, 1, 0], [0] * 4, [1] * 4, [1], None)),
    {"use_sliding_window": True, "sliding_window": 3},
    {"sliding_window": 3},
    {"layer_types": [FULL] * 4},
    {"rope_theta": 50.0},
    {"attention_bias": True},
    {"mlp_bias": True},
)
CODES: Json = {
    **{"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]},
}
OF_GPT_OSS: tuple[Json, ...] = (
    {"quantization_config": CODES},
    {"quantization_config": {"quant_method": "mxfp4", "dequantize": True}},
    {"quantization_config": {"quant_method": "mxfp4", "bits": 4}},
    {"quantization_config": {}},
    *({"layer_types": kinds} for kinds in ([FULL] * 2, [SLIDING] * 2, [FULL, SLIDING], [FULL])),
    *({"sliding_window": said} for said in (1, 8, None)),
    {"sliding_window": None, "layer_types": [FULL] * 2},
    *({"swiglu_limit": said} for said in (0.5, 2.0, 7, None)),
    *({"swiglu_alpha": said} for said in (0.5, 1.0, None)),
    {"attention_bias": False},
    *({"head_dim": said} for said in (6, None)),
    *({"num_key_value_heads": said} for said in (1, 3, 4, None)),
    {"hidden_size": 34},
    *({"rope_parameters": said} for said in (None, {}, DEFAULT, LINEAR, YARN)),
    *({"rope_scaling": {**YARN, "truncate": said}, "rope_theta": 50} for said in (True, False)),
    {"rope_scaling": None, "rope_theta": 50.0},
    {"experts_per_token": 2, "initial_context_length": 4096},
)
OF_EXPERTS: tuple[Json, ...] = (
    *({"num_experts_per_tok": top} for top in (1, 3, 4)),
    *({"num_experts": 1, "num_local_experts": 1, "num_experts_per_tok": top} for top in (1, 2)),
    *({"norm_topk_prob": said} for said in (True, False)),
    *({"mlp_only_layers": said} for said in (None, [], [0])),
    {"decoder_sparse_step": 2},
    {"clip_qkv": 0.5},
    {"output_router_logits": True, "router_aux_loss_coef": 0.5, "router_jitter_noise": 0.0},
    {"attention_bias": True},
    {"head_dim": MISSING},
    {"sliding_window": 3},
    {"sliding_window": 3, "use_sliding_window": True},
    {"hidden_act": "gelu"},
    {"rope_theta": 50.0},
)
OF_THE_OTHERS: tuple[Json, ...] = (
    *({"hidden_act": name, "hidden_activation": "gelu"} for name in ("gelu", "silu", "relu2")),
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
    {"rope_scaling": {**OLDER, "finetuned": True}},
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
EXTRA: Mapping[str, tuple[Json, ...]] = {
    "gptj": ({"n_head": 1}, {"n_head": 2}),
    "gpt_bigcode": ({"multi_query": False}, {"multi_query": True, "n_head": 1}),
    "phi": ({"qk_layernorm": True}, *OF_SHARE),
    "stablelm": (
        *({key: True} for key in ("use_qkv_bias", "qk_layernorm", "use_parallel_residual")),
        {"use_qkv_bias": True, "use_parallel_residual": True, "num_key_value_heads": 4},
        *OF_SHARE,
    ),
    "cohere": ({"use_qk_norm": True}, {"logit_scale": 0.25}),
    "cohere2": (
        {"logit_scale": 0.25},
        *({"sliding_window_pattern": said} for said in (1, 2, 3)),
        {"sliding_window": 1},
    ),
    "exaone4": tuple({"sliding_window_pattern": said} for said in (1, 2, 3, "LG")),
    "olmo": ({"clip_qkv": 0.5},),
    "granitemoehybrid": (
        {"num_local_experts": 2},
        {"layer_types": ["attention", "mamba"]},
        {"layer_types": MISSING},
        {"layer_types": MISSING, "layers_block_type": ["attention"] * 2},
        {"position_embedding_type": None},
        {"position_embedding_type": MISSING},
        {"embedding_multiplier": 12, "logits_scaling": 3},
    ),
    "starcoder2": ({"use_bias": False}, {"residual_dropout": 0.0}),
    "ernie4_5": ({"use_bias": True}, {"head_dim": MISSING}),
    "seed_oss": (
        *({"attention_bias": said} for said in (True, False)),
        {"attention_out_bias": True, "mlp_bias": True},
    ),
    "glm": ({"attention_bias": False}, *OF_SHARE),
    "glm4": ({"attention_bias": False}, *OF_SHARE),
    "helium": ({"attention_bias": True, "mlp_bias": True},),
    "qwen2_moe": (
        *({"shared_expert_intermediate_size": said} for said in (24, 7, 0)),
        *(
            {"sliding_window": 3, "use_sliding_window": use, "max_window_layers": said}
            for use in (True, False)
            for said in (0, 1, 2)
        ),
        {"sliding_window": 3, "use_sliding_window": True, "layer_types": [FULL, SLIDING]},
        {"qkv_bias": False},
        {"layer_types": [FULL, FULL]},
    ),
    "qwen3_next": (
        *({"linear_num_value_heads": said} for said in (2, 3, 6, None)),
        *({"linear_num_key_heads": said} for said in (1, 4)),
        *({"linear_conv_kernel_dim": said} for said in (1, 2, 4)),
        *({"linear_key_head_dim": said} for said in (1, 8)),
        {"linear_value_head_dim": 8},
        *({"full_attention_interval": said, "layer_types": MISSING} for said in (1, 2, 4, 5)),
        *(
            {"layer_types": [FULL if n in full else DELTA for n in range(4)]}
            for full in ([], [0, 2])
        ),
        *({"layer_types": kinds} for kinds in ([FULL] * 4, [FULL, SLIDING] * 2, [DELTA, FULL])),
        {"layer_types": [DELTA, FULL] * 2, "full_attention_interval": 4},
        *({"shared_expert_intermediate_size": said} for said in (24, 0)),
        *OF_SHARE,
    ),
    "arcee": ({"attention_bias": True, "mlp_bias": True},),
    "nemotron": (
        {"attention_bias": True, "mlp_bias": True},
        {"num_key_value_heads": MISSING},
        {"norm_eps": MISSING, "kv_channels": 8},
        *OF_SHARE,
    ),
    "hunyuan_v1_dense": (
        *({"use_qk_norm": said} for said in (True, False)),
        *(
            {key: {kind: "dynamic", "factor": 1.0, **alpha}, "rope_theta": 50.0}
            for key, kind in (("rope_scaling", "type"), ("rope_parameters", "rope_type"))
            for alpha in ({}, {"alpha": None}, {"alpha": 0.0}, {"alpha": 30}, {"alpha": 1000.0})
        ),
        {"rope_scaling": {"type": "dynamic", "factor": 2.0, "alpha": 3.0}, "head_dim": None},
        {"rope_scaling": {"type": "dynamic", "factor": 2.0, "alpha": 3.0}, "head_dim": 2},
        {"rope_scaling": {"type": "dynamic", "alpha": 3.0}},
        {"rope_scaling": {**LINEAR, "alpha": 3.0}},
        {
            "rope_scaling": {"type": "dynamic", "factor": 4.0, "alpha": 3.0},
            "max_position_embeddings": 4,
        },
    ),
}
"""The changes of keys that a family alone has."""
OF_GRANITE: tuple[Json, ...] = (
    *OF_THE_OTHERS,
    *({"embedding_multiplier": said} for said in (12.0, 3, None)),
    *({"attention_multiplier": said} for said in (0.015625, 0.3, None)),
    *({"residual_multiplier": said} for said in (0.22, 2, None)),
    *({"logits_scaling": said} for said in (8.0, 0.3, None)),
    {
        **{"embedding_multiplier": 12.0, "attention_multiplier": 0.0625},
        **{"residual_multiplier": 0.22, "logits_scaling": 8.0},
    },
)
CHANGES = {"gpt2": OF_GPT2, "gpt_neox": OF_NEOX, "opt": OF_OPT, "granite": OF_GRANITE}
CHANGES |= {"gptj": OF_GPT_J, "codegen": OF_GPT_J}
CHANGES |= {"gpt_bigcode": (*OF_GPT2, {"multi_query": False}, {"attention_softmax_in_fp32": False})}
CHANGES |= {"bloom": OF_BLOOM, "gpt_neo": OF_GPT_NEO, "mpt": OF_MPT, "falcon": OF_FALCON}
CHANGES |= dict.fromkeys(("bert", "camembert", "roberta", "xlm-roberta"), OF_BERT)
CHANGES |= {"distilbert": OF_DISTIL_BERT}
CHANGES |= {"biogpt": OF_BIO_GPT, "vaultgemma": OF_GEMMAS}
CHANGES |= {"gemma2": OF_GEMMAS, "gemma3_text": OF_GEMMA_3, "smollm3": OF_SMOLLM3}
CHANGES |= {
    "gpt_oss": (*OF_GPT_OSS, *OF_EXPERTS),
    "mixtral": OF_EXPERTS,
    "qwen3_moe": OF_EXPERTS,
    "qwen2_moe": OF_EXPERTS,
    "qwen3_next": OF_EXPERTS,
    "olmoe": OF_EXPERTS,
}


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


def without_model(weights: Weights, folder: Path) -> Weights:
    return {name.removeprefix("model."): weights[name] for name in weights}


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
    "no model": without_model,
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
    ("opt", "no model", True),
    *(
        (family, name, tied)
        for family in ("gpt2", "llama", "qwen2")
        for name in EDITS
        for tied in ((False, True) if name in TIED else (False,))
        if name != "no model" and (family != "gpt2" or name not in OF_LLAMA)
    ),
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
            model = of_transformers.kind_of(config).from_config(read)
            with torch.no_grad():
                for numbers in model.parameters():
                    numbers += torch.randn_like(numbers) * 0.3
    except Exception:
        return drawn(folder, BASE[config["model_type"]])
    names = model.state_dict()
    if "vision_config" in config or any(".experts." in name for name in names):
        # Their names in a file are older.
        model.save_pretrained(folder / "saved")
        saved = dict(safetensors.load_file(folder / "saved" / "model.safetensors"))
        is_coded = (config.get("quantization_config") or {}).get("quant_method") == "mxfp4"
        return coded(saved) if is_coded else saved
    tied = read.tie_word_embeddings
    held = model.state_dict().items()
    return {n: each.clone() for n, each in held if not (tied and n == "lm_head.weight")}


def coded(weights: Weights) -> Weights:
    """The weights with random codes of MXFP4 in place of the matrices of experts."""
    found = dict(weights)
    random = torch.Generator().manual_seed(1)
    for name in weights:
        if name.endswith(("gate_up_proj", "down_proj")):
            experts, columns, rows = found.pop(name).shape
            groups = (experts, rows, columns // 32)
            found[f"{name}_blocks"] = torch.randint(
                0, 256, (*groups, 16), dtype=torch.uint8, generator=random
            )
            found[f"{name}_scales"] = torch.randint(
                117, 121, groups, dtype=torch.uint8, generator=random
            )
    return found


def theirs(folder: Path) -> Any:
    """The logits; None if transformers does not compute them, and some are then not numbers."""
    try:
        found = of_transformers.logits(folder, IDS)
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
    allowed = TOLERANCE * ROUNDS_MORE.get(config["model_type"], 1)
    assert np.abs(found - expected).max() < allowed * np.abs(expected).max()
    return True, set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    return path


NOT_SUPPORTED = {
    *("use_bidirectional_attention", "mlp_only_layers"),
    *("clip_qkv", "decoder_sparse_step", "router_jitter_noise", "norm_topk_prob", "num_experts"),
    *("do_layer_norm_before", "_remove_final_layer_norm", "enable_bias", "word_embed_proj_dim"),
    *("layer_norm_elementwise_affine", "layer_norm_eps"),
    *("hidden_activation", "sliding_window_size", "multi_query"),
    *("activation_function", "hidden_act", "scale_attn_by_inverse_layer_idx"),
    *("is_causal", "add_cross_attention", "num_local_experts", "some_other_key", "mlp_bias"),
    *("attention_bias", "layer_types", "sliding_window", "use_sliding_window", "max_window_layers"),
    *("num_hidden_layers", "partial_rotary_factor", "rope_parameters.partial_rotary_factor"),
    *("rope_parameters.rope_type", "rope_scaling.rope_type"),
}
"""Keys for whose sake a configuration is refused that transformers computes."""
OF_ATTENTION = {"alibi", "attn_type", "clip_qkv", "qk_ln"}
NOT_SUPPORTED_IN = {
    "bloom": {"apply_residual_connection_post_layernorm", "n_embed", "slow_but_exact"},
    **{
        family: {"tie_word_embeddings", "position_embedding_type", "pad_token_id", "token_ids"}
        for family in ("bert", "camembert", "roberta", "xlm-roberta")
    },
    "distilbert": {"activation"},
    "cohere": {"use_qk_norm"},
    "hunyuan_v1_dense": {"use_qk_norm"},
    "falcon": {"activation", "alibi", "num_ln_in_parallel_attn"},
    "gpt_oss": {"quantization_config.bits"},
    "mpt": {
        *("no_bias", "norm_type"),
        *(f"attn_config.{key}" for key in OF_ATTENTION),
    },
    "olmo3": {f"rope_parameters.{key}" for key in (*LLAMA_3, "partial_rotary_factor")},
    "phi": {"qk_layernorm"},
    "qwen3_next": {"shared_expert_intermediate_size"},
    "stablelm": {"head_dim", "qk_layernorm"},
}
"""Those of single families."""


@pytest.mark.parametrize("family", BASE)
def test_a_configuration_is_computed_or_refused(family: str, folder: Path) -> None:
    computed = 0
    for change in (*OF_ALL, *CHANGES.get(family, OF_THE_OTHERS), *EXTRA.get(family, ())):
        config = {k: v for k, v in {**BASE[family], **change}.items() if v != MISSING}
        save(drawn(folder, config), folder / "model.safetensors")
        try:
            by_transformers, refused = check(folder, config)
            known = NOT_SUPPORTED | NOT_SUPPORTED_IN.get(family, set())
            assert not by_transformers or refused <= known
        except AssertionError as error:
            raise AssertionError(f"{family} {change}") from error
        computed += not refused
    assert computed >= 8


@pytest.mark.parametrize("family", BASE)
def test_every_key_of_transformers_is_understood_or_changes_nothing(family: str) -> None:
    whole = transformers.AutoConfig.for_model(**BASE[family]).to_dict()
    assert len(whole) > 20
    assert architecture_of(whole, "x") == architecture_of(BASE[family], "x")


@pytest.mark.parametrize("family", [name for name in FAMILIES if FAMILIES[name].rotary])
def test_a_missing_context_is_that_of_transformers(family: str) -> None:
    config = transformers.AutoConfig.for_model(family)
    assert FAMILIES[family].missing_context == getattr(config, FAMILIES[family].context)


def test_every_setting_of_generation_changes_nothing() -> None:
    settings = transformers.GenerationConfig().to_dict()
    assert len(settings) > 50
    said = {key: "x" for key in settings if key not in BASE["llama"]}
    assert architecture_of({**BASE["llama"], **said}, "x") == architecture_of(BASE["llama"], "x")


@pytest.mark.parametrize(("family", "key", "other"), [
    ("falcon", "hidden_size", "n_embed"),
    ("granitemoehybrid", "layer_types", "layers_block_type"),
])  # fmt: skip
def test_an_older_name_of_a_key_is_read(family: str, key: str, other: str, folder: Path) -> None:
    config = {other if name == key else name: value for name, value in BASE[family].items()}
    save(drawn(folder, config), folder / "model.safetensors")
    assert check(folder, config) == (True, set())


ACCEPTED = {
    *("shards", "stale shards", "a pickle", "no prefix", "no model", "another unembedding"),
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
