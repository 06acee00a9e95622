"""The keys of the transform before the unembedding, as BERT has it to predict masked words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from tracer.checkpoints.architecture import Architecture
from tracer.formula.activations import ACTIVATIONS
from tracer.scenario.expected import Known
from tracer.scenario.fields import Frozen, Matrix, OrNone, Row, Shape, described
from tracer.scenario.norms import Normalization
from tracer.scenario.part import ScenarioPart, ShapeChecker, keys_of
from tracer.scenario.reader import YamlPath

Function: TypeAlias = Annotated[
    str, GetPydanticSchema(lambda source, handler: literal_schema([*ACTIVATIONS]))
]


class Transform(Frozen):
    """Norm(f(y W_M + b_M)), which W_U reads in place of the output y (Devlin et al. 2019)."""

    W_M: Annotated[Matrix, Shape(("width", "read"))] = described(
        "Weights of the transform: one row per feature of the output, one column per row of W_U.",
        "[[1, 0], [0, 1]]",
    )
    b_M: Row | None = described(
        "Bias of the transform, one number per column of W_M.", "[0, 0]", None
    )
    activation: Function = described("The activation function.", "gelu", "relu")
    norm: OrNone[Normalization] = described(
        "The norm after the activation, or none.", "{epsilon: 0.00001}", None
    )


class UnembeddingKeys(Frozen):
    """The key of the unembedding."""

    transform: Transform | None = described(
        "A hidden layer between the output and W_U, as BERT has it to predict masked words.",
        "{W_M: [[1, 0], [0, 1]], norm: {}}",
        None,
    )


def check(sizes: ShapeChecker, unembedding: YamlPath, output: Known) -> Known:
    """Check the transform by the width of the output; return the width that W_U reads."""
    place: YamlPath = (*unembedding, "transform")
    if not sizes.has(*place):
        return output
    known = {"width": output}
    sizes.matrices(Transform, place, known, {"read": output.size})
    read = known["read"].size if "read" in known else None
    sizes.norm(place, "norm", read, "one per column of W_M")
    return Known(read, "one per column of W_M")


def read(unembedding: Any) -> str | None:
    """The address of what W_U reads; None without a transform."""
    own = keys_of(unembedding, UnembeddingKeys).transform
    if own is None:
        return None
    return f"unembedding.transform.{'norm' if own.norm else 'activation'}"


def trained(architecture: Architecture, norm: Mapping[str, Any]) -> Mapping[str, Any]:
    """The transform of a checkpoint, without its numbers."""
    if architecture.transform is None:
        return {}
    own = Normalization.model_construct(**norm)
    return {"transform": Transform.model_construct(activation=architecture.transform, norm=own)}


PART = ScenarioPart(
    keys={"Unembedding": UnembeddingKeys},
    unembedding=check,
    reads=read,
    trained={"Unembedding": trained},
    variants=(
        ("without the transform before W_U", UnembeddingKeys, lambda _: {"transform": None}),
        ("without b_M", Transform, lambda _: {"b_M": None}),
        ("without the norm of the transform", Transform, lambda _: {"norm": None}),
    ),
)
