"""A GGUF file that is converted from a folder has the logits of transformers in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.checkpoints.test_gguf_families import IDS, MODELS, folder_of, logits
from tests.helpers import of_transformers
from tests.helpers.converted import convert

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

TOLERANCE = 1e-5
"""Relative; transformers computes the angles of rotary positions in float32."""


@pytest.mark.parametrize("name", MODELS)
def test_a_converted_model_is_that_of_transformers(name: str, tmp_path: Path) -> None:
    folder = folder_of(name, tmp_path)
    theirs = of_transformers.logits(folder, IDS)
    ours = logits(convert(folder, tmp_path / "tiny.gguf"))
    assert np.abs(ours - theirs).max() < TOLERANCE * np.abs(theirs).max()
