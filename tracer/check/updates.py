"""Ways in which the step of an optimizer differs between programs.

Each is one change of the tape, or of the settings of the scenario's optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from tracer.check.backward import What, is_of_training, of_training, with_operation
from tracer.check.recomputation import Change, Recomputation, of_records
from tracer.check.variants import Change as ScenarioChange
from tracer.decoder import elementwise as el
from tracer.decoder.comparison import Floats
from tracer.decoder.tape import Record
from tracer.scenario.model import Scenario
from tracer.scenario.optimizer import Optimizer

OF_CLIPPING = 1e-6
"""PyTorch's clip_grad_norm_ adds it to the norm."""
EPSILONS = tuple(map(Decimal, ("0", "0.00001", "0.000001", "0.0000001", "0.00000001")))


def _of(what: What, compute: Callable[..., Floats]) -> Change:
    """Return a change of some results; `compute` gets the optimizer in floats, and operands."""

    def change(at: Recomputation, _: Record, *operands: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return compute(_Settings(at.trace.scenario.optimizer), *operands)

    return of_records(partial(is_of_training, what), change)


class _Settings:
    """The settings of an optimizer as floats; 0 for what it does not have."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.rate, self.momentum = float(optimizer.learning_rate), float(optimizer.momentum)
        self.decay, self.epsilon = float(optimizer.weight_decay), float(optimizer.epsilon)
        self.clip = float(optimizer.clip or 0)
        self.correction = float(1 - optimizer.beta_2) ** 0.5
        """Of the root of Adam's second moment, in the first step."""


OF_UPDATES: dict[str, Change] = {
    "with the step added, not subtracted": _of("new", lambda o, w, d: w + o.rate * d),
    "with Nesterov momentum": _of("new", lambda o, w, d: w - o.rate * (1 + o.momentum) * d),
    "with weight decay after the step": _of(
        "new", lambda o, w, d: w - o.rate * (1 - o.rate * o.decay) * d
    ),
    "with gradients dampened by 1 − momentum": _of("velocity", lambda o, g: (1 - o.momentum) * g),
    "without weight decay": of_training("decayed", lambda _, before, *others: before),
    "without clipping": of_training("clipped", lambda _, g, factor: g),
    "clipped by value": _of("clipped", lambda o, g, _: np.clip(g, -o.clip, o.clip)),
    "clipped by the norm of each parameter": _of(
        "clipped", lambda o, g, _: g * min(1.0, o.clip / float(np.linalg.norm(g)))
    ),
    f"with {OF_CLIPPING:f} added to the norm, as PyTorch's clip_grad_norm_ does": _of(
        "clipped", lambda o, g, factor: g * o.clip / (o.clip / factor + OF_CLIPPING)
    ),
    "without bias correction": of_training(el.BiasCorrection, lambda _, moment: moment),
    "without the bias correction of the first moment": of_training(
        "unbiased_first", lambda _, moment: moment
    ),
    "without the bias correction of the second moment": of_training(
        "unbiased_second", lambda _, moment: moment
    ),
    "with the bias correction of the second step": with_operation(
        el.BiasCorrection, lambda each: replace(each, steps=2)
    ),
    "with ε inside the root": _of(el.Ratio, lambda o, m, v: m / np.sqrt(v + o.epsilon)),
    "with ε added before the bias correction": _of(
        el.Ratio, lambda o, m, v: m / (np.sqrt(v) + o.epsilon / o.correction)
    ),
    "without the root of the second moment": _of(el.Ratio, lambda o, m, v: m / (v + o.epsilon)),
}
"""The changes of operations of the optimizer, by name."""


def _with(settings: Callable[[Optimizer], Mapping[str, Any]]) -> ScenarioChange:
    """Return a change of the optimizer's settings."""

    def changed(scenario: Scenario) -> Scenario:
        own = scenario.optimizer
        found = {name: new for name, new in settings(own).items() if new != getattr(own, name)}
        if not found:
            return scenario
        return scenario.model_copy(update={"optimizer": own.model_copy(update=found)})

    return changed


def _with_decay(decay: str) -> ScenarioChange:
    """Return a change of the weight decay; that of AdamW, if Adam has none."""

    def settings(own: Optimizer) -> Mapping[str, Any]:
        is_adam = own.kind == "adam" and not own.weight_decay
        return {"weight_decay": Decimal(decay), "kind": "adamw" if is_adam else own.kind}

    return _with(settings)


def _set(**settings: Any) -> ScenarioChange:
    return _with(lambda _: settings)


OF_OPTIMIZER: tuple[tuple[str, ScenarioChange], ...] = (
    ("without weight decay", _set(weight_decay=Decimal(0))),
    (
        "with the weight decay of Adam, added to the gradient",
        _with(lambda own: {"kind": "adam" if own.weight_decay else own.kind}),
    ),
    (
        "with the weight decay of AdamW, not added to the gradient",
        _with(lambda own: {"kind": "adamw" if own.weight_decay else own.kind}),
    ),
    ("with a weight decay of 0.01, the default of PyTorch's AdamW", _with_decay("0.01")),
    ("with a weight decay of 0.1", _with_decay("0.1")),
    ("with a learning rate of 0.001, PyTorch's default", _set(learning_rate=Decimal("0.001"))),
    *((f"with ε = {epsilon:f} in the optimizer", _set(epsilon=epsilon)) for epsilon in EPSILONS),
    ("with β₁ and β₂ swapped", _with(lambda own: {"beta_1": own.beta_2, "beta_2": own.beta_1})),
    ("without clipping", _set(clip=None)),
    ("with SGD", _set(kind="sgd")),
    ("with AdamW", _set(kind="adamw")),
)
"""The name of each change of the optimizer's settings."""


def with_inferred_settings(
    at: Recomputation, address: str, theirs: Floats
) -> Iterator[tuple[str, Change]]:
    """Yield changes of an update with the learning rate, or the decay, that the numbers show."""
    record = at.trace.producers[at.trace.values[address]]
    if not is_of_training("new", record) or theirs.shape != record.output.shape:
        return
    (w, direction), o = map(at.number, record.inputs), _Settings(at.trace.scenario.optimizer)
    kept = 1 - o.rate * o.decay if record.inputs[0].role.derivation == "decayed" else 1.0
    with np.errstate(all="ignore"):
        rate = _median((w - theirs) / direction)
        decay = _median((1 - kept * (theirs + o.rate * direction) / w) / o.rate)
    shrink = (1 - o.rate * decay) / kept
    yield f"with a learning rate of {rate:.4g}", _of("new", lambda o, w, d: w - rate * d)
    yield (
        f"with a weight decay of {decay:.4g}, not added to the gradient",
        _of("new", lambda o, w, d: shrink * w - o.rate * d),
    )


def _median(numbers: Floats) -> float:
    """Return the middle of the finite numbers with four digits, which rounding does not hide."""
    known = numbers[np.isfinite(numbers)]
    return float(f"{np.median(known):.4g}") if known.size else 0.0
