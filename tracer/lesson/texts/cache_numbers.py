"""The numbers that layers keep in a cache with some kind of attention, as products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from tracer.names import count

USUAL_GROUP = 4
"""The heads of a group in Mistral 7B and Llama 3 8B."""

SHARING_LAYERS = 2
"""Layers with the same keys and values in cross-layer attention (Brandon et al. 2024)."""

Widths: TypeAlias = tuple[int, int]
"""The numbers of a key and of a value in a head."""


@dataclass(frozen=True)
class AttentionLayers:
    """Layers of the decoder whose attention caches alike; `number` of them."""

    number: int
    heads: tuple[Widths, ...]
    """Of each head that has queries."""
    owners: tuple[Widths, ...]
    """Of each head with keys and values of its own."""
    in_place: tuple[int, ...]
    """The widths of the rows that a part caches in place of keys and values."""
    window: int | None
    states: tuple[tuple[int, ...], ...] = ()
    """The rows and columns of each head's state, and the width of its sum of keys, if any."""

    @property
    def keeps_sums(self) -> bool:
        """Whether sums of keys are kept besides the states."""
        return any(sums for _, _, *sums in self.states)

    @property
    def alike(self) -> Widths | None:
        """The widths that all heads have; None if these differ."""
        return self.heads[0] if len({*self.heads}) == 1 else None


@dataclass(frozen=True)
class CachedNumbers:
    """Numbers that layers cache, as a product: for each token, or `fixed` for any number of them.

    With a window, only its last tokens are kept.
    """

    factors: tuple[tuple[str, int], ...]
    """Each as it is written, and what it is."""
    window: int | None = None
    fixed: bool = False

    @property
    def number(self) -> int:
        """The product."""
        return prod(factor for _, factor in self.factors)

    @property
    def written(self) -> str:
        """`2 × 12 layers × 12 heads × 64`."""
        return " × ".join(words for words, _ in self.factors)

    def of(self, tokens: int) -> int:
        """Return the numbers that are kept of so many tokens."""
        if self.fixed:
            return self.number
        return self.number * (tokens if self.window is None else min(tokens, self.window))


def own(each: AttentionLayers) -> list[CachedNumbers]:
    """Return what the model itself caches."""
    return _states(each, each.states) if each.states else rows(each)


def rows(each: AttentionLayers) -> list[CachedNumbers]:
    """Return the rows of the model's own heads: latent vectors, or keys and values."""
    return [_rows(each, each.in_place)] if each.in_place else _pairs(each, each.owners)


def multi_head(each: AttentionLayers) -> list[CachedNumbers]:
    """Return keys and values of every head."""
    return _pairs(each, each.heads)


def grouped(each: AttentionLayers) -> list[CachedNumbers]:
    """Return keys and values of one head in each group."""
    return _pairs(each, each.heads[:1] * (groups_of(each) or 0))


def multi_query(each: AttentionLayers) -> list[CachedNumbers]:
    """Return keys and values of one head."""
    return _pairs(each, each.heads[:1])


def latent(each: AttentionLayers) -> list[CachedNumbers]:
    """Return the latent vector and the rotary key, which all heads share."""
    return [_rows(each, latent_widths(each))]


def shared_layers(each: AttentionLayers) -> list[CachedNumbers]:
    """Return these rows, once for two layers; of an odd number, the last has its own."""
    return rows(replace(each, number=-(-each.number // SHARING_LAYERS)))


def state(each: AttentionLayers) -> list[CachedNumbers]:
    """Return a matrix of d_k × d_v numbers for each head, to which all tokens are added."""
    return _states(each, each.states or each.heads)


# --- sizes ---------------------------------------------------------------------------------------


def latent_widths(each: AttentionLayers) -> tuple[int, ...]:
    """Return d_c and d_R: the model's, or 4 d_k and d_k / 2, rounded up (DeepSeek-V2, 2024)."""
    d_k, _ = each.heads[0]
    return each.in_place or (4 * d_k, (d_k + 1) // 2)


def groups_of(each: AttentionLayers) -> int | None:
    """Return the heads with own keys and values: the model's, or one for some; None if none fit."""
    if has_groups(each):
        return len(each.owners)
    heads = len(each.heads)
    sizes = (USUAL_GROUP, *range(2, heads))
    return next((heads // size for size in sizes if size < heads and heads % size == 0), None)


def has_groups(each: AttentionLayers) -> bool:
    """Return whether several heads, but not all, have keys and values of their own."""
    return not each.in_place and 1 < len(each.owners) < len(each.heads)


def _pairs(each: AttentionLayers, heads: Iterable[Widths]) -> list[CachedNumbers]:
    """Return the keys and values of some heads."""
    found = []
    for (d_k, d_v), number in Counter(heads).items():
        is_twice = d_k == d_v
        widths = [(f"{d_k:,}", d_k)] if is_twice else [(f"({d_k:,} + {d_v:,})", d_k + d_v)]
        twice = [("2", 2)] if is_twice else []
        factors = (*twice, _layers(each.number), (count(number, "head"), number), *widths)
        found.append(CachedNumbers(factors, each.window))
    return found


def _states(each: AttentionLayers, shapes: Iterable[tuple[int, ...]]) -> list[CachedNumbers]:
    """Return matrices of some heads, whatever the number of tokens."""
    found = []
    for (d_k, d_v, *sums), number in Counter(shapes).items():
        sizes = [(f"{d_k:,}", d_k), (f"{d_v:,}", d_v)]
        if sums:
            sizes = [(f"({d_k:,} × {d_v:,} + {sums[0]:,})", d_k * d_v + sums[0])]
        factors = (_layers(each.number), (count(number, "head"), number), *sizes)
        found.append(CachedNumbers(factors, fixed=True))
    return found


def _rows(each: AttentionLayers, widths: Sequence[int]) -> CachedNumbers:
    """Return rows that all heads share."""
    written = " + ".join(f"{width:,}" for width in widths)
    shown = f"({written})" if len(widths) > 1 else written
    return CachedNumbers((_layers(each.number), (shown, sum(widths))), each.window)


def _layers(number: int) -> tuple[str, int]:
    return count(number, "layer"), number
