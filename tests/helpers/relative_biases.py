"""The biases of T5 (Raffel et al. 2020, section 2.1), computed a second time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def own_biases(positions: Any) -> dict[str, Any] | None:
    """The keys of relative biases, if a tower has them."""
    found = positions.get("relative_bias") if isinstance(positions, Mapping) else None
    return dict(found) if found else None


def is_bidirectional(own: Mapping[str, Any], *, sees_later: bool) -> bool:
    """Whether later tokens have their own buckets; by default if they can be seen."""
    return bool(own.get("bidirectional", sees_later))


def bucket_of(offset: int, own: Mapping[str, Any], *, sees_later: bool) -> int:
    """The bucket of an offset: the last one whose first distance is not beyond it."""
    both = is_bidirectional(own, sees_later=sees_later)
    number = len(own["table"]) // (1 + both)
    furthest, distance = int(own.get("max_distance", 128)), abs(offset)
    if offset > 0 and not both:
        return 0
    exact = number // 2
    shared = number - exact
    firsts = [*range(exact), *(exact * (furthest / exact) ** (k / shared) for k in range(shared))]
    reached = max(bucket for bucket, first in enumerate(firsts) if distance >= first - 1e-9)
    return reached + number * (offset > 0)


def biases(positions: Any, n: int, *, sees_later: bool) -> NDArray[np.float64] | None:
    """What is added to the scores of n tokens, (heads, n, n); None without relative biases."""
    own = own_biases(positions)
    if own is None:
        return None
    table = np.array(own["table"], np.float64)
    rows = [
        [bucket_of(key - query, own, sees_later=sees_later) for key in range(n)]
        for query in range(n)
    ]
    found: NDArray[np.float64] = np.moveaxis(table[np.array(rows)], 2, 0)
    return found


def of_offsets(positions: Any, n: int, *, sees_later: bool) -> dict[str, NDArray[np.float64]]:
    """The bias of each offset (offsets, heads), and the buckets of distances that share them."""
    own = own_biases(positions)
    if own is None:
        return {}
    both = is_bidirectional(own, sees_later=sees_later)
    table = np.array(own["table"], np.float64)
    rows = [bucket_of(o, own, sees_later=sees_later) for o in range(1 - n, n if both else 1)]
    number, furthest = len(table) // (1 + both), int(own.get("max_distance", 128))
    exact = number // 2
    distances = np.arange(exact, min(n, furthest))
    shared = (number - exact) * np.emath.logn(furthest / exact, distances / exact)
    found = {"position.bias": table[rows]}
    return found | ({"position.logarithmic": exact + shared} if len(distances) else {})
