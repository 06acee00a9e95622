"""Messages for models and settings that are not supported: the parts that they need."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from textwrap import wrap

from tracer.checkpoints.settings import CheckpointSettings
from tracer.errors import MOST_CHARACTERS

EXPERTS = "a mixture of experts"
QK_NORM = "a norm of queries and keys"
PARTIAL_ROTARY = "rotary positions in part of each head"
CHUNKS = "attention within chunks"
MULTI_AXES = "rotary positions on three axes"
LATENT = "multi-head latent attention"
STATE_SPACE = "state-space layers"
GATED_LINEAR = "gated and linear attention"
LAYER_EMBEDDINGS = "embeddings of each layer"
CODES = "weights that are stored as codes"
BIASES = "biases that the family does not have"
ADAPTER = "an adapter that is not merged into the weights"
BIASED_LOGITS = "a bias of the logits"
IMAGES = "an image encoder"
SOUND = "an encoder of sound"

_FAMILIES: Mapping[str, str] = {
    LATENT: "deepseek_v2 deepseek_v3 deepseek_v32 deepseek2 glm4_moe_lite glm_moe_dsa kimi_k2 "
    "longcat_flash minicpm3 youtu",
    CHUNKS: "llama4 llama4_text",
    IMAGES: "glm4v llama4 llava_next mllama paligemma pixtral qwen3_vl_moe",
    SOUND: "qwen2_audio voxtral",
    MULTI_AXES: "glm4v qwen3_vl_moe qwen3_vl_moe_text",
    STATE_SPACE: "bamba falcon_h1 falcon_mamba jamba mamba mamba2 nemotron_h zamba zamba2",
    GATED_LINEAR: "kimi_linear minimax olmo_hybrid qwen3_5 qwen3_5_moe qwen3_5_text "
    "qwen3_5_moe_text qwen3next",
    "short convolutions": "lfm2 lfm2_moe lfm2_vl",
    "a norm of the values": "gemma3n gemma3n_text gemma4 gemma4_text",
    LAYER_EMBEDDINGS: "gemma3n gemma3n_text",
    "several residual streams": "deepseek_v4 gemma3n gemma3n_text",
    "sparse attention by an index": "deepseek_v32 deepseek_v4 glm_moe_dsa",
    "a router with sigmoid scores": "deepseek_v3 deepseek_v32 dots1 glm4_moe kimi_k2 llama4 "
    "llama4_text mimo_v2_flash minimax_m2",
    "SparseMixer routing": "phimoe",
    "an encoder with a table of positions": "bart mbart",
    "a head of masked words, which GGUF files leave out": "bert nomic-bert",
    "an activation function with its own parameters": "apertus",
    "recurrent layers": "recurrent_gemma rwkv rwkv5 rwkv6 rwkv7 xlstm",
    "relative position biases": "t5 mt5 umt5",
    "an encoder of sound with cross-attention": "whisper",
}
"""The families that need a part, by Hugging Face's `model_type` or GGUF's `general.architecture`.

A family that is not listed is described by its keys.
"""

_OWN_CODE = (
    "aquila baichuan chatglm deepseek internlm internlm2 jais mimo minicpm orion phi-msft "
    "phi3small qwen xverse yuan"
)
"""Families that no transformers has: their folders have Python files, which are not run."""
_PARTS_OF_OTHERS: Mapping[str, str] = {
    EXPERTS: "use_moe num_local_experts num_experts n_routed_experts n_shared_experts "
    "num_experts_per_tok num_experts_per_token moe_intermediate_size moe_num_experts moe_top_k "
    "moe_layer_freq decoder_sparse_step norm_topk_prob first_k_dense_replace "
    "shared_expert_intermediate_size num_shared_experts mlp_only_layers "
    "expert_count expert_used_count expert_shared_count expert_feed_forward_length",
    QK_NORM: "qk_norm use_qk_norm qk_layernorm use_qk_layernorm use_query_key_norm",
    "soft caps": "attn_logit_softcapping final_logit_softcapping attn_logit_softcap "
    "logits_soft_cap",
    "its own score scale": "query_pre_attn_scalar attention_multiplier attention_scale "
    "attention.scale",
    "a factor of the embeddings": "embedding_multiplier embedding_scale",
    "a factor of what each sub-layer adds": "residual_multiplier residual_scale",
    "a scale of the logits": "logit_scale logits_scaling",
    "embeddings times √d": "scale_embedding scale_embeddings scale_emb",
    "attention and FFN in parallel": "parallel_attn use_parallel_residual "
    "parallel_residual use_parallel_attn",
    PARTIAL_ROTARY: "rotary_pct rotary_dim rope_pct partial_rotary_factor",
    "layers without rotary positions": "no_rope_layers no_rope_layer_interval",
    "windows in some layers": "use_sliding_window sliding_window sliding_window_pattern "
    "attention_types full_attn_mod "
    "global_attn_every_n_layers attention.sliding_window attention.sliding_window_pattern",
    "rotary angles that are divided": "interpolate_factor rope_ratio",
    "layers that predict further tokens": "num_nextn_predict_layers num_mtp_layers "
    "mtp_num_hidden_layers nextn_predict_layers",
    "ALiBi positions": "alibi use_alibi attention.max_alibi_bias",
    "keys and values that all heads share": "multi_query",
    BIASES: "attention_bias mlp_bias attn_bias qkv_bias use_bias bias attention_out_bias "
    "use_qkv_bias add_bias_linear add_qkv_bias",
}
_PARTS_OF_NONE: Mapping[str, str] = {
    "rotary angles that depend on the length of the text": "rope.scaling.attn_factor "
    "rope.scaling.yarn_log_multiplier rope.scaling.yarn_ext_factor rope.scaling.yarn_attn_factor",
    MULTI_AXES: "use_mrope mrope_section rope.dimension_sections",
    CHUNKS: "attention_chunk_size",
    "attention to later tokens": "use_bidirectional_attention",
    LATENT: "kv_lora_rank q_lora_rank qk_nope_head_dim attention.kv_lora_rank",
    STATE_SPACE: "ssm_state_size mamba_d_state layers_block_type ssm.state_size",
    GATED_LINEAR: "linear_num_key_heads linear_conv_kernel_dim",
    "short convolutions": "conv_L_cache shortconv.l_cache",
    LAYER_EMBEDDINGS: "hidden_size_per_layer_input embedding_length_per_layer_input",
    "the reuse of keys and values by later layers": "num_kv_shared_layers "
    "attention.shared_kv_layers",
    IMAGES: "vision_config image_token_index",
    SOUND: "audio_config",
    CODES: "compression_config quantization",
    BIASED_LOGITS: "lm_head_bias",
    "settings of single layers": "per_layer_config",
    ADAPTER: "adapters",
    "clamped queries, keys and values": "clip_qkv attention.clamp_kqv",
}
MEANINGS: Mapping[str, str] = {
    key: f"it belongs to {part}"
    for table in (_PARTS_OF_OTHERS, _PARTS_OF_NONE)
    for part, keys in table.items()
    for key in keys.split()
}
"""What a key of a configuration belongs to, in either format."""
ONES = frozenset(
    {
        *("embedding_multiplier", "embedding_scale", "scale_emb", "logit_scale", "logits_scaling"),
        *(
            "residual_multiplier",
            "residual_scale",
            "rotary_pct",
            "rope_pct",
            "partial_rotary_factor",
        ),
        *("full_attn_mod", "interpolate_factor", "rope_ratio"),
    }
)
"""The keys among them that change nothing if they are 1."""
_TENSORS: Mapping[str, str] = {
    QK_NORM: "*q_norm.* *k_norm.* *q_layernorm.* *k_layernorm.*",
    EXPERTS: "*.experts.* *block_sparse_moe* *.shared_expert* *_exps.* *_shexp.* *ffn_gate_inp* "
    "*.mlp.gate.weight *.router.*",
    "norms of outputs": "*feedforward_layernorm* *post_attention_norm.* *post_ffw_norm.*",
    "attention sinks": "*.sinks *attn_sinks*",
    ADAPTER: "*lora_A* *lora_B* *lora_a* *lora_b*",
    CODES: "*.qweight *.qzeros *.scales *.g_idx *weight_scale* *scale_inv *.absmax *.quant_* *.SCB",
    "a head for another task than the next token": "score.* classifier.* qa_outputs.* v_head.*",
    BIASED_LOGITS: "lm_head.bias output.bias",
    IMAGES: "*vision_* *visual.*",
    BIASES: "*.bias",
}
TENSOR_MEANINGS: Mapping[str, str] = {
    pattern: part for part, patterns in _TENSORS.items() for pattern in patterns.split()
}
"""What a tensor belongs to, by a pattern of its name; the first pattern that matches counts."""


def family_of(settings: CheckpointSettings, key: str, known: Collection[str]) -> str:
    """Return the family that a file names.

    Raises:
        TracerError: it is not supported; the message names the parts that it needs.
    """
    name = settings.get(key)
    if isinstance(name, str) and name in known:
        return name
    missing = _missing(settings, name)
    if missing:
        settings.wrong(key, f"which needs {_listed(missing)}, not supported")
    elif name in _OWN_CODE.split() or settings.get("auto_map"):
        settings.wrong(key, "not supported: it brings its own code, which is not run")
    else:
        settings.wrong(key, _unknown(settings, name, known))
        for names in wrap(", ".join(known), MOST_CHARACTERS - 20):
            settings.refuse(key, f"supported are {names}")
    settings.check()
    raise AssertionError


def _missing(settings: CheckpointSettings, name: object) -> list[str]:
    """Return the parts that are missing: by the family's name, or else by its keys."""
    by_name = [part for part, families in _FAMILIES.items() if name in families.split()]
    return by_name or [
        part for part, keys in _PARTS_OF_NONE.items() if any(map(settings.get, keys.split()))
    ]


def _unknown(settings: CheckpointSettings, name: object, known: Collection[str]) -> str:
    classes = settings.get("architectures")
    if name is None and isinstance(classes, list):
        for each in classes:
            family = re.sub(r"(For[A-Z]|Model|LMHead).*", "", str(each)).lower()
            if family in known:
                return f"expected {family!r} for {each}"
    return "not known here"


def _listed(parts: list[str]) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
