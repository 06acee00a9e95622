"""What holds of all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

from tests.helpers.browser import launched

# The tests run on all cores already: threads of NumPy's own would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What the tests keep is no garbage: to look through it as often as Python does takes a fifth of
# their time.
gc.set_threshold(200_000, 20, 20)

# Hypothesis also draws constants from the source of loaded modules. Which are loaded, and so the
# examples, would depend on the tests that ran before.
vars(providers)["_get_local_constants"] = lambda: vars(providers)["_local_constants"]

# A failing scenario is shown as it was drawn: to shrink one takes minutes.
settings.register_profile(
    "the same in each run", derandomize=True, phases=[Phase.explicit, Phase.generate]
)


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same random examples in each run; with `-m fuzz`, new ones."""
    if config.getoption("markexpr") != "fuzz":
        settings.load_profile("the same in each run")


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what a real browser is needed for: to open its pages takes half as long as all else."""
    for item in items:
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker("browser")


def pytest_collection_finish() -> None:
    """Nor is what was imported."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C means something to what a test starts, even where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real one for all tests of a process; without it the tests that need it are skipped."""
    with launched() as browser:
        yield browser
