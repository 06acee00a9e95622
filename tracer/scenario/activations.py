"""Activations that another program computed, to be pinned: a file of arrays under our addresses.

Names of TransformerLens are known too, so that a dump of its cache can be read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.safetensors_files import read_tensors
from tracer.errors import Problem, TracerError

Arrays: TypeAlias = Mapping[str, NDArray[np.float64]]

OF_MODEL = {
    "hook_embed": "embedding",
    "hook_pos_embed": "position",
    "blocks.0.hook_resid_pre": "input",
    "ln_final": "output",
    "ln_final.hook_normalized": "output",
    "unembed": "logits",
}
OF_LAYER = {
    "hook_attn_out": "attention.output",
    "hook_resid_mid": "attention.residual",
    "mlp.hook_pre": "ffn.hidden",
    "mlp.hook_post": "ffn.activation",
    "hook_mlp_out": "ffn.output",
    "hook_resid_post": "ffn.residual",
}
OF_HEADS = {
    **{"attn.hook_q": "query", "attn.hook_k": "key", "attn.hook_v": "value"},
    **{"attn.hook_rot_q": "rotated_query", "attn.hook_rot_k": "rotated_key"},
    **{"attn.hook_attn_scores": "masked", "attn.hook_pattern": "weights"},
    "attn.hook_z": "output",
}
HEAD_FIRST = ("attn.hook_attn_scores", "attn.hook_pattern")
"""Of shape (heads, queries, keys); the others are (tokens, heads, numbers)."""

THEIRS = re.compile(r"(blocks\.[0-9]+\.|hook_|ln_final|unembed)")


def activations(path: Path) -> dict[str, NDArray[np.float64]]:
    """The arrays of a .npz or .safetensors file, under our addresses.

    What TransformerLens names beyond the values that we have is left out.

    Raises:
        TracerError: the file is missing, damaged or of another kind; an array is none of one text.
    """
    found = dict[str, NDArray[np.float64]]()
    problems = list[Problem]()
    for name, array in _arrays(path):
        try:
            found |= dict(_addressed(name, array))
        except ValueError as error:
            problems.append(Problem(str(error), str(path), address=name))
    if problems:
        raise TracerError(*problems)
    return found


def _arrays(path: Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    match path.suffix:
        case ".safetensors":
            for name, tensor in read_tensors(path).items():
                yield name, np.asarray(tensor.decoded(tensor.stored), np.float64)
        case ".npz":
            yield from _unzipped(path)
        case _:
            raise TracerError(Problem("expected a .npz or .safetensors file", str(path)))


def _unzipped(path: Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            for name in arrays.files:
                yield name, np.asarray(arrays[name], np.float64)
    except OSError as error:
        reason = error.strerror or "not a whole npz file"
        raise TracerError(Problem(f"cannot be read: {reason}", str(path))) from None
    except Exception:  # zipfile, zlib and NumPy each have their own
        raise TracerError(Problem("not a whole npz file of numbers", str(path))) from None


def _addressed(name: str, array: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    if not THEIRS.match(name):
        yield name, array
        return
    if name in OF_MODEL:
        yield OF_MODEL[name], _of_one_text(array, 2)
        return
    block, number, hook = name.split(".", 2) if name.count(".") > 1 else (name, "", "")
    if block != "blocks" or not number.isdecimal():
        return
    layer = f"layer{int(number) + 1}"
    if hook in OF_LAYER:
        yield f"{layer}.{OF_LAYER[hook]}", _of_one_text(array, 2)
    elif hook in OF_HEADS:
        heads = _of_one_text(array, 3)
        heads = heads if hook in HEAD_FIRST else heads.swapaxes(0, 1)
        for head, rows in enumerate(heads, 1):
            yield f"{layer}.attention.head{head}.{OF_HEADS[hook]}", rows


def _of_one_text(array: NDArray[Any], axes: int) -> NDArray[np.float64]:
    """Without the batch in front, of which there is one text."""
    if array.ndim == axes + 1 and len(array) == 1:
        array = array[0]
    if array.ndim != axes:
        shape = " × ".join(map(str, array.shape)) or "one number"
        raise ValueError(f"{shape}, expected {axes} axes, or a batch of one text in front")
    return array
