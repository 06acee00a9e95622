"""The gradients of the loss that a model returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tracer.errors import Problem, TracerError
from tracer.pytorch.modules import Modules, described
from tracer.pytorch.recording import Recording, loss_in
from tracer.pytorch.tokens import Array
from tracer.pytorch.weights import checkpoint_of, tensors_of
from tracer.scenario.model import GRADIENT
from tracer.tokenization.tokenizer import tokenizer_of_ids

Gradient = tuple[str, str, Array]
"""Address, number type, numbers."""


def differentiated(modules: Modules, found: Recording, run: Callable[[], Any]) -> list[Gradient]:
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
        run()
        loss = loss_in(found.output)
        if loss is None or len(found.passes) != 1:
            message = "expected one pass that returns a loss, such as with labels=…"
            raise TracerError(Problem(message, address="backward"))
        loss.backward()
        return [*_of_values(found), *_of_parameters(modules)]
    finally:
        for parameter, gradient in held.items():
            parameter.grad = gradient


def _of_values(found: Recording) -> Iterator[Gradient]:
    for tap, tensor in found.tensors.items():
        if tensor.grad is not None:
            array, kind = found.row_of(tap, tensor.grad)
            for address, part in found.values(tap, {0: array}):
                yield f"{GRADIENT}{address}", kind, part


def _of_parameters(modules: Modules) -> Iterator[Gradient]:
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
    kind = str(next(iter(gradients.values())).dtype).removeprefix("torch.")
    for parameter in read.parameters.values():
        if parameter.tensor.name not in frozen:
            address = parameter.address.replace("positions", "positions.table")
            yield f"{GRADIENT}{address}", kind, np.asarray(parameter)
