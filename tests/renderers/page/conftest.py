"""One browser for all tests of pages, and each page written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.helpers.browser import launched
from tests.helpers.command import printed

Saved: TypeAlias = Callable[..., Path]
"""The arguments of `page` → the file that it writes."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real one; without it the tests that need it are skipped."""
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Writes a page, or knows where it lies."""

    @cache
    def page(*arguments: str) -> Path:
        html = tmp_path_factory.mktemp("page") / "page.html"
        printed("page", *arguments, "-o", str(html))
        return html

    return page
