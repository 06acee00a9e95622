"""LoRA, computed a second time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.judged_part import JudgedPart
from tests.helpers.quantized import dequantized


def adapted(weights: Mapping[str, Any]) -> NDArray[np.float64]:
    """The frozen weights plus A B; A, as wide as its rank, is scaled before the product."""
    of = weights["frozen"]
    frozen = dequantized(of) if "quantized" in of else np.array(of, np.float64)
    a, b = (np.array(weights[name], np.float64) for name in ("A", "B"))
    added: NDArray[np.float64] = np.einsum(
        "dr,rk->dk", a * (float(weights["alpha"]) / a.shape[1]), b
    )
    return frozen + added


PART = JudgedPart(weights={"frozen": adapted})
