"""A labeled array at an address."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.decoder.axes import Axes
from tracer.decoder.contract import Along
from tracer.decoder.roles import Place, Role
from tracer.formula.arithmetic import Array

Index: TypeAlias = tuple[int, ...]

TOKEN, ENCODER_TOKEN, WORD = "token", "encoder token", "word"


def tokens_of(place: Place) -> str:
    """The name of the token axis at a place; the encoder has its own."""
    return ENCODER_TOKEN if place.encoder else TOKEN


class Form(Enum):
    """How the numbers of a value are printed."""

    AS_THEY_ARE = auto()
    """With their own digits: typed, or rounded when computed."""
    ROUNDED_FOR_PRINT = auto()
    """In full precision, rounded only to be printed."""


@dataclass(eq=False, slots=True)
class Value:
    """A labeled array at an address, of Decimals or floats; not changed once it is recorded.

    Not frozen: a real model's tape holds thousands, and that takes three times as long.
    """

    role: Role
    place: Place
    address: str
    numbers: Array
    axes: Axes
    form: Form
    computed: Array
    """The numbers before rounding; choices are made on these."""

    @property
    def base_address(self) -> str:
        """The address for which digits are set, the same in each example of a batch."""
        return self.place.base_address(self.role) if self.place.example else self.address

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes; the numbers are not computed for it."""
        return tuple([len(axis.labels) for axis in self.axes])

    @property
    def array(self) -> NDArray[np.float64]:
        """The numbers as floats. Words raise a ValueError."""
        return np.asarray(self.numbers.astype(np.float64))

    def read(self, index: Along) -> Any:
        """Return an entry, a row or a column; a lazy value may compute no more than that."""
        return self.numbers[index]

    def read_computed(self, row: int) -> Any:
        """Return a row as it was before rounding."""
        return self.computed[row]

    @property
    def per_token(self) -> bool:
        """Whether the first axis has an entry for each token of its tower."""
        return bool(self.axes) and self.axes[0].name == tokens_of(self.place)

    def row(self, token: int, tokens: int) -> int:
        """The row of a token, in a value with a row for each of the last tokens or for some."""
        positions = self.axes[0].positions
        if positions is None:
            return token - (tokens - self.shape[0])
        return positions.index(token - tokens)

    def has_row(self, token: int, tokens: int) -> bool:
        """Whether a token has a row; only the values of some networks leave tokens out."""
        positions = self.axes[0].positions if self.axes else None
        return positions is None or token - tokens in positions


class Entry(NamedTuple):
    """One number of a trace: a value at an index."""

    value: Value
    at: Index


def has_token_rows(value: Value) -> bool:
    """Return whether a value has a row for each token of a tower, or for some."""
    return bool(value.axes) and value.axes[0].name in (TOKEN, ENCODER_TOKEN)
