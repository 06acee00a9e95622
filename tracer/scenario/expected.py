"""Sizes that numbers are expected to have, and the reasons for them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Size: TypeAlias = int | None
"""A number of rows, columns or entries; None if unknown."""

AS_THE_OTHERS = "as many as in the other rows"


class Expected(NamedTuple):
    """An expected number of rows or columns, and the reason for it."""

    size: Size = None
    meaning: str = AS_THE_OTHERS

    def __str__(self) -> str:
        return f"{self.size} ({self.meaning})"


class Known(NamedTuple):
    """A size, and its reason in messages about rows and about columns."""

    size: Size
    of_rows: str = ""
    of_columns: str = AS_THE_OTHERS
