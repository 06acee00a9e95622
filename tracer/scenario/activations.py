"""Activations that another program computed: a file of arrays under our addresses.

Names of TransformerLens and of Hugging Face's outputs are known too, so that a dump can be read as
it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.safetensors_files import read_tensors
from tracer.checkpoints.tensor import widened
from tracer.errors import Problem, TracerError
from tracer.files.reading import open_file
from tracer.scenario.heads_of_arrays import OF_SCORES, address_of_head, heads_of, split
from tracer.scenario.model import Scenario
from tracer.scenario.other_names import STANDARDIZED, Names, names_of_values

Numbers: TypeAlias = NDArray[np.float64]


class DumpedArray(NamedTuple):
    """An array of a file: its name there, the type of its numbers (`float16`), the numbers."""

    name: str
    kind: str
    numbers: Numbers


THEIRS = re.compile(
    r"blocks\.[0-9]+\.|hook_|ln_final|unembed|last_hidden_state|hidden_states|attentions"
)
MOST_UNPACKED, MOST_TIMES = 2**28, 4
"""Limits for all arrays of an archive: in bytes, and as a multiple of its own size."""
BFLOAT16 = np.dtype("V2")
"""What NumPy reads from a file that JAX has written with bfloat16, which NumPy does not know."""
REAL = "biuf"
"""The kinds of NumPy's types that are real numbers."""
BLOCK = re.compile(r"blocks\.([0-9]{1,9})\.")
NUMBERED = re.compile(r"(hidden_states|attentions)[._]([0-9]+)")
"""Other spellings of hidden_states[0] and attentions[0], which have no brackets."""


class Activations(NamedTuple):
    """The arrays of a file by address (several names may be one value), and the unknown names."""

    arrays: dict[str, list[DumpedArray]]
    unknown: list[str]
    """Names of TransformerLens and Hugging Face for values that a trace does not have."""


def activations(path: Path, scenario: Scenario) -> Activations:
    """Return the arrays of a .npz or .safetensors file by their addresses in a scenario.

    Raises:
        TracerError: the file is missing, damaged or of another kind; as in `addressed`.
    """
    return addressed(read_arrays(path), scenario, str(path))


def addressed(arrays: Iterable[DumpedArray], scenario: Scenario, file: str) -> Activations:
    """Return arrays by their addresses in a scenario; `file` is where they are, for messages.

    Raises:
        TracerError: an array has a larger batch, or another number of heads.
    """
    found = Activations({}, [])
    problems = list[Problem]()
    names = names_of_values(scenario)
    for dumped in arrays:
        try:
            parts = list(_addressed(dumped.name, dumped.numbers, names, scenario))
        except ValueError as error:
            problems.append(Problem(str(error), file, address=dumped.name))
            continue
        for address, numbers in parts:
            found.arrays.setdefault(address, []).append(dumped._replace(numbers=numbers))
        if not parts:
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
    # Nothing is computed from x̂: the norm's result has γ and β.
    found = {a: arrays for a, arrays in found.items() if not a.endswith(STANDARDIZED)}
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


def read_arrays(path: Path) -> Iterator[DumpedArray]:
    """Yield the arrays of a .npz or .safetensors file.

    Raises:
        TracerError: the file is missing, damaged or of another kind.
    """
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
                    yield dumped_array(name, array, str(path))
        except TracerError:
            raise
        except Exception:  # the system, zipfile, zlib and NumPy each have their own
            raise TracerError(Problem("not a whole npz file of numbers", str(path))) from None


def dumped_array(name: str, array: NDArray[Any], file: str) -> DumpedArray:
    """Return an array of another program with its numbers as floats.

    Raises:
        TracerError: it has something else than real numbers.
    """
    if array.dtype == BFLOAT16:
        return DumpedArray(name, "bfloat16", _as_floats(widened(array.view("<u2"))))
    if array.dtype.kind not in REAL:
        kind = f"holds {array.dtype.name}, expected real numbers"
        raise TracerError(Problem(kind, file, address=name))
    return DumpedArray(name, array.dtype.name, _as_floats(array))


def _as_floats(array: NDArray[Any]) -> Numbers:
    """Return numbers of any real type as floats; a number too large for a float is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):  # invalid: what says that it is no number
        return np.asarray(array, np.float64)


def _addressed(
    name: str, array: NDArray[Any], names: Names, scenario: Scenario
) -> Iterator[tuple[str, Numbers]]:
    block = BLOCK.match(name)
    if heads := heads_of(name, scenario):
        tokens, of_scores = _tokens_of(name, scenario), name.endswith(OF_SCORES)
        rows = split(array, len(heads), of_scores=of_scores, tokens=tokens)
        yield from zip((address_of_head(name, head) for head in heads), rows, strict=True)
    elif addresses := names.get(NUMBERED.sub(r"\1[\2]", name)):
        yield from _of_name(name, array, addresses, scenario)
    elif not THEIRS.match(name) or (block and int(block[1]) >= len(scenario.layers)):
        yield name, array


def _of_name(
    name: str, array: NDArray[Any], addresses: Sequence[str], scenario: Scenario
) -> Iterator[tuple[str, Numbers]]:
    """Yield the arrays of another program's array; one of all heads is split."""
    first, *others = addresses
    if not others and ".head" not in first:
        rows = _of_one_text(array, 2)
        yield first, rows[:, 0] if name.endswith("hook_scale") else rows
        return
    of_scores, heads_first = first.endswith(OF_SCORES), None
    if name.startswith(("blocks.", "attentions")):
        array, heads_first = _of_one_text(array, 3), of_scores
        number = array.shape[0 if heads_first else 1]
        if number != len(addresses):  # such as keys that are repeated for heads that share them
            addresses = [re.sub("head[0-9]+", f"head{i + 1}", first) for i in range(number)]
    tokens = _tokens_of(first, scenario)
    rows = split(array, len(addresses), of_scores=of_scores, tokens=tokens, heads_first=heads_first)
    yield from zip(addresses, rows, strict=True)


def _tokens_of(address: str, scenario: Scenario) -> int | None:
    """Return the number of rows of a value; None if it may be that of the encoder."""
    return None if scenario.encoder else len(scenario.tokens)


def _of_one_text(array: NDArray[Any], axes: int) -> NDArray[np.float64]:
    """Remove a leading batch axis of length 1."""
    if array.ndim == axes + 1 and len(array) == 1:
        array = array[0]
    if array.ndim != axes:
        shape = " × ".join(map(str, array.shape)) or "one number"
        raise ValueError(f"{shape}, expected {axes} axes, or a batch of one text in front")
    return array
