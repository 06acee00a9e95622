"""What a page shows besides its text if its numbers can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tracer.scenario.controls import Control


@dataclass(frozen=True)
class LiveState:
    """The state of a scenario that is being changed.

    `typed` are the addresses of the values with typed numbers, `words` those that can be tokens.
    With `beside`, the page of the text in the file stands next to this one.
    """

    version: int
    first: int
    """The version in which the file was read last."""
    typed: Sequence[str]
    controls: Sequence[Control]
    tokens: Sequence[str]
    words: Sequence[str]
    is_changed: bool
    can_undo: bool
    has_words: bool
    """Whether the scenario has an intro, notes or a summary of its author."""
    problem: str | None = None
    beside: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {"version": self.version, "first": self.first, "typed": list(self.typed)}
