"""Worked calculations of a transformer decoder in which every printed equation is true."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes its time to import
if TYPE_CHECKING:
    from typing import Any

    from tracer.library import Trace, explain, load, render, trace

__version__ = "0.1.0"

__all__ = ["Trace", "__version__", "explain", "load", "render", "trace"]


def __dir__() -> list[str]:
    """Return the names that `help` and completion list, those of `__getattr__` included."""
    return __all__


def __getattr__(name: str) -> Any:
    """Import the library on first use, so that the command line starts without it."""
    if name in __all__:
        from tracer import library

        return getattr(library, name)
    raise AttributeError(f"module 'tracer' has no attribute {name!r}")
