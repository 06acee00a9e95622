"""Arrays of all heads at once, as other programs have them: their heads one by one."""

from __future__ import annotations

import re
from typing import Any

from numpy.typing import NDArray

from tracer.scenario.layers import Attention
from tracer.scenario.model import Scenario

OF_KEYS = ("key", "value", "rotated_key", "key_norm")
_WEIGHTS_OF_KEYS = ("W_K", "W_V", "b_K", "b_V")
"""Both are values that only heads with keys of their own have."""
OF_SCORES = ("dot", "scores", "masked", "weights")
"""Values with a row per query and a column per key: arrays of them begin with the heads."""
_NAMES = "|".join(("query", "rotated_query", "query_norm", *OF_KEYS, *OF_SCORES))
ALL_HEADS = re.compile(
    rf"(?:gradient\.)?(?P<tower>encoder\.)?layer(?P<layer>[0-9]{{1,6}})"
    rf"\.(?P<part>attention|cross_attention)\.(?P<name>{_NAMES})"
)
"""An address of all heads: that of a head's value or its gradient, without the head."""


def address_of_head(address: str, head: int) -> str:
    """`layer1.attention.weights` → `layer1.attention.head2.weights`."""
    place, _, name = address.rpartition(".")
    return f"{place}.head{head}.{name}"


def heads_of(address: str, scenario: Scenario) -> tuple[int, ...]:
    """Return the numbers of the heads that have a value of this name; none if there are no such."""
    found = ALL_HEADS.fullmatch(address)
    tower = scenario.encoder if found and found["tower"] else scenario
    number = int(found["layer"]) if found else 0
    if not found or tower is None or not 1 <= number <= len(tower.layers):
        return ()
    return heads_with(getattr(tower.layers[number - 1], found["part"]), found["name"])


def heads_with(attention: Attention | None, name: str) -> tuple[int, ...]:
    """Return the numbers of the heads that have a value of this name."""
    return tuple(
        number
        for number, head in enumerate(attention.heads if attention else (), 1)
        if head.shares is None or name not in (*OF_KEYS, *_WEIGHTS_OF_KEYS)
    )


def split(
    array: NDArray[Any],
    number: int,
    *,
    of_scores: bool,
    tokens: int | None = None,
    heads_first: bool | None = None,
) -> NDArray[Any]:
    """Return the rows of each of a number of heads: (heads, tokens, columns).

    The array has the shape (tokens, heads · columns), (tokens, heads, columns) or (heads, tokens,
    columns), maybe with a batch of one text in front. `heads_first` says which of the last two it
    is; otherwise its sizes and the number of `tokens` say it. Scores begin with the heads.

    Raises:
        ValueError: it has another shape, or several are possible.
    """
    if array.ndim == 4 or (array.ndim == 3 and not of_scores and array.shape[1] == tokens):
        array = array[0] if len(array) == 1 else array
    if array.ndim == 2 and not of_scores and array.shape[1] % number == 0:
        array, heads_first = array.reshape(len(array), number, -1), False
    if array.ndim != 3:
        raise ValueError(f"{_shape(array)}, expected {number} heads of one text")
    if heads_first is None:
        heads_first = of_scores or _begins_with_heads(array, number, tokens)
    rows = array if heads_first else array.swapaxes(0, 1)
    if len(rows) != number:
        raise ValueError(f"{_shape(array)}, expected {number} heads")
    return rows


def _begins_with_heads(array: NDArray[Any], heads: int, tokens: int | None) -> bool:
    first, second, _ = array.shape
    begins = first == heads and tokens in (None, second)
    if begins and second == heads and tokens in (None, first):
        both = f"{_shape(array)}, with as many tokens as heads"
        raise ValueError(f"{both}: expected (tokens, heads · columns), or an array for each head")
    return begins


def _shape(array: NDArray[Any]) -> str:
    return " × ".join(map(str, array.shape)) or "one number"
