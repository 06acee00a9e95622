"""The schema of a feed-forward network, and of what it shares with attention."""

from typing import Annotated, Any, Literal, TypeAlias, Union

from pydantic import Discriminator, GetPydanticSchema, Tag
from pydantic_core import core_schema

from tracer.formula.activations import ACTIVATIONS
from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Matrix, Names, OrNone, Row, Shape, described
from tracer.scenario.norms import Norm, Normalization
from tracer.scenario.part import activations_of_parts, keys_of_weights, with_keys_of_parts

FunctionName: TypeAlias = Annotated[
    str,
    GetPydanticSchema(lambda source, handler: core_schema.literal_schema([*ACTIVATIONS, "none"])),
]
"""The name of a function of `tracer.formula.activations`, or none."""

ActivationName: TypeAlias = Annotated[
    str,
    GetPydanticSchema(
        lambda source, handler: core_schema.literal_schema(
            [*ACTIVATIONS, *activations_of_parts(), "none"]
        )
    ),
]
"""The same, or the name of what a part computes in its place."""


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


FORMS_OF_WEIGHTS = {f"({form.__name__})": form for form in keys_of_weights().values()}
"""The forms of keys in place of a weight matrix, by their tags."""


def _kind_of_weights(value: Any) -> str:
    """Return the tag of rows, or of the form that has one of the keys, or of a part's model."""
    for tag, form in FORMS_OF_WEIGHTS.items():
        if isinstance(value, form):
            return tag
        if isinstance(value, dict) and not form.model_fields.keys().isdisjoint(value):
            return tag
    return fields.ROWS


OTHER_FORMS = tuple(Annotated[form, Tag(tag)] for tag, form in FORMS_OF_WEIGHTS.items())

Weights: TypeAlias = Annotated[
    Annotated[Matrix, Tag(fields.ROWS)] | Union[OTHER_FORMS],  # type: ignore[valid-type]  # noqa: UP007
    Discriminator(_kind_of_weights),
]
"""The weights of attention and of the FFN: a matrix, or the keys of a part."""


@with_keys_of_parts
class Network(Frozen):
    """The keys of a feed-forward network: W_1 of shape (d, d_ff), W_2 of shape (d_ff, d)."""

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


class FFN(Network, SubLayer):
    """The feed-forward network as a sub-layer."""
