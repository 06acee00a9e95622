"""The keys of weights with LoRA: frozen (d, k), A (d, r), B (r, k)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Tag

from tracer.parts.quantized.scenario import Quantized
from tracer.scenario.fields import ROWS, Frozen, Matrix, Positive, Shape, described, shape_of
from tracer.scenario.part import ScenarioPart

QUANTIZED = "(Quantized)"
"""The tag of frozen weights that are quantized."""


def _kind_of_frozen(value: Any) -> str:
    keys = value if isinstance(value, dict) else ()
    is_quantized = isinstance(value, Quantized) or not Quantized.model_fields.keys().isdisjoint(
        keys
    )
    return QUANTIZED if is_quantized else ROWS


FrozenWeights: TypeAlias = Annotated[
    Annotated[Matrix, Tag(ROWS)] | Annotated[Quantized, Tag(QUANTIZED)],
    Discriminator(_kind_of_frozen),
]
"""Rows, or quantized weights, as in QLoRA."""


class Lora(Frozen):
    """Weights with LoRA (Hu et al. 2021): frozen + α / r · A B, where r is the columns of A.

    Training changes only A and B. The frozen weights can be quantized (Dettmers et al. 2023).
    """

    frozen: Annotated[FrozenWeights, Shape(("rows", "columns"), learned=False, frozen=True)] = (
        described(
            "The weights that training leaves as they are; they can be quantized, as in QLoRA.",
            "[[1, 0], [0, 1]]",
        )
    )
    A: Annotated[Matrix, Shape(("rows", "rank"))] = described(
        "One row per row of the frozen weights, r columns.", "[[1], [0.5]]"
    )
    B: Annotated[Matrix, Shape(("rank", "columns"))] = described(
        "r rows, one column per column of the frozen weights.", "[[0, 0]]"
    )
    alpha: Positive = described("α; the product A B is multiplied by α / r.", "2")

    @property
    def shape(self) -> tuple[int, ...]:
        """The rows and columns of the frozen weights, and of the sum."""
        return shape_of(self.frozen)


PART = ScenarioPart(
    weights={"frozen": Lora},
    variants=(
        ("without the factor α / r of LoRA", Lora, lambda lora: {"alpha": Decimal(len(lora.B))}),
    ),
)
