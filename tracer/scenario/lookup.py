"""Embeddings that are looked up by word; a row is read or drawn when it is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.scenario.fields import Names


class Lookup(Mapping[str, NDArray[np.float64]]):
    """The embeddings of all words; `rows` are a parameter of a file, or drawn."""

    def __init__(self, words: Names, rows: Any) -> None:
        self.words, self.rows = words, rows

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def __getitem__(self, word: str) -> NDArray[np.float64]:
        return np.asarray(self.rows[[self.ids[word]]][0])

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)
