"""What tests of parts share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.evaluated import RUNNER
from tests.helpers.script_in_node import Script, running


@pytest.fixture(scope="session")
def script() -> Iterator[Script]:
    """The script of a page, which computes what a reader edits."""
    with running(RUNNER) as started:
        yield started
