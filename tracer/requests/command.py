"""What each file of `tracer/commands/` declares: a command with its options.

The docstring of the file is the help of the command.
"""

from __future__ import annotations

import inspect
from dataclasses import Field, fields
from typing import Any, ClassVar


class Command:
    """A parsed command line. Each command is a dataclass whose fields are its options."""

    examples: ClassVar[tuple[str, str]]
    is_woven: ClassVar[bool] = False
    """Whether a mark in an author's text may name it."""

    @classmethod
    def options(cls) -> list[Field[Any]]:
        """Return the options in the order of the help: its own, then those of each base class."""
        found = {each.name: each for each in fields(cls)}  # type: ignore[arg-type]
        declaring = (base for base in cls.__mro__ if "__dataclass_fields__" in vars(base))
        names = [name for base in declaring for name in inspect.get_annotations(base)]
        # One that a command declares again, with another default, keeps its place.
        return [found[name] for name in reversed(dict.fromkeys(reversed(names)))]

    def run(self) -> int:
        """Run the command, and return the exit code."""
        raise NotImplementedError
