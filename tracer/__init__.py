"""Worked calculations of a transformer decoder in which every printed equation is true."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes its time to import
if TYPE_CHECKING:
    from typing import Any

    from tracer.library import Trace, explain, load, render, trace

__version__ = "0.1.0"

__all__ = ["Trace", "__version__", "explain", "load", "render", "trace"]


def __getattr__(name: str) -> Any:
    """The library, imported when it is used: the command line starts without it."""
    if name in __all__:
        from tracer import library

        return getattr(library, name)
    raise AttributeError(f"module 'tracer' has no attribute {name!r}")
