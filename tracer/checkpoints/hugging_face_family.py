"""What is declared of a family of models in Hugging Face's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tracer.checkpoints.architecture import (
    Activation,
    DeltaLayers,
    FactorKeys,
    NormKind,
    QueryKeyNorm,
    RotaryLayout,
)
from tracer.checkpoints.hugging_face_rotary import ReadTurns
from tracer.checkpoints.hugging_face_windows import ReadWindows, no_windows
from tracer.checkpoints.layouts import Layout
from tracer.checkpoints.settings import CheckpointSettings

Only: TypeAlias = Mapping[str, tuple[Any, str]]
"""Config keys with one supported value, and what other values mean."""

KEY_HEADS, HEAD_DIM = "num_key_value_heads", "head_dim"
BOTH_HEADS = f"{KEY_HEADS} {HEAD_DIM}"


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
    """This and the next key come with the value that a missing key has; None for a fixed one."""
    activation: tuple[str | None, str]
    tied: bool
    """Whether the embeddings are the unembedding if `tie_word_embeddings` is missing."""
    norm: NormKind
    gated: bool
    layout: Layout
    biases: str
    """The projections that always have biases: letters of QKVO, F for the matrices of the FFN."""
    layers: str = "num_hidden_layers"
    """This and the next keys are those of the sizes."""
    width: str = "hidden_size"
    heads: str = "num_attention_heads"
    hidden: str = "intermediate_size"
    """Nothing if the hidden size is always a multiple of the width."""
    context: str = "max_position_embeddings"
    missing_context: int = 2048
    """The context if its key is missing, with positions that are no table."""
    maybe_biases: tuple[tuple[str, str, bool], ...] = ()
    """Those that have biases if a key is true, the key, and the value that a missing key has."""
    hidden_per_width: int | None = None
    """The hidden size as a multiple of the width; None if its key must be there."""
    shares_keys: bool = False
    """Whether heads can share keys, and have a size of their own."""
    missing_key_heads: int | None = None
    """The number of heads with keys if its key is missing; None for all heads."""
    multi_query: tuple[str, bool] | None = None
    """The key of whether all heads share one key head; None if `num_key_value_heads` says it."""
    rotary: ReadTurns | None = None
    """Reads the rotary positions; None if positions are a table."""
    rotary_layout: RotaryLayout = "halves"
    rotates_pairs: bool = False
    """Whether an odd number of rotated columns is an error."""
    bounded: bool = False
    """Whether a text longer than the context is an error even with rotary positions or ALiBi."""
    alibi: bool = False
    """Whether the distance of two tokens lowers their score."""
    meant: Mapping[str, str] = field(default_factory=dict)
    """Names of activations that transformers replaces by others."""
    norm_after: bool = False
    """Whether the output of each sub-layer is normalized, too."""
    squared_divisor: tuple[str | None, float] | None = None
    """The square of the divisor of the scores; None if it is d_k."""
    score_factor: Callable[[CheckpointSettings], float | None] = lambda settings: None
    """Returns the factor of the scores; None for another divisor."""
    divides_scores: str = ""
    """The key that says whether the scores are divided by √d_k; nothing if they always are."""
    divided_by_layer: str = ""
    """The key that says whether the scores of layer n are divided by n, too."""
    factors: FactorKeys | None = None
    """The keys of constants, each 1 if its key is missing; None if the family has none."""
    score_cap: tuple[str, float | None] | None = None
    logit_cap: tuple[str, float | None] | None = None
    """The soft caps of the scores and of the logits; None if the family has none."""
    logit_factor: tuple[str, float] | None = None
    """The key of a factor of the logits; None if the family has none."""
    parallel: tuple[str, bool] | bool = False
    """Whether attention and FFN read the same vectors, or the key that says so."""
    shares_norm: bool | tuple[str, int] = False
    """Whether both then read the output of one norm, or the key and the value that say so."""
    first_position: int = 0
    """The row of the position table for the first token."""
    padding: tuple[str, int] | None = None
    """The key of the id of the token without a position, whose row in the position table is before
    those of the others; None if all tokens have positions."""
    causal: str | None = None
    """The key that says whether tokens attend to earlier tokens only, if they are not to attend to
    all; nothing if they always attend to all, and None if they never do."""
    types: tuple[str, int] | None = None
    """The key of the number of token types; None if the family has none."""
    transform: Activation | None = None
    """The activation of a hidden layer before the logits, if it is not that of the FFN."""
    experts: str = ""
    """The key of the number of experts; nothing if there are none."""
    top: tuple[str, int] = ("num_experts_per_tok", 1)
    normalize: tuple[str, bool] | None = None
    """The key of whether the weights of the chosen experts add up to 1; None if they do."""
    gate: tuple[tuple[str, float], tuple[str, float]] | None = None
    """The keys of α and of the limit of a clamped gate; None if the family has another one."""
    codes: tuple[str, Layout] | None = None
    """The `quant_method` of weights that are stored as codes, and their tensors; None if the
    weights are numbers."""
    shared: tuple[str, int] | None = None
    """The key of the hidden units of a shared expert with a gate; None if there is none."""
    windows: ReadWindows = no_windows
    """Returns the window of each layer, from the number of layers."""
    delta: Callable[[CheckpointSettings, int], DeltaLayers | None] = lambda settings, layers: None
    """Reads the layers with the gated delta rule, from the number of layers."""
    output_gate: bool = False
    """Whether the output of each head is multiplied by the sigmoid of a projection."""
    query_key_norm: QueryKeyNorm | None = None
    """Whether queries and keys are normalized: those of each head, or of all heads together."""
    normalizes_rotated: bool = False
    """Whether they are normalized after rotary positions."""
    unit_offset: bool = False
    """Whether norms multiply by 1 + γ instead of γ."""
    scales_embeddings: bool = False
    """Whether the embeddings are multiplied by √d_model."""
    missing_d_k: int | None = None
    """The size of a head if its key is missing; None for width / heads."""
    whole_heads: bool = False
    """Whether the width must be a multiple of the heads even if heads have a size of their own."""
    not_null: str = ""
    """Keys for which null is an error; for other keys, null is the default."""
    placement: Literal["pre", "post"] | None = "pre"
    """Whether the norms are before the sub-layers or after the residual connections; None for
    neither."""
    embedding_scale: tuple[str, bool] | None = None
    """The key that says whether the embeddings are multiplied by √d_model."""
    sinusoidal: bool = False
    """Whether positions are sines and cosines that training does not change."""
    encoder: EncoderKeys | None = None
    """The encoder that the decoder attends to."""
    variant: tuple[str, HuggingFaceFamily] | None = None
    """The family as which a configuration is read if a key is true."""
    check: Callable[[CheckpointSettings], None] = lambda settings: None
    """Checks keys that no other field names."""
    only: Only = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    """Other names of keys, each with the key that is read."""
    equal: Mapping[str, str] = field(default_factory=dict)
    """Keys that are supported only with the value of another key."""
    harmless: str = ""
    """Patterns of keys that change nothing in this family."""


def check_head_size(settings: CheckpointSettings) -> None:
    """Check that a head has width / heads numbers, in a family without a key for its size."""
    if settings.get(HEAD_DIM) is not None:
        usual = settings.whole("hidden_size") // settings.whole("num_attention_heads")
        settings.only(HEAD_DIM, usual, "it is the width divided by the number of heads")
