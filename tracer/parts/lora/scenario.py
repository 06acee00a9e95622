"""The keys of weights with LoRA: frozen (d, k), A (d, r), B (r, k)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from tracer.scenario.fields import Frozen, Matrix, Positive, Shape, described, shape_of
from tracer.scenario.part import ScenarioPart


class Lora(Frozen):
    """Weights with LoRA (Hu et al. 2021): frozen + α / r · A B, where r is the columns of A.

    Training changes only A and B.
    """

    frozen: Annotated[Matrix, Shape(("rows", "columns"), learned=False, frozen=True)] = described(
        "The weights that training leaves as they are.", "[[1, 0], [0, 1]]"
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
