"""A labelled array at an address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.decoder.axes import Axes
from tracer.decoder.roles import Place, Role
from tracer.formula.arithmetic import Array

ENCODER_TOKEN = "encoder token"


def tokens_of(place: Place) -> str:
    """What the tokens of a place are called as an axis: the encoder's are not the decoder's."""
    return ENCODER_TOKEN if place.encoder else "token"


class Form(Enum):
    """How the numbers of a value are printed."""

    AS_THEY_ARE = auto()
    """With the digits that they have: as typed, or as they were rounded when computed."""
    ROUNDED_FOR_PRINT = auto()
    """They are in full precision, which nobody reads."""


@dataclass(eq=False, slots=True)
class Value:
    """A labelled array at an address; Decimals or floats, as the tape's arithmetic has them.

    It is not changed once it is recorded. (A tape of a real model holds thousands, and a frozen
    dataclass takes three times as long to make.)
    """

    role: Role
    place: Place
    address: str
    numbers: Array
    axes: Axes
    form: Form
    computed: Array
    """The numbers before they were rounded to go on with: choices are made on these."""

    @property
    def base_address(self) -> str:
        """The address for which digits are said: of whichever example of a batch."""
        if self.place.example is None:
            return self.address
        return replace(self.place, example=None).address(self.role)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its numbers, which need not be computed for it."""
        return tuple([len(axis.labels) for axis in self.axes])

    @property
    def array(self) -> NDArray[np.float64]:
        """The numbers as floats; words are refused by a ValueError."""
        return np.asarray(self.numbers.astype(np.float64))

    @property
    def per_token(self) -> bool:
        """Whether the first axis has one entry for each token of the tower that it is in."""
        return bool(self.axes) and self.axes[0].name == tokens_of(self.place)

    def row(self, token: int, tokens: int) -> int:
        """The row of a token; a value that does not hold all tokens holds the last of them."""
        return token - (tokens - self.shape[0])


Index: TypeAlias = tuple[int, ...]


class Entry(NamedTuple):
    """One number of a trace: a value at an index."""

    value: Value
    at: Index
