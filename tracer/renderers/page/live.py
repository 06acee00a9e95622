"""What a page shows besides its text if its numbers can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """A setting by its address, its present value, and what is offered instead.

    With `number`, a number can be typed as well.
    """

    name: str
    label: str
    value: str
    choices: Sequence[str]
    number: bool

    @property
    def shown(self) -> Sequence[str]:
        """The choices, with the present value first if it is none of them."""
        return self.choices if self.value in self.choices else (self.value, *self.choices)


@dataclass(frozen=True)
class LiveState:
    """The state of a scenario that is being changed.

    `typed` are the addresses of the values with typed numbers, `words` those that can be tokens.
    `kept` counts the edits that a change of the file took away, and that can be made again. With
    `beside`, the page of the text in the file stands next to this one.
    """

    version: int
    first: int
    """The version in which the file was read last."""
    typed: Sequence[str]
    fields: Sequence[Field]
    tokens: Sequence[str]
    words: Sequence[str]
    is_changed: bool
    can_undo: bool
    has_words: bool
    """Whether the scenario has an intro, notes or a summary of its author."""
    problem: str | None = None
    kept: int = 0
    beside: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {"version": self.version, "first": self.first, "typed": list(self.typed)}
