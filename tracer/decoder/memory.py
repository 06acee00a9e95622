"""Whether the numbers of a pass fit into the machine's memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tracer.decoder.value import Value
from tracer.errors import Problem, TracerError
from tracer.files.memory import free_bytes

GIGABYTE = 1e9
OF_A_FLOAT = 8


def check_memory(values: Sequence[Value]) -> None:
    """Raise a TracerError if values that are to be computed need more memory than is free."""
    needed, free = bytes_of(values), free_bytes()
    if free is not None and needed > free:
        raise TracerError(
            Problem(
                f"the numbers need about {needed / GIGABYTE:.1f} GB of memory, and only "
                f"{free / GIGABYTE:.1f} GB are free; a shorter text needs less"
            )
        )


def bytes_of(values: Sequence[Value]) -> int:
    """Return the memory that values need."""
    return OF_A_FLOAT * sum(prod(value.shape) for value in values)
