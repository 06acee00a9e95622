"""One browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.browser import launched


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real one; without it the tests that need it are skipped."""
    with launched() as browser:
        yield browser
