"""The schema of norms: LayerNorm and RMSNorm."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, ValidationInfo

from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Row, Shape, described


def _is_from_a_mean(deviation: str, info: ValidationInfo) -> str:
    """Refuse a sample deviation for RMSNorm, which does not subtract a mean."""
    if deviation == "sample" and info.data.get("kind") == "rms_norm":
        raise ValueError("sample goes with layer_norm only")
    return deviation


def _has_a_gain(unit_offset: bool, info: ValidationInfo) -> bool:
    """Refuse an offset of γ without γ."""
    if unit_offset and "gain" in info.data and info.data["gain"] is None:
        raise ValueError("adds 1 to γ, which is missing; expected gain: [0, 0]")
    return unit_offset


class Normalization(Frozen):
    """LayerNorm (Ba et al. 2016), (x - μ) / √(σ² + ε) · γ + β, or RMSNorm, x / √(x² + ε) · γ.

    RMSNorm (Zhang and Sennrich 2019) divides by the root of the mean square. With `unit_offset`,
    the factor is 1 + γ (Gemma, Riviere et al. 2024).
    """

    kind: Literal["layer_norm", "rms_norm"] = described(
        "LayerNorm; or RMSNorm, which divides by the root mean square without centering.",
        "rms_norm",
        "layer_norm",
    )
    deviation: Annotated[Literal["population", "sample"], AfterValidator(_is_from_a_mean)] = (
        described(
            "Whether the sum of squares is divided by the number of features n (population) or by "
            "n − 1 (sample).",
            "sample",
            "population",
        )
    )
    epsilon: fields.NotNegative = described(
        "ε, added to the variance under the square root.", "0.00001", Decimal(0)
    )
    epsilon_outside: bool = described(
        "Whether to add ε after the square root instead.", "true", False
    )
    gain: Annotated[Row | None, Shape(("width",))] = described(
        "γ, one number per feature. Default: 1.", "[1, 1]", None
    )
    unit_offset: Annotated[bool, AfterValidator(_has_a_gain)] = described(
        "Whether to multiply by 1 + γ instead of γ.", "true", False
    )
    shift: Annotated[Row | None, Shape(("width",))] = described(
        "β, one number per feature. Default: 0.", "[0, 0]", None
    )


class Norm(Normalization):
    """The norm of a sub-layer.

    After the sub-layer and its residual connection (Vaswani et al. 2017), or before the sub-layer
    (Xiong et al. 2020).
    """

    placement: Literal["post", "pre"] = described(
        "After the sub-layer and its residual connection (post), or before the sub-layer (pre).",
        "post",
        "post",
    )
