"""The update: against the papers' formulas in NumPy, and against PyTorch's optimizers."""

from __future__ import annotations

import importlib
import math
from decimal import Decimal
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tracer.decoder.forward import Trace
from tracer.decoder.training import Training, TrainingOptions, train
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.parts import networks

Array = NDArray[np.float64]

STEPS = 5
DECODER = """\
title: A decoder to be trained
tokens: [a, b, a]
embeddings: {a: [0.5, -1, 0.25], b: [1, 0.5, -0.75]}
layers:
  - norm: {epsilon: 0.01, gain: [1, 0.5, 2]}
    attention:
      heads: [{W_Q: [[1], [0.3], [-0.4]], W_K: [[0.5], [0.1], [0.6]], W_V: [[1], [0.5], [-1]]}]
      W_O: [[1, 0.2, 0.3]]
    ffn:
      W_1: [[1, -0.5], [0.3, 1], [0.2, 0.4]]
      b_1: [0.5, 1]
      W_2: [[1, 0.2, 0.1], [-0.3, 1, 0.6]]
vocabulary: [a, b]
unembedding: {W_U: [[1, 0.5], [0.3, -1], [0.6, 0.1]]}
targets: [b, a, b]
rounding: {carry: never}
"""
ASKED = {
    "sgd": {"learning_rate": "0.1"},
    "momentum": {"learning_rate": "0.1", "momentum": "0.9"},
    "sgd with decay": {"learning_rate": "0.1", "weight_decay": "0.05"},
    "all of sgd": {
        **{"learning_rate": "0.2", "momentum": "0.5", "weight_decay": "0.1", "clip": "0.3"}
    },
    "adam": {"kind": "adam"},
    "adam with decay": {"kind": "adam", "learning_rate": "0.05", "weight_decay": "0.1"},
    "its own rates": {"kind": "adam", "beta_1": "0.8", "beta_2": "0.9", "epsilon": "0.001"},
    "adamw": {"kind": "adamw", "learning_rate": "0.05", "weight_decay": "0.1"},
    "adamw without decay": {"kind": "adamw", "learning_rate": "0.05"},
    "clipped": {"kind": "adamw", "weight_decay": "0.01", "clip": "0.1"},
    "never clipped": {"learning_rate": "0.1", "clip": "1000"},
}
BOTH = pytest.mark.parametrize("arithmetic", ["decimal", "float64"])


def trained(name: str, arithmetic: str = "decimal", steps: int = STEPS) -> Training:
    scenario = parse(f"{DECODER}arithmetic: {arithmetic}\n", "f.yaml")
    return train("f", scenario, TrainingOptions(Optimizer.model_validate(ASKED[name]), steps))


def parameters(found: Training) -> list[str]:
    """Their addresses."""
    values = found.steps[0].values.values()
    return [value.address.removeprefix("update.") for value in values if is_new(value)]


def is_new(value: Value) -> bool:
    return value.role.derivation == "new"


def learned(found: Training, address: str) -> list[Array]:
    """A parameter before the first step, and after each."""
    new = [step[f"update.{address}"].array for step in found.steps]
    return [found.steps[0][address].array, *new]


def gradients(found: Training, address: str) -> list[Array]:
    """What each step begins with."""
    return [step[f"gradient.{address}"].array for step in found.steps]


def clipped(found: Training, largest: float) -> dict[str, list[Array]]:
    """The gradients of each step, shrunk together by largest / norm where their norm is larger."""
    of = {address: gradients(found, address) for address in parameters(found)}
    for step in range(len(found.steps)):
        norm = np.sqrt(sum((g[step] ** 2).sum() for g in of.values()))
        for g in of.values():
            g[step] = g[step] * min(1, largest / norm)
    return of


# --- the papers' formulas ------------------------------------------------------------------------


def by_formula(w: Array, of: list[Array], optimizer: Optimizer) -> list[Array]:
    """The weights before the first step and after each, from the gradients alone."""
    rate, decay = float(optimizer.learning_rate), float(optimizer.weight_decay)
    mu, epsilon = float(optimizer.momentum), float(optimizer.epsilon)
    one, two = float(optimizer.beta_1), float(optimizer.beta_2)
    velocity = m = v = np.zeros_like(w)
    found = [w]
    for t, g in enumerate(of, start=1):
        if optimizer.kind == "adamw":
            w = w - rate * decay * w
        else:
            g = g + decay * found[-1]
        if optimizer.kind == "sgd":
            velocity = mu * velocity + g
            w = w - rate * velocity
        else:
            m = one * m + (1 - one) * g
            v = two * v + (1 - two) * g**2
            w = w - rate * (m / (1 - one**t)) / (np.sqrt(v / (1 - two**t)) + epsilon)
        found.append(w)
    return found


@pytest.mark.parametrize("name", ASKED)
@BOTH
def test_the_weights_move_as_the_papers_say(name: str, arithmetic: str) -> None:
    optimizer = Optimizer.model_validate(ASKED[name])
    found = trained(name, arithmetic)
    of = clipped(found, float(optimizer.clip or "inf"))
    assert len(of) == 11  # all that the decoder has, and its embeddings
    for address, g in of.items():
        expected = by_formula(learned(found, address)[0], g, optimizer)
        assert_alike(learned(found, address), expected, address)


def assert_alike(found: list[Array], expected: list[Array], address: str) -> None:
    np.testing.assert_allclose(
        np.array(found), np.array(expected), rtol=1e-9, atol=1e-12, err_msg=address
    )


def test_the_next_step_begins_with_the_weights_of_the_one_before() -> None:
    found = trained("adamw")
    for before, after in pairwise(found.passes):
        for address in parameters(found):
            if address != "embeddings":
                new = before[f"update.{address}"].array
                np.testing.assert_allclose(after[address].array, new, rtol=1e-15)


def test_the_moments_of_two_steps() -> None:
    """m and v begin with 0: unbiased, those of the first step are g and g² themselves."""
    first, second = trained("adam", steps=2).steps
    address = "layer1.ffn.b_1"
    g, h = (step[f"gradient.{address}"].array for step in (first, second))

    def moment(step: Trace, name: str) -> Array:
        return step[f"update.{address}.{name}"].array

    np.testing.assert_allclose(moment(first, "first_moment"), 0.1 * g)
    np.testing.assert_allclose(moment(first, "unbiased_first"), g)
    np.testing.assert_allclose(moment(first, "second_moment"), 0.001 * g**2)
    np.testing.assert_allclose(moment(first, "unbiased_second"), g**2)
    np.testing.assert_allclose(moment(second, "first_moment"), 0.9 * 0.1 * g + 0.1 * h)
    np.testing.assert_allclose(moment(second, "unbiased_first"), (0.09 * g + 0.1 * h) / 0.19)
    np.testing.assert_allclose(
        moment(second, "unbiased_second"), (0.000999 * g**2 + 0.001 * h**2) / 0.001999
    )


@BOTH
def test_adam_without_epsilon_divides_by_the_root_alone(arithmetic: str) -> None:
    """In the first step m̂ / √v̂ is g / |g|; of a gradient of 0 there is no quotient."""
    text = "title: T\ntokens: [a]\nembeddings: {a: [1, -2]}\nlayers: []\nvocabulary: [a, b]\n"
    text += f"unembedding: {{W_U: [[1, 2], [0, 1]]}}\narithmetic: {arithmetic}\ntargets: [b]\n"
    text += (
        "rounding: {carry: never}\noptimizer: {kind: adam, epsilon: 0, trains: [unembedding.*]}\n"
    )
    scenario = parse(text, "f.yaml")
    [step] = train("f", scenario, TrainingOptions(scenario.optimizer)).steps
    g = step["gradient.unembedding.W_U"].array
    np.testing.assert_allclose(step["update.unembedding.W_U.direction"].array, np.sign(g))
    nowhere = parse(text.replace("[1, -2]", "[1, 0]"), "f.yaml")
    with pytest.raises(TracerError, match="√v̂ is 0, as it is where the gradient is 0"):
        train("f", nowhere, TrainingOptions(nowhere.optimizer))


def test_gradients_within_the_norm_are_not_shrunk() -> None:
    large, small = trained("clipped", steps=1).steps[0], trained("never clipped", steps=1).steps[0]
    assert "gradient.norm.factor" in large.values and "gradient.norm.factor" not in small.values
    norm = math.sqrt(
        sum((large[f"gradient.{each}"].array ** 2).sum() for each in parameters(trained("adam")))
    )
    for step in (large, small):
        assert float(step["gradient.norm"].numbers) == pytest.approx(norm, rel=1e-12)
    assert float(large["gradient.norm.factor"].numbers) == pytest.approx(0.1 / norm, rel=1e-12)


def test_what_is_given_stays() -> None:
    scenario = parse(f"{DECODER}given: {{layer1.ffn.b_1: [0.5, 1]}}\n", "f.yaml")
    found = train("f", scenario, TrainingOptions(Optimizer(), 2))
    assert "layer1.ffn.b_1" not in parameters(found)
    assert found.after["layer1.ffn.b_1"].array.tolist() == [0.5, 1]
    (ffn,) = networks(found.trained.layers[0])
    assert ffn.b_1 == (Decimal("0.5"), Decimal(1))


# --- PyTorch -------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", ASKED)
@BOTH
def test_the_weights_move_as_those_of_pytorch(name: str, arithmetic: str) -> None:
    """From the same gradients; clipped by hand, since PyTorch divides by a norm + 0.000001."""
    torch: Any = importlib.import_module("torch")
    asked = Optimizer.model_validate(ASKED[name])
    found = trained(name, arithmetic)
    of = clipped(found, float(asked.clip or "inf"))
    for address, g in of.items():
        w = torch.nn.Parameter(torch.tensor(learned(found, address)[0]))
        optimizer = of_pytorch(torch.optim, asked, w)
        moved = [w.detach().numpy().copy()]
        for each in g:
            w.grad = torch.tensor(each)
            optimizer.step()
            moved.append(w.detach().numpy().copy())
        assert_alike(learned(found, address), moved, address)


def of_pytorch(optim: Any, asked: Optimizer, w: Any) -> Any:
    rate, decay = float(asked.learning_rate), float(asked.weight_decay)
    if asked.kind == "sgd":
        return optim.SGD([w], lr=rate, momentum=float(asked.momentum), weight_decay=decay)
    kind = optim.Adam if asked.kind == "adam" else optim.AdamW
    betas = (float(asked.beta_1), float(asked.beta_2))
    return kind([w], lr=rate, betas=betas, eps=float(asked.epsilon), weight_decay=decay)
