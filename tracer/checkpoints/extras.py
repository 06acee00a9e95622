"""Libraries that only trained models need, and that need not be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from tracer.errors import Problem, TracerError
from tracer.tokenization.isolated import IsolatedLibrary

INSTALL = "pip install 'decoder-trace[models]' (in a checkout: pip install -e '.[models]')"


@contextmanager
def optional_library(library: str) -> Iterator[None]:
    """Run a block that imports a library; if the library is missing, report how to install it.

    Raises:
        TracerError: the library is not installed.
    """
    try:
        yield
    except ImportError:
        message = f"trained models need {library}, which is not installed: {INSTALL}"
        raise TracerError(Problem(message)) from None


def isolated_tokenizers(file: str, address: str | None = None) -> IsolatedLibrary:
    """Start the tokenizers library in its own process, for a tokenizer that a file describes.

    Raises:
        TracerError: the library is not installed.
    """
    with optional_library("tokenizers"):
        if find_spec("tokenizers") is None:
            raise ImportError
    return IsolatedLibrary(file, address)
