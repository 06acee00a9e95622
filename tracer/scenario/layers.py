"""The schema of a layer: attention, feed-forward network, norms and their weights."""

from typing import Annotated, Any, Literal, Self, TypeAlias, Union

from pydantic import (
    Discriminator,
    Field,
    GetPydanticSchema,
    Tag,
    model_validator,
)
from pydantic_core import core_schema

from tracer.formula.activations import ACTIVATIONS
from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Matrix, Names, OrNone, Row, Rows, Shape, described
from tracer.scenario.norms import Norm, Normalization
from tracer.scenario.part import keys_of_weights, scenario_parts, with_keys_of_parts

ActivationName: TypeAlias = Annotated[
    str,
    GetPydanticSchema(lambda source, handler: core_schema.literal_schema([*ACTIVATIONS, "none"])),
]
"""The name of a function of `tracer.formula.activations`, or none."""


@with_keys_of_parts
class SubLayer(Frozen):
    """What attention and the FFN share: a residual connection and a norm."""

    residual: bool = described(
        "Whether the sub-layer's input is added to its output.", "true", True
    )
    norm: OrNone[Norm] = described(
        "The norm of this sub-layer, or none. Default: the layer's.", "{epsilon: 0.00001}", None
    )
    norm_after: OrNone[Normalization] = described(
        "A norm of the sub-layer's output, before the residual connection, or none. Default: the "
        "layer's.",
        "{kind: rms_norm}",
        None,
    )


KEYS_OF_WEIGHTS = tuple(keys_of_weights().values())


def _kind_of_weights(value: Any) -> str:
    keys = {key for form in KEYS_OF_WEIGHTS for key in form.model_fields}
    has_keys = isinstance(value, dict) and not keys.isdisjoint(value)
    return fields.MAPPING if has_keys else fields.ROWS


Weights: TypeAlias = Annotated[
    Annotated[Matrix, Tag(fields.ROWS)] | Annotated[Union[KEYS_OF_WEIGHTS], Tag(fields.MAPPING)],  # type: ignore[valid-type]  # noqa: UP007
    Discriminator(_kind_of_weights),
]
"""The weights of attention and of the FFN: a matrix, or the keys of a part."""


class HeadLabels(Frozen):
    """Names of the dimensions of one head."""

    query: Names | None = described("A name for each column of W_Q.", "[asks-size, asks-age]", None)
    key: Names | None = described("A name for each column of W_K.", "[has-size, has-age]", None)
    value: Names | None = described("A name for each column of W_V.", "[size, age]", None)


QUERY, KEY, VALUE = (("labels", name) for name in HeadLabels.model_fields)


@with_keys_of_parts
class Head(Frozen):
    """One attention head: W_Q and W_K of shape (d, d_k), W_V of shape (d, d_v).

    A head that shares the keys and values of an earlier head has no W_K and W_V (grouped-query
    attention, Ainslie et al. 2023). In place of weights, queries, keys and values can be typed.
    """

    labels: HeadLabels = described(
        "Names for the columns.", "{query: [size, age]}", HeadLabels.model_construct()
    )
    W_Q: Annotated[Weights | None, Shape(("width", "d_k"), labels=QUERY)] = described(
        "Query weights: one row per feature, d_k columns.", "[[1, 0], [0, 1]]", None
    )
    W_K: Annotated[Weights | None, Shape(("source", "d_k"), labels=KEY, unless="shares")] = (
        described("Key weights: one row per feature, d_k columns.", "[[1, 0], [0, 1]]", None)
    )
    W_V: Annotated[Weights | None, Shape(("source", "d_v"), labels=VALUE, unless="shares")] = (
        described("Value weights: one row per feature, d_v columns.", "[[1, 0], [0, 1]]", None)
    )
    b_Q: Row | None = described("Query bias, one number per column of W_Q.", "[0, 0]", None)
    b_K: Row | None = described("Key bias, one number per column of W_K.", "[0, 0]", None)
    b_V: Row | None = described("Value bias, one number per column of W_V.", "[0, 0]", None)
    shares: fields.AtLeastOne | None = described(
        "The number of an earlier head; this head uses its keys and values.", "1", None
    )
    Q: Annotated[Rows | None, Shape(("tokens", "d_k"), labels=QUERY, learned=False)] = described(
        "In place of weights, if the scenario has no embeddings: the queries, one row per token.",
        "[[1, 0], [0, 1]]",
        None,
    )
    K: Annotated[
        Rows | None, Shape(("keys", "d_k"), labels=KEY, unless="shares", learned=False)
    ] = described(
        "The keys that go with Q: one row per token, in cross-attention per token of the encoder.",
        "[[1, 0], [0, 1]]",
        None,
    )
    V: Annotated[
        Rows | None, Shape(("keys", "d_v"), labels=VALUE, unless="shares", learned=False)
    ] = described("The values that go with Q: one row for each row of K.", "[[1, 0], [0, 1]]", None)

    @property
    def d_k(self) -> int:
        """The width of its queries and keys."""
        return fields.shape_of(self.W_Q if self.Q is None else self.Q)[1]


@with_keys_of_parts
class Attention(SubLayer):
    """Masked multi-head attention; W_O has one row per dimension of the concatenated heads."""

    heads: Annotated[tuple[Head, ...], Field(min_length=1)] = described(
        "The attention heads; their widths may differ.",
        "[{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1, 0], [0, 1]]}]",
    )
    W_O: Annotated[Weights | None, Shape(("concat", "out"))] = described(
        "Output weights: one row per dimension of the concatenated heads.", "[[1, 0], [0, 1]]", None
    )
    b_O: Row | None = described("Output bias, one number per column of W_O.", "[0, 0]", None)
    scale: fields.Scale = described(
        "The divisor of the dot products: sqrt, which is √d_k; a number; or none.",
        "8",
        "sqrt",
    )
    mask: fields.MaskOfLayer | None = described(
        "What a token attends to in this layer: itself and earlier tokens (causal), the last N of "
        "them (window), or all tokens (none). Default: the scenario's mask.",
        "{window: 3}",
        None,
    )


class Expert(Frozen):
    """A feed-forward network inside a sub-layer: W_1 of shape (d, d_ff), W_2 of shape (d_ff, d).

    With W_3, of shape (d, d_ff), the activation is a gate (Shazeer 2020): f(x W_1) ⊙ x W_3.
    """

    labels: Names | None = described("A name for each hidden unit.", "[unit-1, unit-2]", None)
    W_1: Annotated[Weights, Shape(("width", "hidden"), labels=("labels",))] = described(
        "Weights of the hidden layer: a row per feature.", "[[1, -1], [0, 1]]"
    )
    b_1: Row | None = described("Bias of the hidden layer, one number per unit.", "[0, 0]", None)
    W_3: Annotated[Weights | None, Shape(("width", "hidden"))] = described(
        "Weights of the values that the activation gates, of the shape of W_1.",
        "[[1, -1], [0, 1]]",
        None,
    )
    b_3: Row | None = described("Bias after W_3, one number per unit.", "[0, 0]", None)
    W_2: Annotated[Weights, Shape(("hidden", "out"))] = described(
        "Weights of the output: one row per hidden unit.", "[[1, 0], [0, 1]]"
    )
    b_2: Row | None = described("Bias of the output, one number per column of W_2.", "[0, 0]", None)
    activation: ActivationName = described("The activation function.", "relu", "relu")
    activates: Literal["hidden", "output"] = described(
        "Where to apply the activation: after W_1 (hidden) or after W_2 (output).",
        "output",
        "hidden",
    )


class FFN(Expert, SubLayer):
    """The feed-forward network as a sub-layer."""


class MixtureOfExperts(SubLayer):
    """Feed-forward networks of which a router chooses some for each token (Shazeer et al. 2017).

    The output is the sum of the chosen experts' outputs, each multiplied by its weight. The weights
    are the softmax of the chosen logits (Mixtral), or with `normalize: false` the chosen entries of
    the softmax of all logits. A shared expert is added for every token (DeepSeekMoE).
    """

    router: Annotated[Matrix, Shape(("width", "experts"))] = described(
        "Router weights: one row per feature, one column per expert.", "[[1, -1], [0, 1]]"
    )
    top: fields.Count = described(
        "The number of experts for each token: those with the largest logits, of equal logits the "
        "first.",
        "1",
        2,
    )
    normalize: bool = described(
        "Whether the weights of the chosen experts add up to 1; if not, they are the chosen "
        "entries of a softmax over all experts.",
        "false",
        True,
    )
    experts: Annotated[tuple[Expert, ...], Field(min_length=1)] = described(
        "The experts, each a feed-forward network.", "[{W_1: …, W_2: …}, {W_1: …, W_2: …}]"
    )
    shared: Expert | None = described(
        "An expert whose output is added for every token.", "{W_1: …, W_2: …}", None
    )

    @model_validator(mode="before")
    @classmethod
    def _weights_in_experts(cls, value: Any) -> Any:
        own = [name for name in Expert.model_fields if isinstance(value, dict) and name in value]
        if own:
            raise ValueError(f"{own[0]} beside experts, expected it in each of the experts")
        return value


def _kind_of_ffn(value: Any) -> str:
    keys = MixtureOfExperts.model_fields.keys() - SubLayer.model_fields.keys()
    routed = isinstance(value, dict) and not keys.isdisjoint(value)
    return fields.MIXTURE if routed or isinstance(value, MixtureOfExperts) else fields.NETWORK


AnyFFN: TypeAlias = Annotated[
    Annotated[FFN, Tag(fields.NETWORK)] | Annotated[MixtureOfExperts, Tag(fields.MIXTURE)],
    Discriminator(_kind_of_ffn),
]
"""One network, or experts."""


@with_keys_of_parts
class Layer(Frozen):
    """One decoder layer; its norms apply to each sub-layer without norms of its own.

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
    ffn: AnyFFN | None = described(
        "The feed-forward network; or experts, with a router that chooses some for each token.",
        "{W_1: …, W_2: …}",
        None,
    )
    norm: OrNone[Norm] = described(
        "The norm of every sub-layer without one of its own, or none.", "{epsilon: 0.00001}", None
    )
    norm_after: OrNone[Normalization] = described(
        "The norm after every sub-layer without one of its own, before the residual connection; or "
        "none.",
        "{kind: rms_norm}",
        None,
    )

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.attention or self.cross_attention or self.ffn):
            raise ValueError("expected attention, cross_attention or ffn")
        return self

    @property
    def is_joint(self) -> bool:
        """Return whether its sub-layers read the same vectors and leave one vector together."""
        return any(part.joins(self) for part in scenario_parts() if part.joins)

    @property
    def shares_norm(self) -> bool:
        """Return whether the FFN reads what attention reads, after attention's norm if any."""
        if not (self.is_joint and self.attention and self.ffn):
            return False
        is_own = "norm" in self.attention.model_fields_set and self.norm is not None
        return not is_own and "norm" not in self.ffn.model_fields_set

    def norm_of(self, sub_layer: SubLayer) -> Norm | None:
        """Return the norm of a sub-layer: its own, which may be `none`, else the layer's."""
        if sub_layer is self.ffn and self.shares_norm:
            return None
        return sub_layer.norm if "norm" in sub_layer.model_fields_set else self.norm

    def norm_after_of(self, sub_layer: SubLayer) -> Normalization | None:
        """Return the norm of a sub-layer's output: its own, which may be `none`, or the layer's."""
        own = "norm_after" in sub_layer.model_fields_set
        return sub_layer.norm_after if own else self.norm_after


def networks(layer: Layer) -> tuple[Expert, ...]:
    """Return the FFN of a layer, or its experts; none without an FFN."""
    match layer.ffn:
        case None:
            return ()
        case MixtureOfExperts() as mixture:
            return (*mixture.experts, *([mixture.shared] if mixture.shared else []))
        case ffn:
            return (ffn,)
