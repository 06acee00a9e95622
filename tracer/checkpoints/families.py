"""Messages for models and settings that are not supported: the parts that they need."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from tracer.checkpoints.settings import CheckpointSettings

EXPERTS = "a mixture of experts"
QK_NORM = "a norm of queries and keys"
PARTIAL_ROTARY = "rotary positions in part of each head"
CHUNKS = "attention within chunks"
MULTI_AXES = "rotary positions on three axes"
LATENT = "multi-head latent attention"
STATE_SPACE = "state-space layers"
CODES = "weights that are stored as codes"
BIASES = "biases that the family does not have"
ADAPTER = "an adapter that is not merged into the weights"
BIASED_LOGITS = "a bias of the logits"
IMAGES = "an image encoder"

_FAMILIES: Mapping[str, str] = {
    LATENT: "deepseek_v2 deepseek_v3 deepseek2",
    CHUNKS: "llama4 llama4_text",
    IMAGES: "llava mistral3 qwen2_vl qwen2_5_vl",
    MULTI_AXES: "qwen2_vl qwen2_5_vl",
    STATE_SPACE: "mamba mamba2",
    "a norm of the embeddings": "bart bloom mbart",
    "token types": "bert roberta xlm-roberta",
    "a clamped gate": "gpt_oss gpt-oss",
    "the square of ReLU": "nemotron",
    "a norm of queries and keys after rotary positions": "hunyuan_v1_dense",
    "a gate of the shared expert": "qwen2_moe",
    "gated and linear attention": "qwen3_next qwen3next",
    "recurrent layers": "rwkv",
    "relative position biases": "t5 mt5",
    "an encoder of sound with cross-attention": "whisper",
}
"""The families that need a part, by Hugging Face's `model_type` or GGUF's `general.architecture`.

A family that is not listed is described by its keys.
"""

_KEYS: Mapping[str, str] = {
    EXPERTS: "num_local_experts num_experts n_routed_experts n_shared_experts num_experts_per_tok "
    "num_experts_per_token moe_intermediate_size moe_num_experts moe_top_k router_aux_loss_coef "
    "output_router_logits decoder_sparse_step norm_topk_prob first_k_dense_replace moe_layer_freq "
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
    PARTIAL_ROTARY: "rotary_pct rotary_dim rope_pct",
    "layers without rotary positions": "no_rope_layers no_rope_layer_interval",
    "windows in some layers": "use_sliding_window sliding_window_pattern attention_types "
    "global_attn_every_n_layers attention.sliding_window attention.sliding_window_pattern",
    "rotary angles that depend on the length of the text": "rope.scaling.attn_factor "
    "rope.scaling.yarn_log_multiplier rope.scaling.yarn_ext_factor rope.scaling.yarn_attn_factor",
    MULTI_AXES: "use_mrope mrope_section rope.dimension_sections",
    CHUNKS: "attention_chunk_size",
    "ALiBi positions": "alibi use_alibi attention.max_alibi_bias",
    LATENT: "kv_lora_rank q_lora_rank qk_nope_head_dim attention.kv_lora_rank",
    STATE_SPACE: "ssm_state_size mamba_d_state layers_block_type ssm.state_size",
    "multi-query attention": "multi_query",
    BIASES: "attn_bias qkv_bias use_bias bias attention_out_bias use_qkv_bias add_bias_linear",
    IMAGES: "vision_config image_token_id image_token_index",
    CODES: "compression_config quantization",
    "settings of single layers": "per_layer_config",
    ADAPTER: "adapters",
    "clamped queries, keys and values": "clip_qkv attention.clamp_kqv",
}
MEANINGS: Mapping[str, str] = {
    key: f"it belongs to {part}" for part, keys in _KEYS.items() for key in keys.split()
}
"""What a key of a configuration belongs to, in either format."""
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
    settings.wrong(key, _why(settings, name, known))
    settings.refuse(key, f"supported are {', '.join(known)}")
    settings.check()
    raise AssertionError


def _why(settings: CheckpointSettings, name: object, known: Collection[str]) -> str:
    """Say which parts are missing: by the family's name, or else by its keys."""
    missing = [part for part, families in _FAMILIES.items() if name in families.split()]
    if missing:
        return f"which needs {_listed(missing)}, not supported"
    classes = settings.get("architectures")
    if name is None and isinstance(classes, list):
        for each in classes:
            family = re.sub(r"(For[A-Z]|Model|LMHead).*", "", str(each)).lower()
            if family in known:
                return f"expected {family!r} for {each}"
    parts = [part for part, keys in _KEYS.items() if any(map(settings.get, keys.split()))]
    if parts:
        return f"not known here; its keys belong to {_listed(parts)}"
    return "not known here"


def _listed(parts: list[str]) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
