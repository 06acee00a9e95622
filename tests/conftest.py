"""What holds of all tests."""

from __future__ import annotations

import gc
import os

# The tests run on all cores already: threads of NumPy's own would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What the tests keep is no garbage: to look through it as often as Python does takes a sixth of
# their time.
gc.set_threshold(50_000)
