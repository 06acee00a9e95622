"""Where a library of trained models is missing, one line says what installs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers import tiny_marian
from tests.helpers.tiny_checkpoints import gguf_llama, hugging_face_llama, write_folder, write_gguf
from tracer.checkpoints import gguf_tensors
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError


@pytest.mark.parametrize("library", ["gguf", "safetensors", "sentencepiece"])
def test_a_missing_library_is_told(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library == "gguf":
        path = write_gguf(tmp_path / "x.gguf", "llama", gguf_llama())
    elif library == "sentencepiece":
        path = tiny_marian.write_folder(tmp_path / "x")
    else:
        path = write_folder(tmp_path, "llama", hugging_face_llama())
    gguf_tensors._quantisation.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    with pytest.raises(TracerError) as caught:
        open_checkpoint(path).tokenizer()
    command = "pip install 'decoder-trace[models]' (in a checkout: pip install -e '.[models]')"
    told = f"trained models need {library}, which is not installed: {command}"
    assert str(caught.value) == told
