"""The structure of trained models and of decoders by dimensions: equal layers, a large table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from tracer.scenario.fields import Names
from tracer.scenario.layers import (
    FFN,
    Attention,
    Expert,
    Head,
    Layer,
    MixtureOfExperts,
    Norm,
    Normalization,
    QueryKeyNorm,
)
from tracer.scenario.parts import Sizes, declared_parameters

AnyModel = TypeVar("AnyModel", bound=BaseModel)


@dataclass(frozen=True)
class Blueprint:
    """Builds a decoder; `numbers` returns a parameter by address and sizes, or None."""

    numbers: Callable[[str, Sizes], Any]
    heads: int
    key_heads: int
    activation: str
    norm: Mapping[str, Any] | None
    """The settings of every norm."""
    placement: str | None
    """Whether the norms are before or after the sub-layers; None for neither."""
    experts: int | None = None
    """The number of experts of each FFN; None without a router."""
    top: int = 1
    normalize: bool = True
    shared: bool = False
    """Whether there is one more expert for every token."""
    query_key_norm: Literal["head", "heads"] | None = None
    """Whether queries and keys are normalized: those of each head, or of all heads together."""
    norm_after: bool = False
    """Whether the output of each sub-layer is normalized, too."""
    parallel: bool = False
    residual_scale: Decimal | None = None
    """The factor of what each sub-layer adds."""

    def layer(self, place: str, *, crossed: bool = False, **attention: Any) -> Layer:
        """Return a layer; with `crossed` it has cross-attention. `attention`: its settings."""
        return Layer.model_construct(
            parallel=self.parallel,
            attention=self._attention(f"{place}.attention", **attention),
            cross_attention=self._attention(f"{place}.cross_attention") if crossed else None,
            ffn=self._ffn(f"{place}.ffn"),
        )

    def final_norm(self) -> Normalization | None:
        """Return the norm after the last layer."""
        return self.made(Normalization, "final_norm", **self.norm) if self.norm else None

    def _attention(self, place: str, **settings: Any) -> Attention:
        heads = tuple(self._head(place, number) for number in range(1, self.heads + 1))
        settings |= {"heads": heads, **self._around(place)}
        if self.query_key_norm and self.norm:
            for name in ("query_norm", "key_norm"):
                own = {**self.norm, "over": self.query_key_norm}
                settings[name] = self.made(QueryKeyNorm, f"{place}.{name}", **own)
        return self.made(Attention, place, **settings)

    def _head(self, place: str, number: int) -> Head:
        first = number - (number - 1) % (self.heads // self.key_heads)
        head = self.made(Head, f"{place}.head{number}")
        shared = {"W_K": None, "b_K": None, "W_V": None, "b_V": None, "shares": first}
        return head if first == number else head.model_copy(update=shared)

    def _ffn(self, place: str) -> FFN | MixtureOfExperts:
        around = self._around(place)
        if self.experts is None:
            return self.made(FFN, place, activation=self.activation, **around)
        numbers = range(1, self.experts + 1)
        settings: dict[str, Any] = {
            "top": self.top,
            "normalize": self.normalize,
            "experts": tuple(self._expert(f"{place}.expert{number}") for number in numbers),
            "shared": self._expert(f"{place}.shared") if self.shared else None,
        }
        return self.made(MixtureOfExperts, place, **around, **settings)

    def _expert(self, place: str) -> Expert:
        return self.made(Expert, place, activation=self.activation)

    def _around(self, place: str) -> dict[str, Any]:
        """Return the norms of a sub-layer, and the factor of what it adds."""
        found: dict[str, Any] = {"norm": None, "residual_scale": self.residual_scale}
        if self.norm and self.placement:
            placed = {**self.norm, "placement": self.placement}
            found["norm"] = self.made(Norm, f"{place}.norm", **placed)
        if self.norm and self.norm_after:
            found["norm_after"] = self.made(Normalization, f"{place}.norm_after", **self.norm)
        return found

    def made(self, form: type[AnyModel], place: str, **settings: Any) -> AnyModel:
        """Return a part with its parameters and settings."""
        own = {
            n: self.numbers(f"{place}.{n}", sizes) for n, sizes in declared_parameters(form).items()
        }
        return form.model_construct(**own, **settings)


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
