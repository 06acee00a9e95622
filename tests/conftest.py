"""What holds of all tests."""

from __future__ import annotations

import os

# The tests run on all cores already: threads of NumPy's own would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
