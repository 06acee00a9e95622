"""The tensors of some passes as arrays of one text, by address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tracer.checkpoints.tensor import written_shape
from tracer.pytorch.taps import Tap
from tracer.pytorch.tokens import Array, Text, Tokens
from tracer.scenario.heads_of_arrays import ALL_HEADS, OF_SCORES, address_of_head


def of_row(tap: Tap, tensor: Any, tokens: Tokens, row: int) -> Any:
    """Return the part of a tensor that belongs to one text of the batch.

    It is (tokens, columns), or (heads, tokens, columns).

    Raises:
        ValueError: the tensor has another shape than the batch and its tokens.
    """
    batch, number, shape = tokens.batch, tokens.number, tuple(tensor.shape)
    is_of_heads = bool(tap.heads or ALL_HEADS.fullmatch(tap.address))
    expected = f"{written_shape(shape)}, expected {batch} × {number} × columns (batch, tokens)"
    if tensor.ndim == 2 and len(tensor) == batch * number:
        tensor = tensor.reshape(batch, number, -1)  # some modules put all tokens in one list
    elif tensor.ndim == 2 and len(tensor) == number:
        tensor = tensor[None]  # the same for all texts, such as positions
    elif shape[:2] == (number, batch) != (batch, number):
        tensor = tensor.swapaxes(0, 1)  # the tokens first, as torch.nn.Transformer has them
    elif is_of_heads and tensor.ndim == 3 and len(tensor) % batch == 0 and len(tensor) > batch:
        tensor = tensor.unflatten(0, (batch, -1))  # the heads of all texts in one list
    if len(tensor) not in (1, batch):
        raise ValueError(expected)
    found = tensor[row if len(tensor) == batch else 0]
    if found.ndim == 3 and is_of_heads:
        return _heads_first(tap, found, number)
    if found.ndim != 2:
        raise ValueError(expected)
    return found


def _heads_first(tap: Tap, tensor: Any, tokens: int) -> Any:
    """Return (heads, tokens, columns) of a tensor whose first two axes may be the other way."""
    first, second, _ = tensor.shape
    is_first = True if tap.address.endswith(OF_SCORES) else tap.heads_first
    if is_first is None and first == second == tokens:
        raise ValueError(f"{first} tokens and as many heads, expected another number of tokens")
    is_first = second == tokens if is_first is None else is_first
    heads, rows = (first, second) if is_first else (second, first)
    if rows != tokens or (tap.heads and heads != len(tap.heads)):
        expected = f"expected {tokens} tokens and {len(tap.heads) or 'some'} heads"
        raise ValueError(f"{written_shape(tuple(tensor.shape))}, {expected}")
    return tensor if is_first else tensor.swapaxes(0, 1)


def arrays_of(
    tap: Tap, arrays: Mapping[int, Array], texts: Mapping[str, Text]
) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a text by address, without padding, from those of each pass.

    A tap yields nothing if it lacks tokens: a model may compute the logits of the last one alone.
    """
    text, rows = texts[tap.tower], list[Array]()
    total = 0
    for number, tokens in text.passes:
        found = arrays.get(number)
        if found is None or found.shape[-2] != tokens.number:
            return
        total += tokens.number
        if tap.keys is not None and tap.keys == tap.tower:
            found = _with_all_keys(found, total, len(text.kept))
        rows.append(found)
    whole = np.concatenate(rows, axis=-2)[..., text.kept, :]
    if tap.keys is not None:
        whole = whole[..., texts[tap.keys].kept]
    yield from _parts(tap, whole)


def _with_all_keys(weights: Array, total: int, all_keys: int) -> Array:
    """Return (heads, tokens, keys) with a column for each token of all passes, 0 for later ones.

    A cache may have room for more than the `total` tokens so far, or hold only the last ones.
    """
    seen = weights[..., :total]
    found = np.zeros((*seen.shape[:-1], all_keys), seen.dtype)
    found[..., total - seen.shape[-1] : total] = seen
    return found


def _parts(tap: Tap, array: Array) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of heads and of matrices that are side by side."""
    for begin, end, address in tap.parts:
        yield address, array[..., begin:end]
    if tap.heads:
        heads = np.stack(np.split(array, len(tap.heads), axis=1)) if array.ndim == 2 else array
        for head, rows in zip(tap.heads, heads, strict=True):
            yield address_of_head(tap.address, head), rows
    elif array.ndim == 3 and not tap.address.endswith(OF_SCORES):
        yield tap.address, np.concatenate(list(array), axis=1)
    elif not tap.parts:
        yield tap.address, array
