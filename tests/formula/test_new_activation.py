"""A new activation function is one row of the table: all that is said of it follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from tests.helpers.command import printed, run
from tests.helpers.truth import equations, false_equations
from tracer.formula import activations, expression as ex
from tracer.formula.activations import ACTIVATIONS, Activation
from tracer.formula.formula import Formula
from tracer.scenario.layers import Layer
from tracer.scenario.model import Encoder, Scenario
from tracer.scenario.networks import FFN

TEXT = """\
title: Squared
tokens: [a, b, a]
embeddings: {a: [0.5, -0.25], b: [1.5, 0.75]}
layers:
  - ffn:
      W_1: [[1, -0.5, 2], [0.5, 1, -1]]
      W_2: [[0.5, 1], [1, -0.5], [0.25, 0.75]]
      activation: relu_squared
vocabulary: [a, b]
unembedding: {W_U: [[1, 0.5], [-0.5, 1]]}
"""


@pytest.fixture(autouse=True)
def row() -> Iterator[None]:
    """Squared ReLU (So et al. 2021)."""
    squared = ex.Power(ex.Part(ex.Call("max", (ex.Number.of(0), ex.Operand(0)))), ex.Number.of(2))
    ACTIVATIONS["relu_squared"] = Activation(
        Formula(squared), "ReLU²", ("ReLU² squares positive numbers and sets the others to 0.",)
    )
    know_the_rows()
    yield
    del ACTIVATIONS["relu_squared"]
    know_the_rows()


def know_the_rows() -> None:
    """A schema that an earlier test has built has the rows of that time."""
    for form in (FFN, Layer, Encoder, Scenario):
        form.model_rebuild(force=True)


def test_its_line_is_worked() -> None:
    text = printed("step", "activation", "-s", "-", "--token", "2", stdin=TEXT)
    assert "h₁: max(0, 1.875)² = 1.875² ≈ 3.516" in re.sub(" +", " ", text)
    assert "ReLU² squares positive numbers" in text


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex"])
def test_every_format_has_it(format: str, tmp_path: Path) -> None:
    scenario = tmp_path / "squared.yaml"
    scenario.write_text(TEXT, encoding="utf-8")
    text = printed("tutorial", str(scenario), "--train", "--format", format)
    assert {"terminal": "max(0, h)²", "markdown": "max(0, h)²", "latex": r"\max"}[format] in text
    if format == "terminal":
        assert len(equations(text)) > 60
        assert false_equations(text) == []


def test_a_page_has_it(tmp_path: Path) -> None:
    found = run("page", "-", "-o", f"{tmp_path}/page.html", stdin=TEXT)
    assert found.exit_code == 0, found.stderr


def test_its_gradient_is_that_of_central_differences() -> None:
    def loss(weight: str) -> Decimal:
        changed = TEXT.replace("[[1, -0.5, 2]", f"[[{weight}, -0.5, 2]")
        digits = ("--carry", "never", "--decimals", "12")
        return Decimal(printed("value", "loss", "-s", "-", *digits, stdin=changed).strip())

    step = Decimal("0.001")
    central = (loss(str(1 + step)) - loss(str(1 - step))) / (2 * step)
    found = printed("value", "gradient.layer1.ffn.W_1[1,1]", "-s", "-", stdin=TEXT)
    assert Decimal(found.strip()) == pytest.approx(central, rel=Decimal("0.001"))


def test_an_unknown_name_is_refused() -> None:
    found = run("run", "-", stdin=TEXT.replace("relu_squared", "swish"))
    assert found.exit_code == 2
    expected = "expected relu, gelu, gelu_tanh, silu, relu_squared or none, got 'swish'"
    assert expected in found.stderr
    assert activations.ACTIVATIONS is ACTIVATIONS
