"""The weights of a PyTorch model as a checkpoint: tensors in memory, read like those of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.opening import Checkpoint, of_tensors
from tracer.checkpoints.tensor import Tensor, widened
from tracer.errors import Problem, TracerError
from tracer.pytorch import nano_gpt
from tracer.pytorch.modules import CONFIG, Modules, described, without_wrappers
from tracer.pytorch.tokens import on_cpu, torch
from tracer.tokenization.tokenizer import Tokenizer

WEIGHTS = "model.state_dict()"
"""How messages name the tensors of a model."""


def config_of(modules: Modules) -> dict[str, Any]:
    """Return the values of a model's config.json.

    Raises:
        TracerError: it has none, or does not say what nanoGPT's says.
    """
    values = described(modules)
    if values is None:
        message = "expected a model of transformers, or one with the names of nanoGPT"
        raise TracerError(Problem(f"nothing says the architecture: {message}", CONFIG))
    if values.get(nano_gpt.ACTIVATION, ...) is None:
        message = "no module says the activation, expected a torch.nn.GELU in h.0.mlp"
        raise TracerError(Problem(message, CONFIG, address=nano_gpt.ACTIVATION))
    return values


def tensors_of(modules: Modules, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return tensors of PyTorch by the names that they have in the files of their family."""
    model = modules[""]
    named = {without_wrappers(name): tensor for name, tensor in named.items()}
    if not hasattr(model, "save_pretrained"):
        return nano_gpt.gpt2_tensors(modules, named)
    try:
        loading = import_module("transformers.core_model_loading")
    except ImportError:  # before transformers 5, they have the names of the files
        return named
    with torch().no_grad():
        found: dict[str, Any] = loading.revert_weight_conversion(model, named)
    return found


def checkpoint_of(
    config: Mapping[str, Any], tensors: Mapping[str, Any], tokenizer: Callable[[], Tokenizer]
) -> Checkpoint:
    """Return the model of tensors of PyTorch, which shares the memory of those on the CPU.

    Raises:
        TracerError: the configuration is not supported; tensors are missing, not known or not in
            memory.
    """
    architecture = architecture_of(config, CONFIG)
    stored = {name: _tensor(name, tensor) for name, tensor in tensors.items()}
    return of_tensors(architecture, config, stored, CONFIG, WEIGHTS, tokenizer)


def _tensor(name: str, tensor: Any) -> Tensor:
    if not isinstance(tensor, torch().Tensor) or tensor.is_quantized:
        message = "quantized by PyTorch, expected a model whose weights are floats"
        raise TracerError(Problem(message, WEIGHTS, address=name))
    if tensor.is_meta:
        raise TracerError(Problem("not in memory, expected a loaded model", WEIGHTS, address=name))
    own = on_cpu(tensor)
    is_narrow = own.dtype == torch().bfloat16
    stored = (own.view(torch().uint16) if is_narrow else own).numpy()
    decoded = widened if is_narrow else np.asarray
    return Tensor(WEIGHTS, name, tuple(own.shape), stored, decoded, own.dtype.is_floating_point)
