"""The families of models in GGUF files: the tensors and parts of each.

They follow llama.cpp, where it differs from transformers, too. Models of Mistral and Mixtral are
called llama in these files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tracer.checkpoints.architecture import (
    Activation,
    ClampedGate,
    FactorKeys,
    NormKind,
    QueryKeyNorm,
    RotaryLayout,
)
from tracer.checkpoints.layouts import Layout, layout


@dataclass(frozen=True)
class GGUFFamily:
    """What a family's values and tensors mean; a key that nothing here names is refused."""

    norm: NormKind
    epsilon: str
    """The key of ε."""
    activation: Activation
    gated: bool
    rotary: RotaryLayout | None
    """None if positions are a table."""
    biases: str | None
    """The attention projections with biases; None if the tensors say so."""
    layout: Layout
    query_key_norm: QueryKeyNorm | None = None
    """Whether queries and keys are normalized: those of each head, or of all heads together."""
    scales_embeddings: bool = False
    """Whether the embeddings are multiplied by √d_model."""
    placement: Literal["pre"] | None = "pre"
    """Whether there are norms before the sub-layers."""
    norm_after: bool = False
    """Whether the output of each sub-layer is normalized."""
    widest: int | None = None
    """The layers of the one model whose scores are divided by √(width / heads), not by √d_k."""
    factors: FactorKeys | None = None
    """The keys of constants, of which only that of the logits must be there; None for none."""
    score_cap: tuple[str, float | None] | None = None
    logit_cap: tuple[str, float | None] | None = None
    """The keys and the defaults of soft caps; None if the family has none."""
    windows: bool = True
    """Whether a file may say a window."""
    full: int | None = None
    """Each layer whose number is a multiple of this has no window; None if all layers have one."""
    missing_window: int | None = None
    """The window if its key is missing; None for none."""
    near_base: float | None = None
    """The rotary base of layers with a window if its key is missing; None if all have the same."""
    unrotated: int | None = None
    """Each layer whose number is a multiple of this has no rotary positions."""
    rotates_if: str = ""
    """The key that says whether queries and keys are rotated; nothing if they always are."""
    rotates_part: bool = False
    """Whether only the first columns of each head may be rotated."""
    parallel: str = ""
    """The key that says whether attention and FFN read the same vectors; nothing if they do not."""
    may_route: bool = False
    """Whether a file may have experts."""
    expert_units: str = ""
    """The key of the number of units of an expert, if every file has experts."""
    normalize: bool = True
    """Whether the weights of the chosen experts add up to 1."""
    gate: ClampedGate | None = None
    """What takes the place of the activation; None if nothing does."""


def _with(others: Layout, parts: Mapping[str, str]) -> Layout:
    """Return a layout with other parts of a layer: sinks, or the gains of norms."""
    own = {
        f"layer.{part}{'' if part.endswith('sink') else '.gain'}": f"blk.{{}}.{name}.weight"
        for part, name in parts.items()
    }
    return replace(others, names={**others.names, **own})


def _drop_suffix(others: Layout, end: str) -> Layout:
    """Return a layout without the parameters whose addresses end in this way."""
    names = {key: name for key, name in others.names.items() if not key.endswith(end)}
    return replace(others, names=names)


_OF_ALL = {
    "embeddings": "token_embd",
    "final_norm.gain": "output_norm",
    "unembedding.W_U": "output",
    "layer.attention.norm.gain": "attn_norm",
    "layer.attention.W_O": "attn_output",
    "layer.ffn.norm.gain": "ffn_norm",
    "layer.ffn.W_2": "ffn_down",
}


def _layout(own: Mapping[str, str], biased: tuple[str, ...], *unused: str) -> Layout:
    """Return the layout of the tensors of every family, and of a family's own."""
    return layout({**_OF_ALL, **own}, "blk.{}.", biased, transposed=True, unused=unused)


GPT2 = GGUFFamily(
    norm="layer_norm",
    epsilon="attention.layer_norm_epsilon",
    activation="gelu_tanh",
    gated=False,
    rotary=None,
    biases="QKVOF",
    layout=_layout(
        {
            "positions": "position_embd",
            "layer.attention.W_QKV": "attn_qkv",
            "layer.ffn.W_1": "ffn_up",
        },
        ("layer.", "final_norm."),
    ),
)
LLAMA = GGUFFamily(
    norm="rms_norm",
    epsilon="attention.layer_norm_rms_epsilon",
    activation="silu",
    gated=True,
    rotary="pairs",
    biases=None,
    layout=_layout(
        {
            "layer.attention.W_Q": "attn_q",
            "layer.attention.W_K": "attn_k",
            "layer.attention.W_V": "attn_v",
            "layer.ffn.W_1": "ffn_gate",
            "layer.ffn.W_3": "ffn_up",
        },
        ("layer.attention.W",),
        "rope_freqs.weight",  # which is read with the architecture
    ),
    may_route=True,
)
GRANITE = replace(
    LLAMA,
    may_route=False,
    windows=False,
    rotates_if="rope.scaling.finetuned",
    factors=FactorKeys(
        embeddings="embedding_scale",
        scores="attention.scale",
        outputs="residual_scale",
        logits="logit_scale",
    ),
)
SMOLLM3 = replace(LLAMA, may_route=False, unrotated=4)
QWEN2 = replace(SMOLLM3, rotary="halves", unrotated=None)
QWEN3 = replace(
    QWEN2,
    query_key_norm="head",
    layout=_with(
        LLAMA.layout, {"attention.query_norm": "attn_q_norm", "attention.key_norm": "attn_k_norm"}
    ),
)
QWEN3_MOE = replace(QWEN3, expert_units="expert_feed_forward_length")
GEMMA = replace(QWEN2, activation="gelu_tanh", scales_embeddings=True)
"""These files store 1 + γ."""
GEMMA_2 = replace(
    GEMMA,
    norm_after=True,
    widest=46,
    score_cap=("attn_logit_softcapping", 50.0),
    logit_cap=("final_logit_softcapping", 30.0),
    full=2,
    missing_window=4096,
    layout=_with(
        LLAMA.layout,
        {"attention.norm_after": "post_attention_norm", "ffn.norm_after": "post_ffw_norm"},
    ),
)
GEMMA_3 = replace(
    GEMMA_2,
    query_key_norm="head",
    widest=62,
    score_cap=None,
    logit_cap=("final_logit_softcapping", None),
    full=6,
    missing_window=None,
    near_base=10000.0,
    layout=_with(
        GEMMA_2.layout, {"attention.query_norm": "attn_q_norm", "attention.key_norm": "attn_k_norm"}
    ),
)
OLMO_2 = replace(
    QWEN3,
    biases="",
    query_key_norm="heads",
    placement=None,
    norm_after=True,
    windows=False,  # those of OLMo 3, whose files have the same name
    layout=_drop_suffix(GEMMA_3.layout, ".norm.gain"),
)
OLMOE = replace(
    QWEN3_MOE,
    biases="",
    query_key_norm="heads",
    windows=False,
    expert_units="feed_forward_length",
    normalize=False,
)
GPT_OSS = replace(
    QWEN3_MOE,
    query_key_norm=None,
    full=2,
    gate=ClampedGate(1.702, 7.0),
    layout=_with(LLAMA.layout, {"ffn.norm": "post_attention_norm", "attention.sink": "attn_sinks"}),
)
GPT_NEOX = replace(
    GPT2,
    rotary="halves",
    rotates_part=True,
    parallel="use_parallel_residual",
    layout=_drop_suffix(GPT2.layout, "positions"),
)
"""llama.cpp computes GELU with tanh; the projections of all heads are side by side."""
PHI3 = replace(
    QWEN2,
    biases="",
    layout=_layout({"layer.attention.W_QKV": "attn_qkv", "layer.ffn.W_13": "ffn_up"}, ()),
)

FAMILIES: Mapping[str, GGUFFamily] = {
    "gemma": GEMMA,
    "gemma2": GEMMA_2,
    "gemma3": GEMMA_3,
    "gpt-oss": GPT_OSS,
    "gpt2": GPT2,
    "gptneox": GPT_NEOX,
    "granite": GRANITE,
    "llama": LLAMA,
    "olmo2": OLMO_2,
    "olmoe": OLMOE,
    "phi3": PHI3,
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "qwen3moe": QWEN3_MOE,
    "smollm3": SMOLLM3,
}
"""By `general.architecture`."""
