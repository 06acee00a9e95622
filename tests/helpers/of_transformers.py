"""The logits of transformers, with which those of a checkpoint are compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

OF_MASKED_WORDS = ("bert", "camembert", "distilbert", "roberta", "xlm-roberta")
"""The families that predict masked words."""


def kind_of(config: Mapping[str, Any]) -> Any:
    """The class that opens a configuration."""
    transformers = pytest.importorskip("transformers")
    if config["model_type"] in OF_MASKED_WORDS:
        return transformers.AutoModelForMaskedLM
    has_images = "vision_config" in config
    return (
        transformers.AutoModelForImageTextToText
        if has_images
        else (transformers.AutoModelForCausalLM)
    )


def logits(folder: Path, ids: Sequence[int]) -> Any:
    """The logits of a Hugging Face folder in float64: (tokens, words)."""
    torch = pytest.importorskip("torch")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    codes = config.get("quantization_config") or {}
    if codes.get("quant_method") == "mxfp4":  # else the library needs a GPU's kernels
        codes = {
            "quantization_config": pytest.importorskip("transformers").Mxfp4Config(dequantize=True)
        }
    else:
        codes = {}
    model = kind_of(config).from_pretrained(
        folder,
        **codes,
        dtype=torch.float64,
        attn_implementation="eager",
        experts_implementation="eager",
    )
    with torch.no_grad():
        return np.asarray(model.eval()(torch.tensor([ids])).logits[0])
