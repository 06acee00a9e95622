"""A labelled array at an address; its numbers are there, or computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.decoder.arithmetic import Array
from tracer.decoder.axes import Axes
from tracer.decoder.roles import Place, Role

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
    def said_at(self) -> str:
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


class Later(Value):
    """A value whose numbers are computed, with all that they need, when they are asked for.

    So of a large model only that is read and computed which is shown. What is computed is kept; the
    weights of a layer, which one operation needs, are read for it and let go.
    """

    __slots__ = ("context", "is_kept", "is_there", "numbers_of", "waits_for")

    def __init__(
        self,
        role: Role,
        place: Place,
        address: str,
        axes: Axes,
        form: Form,
        context: Callable[[], AbstractContextManager[Any]],
        numbers_of: Callable[[], Array],
        inputs: tuple[Value, ...] = (),
    ) -> None:
        """`numbers_of` computes, in a context, what it gives of the inputs."""
        self.role, self.place, self.address, self.axes, self.form = role, place, address, axes, form
        self.context, self.numbers_of = context, numbers_of
        self.waits_for = [value for value in inputs if type(value) is Later and value.is_kept]
        self.is_kept: bool = place.layer is None or not role.parameter
        self.is_there = False

    def __getattr__(self, name: str) -> Any:
        """Called of a slot that is still empty."""
        if name not in ("numbers", "computed") or self.is_there:
            raise AttributeError(name)
        with self.context():
            self._fetch()
        return self.numbers

    def operand(self) -> Array:
        """Its numbers for one operation, whose other inputs are there."""
        return self.numbers if self.is_there else self.numbers_of()

    def _fetch(self) -> None:
        """Compute what it waits for first: not by recursion, for there may be thousands."""
        waiting = [self]
        while waiting:
            value = waiting[-1]
            if missing := [each for each in value.waits_for if not each.is_there]:
                waiting += missing
                continue
            waiting.pop()
            if not value.is_there:
                value.numbers = value.computed = value.numbers_of()
                value.is_there = True
