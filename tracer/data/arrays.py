"""A pass as arrays by address, npz or safetensors, without parameters and words."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from tracer.decoder.tape import Record


def archive(records: Iterable[Record], format: Literal["npz", "safetensors"]) -> bytes:
    """The numbers of records as float64, the whole rows of all tokens.

    Raises:
        TracerError: the package that writes safetensors is not installed.
    """
    arrays: dict[str, Any] = {
        record.output.address: record.output.array
        for record in records
        if not (record.output.role.parameter or record.output.role.words)
    }
    if format == "npz":
        file = io.BytesIO()
        np.savez(file, **arrays)  # before NumPy 2.1, any other keyword is saved as an array too
        return file.getvalue()
    from tracer.checkpoints.extras import optional_library

    with optional_library("safetensors"):
        from safetensors.numpy import save
    return save({address: np.ascontiguousarray(array) for address, array in arrays.items()})
