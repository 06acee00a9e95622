"""Libraries that only trained models need, and that need not be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tracer.errors import Problem, TracerError

INSTALL = "pip install 'decoder-trace[models]'"


@contextmanager
def extra(library: str) -> Iterator[None]:
    """A block that imports a library: where it is missing, what installs it is told.

    Raises:
        TracerError: the library is not installed.
    """
    try:
        yield
    except ImportError:
        message = f"{library} is not installed, which trained models need: {INSTALL}"
        raise TracerError(Problem(message)) from None
