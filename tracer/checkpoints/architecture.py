"""The architecture of a trained model: its family, its sizes, and its parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

NormKind: TypeAlias = Literal["layer_norm", "rms_norm"]
Activation: TypeAlias = Literal["gelu", "gelu_tanh", "silu", "relu", "relu_squared"]
RotaryLayout: TypeAlias = Literal["pairs", "halves"]
QueryKeyNorm: TypeAlias = Literal["head", "heads"]
RotaryScaling: TypeAlias = Mapping[str, Any]
"""How frequencies change for long texts: `kind`, and keys of `rope_parameters` in transformers."""


def columns_of_share(width: int, share: float) -> int:
    """Return how many of the columns a share is, rounded down in floats as frameworks do.

    2/3 of 12 columns, written 0.6666666666666666, are 8.
    """
    return int(width * share)


def yarn_pair(width: int, base: float, context: float, turns: float) -> float:
    """Return the pair of `width` columns that turns so often in a context (Peng et al. 2023).

    It is rarely a whole number, and need not be one of the pairs.
    """
    return width * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(base))


@dataclass(frozen=True)
class RotaryPositions:
    """Rotary positions (Su et al. 2021) of queries and keys.

    Pair i of the token at position p, both counted from 0, is rotated by the angle
    p · base^(-2i/d_k) / factor, where a scaling can change the frequency.
    """

    base: float
    layout: RotaryLayout
    """Pair i is columns 2i and 2i + 1 (pairs), or i and i + d_k/2 (halves)."""
    factors: tuple[float, ...] | None
    """None if the factor is 1 for each pair."""
    share: float = 1.0
    """The share of each head's columns that is rotated: the first of them."""
    scaling: RotaryScaling | None = None


@dataclass(frozen=True)
class FactorKeys:
    """The keys of the constants that Granite has beside Llama's parts."""

    embeddings: str
    """The key of the factor of the embeddings."""
    scores: str
    """That of the factor of the scores, instead of 1/√d_k."""
    outputs: str
    """That of the factor of what each sub-layer adds."""
    logits: str
    """That of the divisor of the logits."""


@dataclass(frozen=True)
class ClampedGate:
    """The gate of gpt-oss: min(L, g) σ(α min(L, g)) ⊙ (clamp(u, -L, L) + 1)."""

    scale: float
    """α."""
    limit: float
    """L."""


@dataclass(frozen=True)
class DeltaLayers:
    """The layers with the gated delta rule in place of a softmax (Qwen3-Next).

    A query and a key belong to several heads in a row, each with values of its own.
    """

    layers: frozenset[int]
    """Their numbers, counted from 1."""
    key_heads: int
    heads: int
    d_k: int
    d_v: int
    window: int
    """The rows of the filters that queries, keys and values are convolved with."""

    @property
    def together(self) -> int:
        """The number of heads with the same query and key."""
        return self.heads // self.key_heads


@dataclass(frozen=True)
class Architecture:
    """A decoder, or an encoder.

    There is also a final norm after the last layer, but with norms after the residual connections.
    """

    family: str
    layers: int
    width: int
    """d_model, numbers per token."""
    heads: int
    key_heads: int
    """Heads with keys and values of their own; heads / key_heads share each of them."""
    d_k: int
    """Numbers per query, key and value. A file may claim any: compare it with the tensors first."""
    hidden: int
    """d_ff, units of the FFN."""
    words: int
    """Rows of the embeddings."""
    context: int
    """The largest number of tokens that the model was trained for."""
    norm: NormKind
    epsilon: float
    """ε, added to the variance or to the mean square under the root."""
    activation: Activation
    gated: bool
    """Whether the FFN is (activation(x·W_1) ⊙ (x·W_3))·W_2."""
    rotary: RotaryPositions | None
    windows: tuple[int | None, ...]
    """For each layer, the number of tokens that each token attends to, itself included; None for
    all before it."""
    tied: bool
    """Whether the embeddings are also the unembedding."""
    biases: str
    """The projections that have biases: letters of QKVO, F for the matrices of the FFN."""
    gate: ClampedGate | None = None
    """What takes the place of the activation of a gated FFN; None if nothing does."""
    placement: Literal["pre", "post"] | None = "pre"
    """Whether the norms are before the sub-layers or after the residual connections; None for
    neither."""
    sinusoidal: bool = False
    """Whether positions are sines and cosines that training does not change."""
    encoder: Architecture | None = None
    """The encoder that the layers attend to; None without cross-attention."""
    query_key_norm: QueryKeyNorm | None = None
    """Whether queries and keys are normalized: those of each head, or of all heads together."""
    normalizes_rotated: bool = False
    """Whether they are normalized after rotary positions."""
    unit_offset: bool = False
    """Whether norms multiply by 1 + γ instead of γ."""
    scales_embeddings: bool = False
    """Whether the embeddings are multiplied by √d_model."""
    embedding_norm: bool = False
    """Whether the embeddings are normalized."""
    parallel: bool = False
    """Whether attention and FFN of a layer read the same vectors."""
    norm_after: bool = False
    """Whether the output of each sub-layer is normalized, too."""
    shares_norm: bool = False
    """Whether attention and a parallel FFN read the output of one norm."""
    alibi: bool = False
    """Whether the distance of two tokens lowers their score (Press et al. 2022)."""
    divisor: float | None = None
    """The divisor of the scores; None for √d_k."""
    divided_by_layer: bool = False
    """Whether the scores of layer n are divided by n, too."""
    embedding_factor: float | None = None
    """The factor of the embeddings, if it is not √d_model; None for none."""
    output_factor: float | None = None
    """The factor of what each sub-layer adds; None for none."""
    logit_divisor: float | None = None
    """The divisor of the logits; None for none."""
    score_cap: float | None = None
    """The soft cap of the scores."""
    logit_cap: float | None = None
    """The soft cap of the logits."""
    own_rotary: Mapping[int, RotaryPositions | None] = field(default_factory=dict)
    """The rotary positions of layers that differ from the others, counted from 1; None for none."""
    experts: int | None = None
    """The number of experts of each FFN, each with `hidden` units; None without a router."""
    top: int = 1
    """The number of experts for each token."""
    normalize: bool = True
    """Whether the weights of the chosen experts add up to 1."""
    shared: int | None = None
    """The hidden units of a shared expert with a gate; None without one."""
    first_position: int = 0
    """The row of the position table for the first token."""
    padding: int | None = None
    """The id of the token that has no position, so that no text may have it; None if all have."""
    sees_later: bool = False
    """Whether each token attends to all tokens, as in an encoder."""
    types: int | None = None
    """The number of token types; None without vectors for them."""
    transform: Activation | None = None
    """The activation of a hidden layer between the output and the logits; None without one."""
    delta: DeltaLayers | None = None
    """The layers with the gated delta rule; None without any."""
    output_gate: bool = False
    """Whether the output of each head is multiplied by the sigmoid of a projection."""
    has_images: bool = False
    """Whether it is the text half of a model that also reads images."""
    bounded: bool = False
    """Whether no text may be longer than the context even with rotary positions or ALiBi."""

    def is_delta(self, layer: int) -> bool:
        """Whether a layer, counted from 1, has the gated delta rule."""
        return self.delta is not None and layer in self.delta.layers

    def heads_of(self, layer: int) -> tuple[int, int]:
        """Return the heads of a layer, counted from 1, and those with keys of their own.

        Heads with the gated delta rule have keys of their own, of which some are equal.
        """
        if self.delta and layer in self.delta.layers:
            return self.delta.heads, self.delta.heads
        return self.heads, self.key_heads

    @property
    def window(self) -> int | None:
        """The window of all layers; None if they have none, or differ."""
        return self.windows[0] if len(set(self.windows)) == 1 else None

    @property
    def heads_with_keys(self) -> range:
        """The numbers of the heads with keys of their own: the first of those that share them."""
        return range(1, self.heads + 1, self.heads // self.key_heads)

    @property
    def rotated(self) -> int:
        """The number of each head's columns that are rotated; if it is odd, one more is."""
        return columns_of_share(self.d_k, self.rotary.share) if self.rotary else 0

    def misfits(self) -> Iterator[str]:
        """Yield the sizes that do not fit together."""
        if self.heads % self.key_heads:
            yield f"{self.heads} heads, expected a multiple of the {self.key_heads} with keys"
        if self.heads > self.width:
            yield f"{self.heads} heads, expected at most {self.width}, the width"
        if self.delta and self.delta.heads % self.delta.key_heads:
            found = f"{self.delta.heads} heads with the delta rule"
            yield f"{found}, expected a multiple of the {self.delta.key_heads} with keys"
        if self.experts and self.top > self.experts:
            yield f"{self.top} experts for each token, expected at most {self.experts}"
        if self.rotated + self.rotated % 2 > self.d_k:
            yield f"{self.rotated} of {self.d_k} numbers per head are rotated, expected pairs"
        for scaling in filter(None, (each.scaling for each in self._rotary() if each)):
            yield from self._misfits_of(scaling)
        if self.encoder:
            yield from (f"encoder: {misfit}" for misfit in self.encoder.misfits())

    def _rotary(self) -> tuple[RotaryPositions | None, ...]:
        return (self.rotary, *self.own_rotary.values())

    def _misfits_of(self, scaling: RotaryScaling) -> Iterator[str]:
        """Yield what does not fit in a scaling of the rotary positions."""
        pairs = (self.rotated + 1) // 2
        for key in ("short_factor", "long_factor"):
            if (numbers := scaling.get(key)) is not None and len(numbers) != pairs:
                yield f"{key}: {len(numbers)} numbers, expected {pairs}, one for each rotated pair"
        if scaling["kind"] == "dynamic" and self.rotated <= 2:
            yield f"{self.rotated} numbers per head are rotated, expected more for dynamic scaling"
        if scaling["kind"] == "yarn" and self.rotated % 2:  # transformers counts one pair less
            yield f"{self.rotated} numbers per head are rotated, expected pairs for YaRN"
