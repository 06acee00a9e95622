"""One server for all tests that only ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.server import Server, served


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with served("science") as server:
        yield server
