"""Models that are not supported, and the parts that they need."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from tracer.checkpoints.settings import CheckpointSettings

EXPERTS = "a mixture of experts"
QK_NORM = "a norm of queries and keys"
UNIT_OFFSET = "norms with 1 + γ"
SCALED_EMBEDDINGS = "embeddings times √d"
OUTPUT_NORMS = "norms of outputs"
POST_NORM = "norms after the residual connections"
PLAIN_LAYER_NORM = "LayerNorm without shift"
SCORE_SCALE = "its own score scale"
SOME_WINDOWS = "windows in some layers"
PARALLEL = "attention and FFN in parallel"
PARTIAL_ROTARY = "rotary positions in part of each head"
CHUNKS = "attention within chunks"
MULTI_AXES = "rotary positions on three axes"
SOME_ROTARY = "layers without rotary positions"
ROTARY_LAYER_NORM = "LayerNorm with rotary positions"
OFFSET_POSITIONS = "a position table that starts at row 2"
ALIBI = "ALiBi positions"
RELATIVE = "relative position biases"
LATENT = "multi-head latent attention"
STATE_SPACE = "state-space layers"
EMBEDDING_FACTOR = "a factor of the embeddings"
RESIDUAL_FACTOR = "a factor of what each sub-layer adds"
LOGIT_SCALE = "a scale of the logits"
FUSED = "a fused QKV matrix"
FUSED_FFN = "a fused FFN matrix"
FUSED_EXPERTS = "fused matrices of experts in one stack"
SOFT_CAPS = "soft caps"
SINKS = "attention sinks"
MULTI_QUERY = "multi-query attention"
STRETCHED = "rotary angles that depend on the length of the text"
CODES = "weights that are stored as codes"
BIASES = "biases that the family does not have"
ADAPTER = "an adapter that is not merged into the weights"
OTHER_TASK = "a head for another task than the next token"
OWN_SETTINGS = "settings of single layers"
BIASED_LOGITS = "a bias of the logits"
BIDIRECTIONAL = "attention without a causal mask"
TOKEN_TYPES = "token types"
EMBEDDING_NORM = "a norm of the embeddings"
IMAGES = "an image encoder"

Parts: TypeAlias = tuple[str, ...]

_GEMMA: Parts = (UNIT_OFFSET, SCALED_EMBEDDINGS)
_GEMMA_3: Parts = (
    *(UNIT_OFFSET, OUTPUT_NORMS, QK_NORM, SCORE_SCALE, SOME_WINDOWS),
    "two rotary bases",
)
_NEOX: Parts = (PARALLEL, PARTIAL_ROTARY, ROTARY_LAYER_NORM)
_BERT: Parts = (BIDIRECTIONAL, TOKEN_TYPES, POST_NORM)
_COHERE: Parts = (PARALLEL, PLAIN_LAYER_NORM, LOGIT_SCALE)

NEEDS: Mapping[str, Parts] = {
    "bart": (EMBEDDING_NORM, OFFSET_POSITIONS),
    "bert": _BERT,
    "bloom": (ALIBI, EMBEDDING_NORM, FUSED),
    "codegen": _NEOX,
    "cohere": _COHERE,
    "cohere2": (*_COHERE, SOME_WINDOWS, SOME_ROTARY),
    "deepseek_v2": (LATENT, EXPERTS),
    "deepseek_v3": (LATENT, EXPERTS),
    "distilbert": (BIDIRECTIONAL, POST_NORM),
    "falcon": (PARALLEL, FUSED, ROTARY_LAYER_NORM),
    "gemma3": _GEMMA_3,
    "glm": (PARTIAL_ROTARY, FUSED_FFN),
    "glm4": (PARTIAL_ROTARY, FUSED_FFN, OUTPUT_NORMS),
    "gpt_bigcode": (MULTI_QUERY,),
    "gpt_neo": (SCORE_SCALE, SOME_WINDOWS),
    "gpt_oss": (EXPERTS, SINKS, SOME_WINDOWS, "a clamped gate"),
    "gptj": _NEOX,
    "granitemoe": (EXPERTS, RESIDUAL_FACTOR, LOGIT_SCALE, FUSED_EXPERTS),
    "llama4": (IMAGES, EXPERTS, QK_NORM, SOME_ROTARY, CHUNKS),
    "llama4_text": (EXPERTS, QK_NORM, SOME_ROTARY, CHUNKS),
    "llava": (IMAGES,),
    "m2m_100": (OFFSET_POSITIONS,),
    "mamba": (STATE_SPACE,),
    "mamba2": (STATE_SPACE,),
    "mbart": (EMBEDDING_NORM, OFFSET_POSITIONS),
    "ministral": (SOME_WINDOWS,),
    "mistral3": (IMAGES,),
    "mpt": (ALIBI, PLAIN_LAYER_NORM, FUSED),
    "mt5": (RELATIVE, SCORE_SCALE),
    "nemotron": (UNIT_OFFSET, PARTIAL_ROTARY, ROTARY_LAYER_NORM, "the square of ReLU"),
    "olmo": ("LayerNorm without gain and shift",),
    "olmo3": (OUTPUT_NORMS, QK_NORM, SOME_WINDOWS),
    "phi": (*_NEOX, BIASED_LOGITS),
    "phimoe": (EXPERTS, ROTARY_LAYER_NORM),
    "qwen2_moe": (EXPERTS,),
    "qwen2_vl": (IMAGES, MULTI_AXES),
    "qwen2_5_vl": (IMAGES, MULTI_AXES),
    "qwen3_next": ("gated and linear attention", EXPERTS, QK_NORM, UNIT_OFFSET, PARTIAL_ROTARY),
    "roberta": (*_BERT, OFFSET_POSITIONS),
    "rwkv": ("recurrent layers",),
    "stablelm": (PARTIAL_ROTARY, ROTARY_LAYER_NORM),
    "starcoder2": (ROTARY_LAYER_NORM,),
    "t5": (RELATIVE, SCORE_SCALE),
    "whisper": ("an encoder of sound with cross-attention",),
    "xlm-roberta": (*_BERT, OFFSET_POSITIONS),
}
"""What is special in a model, by Hugging Face's `model_type`, from each published architecture."""

COMPUTED = frozenset(
    (
        *(EXPERTS, QK_NORM, UNIT_OFFSET, SCALED_EMBEDDINGS, OUTPUT_NORMS, POST_NORM, SCORE_SCALE),
        *(SOME_WINDOWS, PARALLEL, PARTIAL_ROTARY, SOME_ROTARY, ROTARY_LAYER_NORM, ALIBI, SINKS),
        *(OFFSET_POSITIONS, EMBEDDING_FACTOR, SOFT_CAPS, MULTI_QUERY, BIASED_LOGITS, FUSED),
        *(PLAIN_LAYER_NORM, BIDIRECTIONAL, RESIDUAL_FACTOR, LOGIT_SCALE, "two rotary bases"),
    )
)
"""Those that a scenario can have. A family that needs no others is still to be declared."""

_SAME_NAME = (
    "bert bloom cohere2 falcon glm4 gptj granitemoe llama4 mamba mamba2 mpt "
    "nemotron olmo phimoe stablelm starcoder2 t5"
)
_GGUF_NAMES: Mapping[str, str] = {
    **{name: name for name in _SAME_NAME.split()},
    **{"command-r": "cohere", "deepseek2": "deepseek_v3"},
    **{"gpt-oss": "gpt_oss", "phi2": "phi", "qwen2moe": "qwen2_moe"},
    **{"qwen3next": "qwen3_next", "starcoder": "gpt_bigcode"},
}
NOT_IN_GGUF = (UNIT_OFFSET, IMAGES, FUSED_EXPERTS)
"""Parts that these files do not need: they store 1 + γ, keep images in a separate file, and have
a stack for each matrix of the experts."""
GGUF_NEEDS: Mapping[str, Parts] = {
    gguf: tuple(part for part in NEEDS[name] if part not in NOT_IN_GGUF)
    for gguf, name in _GGUF_NAMES.items()
}
"""By `general.architecture`."""


_KEYS: Mapping[str, str] = {
    EXPERTS: "num_local_experts num_experts n_routed_experts n_shared_experts num_experts_per_tok "
    "num_experts_per_token moe_intermediate_size moe_num_experts moe_top_k router_aux_loss_coef "
    "output_router_logits decoder_sparse_step norm_topk_prob first_k_dense_replace moe_layer_freq "
    "shared_expert_intermediate_size num_shared_experts mlp_only_layers "
    "expert_count expert_used_count expert_shared_count expert_feed_forward_length",
    QK_NORM: "qk_norm use_qk_norm qk_layernorm use_qk_layernorm use_query_key_norm",
    SOFT_CAPS: "attn_logit_softcapping final_logit_softcapping attn_logit_softcap logits_soft_cap",
    SCORE_SCALE: "query_pre_attn_scalar attention_multiplier attention_scale attention.scale",
    EMBEDDING_FACTOR: "embedding_multiplier embedding_scale",
    RESIDUAL_FACTOR: "residual_multiplier residual_scale",
    LOGIT_SCALE: "logit_scale logits_scaling",
    SCALED_EMBEDDINGS: "scale_embedding scale_embeddings scale_emb",
    PARALLEL: "parallel_attn use_parallel_residual parallel_residual use_parallel_attn",
    PARTIAL_ROTARY: "rotary_pct rotary_dim rope_pct",
    SOME_ROTARY: "no_rope_layers no_rope_layer_interval",
    SOME_WINDOWS: "use_sliding_window sliding_window_pattern attention_types "
    "global_attn_every_n_layers attention.sliding_window attention.sliding_window_pattern",
    STRETCHED: "rope.scaling.attn_factor rope.scaling.yarn_log_multiplier "
    "rope.scaling.yarn_ext_factor rope.scaling.yarn_attn_factor",
    MULTI_AXES: "use_mrope mrope_section rope.dimension_sections",
    CHUNKS: "attention_chunk_size",
    ALIBI: "alibi use_alibi attention.max_alibi_bias",
    LATENT: "kv_lora_rank q_lora_rank qk_nope_head_dim attention.kv_lora_rank",
    STATE_SPACE: "ssm_state_size mamba_d_state layers_block_type ssm.state_size",
    MULTI_QUERY: "multi_query",
    BIASES: "attn_bias qkv_bias use_bias bias attention_out_bias use_qkv_bias add_bias_linear",
    IMAGES: "vision_config image_token_id image_token_index",
    CODES: "compression_config quantization",
    OWN_SETTINGS: "per_layer_config",
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
    OUTPUT_NORMS: "*feedforward_layernorm* *post_attention_norm.* *post_ffw_norm.*",
    SINKS: "*.sinks *attn_sinks*",
    ADAPTER: "*lora_A* *lora_B* *lora_a* *lora_b*",
    CODES: "*.qweight *.qzeros *.scales *.g_idx *weight_scale* *scale_inv *.absmax *.quant_* *.SCB",
    OTHER_TASK: "score.* classifier.* qa_outputs.* v_head.*",
    BIASED_LOGITS: "lm_head.bias output.bias",
    IMAGES: "*vision_* *visual.*",
    BIASES: "*.bias",
}
TENSOR_MEANINGS: Mapping[str, str] = {
    pattern: part for part, patterns in _TENSORS.items() for pattern in patterns.split()
}
"""What a tensor belongs to, by a pattern of its name; the first pattern that matches counts."""


def family_of(
    settings: CheckpointSettings, key: str, known: Collection[str], needs: Mapping[str, Parts]
) -> str:
    """Return the family that a file names.

    Raises:
        TracerError: it is not supported; the message names the parts that it needs.
    """
    name = settings.get(key)
    if isinstance(name, str) and name in known:
        return name
    why = _why(settings, name, known, needs)
    settings.wrong(key, why)
    settings.refuse(key, f"supported are {', '.join(known)}")
    settings.check()
    raise AssertionError


def _why(
    settings: CheckpointSettings, name: Any, known: Collection[str], needs: Mapping[str, Parts]
) -> str:
    """Say which parts are missing: by the family's name, by its class, or else by its keys."""
    if isinstance(name, str) and name in needs:
        return f"which {_missing(needs[name])}"
    named = settings.get("architectures")
    classes = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    for each in classes:
        family = re.sub(r"(For[A-Z]|Model|LMHead).*", "", each).lower()
        if name is None and family in known:
            return f"expected {family!r} for {each}"
        parts = next((parts for n, parts in needs.items() if n.replace("_", "") == family), None)
        if parts:
            return f"not known here; {each} {_missing(parts)}"
    parts = tuple(part for part, keys in _KEYS.items() if any(map(settings.get, keys.split())))
    if parts:
        return f"not known here; its keys belong to {_listed(parts)}"
    return "not known here"


def _missing(parts: Parts) -> str:
    """Say which of the parts that a family needs are missing."""
    missing = tuple(part for part in parts if part not in COMPUTED)
    if missing:
        return f"needs {_listed(missing)}, not supported"
    return f"has {_listed(parts)}; the names of its keys and tensors are not known"


def _listed(parts: Parts) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
