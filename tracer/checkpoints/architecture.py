"""The architecture of a trained model: its family, its sizes, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from tracer.frozen import frozen

NormKind: TypeAlias = Literal["layer_norm", "rms_norm"]
Activation: TypeAlias = Literal["gelu", "gelu_tanh", "silu", "relu"]
RotaryLayout: TypeAlias = Literal["pairs", "halves"]
RotaryFactor: TypeAlias = Callable[[int, int], float]
"""Returns the factor of a pair, counted from 0, in vectors of d_k numbers."""


@frozen
class Rotary:
    """Rotary positions (Su et al. 2021) of queries and keys.

    Pair i of the token at position p, both counted from 0, is rotated by the angle
    p · base^(-2i/d_k) / factor.
    """

    base: float
    layout: RotaryLayout
    """Pair i is columns 2i and 2i + 1 (pairs), or i and i + d_k/2 (halves)."""
    factor: RotaryFactor | None
    """None if the factor is 1 for each pair."""


@frozen
class Architecture:
    """A decoder, or an encoder.

    With pre-norm (Xiong et al. 2020), there is also a final norm after the last layer.
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
    rotary: Rotary | None
    window: int | None
    """The number of tokens that each token attends to, itself included; None for all before it."""
    tied: bool
    """Whether the embeddings are also the unembedding."""
    biases: str
    """The attention projections that have biases, as letters of QKVO."""
    placement: Literal["pre", "post"] = "pre"
    """Whether the norms are before the sub-layers or after the residual connections."""
    scales_embeddings: bool = False
    """Whether the embeddings are multiplied by √d_model."""
    sinusoidal: bool = False
    """Whether positions are sines and cosines that training does not change."""
    encoder: Architecture | None = None
    """The encoder that the layers attend to; None without cross-attention."""

    @property
    def factors(self) -> tuple[float, ...] | None:
        """The factor of each pair of the rotary angles; None if all are 1."""
        factor = self.rotary and self.rotary.factor
        return tuple(factor(i, self.d_k) for i in range(self.d_k // 2)) if factor else None

    def misfits(self) -> Iterator[str]:
        """Yield the sizes that do not fit together."""
        if self.heads % self.key_heads:
            yield f"{self.heads} heads, expected a multiple of the {self.key_heads} with keys"
        if self.heads > self.width:
            yield f"{self.heads} heads, expected at most {self.width}, the width"
        if self.rotary and self.d_k % 2:
            yield f"{self.d_k} numbers per head, expected pairs of them for rotary positions"
        if self.encoder:
            yield from (f"encoder: {misfit}" for misfit in self.encoder.misfits())
