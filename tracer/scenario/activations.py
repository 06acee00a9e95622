"""Activations that another program computed: a file of arrays under our addresses.

Names of TransformerLens and of Hugging Face's outputs are known too, so that a dump can be read as
it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.safetensors_files import read_tensors
from tracer.checkpoints.tensor import widened
from tracer.errors import Problem, TracerError
from tracer.files.reading import open_file
from tracer.scenario.model import Scenario

Numbers: TypeAlias = NDArray[np.float64]


class DumpedArray(NamedTuple):
    """An array of a file: its name there, the type of its numbers (`float16`), the numbers."""

    name: str
    kind: str
    numbers: Numbers


OF_MODEL = {
    "hook_embed": "embedding",
    "hook_pos_embed": "position",
    "blocks.0.hook_resid_pre": "input",
    "ln_final": "output",
    "ln_final.hook_normalized": "output",
    "unembed": "logits",
    "last_hidden_state": "output",
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
    "attentions": "weights",
}
HEAD_FIRST = ("attn.hook_attn_scores", "attn.hook_pattern", "attentions")
"""Of shape (heads, queries, keys); the others are (tokens, heads, numbers)."""

THEIRS = re.compile(
    r"blocks\.[0-9]+\.|hook_|ln_final|unembed|last_hidden_state|hidden_states|attentions"
)
MOST_UNPACKED, MOST_TIMES = 2**28, 4
"""Limits for all arrays of an archive: in bytes, and as a multiple of its own size."""
REAL = "biuf"
"""The kinds of NumPy's types that are real numbers."""
OF_BLOCK = re.compile(r"blocks\.([0-9]{1,6})\.(.*)")
NUMBERED = re.compile(r"(hidden_states|attentions)[._\[]([0-9]{1,6})\]?")
"""Hugging Face's names: each layer's input, the last output, each layer's weights."""


class Activations(NamedTuple):
    """The arrays of a file by address (several names may be one value), and the unknown names."""

    arrays: dict[str, list[DumpedArray]]
    unknown: list[str]
    """Names of TransformerLens and Hugging Face for values that a trace does not have."""


def activations(path: Path, scenario: Scenario) -> Activations:
    """Return the arrays of a .npz or .safetensors file by their addresses in a scenario.

    Raises:
        TracerError: the file is missing, damaged or of another kind; an array has a larger batch.
    """
    found = Activations({}, [])
    problems = list[Problem]()
    between = between_layers(scenario)
    for dumped in read_arrays(path):
        try:
            addressed = list(_addressed(dumped.name, dumped.numbers, between))
        except ValueError as error:
            problems.append(Problem(str(error), str(path), address=dumped.name))
            continue
        for address, numbers in addressed:
            found.arrays.setdefault(address, []).append(dumped._replace(numbers=numbers))
        if not addressed:
            found.unknown.append(dumped.name)
    if problems:
        raise TracerError(*problems)
    return found


def pinned(path: Path, scenario: Scenario) -> dict[str, Numbers]:
    """Return the numbers of a file by address; they replace the scenario's own.

    Raises:
        TracerError: as `activations`; or two arrays of the same value differ.
    """
    found = activations(path, scenario).arrays
    problems = [
        Problem(
            f"differs from {first.name}, which is also {address}",
            str(path),
            address=other.name,
        )
        for address, (first, *others) in found.items()
        for other in others
        if not np.array_equal(first.numbers, other.numbers, equal_nan=True)
    ]
    if problems:
        raise TracerError(*problems)
    return {address: first.numbers for address, (first, *_) in found.items()}


def between_layers(scenario: Scenario) -> list[str]:
    """Return the addresses of each layer's input and of the last layer's output."""
    found = ["input"]
    for number, layer in enumerate(scenario.layers, 1):
        parts = ("ffn", "cross_attention", "attention")
        name, part = next((name, p) for name in parts if (p := getattr(layer, name)))
        norm = layer.norm_of(part)
        computed = "norm_after" if layer.norm_after_of(part) else "output"
        end = "residual" if part.residual else computed
        found.append(f"layer{number}.{name}.{'norm' if norm and norm.placement == 'post' else end}")
    return [*found[:-1], "output"] if scenario.layers else found


def read_arrays(path: Path) -> Iterator[DumpedArray]:
    match path.suffix:
        case ".safetensors":
            for name, tensor in read_tensors(path).items():
                kind = "bfloat16" if tensor.decoded is widened else tensor.stored.dtype.name
                yield DumpedArray(name, kind, _as_floats(tensor.decoded(tensor.stored)))
        case ".npz":
            yield from _unzipped(path)
        case _:
            raise TracerError(Problem("expected a .npz or .safetensors file", str(path)))


def _unzipped(path: Path) -> Iterator[DumpedArray]:
    with open_file(path) as file:
        try:
            with ZipFile(file) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            most = max(MOST_UNPACKED, MOST_TIMES * os.fstat(file.fileno()).st_size)
            if size > most:
                expected = f"expected at most {most:,}"
                raise TracerError(Problem(f"unpacks to {size:,} bytes, {expected}", str(path)))
            with np.load(file, allow_pickle=False) as arrays:
                for name, array in arrays.items():
                    if array.dtype.kind not in REAL:
                        kind = f"holds {array.dtype.name}, expected real numbers"
                        raise TracerError(Problem(kind, str(path), address=name))
                    yield DumpedArray(name, array.dtype.name, _as_floats(array))
        except TracerError:
            raise
        except Exception:  # the system, zipfile, zlib and NumPy each have their own
            raise TracerError(Problem("not a whole npz file of numbers", str(path))) from None


def _as_floats(array: NDArray[Any]) -> Numbers:
    """Return numbers of any real type as floats; a number too large for a float is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):  # invalid: what says that it is no number
        return np.asarray(array, np.float64)


def _addressed(
    name: str, array: NDArray[Any], between: Sequence[str]
) -> Iterator[tuple[str, Numbers]]:
    if not THEIRS.match(name):
        yield name, array
    elif name in OF_MODEL:
        yield OF_MODEL[name], _of_one_text(array, 2)
    elif numbered := NUMBERED.fullmatch(name):
        kind, number = numbered[1], int(numbered[2])
        if kind == "attentions":
            yield from _of_heads(f"layer{number + 1}", kind, array)
        elif number < len(between):
            yield between[number], _of_one_text(array, 2)
    elif found := OF_BLOCK.fullmatch(name):
        layer, hook = f"layer{int(found[1]) + 1}", found[2]
        if hook in OF_LAYER:
            yield f"{layer}.{OF_LAYER[hook]}", _of_one_text(array, 2)
        elif hook in OF_HEADS:
            yield from _of_heads(layer, hook, array)


def _of_heads(layer: str, hook: str, array: NDArray[Any]) -> Iterator[tuple[str, Numbers]]:
    """Split an array of all heads into one array per head."""
    heads = _of_one_text(array, 3)
    heads = heads if hook in HEAD_FIRST else heads.swapaxes(0, 1)
    for head, rows in enumerate(heads, 1):
        yield f"{layer}.attention.head{head}.{OF_HEADS[hook]}", rows


def _of_one_text(array: NDArray[Any], axes: int) -> NDArray[np.float64]:
    """Remove a leading batch axis of length 1."""
    if array.ndim == axes + 1 and len(array) == 1:
        array = array[0]
    if array.ndim != axes:
        shape = " × ".join(map(str, array.shape)) or "one number"
        raise ValueError(f"{shape}, expected {axes} axes, or a batch of one text in front")
    return array
