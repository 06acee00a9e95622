"""The gradients of the loss that a model returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tracer.errors import Problem, TracerError
from tracer.pytorch.modules import Modules, described
from tracer.pytorch.recording import Recording
from tracer.pytorch.tokens import is_number, kind_of, tensors_in
from tracer.pytorch.weights import checkpoint_of, tensors_of
from tracer.scenario.activations import DumpedArray
from tracer.scenario.model import GRADIENT
from tracer.tokenization.tokenizer import tokenizer_of_ids


def differentiated(modules: Modules, found: Recording, run: Callable[[], Any]) -> list[DumpedArray]:
    """Run a model and its backward pass; return the gradients of values and of parameters.

    The gradients that the model has already are kept.

    Raises:
        TracerError: it returns no loss, or runs more than once.
    """
    model = modules[""]
    held = {parameter: parameter.grad for parameter in model.parameters()}
    try:
        for parameter in held:
            parameter.grad = None
        loss = _loss_in(run())
        if loss is None or len(found.passes) != 1:
            message = "expected one pass, and a loss from the model or from a function as inputs"
            raise TracerError(Problem(message, address="backward"))
        first = dict(found.tensors)
        loss.backward()
        found.tensors.update(first)  # checkpointed modules run again, with tensors of no use here
        return [*_of_values(found), *_of_parameters(modules)]
    finally:
        for parameter, gradient in held.items():
            parameter.grad = gradient


def _loss_in(output: Any) -> Any:
    """Return the loss in a model's output: the tensor that is a single number; None without one."""
    own = getattr(output, "loss", None)
    return next(filter(is_number, tensors_in(output)), None) if own is None else own


def _of_values(found: Recording) -> Iterator[DumpedArray]:
    for tap, tensor in found.tensors.items():
        if tensor.grad is not None:
            rows = found.row_of(tap, tensor.grad)
            for address, array in found.values(tap, {0: rows}):
                yield DumpedArray(f"{GRADIENT}{address}", kind_of(tensor.grad), array)


def _of_parameters(modules: Modules) -> Iterator[DumpedArray]:
    """Yield the gradient of each parameter, in its layout.

    One that is frozen has none, and neither has a bias of 0 in place of none.
    """
    config = described(modules)
    if config is None:
        return
    trained = dict(modules[""].named_parameters())
    gradients = {
        name: each.new_zeros(each.shape) if each.grad is None else each.grad
        for name, each in trained.items()
    }
    read = checkpoint_of(
        config, tensors_of(modules, gradients), lambda: tokenizer_of_ids("these are gradients")
    )
    frozen = {name for name, each in trained.items() if each.grad is None}
    frozen |= {name.removesuffix("weight") + "bias" for name in trained} - {*trained}
    kind = kind_of(next(iter(gradients.values())))
    for parameter in read.parameters.values():
        if parameter.tensor.name not in frozen:
            address = parameter.address.replace("positions", "positions.table")
            yield DumpedArray(f"{GRADIENT}{address}", kind, np.asarray(parameter))
