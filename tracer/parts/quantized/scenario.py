"""The keys of quantized weights: of (d, k), and how they are quantized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from tracer.names import count
from tracer.scenario import fields
from tracer.scenario.fields import (
    OWN_MESSAGE,
    AtLeastOne,
    Frozen,
    Matrix,
    Shape,
    WholeNumber,
    described,
    shape_of,
)
from tracer.scenario.part import ScenarioPart

MX_BLOCK, MX_BITS = 32, 4
"""The weights of a block of MXFP4, and the bits of each (OCP MX v1.0, table 1)."""

BITS_OF_SCALE, BITS_OF_POWER = 16, 8
"""The bits of a scale: a float16 in most formats, and the exponent of a power of two in MXFP4."""

WORDS = ("tensor", "row", "column")


def _kind_of_group(value: Any) -> str | None:
    if value in WORDS:
        return fields.WORD
    is_number = isinstance(value, int) or (isinstance(value, str) and value.isascii())
    return fields.NUMBER if is_number and str(value).isdecimal() else None


Group: TypeAlias = Annotated[
    Annotated[Literal["tensor", "row", "column"], Tag(fields.WORD)]
    | Annotated[AtLeastOne, Tag(fields.NUMBER)],
    Discriminator(
        _kind_of_group, OWN_MESSAGE, "expected tensor, row, column or a number of weights"
    ),
]
"""Which weights share a scale; a number counts weights below each other in a column."""


class Quantization(Frozen):
    """How weights are quantized after training."""

    kind: Literal["integers", "mxfp4"] = described(
        "Integers, or MXFP4: numbers of four bits whose scale is a power of two (OCP MX v1.0).",
        "integers",
        "integers",
    )
    bits: Annotated[WholeNumber, Field(ge=2, le=8)] | None = described(
        "The bits of each integer, from 2 to 8. Default: 8.", "8", None
    )
    group: Group | None = described(
        "Which weights share a scale: all (tensor), those of a row, those of a column, or so many "
        "below each other in a column. Default: tensor; of MXFP4 32, or a shorter column.",
        "4",
        None,
    )
    zero_point: bool = described(
        "Whether the integers count from the smallest weight, with an integer that stands for 0.",
        "false",
        False,
    )

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "mxfp4":
            if self.bits not in (None, MX_BITS):
                raise ValueError(f"mxfp4 has {MX_BITS} bits, got bits: {self.bits}")
            if self.zero_point:
                raise ValueError("mxfp4 has no zero point, expected zero_point: false")
            if isinstance(self.group, str):
                message = f"mxfp4 has blocks, expected group: {MX_BLOCK} or another number"
                raise ValueError(f"{message}, got {self.group}")
        return self

    @property
    def is_mx(self) -> bool:
        """Whether the weights become numbers of four bits."""
        return self.kind == "mxfp4"

    @property
    def width(self) -> int:
        """The bits of each weight, without its share of the scale."""
        return MX_BITS if self.is_mx else self.bits or 8

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest integer; without a zero point, one is the other's negative.

        So -128 is not used: with it, the largest weight would have no counterpart.
        """
        if self.zero_point:
            return 0, 2**self.width - 1
        most = 2 ** (self.width - 1) - 1
        return -most, most

    def group_shape(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the rows and columns of a group of a matrix."""
        match self.group:
            case None:
                return (min(MX_BLOCK, rows), 1) if self.is_mx else (rows, columns)
            case "tensor":
                return rows, columns
            case "row":
                return 1, columns
            case "column":
                return rows, 1
            case _:
                return int(self.group), 1


class Quantized(Frozen):
    """Weights that are quantized after training; the model computes with what is left of them.

    Training leaves them as they are.
    """

    quantized: Quantization = described("How they are quantized.", "{bits: 8}")
    of: Annotated[Matrix, Shape(("rows", "columns"), learned=False, frozen=True)] = described(
        "The weights before quantization.", "[[1, 0], [0, 1]]"
    )

    @model_validator(mode="after")
    def _has_whole_groups(self) -> Self:
        if not len(self.of):  # a short form of unknown size, which is reported elsewhere
            return self
        if self.misfit:
            raise ValueError(self.misfit)
        return self

    @property
    def misfit(self) -> str | None:
        """What is wrong with the size of a group, if anything."""
        (rows, _), (height, _) = self.shape, self.group_shape
        if rows % height == 0:
            return None
        return f"quantized.group: {height} does not divide the {count(rows, 'row')}"

    @property
    def shape(self) -> tuple[int, ...]:
        """The rows and columns of the weights."""
        return shape_of(self.of)

    @property
    def bits(self) -> int:
        """The bits that a file needs for the weights, their scales and their zero points."""
        how, (rows, columns), (height, width) = self.quantized, self.shape, self.group_shape
        groups = (rows // height) * (columns // width)
        of_scale = BITS_OF_POWER if how.is_mx else BITS_OF_SCALE
        return rows * columns * how.width + groups * (of_scale + how.width * how.zero_point)

    @property
    def group_shape(self) -> tuple[int, int]:
        """The rows and columns of a group."""
        rows, columns = self.shape
        return self.quantized.group_shape(rows, columns)


MATRICES = ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_3", "W_2", "W_U", "frozen")
"""The weight matrices that can be quantized, by their keys; `frozen` are those of LoRA."""


def _quantizing(settings: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return what quantizes the weight matrices of a part of a scenario.

    Those with keys of a part stay as they are, but LoRA has frozen weights to quantize.

    Raises:
        ValueError: the settings are wrong; raised by the function, if a group does not fit.
    """
    how = Quantization.model_validate(settings)

    def quantized(part: Any) -> Any:
        own = {name: getattr(part, name, None) for name in MATRICES}
        plain = {name: w for name, w in own.items() if w is not None and not isinstance(w, Frozen)}
        new = {name: Quantized.model_construct(quantized=how, of=w) for name, w in plain.items()}
        for name, weights in new.items():
            if message := weights.misfit:
                raise ValueError(f"{name}: {message}")
        return _with(part, new)

    return quantized


def _if_it_fits(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a change that leaves a part as it is if a group does not fit a matrix."""

    def changed(part: Any) -> Any:
        with suppress(ValueError):
            return change(part)
        return part

    return changed


def _as_they_were(part: Any) -> Any:
    """Return a part of a scenario with weights as they were before quantization."""
    own = {name: getattr(part, name, None) for name in MATRICES}
    return _with(part, {name: w.of for name, w in own.items() if isinstance(w, Quantized)})


def _with(part: Any, new: Mapping[str, Any]) -> Any:
    return part.model_copy(update=dict(new)) if new else part


PART = ScenarioPart(
    weights={"of": Quantized},
    changes=(
        ("without quantization", _as_they_were),
        ("with weights quantized to 8 bits", _quantizing({"bits": "8"})),
        ("with weights quantized to 8 bits, by column", _quantizing({"group": "column"})),
        ("with weights quantized to 4 bits", _quantizing({"bits": "4"})),
        (
            "with weights quantized to 4 bits, by column",
            _quantizing({"bits": "4", "group": "column"}),
        ),
        ("with weights quantized to MXFP4", _if_it_fits(_quantizing({"kind": "mxfp4"}))),
    ),
    quantized=_quantizing,
)
