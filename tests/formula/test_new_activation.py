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
title: Softplus
tokens: [a, b, a]
embeddings: {a: [0.5, -0.25], b: [1.5, 0.75]}
layers:
  - ffn:
      W_1: [[1, -0.5, 2], [0.5, 1, -1]]
      W_2: [[0.5, 1], [1, -0.5], [0.25, 0.75]]
      activation: softplus
vocabulary: [a, b]
unembedding: {W_U: [[1, 0.5], [-0.5, 1]]}
"""


@pytest.fixture(autouse=True)
def row() -> Iterator[None]:
    """Softplus (Dugas et al. 2001)."""
    more = ex.Subtotal(ex.Sum((ex.Number.of(1), ex.Part(ex.Exponential(ex.Operand(0))))))
    ACTIVATIONS["softplus"] = Activation(
        Formula(ex.Call("ln", (more,))), "Softplus", ("Softplus makes every number positive.",)
    )
    know_the_rows()
    yield
    del ACTIVATIONS["softplus"]
    know_the_rows()


def know_the_rows() -> None:
    """A schema that an earlier test has built has the rows of that time."""
    for form in (FFN, Layer, Encoder, Scenario):
        form.model_rebuild(force=True)


def test_its_line_is_worked() -> None:
    text = printed("step", "activation", "-s", "-", "--token", "2", stdin=TEXT)
    # e^1.875 = 6.5208…, and ln(7.5208…) = 2.01767…
    assert "h₁: ln(1 + e^1.875) ≈ ln(1 + 6.521) = ln(7.521) ≈ 2.018" in re.sub(" +", " ", text)
    assert "Softplus makes every number positive." in text


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex"])
def test_every_format_has_it(format: str, tmp_path: Path) -> None:
    scenario = tmp_path / "softplus.yaml"
    scenario.write_text(TEXT, encoding="utf-8")
    text = printed("tutorial", str(scenario), "--train", "--format", format)
    assert {"terminal": "ln(1 + e^h)", "markdown": "ln(1 + e^h)", "latex": r"\ln"}[format] in text
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
    found = run("run", "-", stdin=TEXT.replace("softplus", "swish"))
    assert found.exit_code == 2
    assert "tanh, relu_squared, softplus, swiglu or none, got 'swish'" in found.stderr
    assert activations.ACTIVATIONS is ACTIVATIONS
