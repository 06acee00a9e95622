"""All operations of a kind."""

from __future__ import annotations

from typing import Any


def rows_of(kind: type[Any]) -> list[type[Any]]:
    """The operations of a pass that are rows of a kind: those with a name of their own."""
    found = [each for each in kind.__subclasses__() if "lesson" not in each.__module__]
    own = [each for each in found if "name" in vars(each)]
    return [*own, *(row for each in found for row in rows_of(each))]
