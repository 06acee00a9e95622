"""What expressions and documents are made of: plain data, compared by its parts."""

from __future__ import annotations

from typing import Any, ClassVar


class Node:
    """Equal to another of its class with equal parts; not changed once it is made.

    A frozen dataclass would write these methods for each class anew, at each start of the program:
    for all of them that takes as long as tracing a small decoder.
    """

    __match_args__: ClassVar[tuple[str, ...]]

    def _parts(self) -> tuple[Any, ...]:
        """What it is compared by."""
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._parts()!r}"
