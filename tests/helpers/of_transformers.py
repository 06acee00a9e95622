"""The logits of transformers, with which those of a checkpoint are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def logits(folder: Path, ids: Sequence[int]) -> Any:
    """The logits of a Hugging Face folder in float64: (tokens, words)."""
    torch, transformers = map(pytest.importorskip, ("torch", "transformers"))
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=torch.float64,
        attn_implementation="eager",
        experts_implementation="eager",
    )
    with torch.no_grad():
        return np.asarray(model.eval()(torch.tensor([ids])).logits[0])
