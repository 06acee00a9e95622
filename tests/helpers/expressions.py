"""The numbers in an expression, found by looking through whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracer.formula.expression import Number, Rest


def numbers(part: Any) -> Iterator[Number]:
    """From left to right; what stands for terms that are not written out is not one of them."""
    if isinstance(part, Number):
        yield part
    elif isinstance(part, tuple):
        for inner in part:
            yield from numbers(inner)
    elif not isinstance(part, Rest) and hasattr(part, "__match_args__"):
        for name in part.__match_args__:
            yield from numbers(getattr(part, name))
