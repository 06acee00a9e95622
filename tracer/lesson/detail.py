"""How much a text works out."""

from __future__ import annotations

from enum import StrEnum


class Detail(StrEnum):
    """The length of a text: the answer and one head; everything once; every step."""

    SHORT = "short"
    NORMAL = "normal"
    FULL = "full"
