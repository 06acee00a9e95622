"""Checkpoints of which only a part is on the machine."""

from __future__ import annotations

import re
from pathlib import Path

from safetensors.numpy import load_file

from tests.helpers.tiny_checkpoints import write_shards


def keep_layer(folder: Path, number: int) -> None:
    """Leave only the tensors of one layer, counted from 1; the index lists the others, too."""
    whole = folder / "model.safetensors"
    tensors = load_file(whole)
    own = {name for name in tensors if re.search(rf"\.{number - 1}\.", name)}
    assert own
    assert len(own) < len(tensors)
    others = {name: numbers for name, numbers in tensors.items() if name not in own}
    write_shards(
        folder, {"other.safetensors": others, "own.safetensors": {n: tensors[n] for n in own}}
    )
    (folder / "other.safetensors").unlink()
    whole.unlink()
