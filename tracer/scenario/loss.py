"""The loss that training lowers."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Discriminator, Tag, model_validator

from tracer.scenario import fields
from tracer.scenario.fields import ROW, ROWS, Frozen, described

Target: TypeAlias = Annotated[
    Annotated[fields.Row, Tag(ROW)] | Annotated[fields.Rows, Tag(ROWS)],
    Discriminator(fields.kind_of_rows, fields.OWN_MESSAGE, "expected a row of numbers, or rows"),
]
"""A row for each token, or one row for the last token."""


class Loss(Frozen):
    """Cross-entropy, squared error, or binary cross-entropy of the sigmoid of each logit."""

    kind: Literal["cross_entropy", "squared", "binary"] = described(
        "The cross-entropy of the correct words (cross_entropy); the squared error of the logits, "
        "or without a vocabulary of the model's output (squared); the cross-entropy of the "
        "sigmoid of each logit (binary).",
        "squared",
        "cross_entropy",
    )
    reduction: Literal["mean", "sum"] = described(
        "Whether the losses of all positions, for squared and binary of all their numbers, are "
        "averaged (mean) or added (sum).",
        "sum",
        "mean",
    )
    factor: fields.Positive = described(
        "What squared multiplies each squared error by: 0.5 for ½(ŷ - t)².", "0.5", Decimal(1)
    )
    smoothing: fields.Share = described(
        "Label smoothing ε of the cross-entropy: the target of the correct word is 1 - ε + ε/V "
        "and that of each other word ε/V, with V words (Szegedy et al. 2016).",
        "0.1",
        Decimal(0),
    )
    target: Target | None = described(
        "The correct numbers: a row for each token, or one row for the last token only. For "
        "binary, each is 0 or 1. Default for binary: 1 for the correct word and 0 otherwise.",
        "[[1, 0], [0, 1]]",
        None,
    )

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.kind == "cross_entropy" and self.target is not None:
            raise ValueError("a target of numbers goes with squared and binary only")
        if self.kind != "cross_entropy" and self.smoothing:
            raise ValueError("smoothing goes with cross_entropy only")
        if self.kind != "squared" and self.factor != 1:
            raise ValueError("a factor goes with squared only")
        if self.kind == "squared" and self.target is None:
            raise ValueError("squared needs target: [[1, 0], …]")
        if self.kind == "binary" and not all(number in (0, 1) for number in self.numbers):
            raise ValueError("each target of binary is 0 or 1")
        return self

    @property
    def numbers(self) -> Iterator[Decimal]:
        """The numbers of the target."""
        for row in self.target or ():
            yield from row if isinstance(row, tuple) else (row,)
