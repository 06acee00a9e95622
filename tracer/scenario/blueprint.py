"""What trained models and decoders by dimensions have in common: parts to fill, a large table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.scenario.fields import Names
from tracer.scenario.layers import Head
from tracer.scenario.model import Tower
from tracer.scenario.networks import FFN


def heads(number: int, of_keys: int) -> tuple[Head, ...]:
    """Return heads without parameters, of which some share the keys and values of another."""
    together = number // of_keys
    first = (i - (i - 1) % together for i in range(1, number + 1))
    return tuple(
        Head.model_construct(shares=None if own == i else own) for i, own in enumerate(first, 1)
    )


def ffn(
    given: Any,
    around: Mapping[str, Any],
    forms: Iterable[Callable[[Any, Mapping[str, Any]], Any]],
    network: Mapping[str, Any],
) -> Any:
    """Return an FFN without parameters, of an architecture or of dimensions.

    `around` are the settings of the sub-layer, `network` the keys that parts add to one network.
    `forms` return it in another form, or None.
    """
    found = next(filter(None, (form(given, around) for form in forms)), None)
    return found or FFN.model_construct(**{"activation": given.activation, **network}, **around)


@dataclass(frozen=True)
class SomeRows:
    """Some rows of a table, which are read or drawn when they are used."""

    table: Any
    rows: Sequence[int]

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns)."""
        return (len(self.rows), *self.table.shape[1:])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice) -> SomeRows:
        return SomeRows(self.table, self.rows[chosen])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.table[[*self.rows]], dtype)


class Lookup(Mapping[str, NDArray[np.float64]]):
    """The embeddings of all words; `rows` are read or drawn on lookup."""

    def __init__(self, words: Names, rows: Any) -> None:
        self.words, self.rows = words, rows

    @cached_property
    def ids(self) -> dict[str, int]:
        """Return the id of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def __getitem__(self, word: str) -> NDArray[np.float64]:
        return np.asarray(self.rows[[self.ids[word]]][0])

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)


class ReadsRows(Tower):
    """A tower whose embeddings are read or drawn on lookup."""

    @property
    def lookup(self) -> Lookup:
        """The embeddings of all words."""
        table: Any = self.embeddings
        assert isinstance(table, Lookup)
        return table

    @property
    def embedding(self) -> Any:
        """The embeddings of the tokens, one row per position."""
        return SomeRows(self.lookup.rows, [self.lookup.ids[token] for token in self.tokens])
