"""The tensors of a `.bin` file of PyTorch's, read by its loader for weights alone.

Such a file is a pickle, which can name code to run. PyTorch's `weights_only` loader runs none.
"""

from __future__ import annotations

import pickle
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.tensor import Tensor, mapped, widened
from tracer.errors import Problem, TracerError

CONVERT = (
    "Or load the model with transformers and save it with model.save_pretrained(folder), which "
    "writes model.safetensors"
)
MOST_SHOWN = 160


def read_pytorch(path: Path) -> dict[str, Tensor]:
    """Return the tensors of one file by name.

    Raises:
        TracerError: PyTorch is not installed, or the file is missing, damaged or holds more than
            tensors.
    """
    mapped(path)  # which raises if it cannot be read
    if find_spec("torch") is None:
        message = f"to read it, install PyTorch: pip install torch. {CONVERT}"
        raise TracerError(Problem(message, str(path)))
    torch: Any = import_module("torch")
    found = _loaded(torch, path)
    tensors, problems = dict[str, Tensor](), list[Problem]()
    for name, value in found.items():
        try:
            tensors[str(name)] = _tensor(torch, value, str(path), str(name))
        except ValueError as error:
            problems.append(Problem(str(error), str(path), address=str(name)))
    if problems:
        raise TracerError(*problems)
    return tensors


def _loaded(torch: Any, path: Path) -> dict[Any, Any]:
    try:
        with warnings.catch_warnings(action="ignore"):  # such as of an unusual pickle protocol
            try:
                found = torch.load(path, "cpu", weights_only=True, mmap=True)
            except RuntimeError:  # the older format cannot be mapped into memory
                found = torch.load(path, "cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        first = str(error).strip().partition("\n")[0][:MOST_SHOWN]
        message = f"PyTorch's loader for weights refuses it: {first}"
        raise TracerError(Problem(message, str(path))) from None
    if not isinstance(found, dict):
        message = f"got {type(found).__name__}, expected tensors by name"
        raise TracerError(Problem(message, str(path)))
    return found


def _tensor(torch: Any, value: Any, file: str, name: str) -> Tensor:
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"got {type(value).__name__}, expected a tensor")
    if value.layout != torch.strided or value.is_quantized or value.is_complex():
        kind = str(value.layout if value.layout != torch.strided else value.dtype)
        raise ValueError(f"a tensor of type {kind.removeprefix('torch.')}, which is not supported")
    value = value.detach().contiguous()
    is_floats = value.is_floating_point()
    if value.dtype == torch.bfloat16:
        stored = value.view(torch.int16).numpy().view("<u2")
        return Tensor(file, name, tuple(value.shape), stored, widened, is_floats)
    try:
        stored = value.numpy()
    except (TypeError, RuntimeError):
        kind = str(value.dtype).removeprefix("torch.")
        raise ValueError(f"numbers of type {kind}, which NumPy does not have") from None
    return Tensor(file, name, tuple(value.shape), stored, np.asarray, is_floats)
