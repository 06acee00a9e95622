"""Sizes that numbers are expected to have, and the reasons for them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from tracer.scenario.fields import Random
from tracer.scenario.reader import Data

Size: TypeAlias = int | None
"""A number of rows, columns or entries; None if unknown."""

AS_THE_OTHERS = "as many as in the other rows"
OF_INPUT = "one per feature of the input"


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


def typed_size(text: Data | None) -> Size:
    """Return a number from 1 to 1000, such as the stated columns of a random matrix; else None."""
    try:
        return Random.model_validate({"columns": text}).columns if text else None
    except ValueError:
        return None
