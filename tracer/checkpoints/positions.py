"""Positions that a checkpoint's files leave out."""

from __future__ import annotations

import numpy as np

from tracer.checkpoints.tensor import Floats


def sines_before_cosines(positions: int, width: int) -> Floats:
    """Return sinusoidal positions (positions, width), all sines before all cosines (Marian).

    As in transformers, the numbers are rounded to float32.
    """
    exponents = np.arange(width) // 2 * 2 / width
    angles = np.arange(positions)[:, None] / 10000**exponents
    waves = np.hstack([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])])
    return waves.astype(np.float32).astype(np.float64)
