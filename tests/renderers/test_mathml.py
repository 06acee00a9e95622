"""Formulas as MathML: well formed, with the same signs as the plain text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.helpers.traces import bundled
from tracer.formula import expression as ex
from tracer.lesson.document import Formula
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.teacher import Teacher
from tracer.renderers import mathml

A, B, C = ex.Symbol("a"), ex.Symbol("b", "k"), ex.Symbol("<c>", "1", "2")

WRITTEN = {
    ex.Sum((A, B)): "<mi>a</mi> <mo>+</mo> <msub><mi>b</mi><mi>k</mi></msub>",
    ex.Product((ex.Sum((A, A)), A)): (
        '<mo stretchy="false">(</mo><mi>a</mi> <mo>+</mo> <mi>a</mi><mo stretchy="false">)</mo>'
        "<mo>×</mo><mi>a</mi>"
    ),
    ex.Call("ln", (ex.Quotient(A, A),)): (
        "<mi>ln</mi><mo>(</mo><mfrac><mrow><mi>a</mi></mrow><mrow><mi>a</mi></mrow></mfrac><mo>)</mo>"
    ),
    ex.Symbol("X′", "", "E"): "<msup><mrow><mi>X</mi><mo>′</mo></mrow><mi>E</mi></msup>",
    ex.Quotient(A, ex.Number.of(2)): (
        "<mfrac><mrow><mi>a</mi></mrow><mrow><mn>2</mn></mrow></mfrac>"
    ),
    ex.Power(A, ex.Number.of(2)): "<msup><mrow><mi>a</mi></mrow><mrow><mn>2</mn></mrow></msup>",
    C: "<msubsup><mi>&lt;c&gt;</mi><mn>1</mn><mn>2</mn></msubsup>",
    ex.Number.of(-3): "<mo>−</mo><mn>3</mn>",
}


@pytest.mark.parametrize("expression", WRITTEN, ids=str)
def test_an_expression(expression: ex.Symbol) -> None:
    assert mathml.symbol(expression) == f"<math>{WRITTEN[expression]}</math>"


def test_a_chain_has_its_relations() -> None:
    written = mathml.formula(ex.Chain((A, B, A), ("=", "≈")))
    assert re.findall("<mo>(.)</mo>", written) == ["=", "≈"]


@pytest.mark.parametrize("name", ["alex", "pizza", "comics"])
def test_every_formula_is_well_formed(name: str) -> None:
    found = bundled(name)
    teacher = Teacher(found)
    blocks = [block for step in steps(found.records) for block in teacher.section(step).blocks]
    formulas = [block for block in blocks if isinstance(block, Formula)]
    assert len(formulas) > 10
    for formula in formulas:
        assert ElementTree.fromstring(mathml.formula(formula.chain)).tag == "math"
