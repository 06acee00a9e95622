"""The tokens that a model reads in each pass, and those of one text of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.errors import Problem, TracerError

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a decoder or an encoder in one pass, for all texts of the batch."""

    batch: int
    number: int
    ids: Array | None = None
    """(batch, tokens); None if the model reads vectors."""
    mask: Array | None = None
    """(batch, all tokens so far): whether each token is no padding; None if all are."""


@dataclass(frozen=True)
class Text:
    """One text of the batch: a pass, and the passes before it whose tokens are in its cache."""

    passes: tuple[tuple[int, Tokens], ...]
    """The numbers of the passes, and their tokens."""
    kept: Array
    """Whether each token of all passes is no padding."""
    ids: tuple[int, ...] | None
    """The ids of the tokens without padding."""


def text_of(passes: Sequence[Tokens], row: int) -> Text:
    """Return a text of the batch in the last of some passes.

    A pass with more tokens than all before it computes them anew; a shorter one uses a cache.

    Raises:
        TracerError: the model did not run.
    """
    first, total = 0, 0
    for number, tokens in enumerate(passes):
        if tokens.number > total:
            first, total = number, 0
        total += tokens.number
    numbered = tuple(enumerate(passes))[first:]
    if not numbered:
        raise TracerError(Problem("the model itself did not run, only parts of it"))
    kept = np.ones(total, bool)
    for _, tokens in numbered:
        if tokens.mask is not None:
            mask = tokens.mask[row, :total]
            kept[: len(mask)] = mask
    known = [tokens.ids[row] for _, tokens in numbered if tokens.ids is not None]
    ids = np.concatenate(known)[kept] if len(known) == len(numbered) else None
    return Text(numbered, kept, None if ids is None else tuple(map(int, ids)))


def tokens_of_pass(
    args: Sequence[Any], kwargs: Mapping[str, Any], *, behind_encoder: bool = False
) -> Tokens:
    """Return the tokens of a pass from the arguments of the model, by name or in order."""
    prefix = "decoder_" if behind_encoder else ""
    place = 1 if behind_encoder else 0
    given = kwargs.get(f"{prefix}input_ids", kwargs.get(f"{prefix}inputs_embeds"))
    if given is None:
        found = tensors_in((*args, *kwargs.values()))
        tensors = [each for each in found if each.dtype != torch().bool]  # no mask
        given = tensors[place] if len(tensors) > place else None
    return read_tokens(given, kwargs.get(f"{prefix}attention_mask"))


def read_tokens(given: Any, mask: Any) -> Tokens:
    """Return the tokens of ids, (batch, tokens) or (tokens,), or of vectors with one more axis."""
    if given is None:
        return Tokens(1, 0)
    is_ids = not given.is_floating_point()
    batched = given[None] if given.ndim == (1 if is_ids else 2) else given
    has_mask = is_tensor(mask) and mask.ndim == 2
    return Tokens(
        len(batched),
        batched.shape[1],
        ids=as_array(batched) if is_ids and batched.ndim == 2 else None,
        mask=as_array(mask) != 0 if has_mask else None,
    )


def tensors_in(value: Any) -> Iterator[Any]:
    """Yield the tensors among arguments or results, single numbers last."""
    if is_tensor(value):
        yield value
    elif hasattr(value, "values"):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        yield from sorted(filter(is_tensor, value), key=is_number)


def is_tensor(value: Any) -> bool:
    """Return whether it is a tensor of PyTorch."""
    return isinstance(value, torch().Tensor)


def is_number(value: Any) -> bool:
    """Return whether it is a tensor without axes."""
    return is_tensor(value) and value.ndim == 0


def torch() -> Any:
    """Return PyTorch, which whoever has a model has installed."""
    return import_module("torch")


def on_cpu(tensor: Any) -> Any:
    """Return a tensor in the memory of the CPU, whole if the processes have parts of it."""
    own = tensor.detach()
    return (own.full_tensor() if hasattr(own, "full_tensor") else own).cpu()


def kind_of(tensor: Any) -> str:
    """Return the type of a tensor's numbers, such as `bfloat16`."""
    return str(tensor.dtype).removeprefix("torch.")


def as_array(tensor: Any) -> Array:
    """Return the numbers of a tensor as a new array.

    NumPy has no bfloat16; such numbers become float32, which holds them exactly.
    """
    own = on_cpu(tensor)
    return np.array((own.float() if kind_of(own) == "bfloat16" else own).numpy())
