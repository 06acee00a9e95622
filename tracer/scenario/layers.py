"""The schema of a layer: attention, feed-forward network, norms and their weights."""

from typing import Annotated, Any, Self, TypeAlias, Union

from pydantic import Discriminator, Field, Tag, model_validator

from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Names, OrNone, Row, Rows, Shape, described
from tracer.scenario.networks import FFN, SubLayer, Weights
from tracer.scenario.norms import Norm, Normalization
from tracer.scenario.part import forms_of_ffn, scenario_parts, with_keys_of_parts


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


FORMS_OF_FFN = {f"({each.form.__name__})": each for each in forms_of_ffn()}
"""The forms of the FFN besides one network, by the tags that pydantic adds to their errors."""


def _kind_of_ffn(value: Any) -> str:
    for tag, each in FORMS_OF_FFN.items():
        keys = each.form.model_fields.keys() - SubLayer.model_fields.keys()
        typed = isinstance(value, dict) and not keys.isdisjoint(value)
        if typed or isinstance(value, each.form):
            return tag
    return fields.NETWORK


OTHER_FORMS = tuple(Annotated[each.form, Tag(tag)] for tag, each in FORMS_OF_FFN.items())

AnyFFN: TypeAlias = Annotated[
    Union[Annotated[FFN, Tag(fields.NETWORK)], *OTHER_FORMS],  # type: ignore[valid-type]
    Discriminator(_kind_of_ffn),
]
"""One network, or another form."""


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
        f"The feed-forward network{''.join(f'; or {each.words}' for each in forms_of_ffn())}.",
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
