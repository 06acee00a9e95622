"""What a scenario or the command line says of the optimizer, and what is refused of it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.helpers.small_scenario import SMALL
from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer


def test_what_is_not_said() -> None:
    plain = parse(SMALL, "f.yaml").optimizer
    assert (plain.kind, plain.learning_rate) == ("sgd", Decimal("0.01"))
    assert plain.momentum == plain.weight_decay == 0 and plain.clip is None
    assert (plain.beta_1, plain.beta_2) == (Decimal("0.9"), Decimal("0.999"))
    assert plain.epsilon == Decimal("1e-8")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{momentum: 0.9, kind: adam}", "1: optimizer: momentum goes with sgd only"),
        ("{beta_1: 0.9}", "1: optimizer: beta_1, beta_2 and epsilon go with adam and adamw only"),
        ("{learning_rate: -1}", "13: optimizer.learning_rate: expected more than 0, got '-1'"),
        ("{learning_rate: 0}", "13: optimizer.learning_rate: expected more than 0, got '0'"),
        ("{momentum: 1}", "13: optimizer.momentum: expected less than 1, got '1'"),
        ("{momentum: -0.1}", "13: optimizer.momentum: expected at least 0, got '-0.1'"),
        ("{weight_decay: -1}", "13: optimizer.weight_decay: expected at least 0, got '-1'"),
        ("{kind: adam, beta_2: 1}", "25: optimizer.beta_2: expected less than 1, got '1'"),
        ("{kind: adam, epsilon: -1}", "25: optimizer.epsilon: expected at least 0, got '-1'"),
        ("{clip: 0}", "13: optimizer.clip: expected more than 0, got '0'"),
        ("{kind: rmsprop}", "13: optimizer.kind: expected sgd, adam or adamw, got 'rmsprop'"),
        ("{lerning_rate: 1}", "13: optimizer.lerning_rate: unknown key; did you mean 'learning_"),
        ("adam", "1: optimizer: expected a mapping, such as optimizer: {kind: adam, learning"),
    ],
)
def test_what_is_refused_is_told_at_its_place(said: str, told: str) -> None:
    with pytest.raises(TracerError) as caught:
        parse(f"{SMALL}optimizer: {said}\n", "f.yaml")
    (problem,) = map(str, caught.value.problems)
    line = SMALL.count("\n") + 1
    assert problem.startswith(f"f.yaml:{line}:{told}")


def of(**said: str) -> Optimizer:
    return Optimizer.model_validate(said)


def test_the_command_line_changes_what_it_says() -> None:
    scenarios = of(kind="adam", learning_rate="0.05", clip="1")
    changed = scenarios.changed(None, {"learning_rate": Decimal("0.2"), "clip": None})
    assert changed == of(kind="adam", learning_rate="0.2", clip="1")
    assert scenarios.changed("adam", {}) == scenarios


def test_another_kind_begins_anew() -> None:
    changed = of(momentum="0.5", learning_rate="0.2").changed("adamw", {"beta_1": Decimal("0.8")})
    assert changed == of(kind="adamw", beta_1="0.8")


@pytest.mark.parametrize(
    ("kind", "said", "told"),
    [
        ("adam", {"momentum": Decimal("0.5")}, "--optimizer: momentum goes with sgd only"),
        (None, {"epsilon": Decimal(1)}, "--optimizer: beta_1, beta_2 and epsilon go with adam"),
    ],
)
def test_what_does_not_go_together_on_the_command_line(
    kind: str | None, said: dict[str, Decimal], told: str
) -> None:
    with pytest.raises(TracerError) as caught:
        Optimizer().changed(kind, said)
    (problem,) = map(str, caught.value.problems)
    assert problem.startswith(told)
