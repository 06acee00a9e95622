"""Tensors that hold the matrices of all experts: a part of one has its name and an index.

`mlp.experts.up_proj[3, :, 1::2]` is every second column of the fourth matrix, as NumPy writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from tracer.checkpoints.tensor import AbsentTensor, Tensor, written_shape
from tracer.errors import Problem, TracerError

Index: TypeAlias = tuple[int | slice, ...]


def whole_name(name: str) -> str:
    """Return the name of the tensor that a part is in."""
    return name.partition("[")[0]


def with_parts(tensors: Mapping[str, Tensor], names: Iterable[str]) -> Mapping[str, Tensor]:
    """Return the tensors, with the parts that have one of the names in place of their stacks.

    Raises:
        TracerError: a tensor is no stack of matrices or vectors, or not of as many.
    """
    parts: dict[str, dict[str, Index]] = {}
    for name in names:
        stack, is_part, index = name.partition("[")
        if is_part and stack in tensors:
            parts.setdefault(stack, {})[name] = _index(index.removesuffix("]"))
    found = {name: tensor for name, tensor in tensors.items() if name not in parts}
    problems = list[Problem]()
    for stack, own in parts.items():
        tensor = tensors[stack]
        firsts = {index[0] for index in own.values() if isinstance(index[0], int)}
        number = len(firsts) or (*tensor.shape, 0)[0]  # without a first index, it is no stack
        axes = max(map(len, own.values()))
        if isinstance(tensor, AbsentTensor):
            found |= {name: AbsentTensor(tensor.file, tensor.name) for name in own}
        elif len(tensor.shape) < max(axes, 2) or tensor.shape[0] != number:
            came = written_shape(tensor.shape)
            message = f"{came}, expected one matrix or row for each of the {number} experts"
            problems.append(Problem(message, tensor.file, address=tensor.name))
        else:
            found |= {name: _part(tensor, name, index) for name, index in own.items()}
    if problems:
        raise TracerError(*problems)
    return found


def _part(tensor: Tensor, name: str, index: Index) -> Tensor:
    """Return a part of a stack, whose numbers stay in the file."""
    inner = name.removeprefix(whole_name(name))
    rest = tensor.shape[len(index) :]
    sizes = zip(tensor.shape, index, strict=False)
    kept = tuple(len(range(n)[each]) for n, each in sizes if isinstance(each, slice))
    encoded = None if tensor.encoded is None else tensor.encoded[index]
    return replace(
        tensor,
        name=tensor.name + inner,
        shape=(*kept, *rest),
        stored=tensor.stored[index],
        encoded=encoded,
    )


def _index(written: str) -> Index:
    """Return the index that is written as NumPy writes it: `3, :, 1::2`."""
    return tuple(_axis(each.strip()) for each in written.split(","))


def _axis(written: str) -> int | slice:
    if ":" not in written:
        return int(written)
    return slice(*(int(each) if each else None for each in written.split(":")))
