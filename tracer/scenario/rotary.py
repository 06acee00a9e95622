"""Settings of rotary positions (Su et al. 2021): of a tower, and of a single layer."""

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Row, described

Share = Annotated[fields.Positive, Field(le=1)]


class Rotary(Frozen):
    """Queries and keys are rotated by their position (Su et al. 2021); `start` is the first one."""

    base: fields.Positive = described(
        "The base of the frequencies; a larger base rotates the last pairs more slowly.",
        "10000",
        Decimal(10000),
    )
    layout: Literal["pairs", "halves"] = described(
        "Which columns form a pair: neighbors (pairs), or columns half the width apart (halves).",
        "halves",
        "pairs",
    )
    share: Share = described(
        "The share of each query's and key's columns that is rotated: the first ones; the others "
        "stay unchanged.",
        "0.25",
        Decimal(1),
    )
    start: fields.Position = described("The position of the first token.", "0", 0)
    factors: Row | None = described(
        "The divisor of each pair's frequency. Default: 1.", "[1, 8]", None
    )


class RotaryOfLayer(Frozen):
    """The settings that one layer changes; the others are those of `positions.rotary`."""

    base: fields.Positive | None = described(
        "The base of the frequencies. Default: that of positions.rotary.", "10000", None
    )
    share: Share | None = described(
        "The share of each query's and key's columns that is rotated. Default: that of "
        "positions.rotary.",
        "0.5",
        None,
    )
    factors: Row | None = described(
        "The divisor of each pair's frequency. Default: that of positions.rotary.", "[1, 8]", None
    )

    def of(self, shared: Rotary) -> Rotary:
        """Return the layer's settings: its own, the others from the shared ones."""
        return shared.model_copy(update={name: own for name, own in self if own is not None})


def _kind_of_layer_rotary(value: Any) -> str | None:
    if isinstance(value, dict):
        return fields.MAPPING
    return fields.WORD if value == "none" else None


OwnRotary: TypeAlias = Annotated[
    Annotated[Literal["none"], Tag(fields.WORD)] | Annotated[RotaryOfLayer, Tag(fields.MAPPING)],
    Discriminator(
        _kind_of_layer_rotary, fields.OWN_MESSAGE, "expected none or settings: {base: 10000}"
    ),
]
"""The rotary positions of one layer."""
