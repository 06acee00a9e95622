"""The families of models in Hugging Face's format: the config keys, tensors and parts of each.

They follow the configuration and the forward pass of each family in transformers 5.23.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from tracer.checkpoints.architecture import FactorKeys, NormKind, QueryKeyNorm
from tracer.checkpoints.families import BIASED_LOGITS
from tracer.checkpoints.hugging_face_rotary import (
    ReadTurns,
    rotary,
    rotary_by_window,
    rotary_in_some_layers,
)
from tracer.checkpoints.layouts import Layout, layout
from tracer.checkpoints.settings import CheckpointSettings

Only: TypeAlias = Mapping[str, tuple[Any, str]]
"""Config keys with one supported value, and what other values mean."""

Windows: TypeAlias = list[int | None]

FULL, SLIDING = "full_attention", "sliding_attention"
KEY_HEADS, HEAD_DIM, WINDOW = "num_key_value_heads", "head_dim", "sliding_window"


@dataclass(frozen=True)
class EncoderKeys:
    """The keys of the encoder's sizes; the other sizes are those of the decoder."""

    layers: str
    heads: str
    hidden: str


@dataclass(frozen=True)
class HuggingFaceFamily:
    """What a family's config.json and tensors mean; a key that nothing here names is refused."""

    epsilon: tuple[str | None, float]
    """This and the next key come with the value that a missing key has; None for a fixed ε."""
    activation: tuple[str, str]
    tied: bool
    """Whether the embeddings are the unembedding if `tie_word_embeddings` is missing."""
    norm: NormKind
    gated: bool
    layout: Layout
    biases: str
    """The attention projections that have biases, as letters of QKVO."""
    layers: str = "num_hidden_layers"
    """This and the next keys are those of the sizes."""
    width: str = "hidden_size"
    heads: str = "num_attention_heads"
    hidden: str = "intermediate_size"
    context: str = "max_position_embeddings"
    maybe_biases: str = ""
    """Those that have biases if `attention_bias` is true."""
    hidden_per_width: int | None = None
    """The hidden size as a multiple of the width; None if its key must be there."""
    shares_keys: bool = False
    """Whether heads can share keys, and have a size of their own."""
    missing_key_heads: int | None = None
    """The number of heads with keys if its key is missing; None for all heads."""
    rotary: ReadTurns | None = None
    """Reads the rotary positions; None if positions are a table."""
    meant: Mapping[str, str] = field(default_factory=dict)
    """Names of activations that transformers replaces by others."""
    norm_after: bool = False
    """Whether the output of each sub-layer is normalized, too."""
    squared_divisor: tuple[str, float] | None = None
    """The square of the divisor of the scores; None if it is d_k."""
    factors: FactorKeys | None = None
    """The keys of constants, each 1 if its key is missing; None if the family has none."""
    score_cap: tuple[str, float | None] | None = None
    logit_cap: tuple[str, float | None] | None = None
    """The soft caps of the scores and of the logits; None if the family has none."""
    parallel: str = ""
    """The key that says whether attention and FFN read the same vectors; nothing if they do not."""
    first_position: int = 0
    """The row of the position table for the first token."""
    experts: str = ""
    """The key of the number of experts; nothing if there are none."""
    top: tuple[str, int] = ("num_experts_per_tok", 1)
    normalize: tuple[str, bool] | None = None
    """The key of whether the weights of the chosen experts add up to 1; None if they do."""
    windows: Callable[[CheckpointSettings, int], Windows] = lambda settings, layers: [None] * layers
    """Returns the window of each layer, from the number of layers."""
    query_key_norm: QueryKeyNorm | None = None
    """Whether queries and keys are normalized: those of each head, or of all heads together."""
    unit_offset: bool = False
    """Whether norms multiply by 1 + γ instead of γ."""
    scales_embeddings: bool = False
    """Whether the embeddings are multiplied by √d_model."""
    missing_d_k: int | None = None
    """The size of a head if its key is missing; None for width / heads."""
    whole_heads: bool = False
    """Whether the width must be a multiple of the heads even if heads have a size of their own."""
    not_null: str | None = None
    """A key for which null is an error; for other keys, null is the default."""
    placement: Literal["pre", "post"] | None = "pre"
    """Whether the norms are before the sub-layers or after the residual connections; None for
    neither."""
    embedding_scale: str | None = None
    """The key that says whether the embeddings are multiplied by √d_model."""
    sinusoidal: bool = False
    """Whether positions are sines and cosines that training does not change."""
    encoder: EncoderKeys | None = None
    """The encoder that the decoder attends to."""
    only: Only = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    """Other names of keys."""
    harmless: str = ""
    """Keys that change nothing in this family."""


def _full(settings: CheckpointSettings, layers: int) -> Windows:
    """Check that no layer has a window."""
    return _by_kind(settings, [FULL] * layers, None)


def _windows_of_mistral(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.says("layer_types"):
        for key, default in ((WINDOW, 4096), (HEAD_DIM, None)):
            if settings.get(key, default) is None:
                reason = "with layer_types, transformers loads a Ministral, which needs it"
                settings.wrong(key, f"expected a whole number: {reason}")
    has_window = settings.get(WINDOW, ...) is not None
    window = settings.whole(WINDOW, 4096) if has_window else None
    return _by_kind(settings, [SLIDING if has_window else FULL] * layers, window)


def _windows_of_qwen(settings: CheckpointSettings, layers: int) -> Windows:
    """From `max_window_layers` on, a layer has a window."""
    begin = settings.whole("max_window_layers", 28, least=0)
    window = settings.get(WINDOW, 4096)
    is_used = settings.flag("use_sliding_window", False) and window is not None
    full = min(begin, layers) if is_used else layers
    window = settings.whole(WINDOW, 4096) if is_used else None
    return _by_kind(settings, [FULL] * full + [SLIDING] * (layers - full), window)


def _windows_of_qwen3_moe(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.get("mlp_only_layers"):
        settings.wrong("mlp_only_layers", "expected null or []: some layers have no experts")
    settings.get(WINDOW)
    is_used = settings.flag("use_sliding_window", False)
    return _one_for_all(settings, layers) if is_used else [None] * layers


def _one_for_all(settings: CheckpointSettings, layers: int) -> Windows:
    return [None if settings.get(WINDOW) is None else settings.whole(WINDOW)] * layers


def _windows_of_gemma(pattern: int) -> Callable[[CheckpointSettings, int], Windows]:
    """Return windows in all layers but every `pattern`th."""

    def windows(settings: CheckpointSettings, layers: int) -> Windows:
        own = settings.whole("sliding_window_pattern", pattern) if pattern > 2 else pattern
        kinds = [SLIDING if layer % own else FULL for layer in range(1, layers + 1)]
        if settings.get(WINDOW, 4096) is None:
            settings.wrong(WINDOW, "expected a whole number")
        return _by_kind(settings, kinds, settings.whole(WINDOW, 4096))

    return windows


def _windows_of_smollm3(settings: CheckpointSettings, layers: int) -> Windows:
    if settings.flag("use_sliding_window", False):
        settings.wrong("use_sliding_window", "expected false: some layers have a window")
    settings.get(WINDOW)
    return _full(settings, layers)


def _by_kind(settings: CheckpointSettings, kinds: list[str], window: int | None) -> Windows:
    """Return the window of each layer; `layer_types` says otherwise than the default `kinds`."""
    if settings.get("layer_types") is not None:
        known = (FULL, SLIDING) if window else (FULL,)
        said = settings.entries("layer_types", str, len(kinds))
        if any(kind not in known for kind in said):
            settings.wrong("layer_types", f"supported are {' and '.join(known)} here")
        kinds = said or kinds
    return [window if kind == SLIDING else None for kind in kinds]


def _with(llama: Layout, norms: Mapping[str, str]) -> Layout:
    """Return Llama's layout with a gain for each of some norms of attention."""
    own = {
        f"layer.attention.{norm}.gain": f"{llama.prefix}layers.{{}}.{name}.weight"
        for norm, name in norms.items()
    }
    return replace(llama, names={**llama.names, **own})


def _with_fused_matrices(llama: Layout, attention: str, ffn: str) -> Layout:
    """Return Llama's layout with W_Q, W_K and W_V in one matrix, and W_1 and W_3 in another."""
    layer = f"{llama.prefix}layers.{{}}."
    apart = (*(f"{kind}_{part}" for kind in "Wb" for part in "QKV"), "W_1", "W_3")
    others = {key: name for key, name in llama.names.items() if not key.endswith(apart)}
    fused = {
        "layer.attention.W_QKV": f"{layer}{attention}.weight",
        "layer.ffn.W_13": f"{layer}{ffn}.weight",
    }
    return replace(llama, names={**others, **fused})


def _with_norms_after(llama: Layout, *, before: bool = True) -> Layout:
    """Return Llama's layout with norms after each sub-layer, and maybe before (Gemma 2, OLMo 2)."""
    layer = f"{llama.prefix}layers.{{}}."
    own = {
        "attention.norm": "input_layernorm",
        "attention.norm_after": "post_attention_layernorm",
        "ffn.norm": "pre_feedforward_layernorm",
        "ffn.norm_after": "post_feedforward_layernorm",
    }
    others = {key: name for key, name in llama.names.items() if not key.endswith(".norm.gain")}
    norms = {
        f"layer.{norm}.gain": f"{layer}{name}.weight"
        for norm, name in own.items()
        if before or norm.endswith("after")
    }
    return replace(llama, names={**others, **norms})


def _with_experts(llama: Layout, router: str, experts: str, matrices: tuple[str, ...]) -> Layout:
    """Return Llama's layout with a router and experts, whose W_1, W_3 and W_2 are `matrices`."""
    layer = f"{llama.prefix}layers.{{}}."
    own = {
        f"layer.ffn.expert.{name}": f"{layer}{experts}{matrix}.weight"
        for name, matrix in zip(("W_1", "W_3", "W_2"), matrices, strict=True)
    }
    others = {key: name for key, name in llama.names.items() if ".ffn.W_" not in key}
    return replace(llama, names={**others, "layer.ffn.router": f"{layer}{router}.weight", **own})


GPT2 = HuggingFaceFamily(
    layers="n_layer",
    width="n_embd",
    heads="n_head",
    hidden="n_inner",
    context="n_positions",
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=("activation_function", "gelu_new"),
    tied=True,
    norm="layer_norm",
    gated=False,
    hidden_per_width=4,
    biases="QKVO",
    whole_heads=True,
    only={
        "scale_attn_weights": (True, "scores are not divided by √d_k"),
        "scale_attn_by_inverse_layer_idx": (False, "scores are also divided by the layer's number"),
    },
    same={
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
    harmless="n_ctx n_special predict_special_tokens reorder_and_upcast_attn resid_pdrop "
    "embd_pdrop attn_pdrop summary_type summary_use_proj summary_activation "
    "summary_proj_to_labels summary_first_dropout",
    layout=layout(
        {
            "embeddings": "wte",
            "positions": "wpe",
            "final_norm.gain": "ln_f",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "ln_1",
            "layer.attention.W_QKV": "attn.c_attn",
            "layer.attention.W_O": "attn.c_proj",
            "layer.ffn.norm.gain": "ln_2",
            "layer.ffn.W_1": "mlp.c_fc",
            "layer.ffn.W_2": "mlp.c_proj",
        },
        "h.{}.",
        ("layer.", "final_norm."),
        transposed=False,
        unused=("*.attn.bias", "*.attn.masked_bias"),
        prefix="transformer.",
    ),
)
LLAMA = HuggingFaceFamily(
    epsilon=("rms_norm_eps", 1e-6),
    activation=("hidden_act", "silu"),
    tied=False,
    norm="rms_norm",
    gated=True,
    biases="",
    maybe_biases="QKVO",
    shares_keys=True,
    rotary=rotary(),
    whole_heads=True,
    windows=_full,
    only={
        "mlp_bias": (False, "the FFN has biases"),
        "rope_interleaved": (False, "pairs of the rotary positions are adjacent columns"),
        WINDOW: (None, "tokens attend within a window"),
    },
    harmless="pretraining_tp max_sequence_length is_llama_config",
    layout=layout(
        {
            "embeddings": "embed_tokens",
            "final_norm.gain": "norm",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "input_layernorm",
            "layer.attention.W_Q": "self_attn.q_proj",
            "layer.attention.W_K": "self_attn.k_proj",
            "layer.attention.W_V": "self_attn.v_proj",
            "layer.attention.W_O": "self_attn.o_proj",
            "layer.ffn.norm.gain": "post_attention_layernorm",
            "layer.ffn.W_1": "mlp.gate_proj",
            "layer.ffn.W_3": "mlp.up_proj",
            "layer.ffn.W_2": "mlp.down_proj",
        },
        "layers.{}.",
        ("layer.attention.W",),
        transposed=True,
        unused=("*.rotary_emb.inv_freq",),
        prefix="model.",
    ),
)
_WITHOUT_WINDOW_KEY = {key: LLAMA.only[key] for key in LLAMA.only if key != WINDOW}
MISTRAL = replace(
    LLAMA,
    maybe_biases="",
    missing_key_heads=8,
    whole_heads=False,
    not_null=KEY_HEADS,
    windows=_windows_of_mistral,
    only={**_WITHOUT_WINDOW_KEY, "attention_bias": (False, "the projections have biases")},
)
QWEN2 = replace(
    MISTRAL,
    biases="QKV",
    missing_key_heads=32,
    not_null=HEAD_DIM,
    windows=_windows_of_qwen,
)
_QUERY_KEY_NORMS = {"query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"}
QWEN3 = replace(
    QWEN2,
    query_key_norm="head",
    biases="",
    maybe_biases="QKVO",
    missing_d_k=128,
    only=_WITHOUT_WINDOW_KEY,
    layout=_with(LLAMA.layout, _QUERY_KEY_NORMS),
)
GEMMA = replace(
    LLAMA,
    tied=True,
    unit_offset=True,
    scales_embeddings=True,
    activation=("hidden_act", "gelu_pytorch_tanh"),
    meant={"gelu": "gelu_pytorch_tanh"},
    missing_key_heads=16,
    missing_d_k=256,
    whole_heads=False,
    not_null=HEAD_DIM,
    only={
        **LLAMA.only,
        "use_bidirectional_attention": (None, "tokens attend to later tokens"),
    },
)
GEMMA_2 = replace(
    GEMMA,
    activation=("hidden_activation", "gelu_pytorch_tanh"),
    meant={},
    missing_key_heads=4,
    whole_heads=True,
    windows=_windows_of_gemma(2),
    norm_after=True,
    squared_divisor=("query_pre_attn_scalar", 256.0),
    score_cap=("attn_logit_softcapping", 50.0),
    logit_cap=("final_logit_softcapping", 30.0),
    only={key: GEMMA.only[key] for key in GEMMA.only if key != WINDOW},
    harmless="cache_implementation",
    layout=_with_norms_after(LLAMA.layout),
)
GEMMA_3 = replace(
    GEMMA_2,
    rotary=rotary_by_window,
    windows=_windows_of_gemma(6),
    query_key_norm="head",
    score_cap=None,
    logit_cap=("final_logit_softcapping", None),
    harmless="cache_implementation _sliding_window_pattern",
    only={
        **GEMMA_2.only,
        "use_bidirectional_attention": (False, "tokens attend to later tokens"),
        "attn_logit_softcapping": (None, "transformers does not apply it"),
    },
    layout=_with(GEMMA_2.layout, _QUERY_KEY_NORMS),
)
OLMO_2 = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    placement=None,
    norm_after=True,
    query_key_norm="heads",
    whole_heads=False,
    not_null=HEAD_DIM,
    layout=_with(
        _with_norms_after(LLAMA.layout, before=False),
        _QUERY_KEY_NORMS,
    ),
)
SMOLLM3 = replace(
    LLAMA,
    tied=True,
    missing_key_heads=4,
    rotary=rotary_in_some_layers(2e6),
    windows=_windows_of_smollm3,
    only=_WITHOUT_WINDOW_KEY,
)
GRANITE = replace(
    LLAMA,
    whole_heads=False,
    not_null=HEAD_DIM,
    factors=FactorKeys(
        embeddings="embedding_multiplier",
        scores="attention_multiplier",
        outputs="residual_multiplier",
        logits="logits_scaling",
    ),
)
MIXTRAL = replace(
    MISTRAL,
    epsilon=("rms_norm_eps", 1e-5),
    windows=_one_for_all,
    rotary=rotary(1e6),
    experts="num_local_experts",
    top=("num_experts_per_tok", 2),
    harmless="router_aux_loss_coef output_router_logits router_jitter_noise",
    layout=_with_experts(
        LLAMA.layout, "block_sparse_moe.gate", "block_sparse_moe.experts.{}.", ("w1", "w3", "w2")
    ),
)
QWEN3_MOE = replace(
    QWEN3,
    hidden="moe_intermediate_size",
    windows=_windows_of_qwen3_moe,
    missing_d_k=None,
    missing_key_heads=4,
    experts="num_experts",
    same={"num_local_experts": "num_experts"},
    top=("num_experts_per_tok", 8),
    normalize=("norm_topk_prob", False),
    only={
        **_WITHOUT_WINDOW_KEY,
        "decoder_sparse_step": (1, "only some layers have experts"),
    },
    harmless="router_aux_loss_coef output_router_logits intermediate_size max_window_layers",
    layout=_with_experts(
        QWEN3.layout, "mlp.gate", "mlp.experts.{}.", ("gate_proj", "up_proj", "down_proj")
    ),
)
OLMOE = replace(
    OLMO_2,
    placement="pre",
    norm_after=False,
    whole_heads=True,
    experts="num_experts",
    same={"num_local_experts": "num_experts"},
    top=("num_experts_per_tok", 8),
    normalize=("norm_topk_prob", False),
    only={**LLAMA.only, "clip_qkv": (None, "queries, keys and values are clamped")},
    harmless="router_aux_loss_coef output_router_logits",
    layout=_with_experts(
        _with(LLAMA.layout, _QUERY_KEY_NORMS),
        *("mlp.gate", "mlp.experts.{}.", ("gate_proj", "up_proj", "down_proj")),
    ),
)
PHI3 = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    maybe_biases="",
    whole_heads=False,
    not_null=HEAD_DIM,
    rotary=rotary(
        share=("partial_rotary_factor", 1.0),
        scalings=("default", "longrope"),
        older={"su": "longrope", "yarn": "longrope"},
        original=4096,
    ),
    windows=_one_for_all,
    only=_WITHOUT_WINDOW_KEY,
    harmless="resid_pdrop embd_pdrop original_max_position_embeddings",
    layout=_with_fused_matrices(LLAMA.layout, "self_attn.qkv_proj", "mlp.gate_up_proj"),
)
GPT_NEOX = HuggingFaceFamily(
    epsilon=("layer_norm_eps", 1e-5),
    activation=("hidden_act", "gelu"),
    tied=False,
    norm="layer_norm",
    gated=False,
    biases="QKVO",
    rotary=rotary(key="rotary_emb_base", share=("rotary_pct", 0.25)),
    parallel="use_parallel_residual",
    whole_heads=True,
    only={"attention_bias": (True, "the projections have no biases")},
    harmless="classifier_dropout",
    layout=layout(
        {
            "embeddings": "embed_in",
            "final_norm.gain": "final_layer_norm",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "input_layernorm",
            "layer.attention.W_QKV": "attention.query_key_value",
            "layer.attention.W_O": "attention.dense",
            "layer.ffn.norm.gain": "post_attention_layernorm",
            "layer.ffn.W_1": "mlp.dense_h_to_4h",
            "layer.ffn.W_2": "mlp.dense_4h_to_h",
        },
        "layers.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        by_head=True,
        older={"embed_out.weight": "lm_head.weight"},
        unused=("*.attention.bias", "*.attention.masked_bias", "*.rotary_emb.inv_freq"),
        prefix="gpt_neox.",
    ),
)
_OF_BART = {
    "positions": "embed_positions",
    "layer.attention.norm.gain": "self_attn_layer_norm",
    "layer.attention.W_Q": "self_attn.q_proj",
    "layer.attention.W_K": "self_attn.k_proj",
    "layer.attention.W_V": "self_attn.v_proj",
    "layer.attention.W_O": "self_attn.out_proj",
    "layer.ffn.norm.gain": "final_layer_norm",
    "layer.ffn.W_1": "fc1",
    "layer.ffn.W_2": "fc2",
}
"""The tensors of OPT and of both towers of Marian, which BART has, too."""
OPT = HuggingFaceFamily(
    hidden="ffn_dim",
    epsilon=(None, 1e-5),
    activation=("activation_function", "relu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVO",
    first_position=2,
    whole_heads=True,
    only={
        "do_layer_norm_before": (True, "norms after the residual connections"),
        "_remove_final_layer_norm": (False, "no norm after the last layer"),
        "enable_bias": (True, "matrices without biases"),
        "layer_norm_elementwise_affine": (True, "LayerNorm without gain and shift"),
    },
    same={"word_embed_proj_dim": "hidden_size"},
    harmless="dropout layerdrop init_std",
    layout=layout(
        {
            **_OF_BART,
            "embeddings": "embed_tokens",
            "final_norm.gain": "final_layer_norm",
            "unembedding.W_U": "lm_head",
        },
        "layers.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        prefix="model.decoder.",
    ),
)
_CROSS_ATTENTION = {
    "layer.cross_attention.norm.gain": "encoder_attn_layer_norm",
    "layer.cross_attention.W_Q": "encoder_attn.q_proj",
    "layer.cross_attention.W_K": "encoder_attn.k_proj",
    "layer.cross_attention.W_V": "encoder_attn.v_proj",
    "layer.cross_attention.W_O": "encoder_attn.out_proj",
}


def _names_of_marian() -> Mapping[str, str]:
    decoder = layout(
        {**_OF_BART, **_CROSS_ATTENTION},
        "layers.{}.",
        ("layer.",),
        transposed=True,
        prefix="model.decoder.",
    )
    encoder = layout(_OF_BART, "layers.{}.", ("layer.",), transposed=True, prefix="model.encoder.")
    return {
        "embeddings": "model.shared.weight",
        "unembedding.W_U": "lm_head.weight",
        "unembedding.b_U": "final_logits_bias",
        **decoder.names,
        **{f"encoder.{key}": name for key, name in encoder.names.items()},
    }


MARIAN = HuggingFaceFamily(
    layers="decoder_layers",
    width="d_model",
    heads="decoder_attention_heads",
    hidden="decoder_ffn_dim",
    epsilon=(None, 1e-5),
    activation=("activation_function", "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVO",
    whole_heads=True,
    placement="post",
    embedding_scale="scale_embedding",
    sinusoidal=True,
    encoder=EncoderKeys("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim"),
    only={
        "is_encoder_decoder": (True, "the model has no encoder"),
        "share_encoder_decoder_embeddings": (True, "the encoder has its own embeddings"),
        "tie_word_embeddings": (True, "the encoder has its own embeddings"),
        "add_bias_logits": (False, BIASED_LOGITS),
        "add_final_layer_norm": (False, "there is a norm after the last layer"),
        "normalize_before": (False, "the norms are before the sub-layers"),
        "normalize_embedding": (False, "there is a norm of the embeddings"),
        "static_position_embeddings": (True, "the positions are learned"),
    },
    same={
        "decoder_vocab_size": "vocab_size",
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    },
    harmless="dropout activation_dropout classif_dropout classifier_dropout encoder_layerdrop "
    "decoder_layerdrop init_std force_bos_token_to_be_generated extra_pos_embeddings save_step",
    layout=Layout(
        _names_of_marian(),
        transposed=True,
        prefix="model.",
        optional=("positions", "encoder.positions", "unembedding.b_U"),
        copies={
            "model.encoder.embed_tokens.weight": "model.shared.weight",
            "model.decoder.embed_tokens.weight": "model.shared.weight",
        },
    ),
)

FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "gemma": GEMMA,
    "gemma2": GEMMA_2,
    "gemma3_text": GEMMA_3,
    "gpt2": GPT2,
    "gpt_neox": GPT_NEOX,
    "granite": GRANITE,
    "llama": LLAMA,
    "marian": MARIAN,
    "mistral": MISTRAL,
    "mixtral": MIXTRAL,
    "olmo2": OLMO_2,
    "olmoe": OLMOE,
    "opt": OPT,
    "phi3": PHI3,
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "qwen3_moe": QWEN3_MOE,
    "smollm3": SMOLLM3,
}
"""By `model_type`."""
