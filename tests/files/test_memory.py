"""How much memory is free."""

from __future__ import annotations

from tracer.files.memory import free_bytes


def test_the_memory_that_is_free() -> None:
    free = free_bytes()
    assert free is None or 1e7 < free < 1e15
