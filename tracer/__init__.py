"""Worked calculations of a transformer decoder in which every printed equation is true."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, which takes its time to import
if TYPE_CHECKING:
    from typing import Any

    from tracer import testing
    from tracer.errors import TracerError
    from tracer.library import (
        Session,
        Trace,
        attribute,
        check,
        compare,
        explain,
        given,
        load,
        render,
        session,
        trace,
    )
    from tracer.pytorch.capture import capture
    from tracer.pytorch.scenario import scenario_of

    __version__: str

__all__ = [
    "Session",
    "Trace",
    "TracerError",
    "__version__",
    "attribute",
    "capture",
    "check",
    "compare",
    "explain",
    "given",
    "load",
    "render",
    "scenario_of",
    "session",
    "testing",
    "trace",
]


def __dir__() -> list[str]:
    """Return the names that `help` and completion list, those of `__getattr__` included."""
    return __all__


def __getattr__(name: str) -> Any:
    """Import the library on first use, so that the command line starts without it."""
    places = {
        "TracerError": "tracer.errors",
        "capture": "tracer.pytorch.capture",
        "scenario_of": "tracer.pytorch.scenario",
    }
    if name == "testing":
        return import_module("tracer.testing")
    if name == "__version__":
        return _installed_version()
    if name in __all__:
        # A package is called check, too, and takes the name when it is imported.
        globals()["check"] = import_module("tracer.library").check
        return getattr(import_module(places.get(name, "tracer.library")), name)
    raise AttributeError(f"module 'tracer' has no attribute {name!r}")


def _installed_version() -> str:
    """Return the version of the installed distribution, or that of a folder nobody installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("decoder-trace")
    except PackageNotFoundError:
        return "0.1.dev0"
