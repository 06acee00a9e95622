"""What a layer of the decoder can be: attention, feed-forward network, norms, and their weights."""

from decimal import Decimal
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, GetPydanticSchema, ValidationInfo, model_validator
from pydantic_core import core_schema

from tracer.formula.activations import ACTIVATIONS
from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Matrix, Names, OrNone, Row, described

ActivationName: TypeAlias = Annotated[
    str,
    GetPydanticSchema(lambda source, handler: core_schema.literal_schema([*ACTIVATIONS, "none"])),
]
"""The name of a function of `tracer.formula.activations`, or none."""


def _is_from_a_mean(deviation: str, info: ValidationInfo) -> str:
    """RMSNorm measures from 0: there is no deviation that a sample would make too small."""
    if deviation == "sample" and info.data.get("kind") == "rms_norm":
        raise ValueError("sample goes with layer_norm only")
    return deviation


class Normalization(Frozen):
    """LayerNorm (Ba et al. 2016), (x - μ) / √(σ² + ε) · γ + β, or RMSNorm, x / √(x² + ε) · γ.

    RMSNorm (Zhang and Sennrich 2019) divides by the root of the mean square.
    """

    kind: Literal["layer_norm", "rms_norm"] = described(
        "LayerNorm, or RMSNorm: without the mean, divided by the root of the mean square.",
        "rms_norm",
        "layer_norm",
    )
    deviation: Annotated[Literal["population", "sample"], AfterValidator(_is_from_a_mean)] = (
        described(
            "Whether σ² is the mean of the squares (population), or their sum divided by one less "
            "than they are (sample).",
            "sample",
            "population",
        )
    )
    epsilon: fields.NotNegative = described(
        "ε, added to the variance under the root.", "0.00001", Decimal(0)
    )
    epsilon_outside: bool = described(
        "Whether ε is added to the root instead, outside of it.", "true", False
    )
    gain: Row | None = described("γ, one number per feature; 1 if not given.", "[1, 1]", None)
    shift: Row | None = described("β, one number per feature; 0 if not given.", "[0, 0]", None)


class Norm(Normalization):
    """The norm of a sub-layer.

    Behind the sub-layer and its residual (Vaswani et al. 2017), or in front of the sub-layer
    (Xiong et al. 2020).
    """

    placement: Literal["post", "pre"] = described(
        "Behind the sub-layer and its residual (post), or in front of the sub-layer (pre).",
        "post",
        "post",
    )


class SubLayer(Frozen):
    """What attention and the FFN share: a residual connection and a norm."""

    residual: bool = described(
        "Whether the sub-layer's input is added to its output.", "true", True
    )
    norm: OrNone[Norm] = described(
        "The norm of this sub-layer, or none; the layer's if not given.", "{epsilon: 0.00001}", None
    )


class HeadLabels(Frozen):
    """Names of the dimensions of one head."""

    query: Names | None = described("A name for each column of W_Q.", "[asks-size, asks-age]", None)
    key: Names | None = described("A name for each column of W_K.", "[has-size, has-age]", None)
    value: Names | None = described("A name for each column of W_V.", "[size, age]", None)


class Head(Frozen):
    """One attention head: W_Q and W_K of shape (d, d_k), W_V of shape (d, d_v).

    One that shares the keys and values of an earlier head has neither W_K nor W_V (grouped-query
    attention, Ainslie et al. 2023).
    """

    labels: HeadLabels = described(
        "Names for the columns.", "{query: [size, age]}", HeadLabels.model_construct()
    )
    W_Q: Matrix = described("Query weights: one row per feature, d_k columns.", "[[1, 0], [0, 1]]")
    W_K: Matrix | None = described(
        "Key weights: one row per feature, d_k columns.", "[[1, 0], [0, 1]]", None
    )
    W_V: Matrix | None = described(
        "Value weights: one row per feature, d_v columns.", "[[1, 0], [0, 1]]", None
    )
    b_Q: Row | None = described("Query bias, one number per column of W_Q.", "[0, 0]", None)
    b_K: Row | None = described("Key bias, one number per column of W_K.", "[0, 0]", None)
    b_V: Row | None = described("Value bias, one number per column of W_V.", "[0, 0]", None)
    shares: fields.AtLeastOne | None = described(
        "The number of the earlier head whose keys and values are used.", "1", None
    )


class Attention(SubLayer):
    """Masked multi-head attention; W_O has one row per dimension of the concatenated heads."""

    heads: Annotated[tuple[Head, ...], Field(min_length=1)] = described(
        "The attention heads; their widths may differ.",
        "[{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1, 0], [0, 1]]}]",
    )
    W_O: Matrix | None = described(
        "Output weights: one row per dimension of the concatenated heads.", "[[1, 0], [0, 1]]", None
    )
    b_O: Row | None = described("Output bias, one number per column of W_O.", "[0, 0]", None)
    scale: fields.Scale = described(
        "What the dot products are divided by: sqrt, the root of d_k; a number; or none.",
        "8",
        "sqrt",
    )


class FFN(SubLayer):
    """The feed-forward network: W_1 of shape (d, d_ff), W_2 of shape (d_ff, d).

    With W_3, of shape (d, d_ff), the activation is a gate (Shazeer 2020): f(x W_1) ⊙ x W_3.
    """

    labels: Names | None = described("A name for each hidden unit.", "[unit-1, unit-2]", None)
    W_1: Matrix = described("Weights of the hidden layer: a row per feature.", "[[1, -1], [0, 1]]")
    b_1: Row | None = described("Bias of the hidden layer, one number per unit.", "[0, 0]", None)
    W_3: Matrix | None = described(
        "Weights of what the activation is a gate for: shaped as W_1.", "[[1, -1], [0, 1]]", None
    )
    b_3: Row | None = described("Bias behind W_3, one number per unit.", "[0, 0]", None)
    W_2: Matrix = described("Weights of the output: one row per hidden unit.", "[[1, 0], [0, 1]]")
    b_2: Row | None = described("Bias of the output, one number per column of W_2.", "[0, 0]", None)
    activation: ActivationName = described("What is done to each hidden number.", "relu", "relu")
    activates: Literal["hidden", "output"] = described(
        "Where the activation stands: behind W_1, or behind W_2.", "output", "hidden"
    )


class Layer(Frozen):
    """One decoder layer; `norm` holds for each sub-layer that does not have its own.

    In cross-attention W_K and W_V have one row per feature of the encoder's vectors.
    """

    attention: Attention | None = described(
        "Masked self-attention.", "{heads: [{W_Q: …, W_K: …, W_V: …}]}", None
    )
    cross_attention: Attention | None = described(
        "Attention to the encoder: W_K and W_V have one row per feature of its vectors.",
        "{heads: [{W_Q: …, W_K: …, W_V: …}]}",
        None,
    )
    ffn: FFN | None = described("The feed-forward network.", "{W_1: …, W_2: …}", None)
    norm: OrNone[Norm] = described(
        "The norm of every sub-layer without one of its own, or none.", "{epsilon: 0.00001}", None
    )

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.attention or self.cross_attention or self.ffn):
            raise ValueError("expected attention, cross_attention or ffn")
        return self

    def norm_of(self, sub_layer: SubLayer) -> Norm | None:
        """The norm of a sub-layer: its own (`none` is one too), else the layer's."""
        return sub_layer.norm if "norm" in sub_layer.model_fields_set else self.norm
