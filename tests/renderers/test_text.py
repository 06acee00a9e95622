"""Expressions and names as plain text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.random_scenarios import odd_tokens
from tests.helpers.truth import equations, falsehood
from tracer.formula.evaluation import value
from tracer.formula.expression import (
    Blank,
    Brackets,
    Call,
    Difference,
    Exponential,
    Expression,
    MatrixProduct,
    Number,
    Power,
    Product,
    Quotient,
    Rest,
    Root,
    Sum,
    Symbol,
    Transposed,
)
from tracer.lesson.document import Percent
from tracer.renderers.notation import is_scientific
from tracer.renderers.text import in_percent, name_text, number_text, text


def n(number: str) -> Number:
    return Number(Decimal(number))


A, B, C, MINUS, TINY = n("1.5"), n("2"), n("0.25"), n("-0.5"), n("0.000021")
X, Y = Symbol("x"), Symbol("y")


@pytest.mark.parametrize(
    ("answer", "room"),
    [
        ("20.840", "___.___"),
        ("-0.5", "___._"),
        ("105135", "_____"),
        ("0.00012", "___._____"),
        ("0.0000021", "___._×10^__"),
        ("1.069E+13", "___.___×10^__"),
    ],
)
def test_a_blank_shows_how_many_decimals_belong_there(answer: str, room: str) -> None:
    assert text(Blank(7, n(answer))) == f"[7:{room}]"


def test_a_share_shows_the_decimals_of_its_percentage() -> None:
    assert text(in_percent(Percent(Blank(7, n("0.964"))))) == "[7:___._]"
    assert text(in_percent(Percent(Blank(7, n("0.98"))))) == "[7:_____]"
    assert text(in_percent(Percent(Blank(7, n("0.9800"))))) == "[7:_____]"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("1.080", "1.080"),
        ("-0.352", "-0.352"),
        ("0", "0"),
        ("0.00", "0.00"),
        ("105135", "105135"),
        ("0.00012", "0.00012"),
        ("0.0000", "0.0000"),
        ("0.000012", "1.2×10⁻⁵"),
        ("-0.000021", "-2.1×10⁻⁵"),
        ("0.00002100", "2.100×10⁻⁵"),
        ("0.00000000000000000001", "1×10⁻²⁰"),
        ("1.069E+13", "1.069×10¹³"),
        ("-1.069E+13", "-1.069×10¹³"),
        ("1E+12", "1×10¹²"),
        ("1000000000000", "1000000000000"),
        ("Infinity", "∞"),
        ("-Infinity", "-∞"),
    ],
)
def test_number_text(number: str, expected: str) -> None:
    assert number_text(n(number)) == text(n(number)) == expected
    if "∞" not in expected:
        assert is_scientific(Decimal(number)) is ("×10" in expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # Sums: a sum of three numbers takes their signs as its own.
        (Sum((A, B)), "1.5 + 2"),
        (Sum((A, MINUS)), "1.5 + (-0.5)"),
        (Sum((MINUS, A)), "-0.5 + 1.5"),
        (Sum((MINUS, MINUS)), "-0.5 + (-0.5)"),
        (Sum((A, MINUS, B)), "1.5 - 0.5 + 2"),
        (Sum((MINUS, MINUS, MINUS)), "-0.5 - 0.5 - 0.5"),
        (Sum((A, n("0"), C, MINUS)), "1.5 + 0 + 0.25 - 0.5"),
        (Sum((A, n("-0.000021"), B)), "1.5 - 2.1×10⁻⁵ + 2"),
        (Sum((A, TINY)), "1.5 + 2.1×10⁻⁵"),
        (Sum((TINY, TINY, A)), "2.1×10⁻⁵ + 2.1×10⁻⁵ + 1.5"),
        (Sum((A, n("-0.000021"))), "1.5 + (-2.1×10⁻⁵)"),
        (Sum((n("6.1"), n("-Infinity"))), "6.1 + (-∞)"),
        (Sum((n("-0.3"), n("-Infinity"), A)), "-0.3 + (-∞) + 1.5"),
        (Sum((Product((MINUS, A)), MINUS, B)), "(-0.5)×1.5 + (-0.5) + 2"),
        (Sum((A, Rest(58, MINUS))), "1.5 + [58 more: -0.5]"),
        (Sum((A, Sum((B, C)))), "1.5 + (2 + 0.25)"),
        (Sum((A, Difference(B, C))), "1.5 + (2 - 0.25)"),
        (Sum((Quotient(A, B), C)), "1.5 / 2 + 0.25"),
        # Differences.
        (Difference(A, B), "1.5 - 2"),
        (Difference(MINUS, B), "-0.5 - 2"),
        (Difference(A, MINUS), "1.5 - (-0.5)"),
        (Difference(TINY, A), "2.1×10⁻⁵ - 1.5"),
        (Difference(Sum((A, B)), C), "1.5 + 2 - 0.25"),
        (Difference(A, Sum((B, C))), "1.5 - (2 + 0.25)"),
        (Difference(A, Difference(B, C)), "1.5 - (2 - 0.25)"),
        (Difference(A, Product((B, C))), "1.5 - 2×0.25"),
        # Products: each negative number in parentheses.
        (Product((A, B, C)), "1.5×2×0.25"),
        (Product((MINUS, A)), "(-0.5)×1.5"),
        (Product((A, MINUS)), "1.5×(-0.5)"),
        (Product((TINY, B)), "(2.1×10⁻⁵)×2"),
        (Product((Sum((A, B)), C)), "(1.5 + 2)×0.25"),
        (Product((Quotient(A, B), C)), "(1.5 / 2)×0.25"),
        (Product((Power(A, B), Root(C))), "1.5²×√0.25"),
        # Quotients.
        (Quotient(A, B), "1.5 / 2"),
        (Quotient(MINUS, B), "-0.5 / 2"),
        (Quotient(A, MINUS), "1.5 / (-0.5)"),
        (Quotient(TINY, TINY), "2.1×10⁻⁵ / (2.1×10⁻⁵)"),
        (Quotient(Sum((A, B)), Root(B)), "(1.5 + 2) / √2"),
        (Quotient(Product((A, B)), C), "(1.5×2) / 0.25"),
        (Quotient(A, Product((B, C))), "1.5 / (2×0.25)"),
        (Quotient(Quotient(A, B), C), "1.5 / 2 / 0.25"),
        (Quotient(A, Quotient(B, C)), "1.5 / (2 / 0.25)"),
        # Powers and roots.
        (Power(A, B), "1.5²"),
        (Power(MINUS, B), "(-0.5)²"),
        (Power(TINY, B), "(2.1×10⁻⁵)²"),
        (Power(Root(A), B), "(√1.5)²"),
        (Power(n("10000"), Quotient(n("-2"), n("6"))), "10000^(-2 / 6)"),
        (Power(B, C), "2^0.25"),
        (Power(B, MINUS), "2^(-0.5)"),
        (Root(A), "√1.5"),
        (Root(TINY), "√(2.1×10⁻⁵)"),
        (Root(Sum((A, B))), "√(1.5 + 2)"),
        (Root(Power(Symbol("σ"), B)), "√(σ²)"),
        (Exponential(A), "e^1.5"),
        (Exponential(MINUS), "e^(-0.5)"),
        (Exponential(n("-Infinity")), "e^(-∞)"),
        (Exponential(Sum((X, Y))), "e^(x + y)"),
        # Calls and formulas.
        (Call("max", (n("0"), MINUS)), "max(0, -0.5)"),
        (Call("sin", (Sum((A, B)),)), "sin(1.5 + 2)"),
        (Sum((Call("FFN", (X,)), Y)), "FFN(x) + y"),
        (Quotient(MatrixProduct(Symbol("Q"), Transposed(Symbol("K"))), X), "Q · Kᵀ / x"),
        (Transposed(Symbol("K", above="1")), "K¹ᵀ"),
        (Transposed(Sum((X, Y))), "(x + y)ᵀ"),
        (MatrixProduct(Brackets((X, Y)), Symbol("W", "O")), "[x y] · W_O"),
        (MatrixProduct(Sum((X, Y)), X), "(x + y) · x"),
        (Sum((MatrixProduct(X, Y), X)), "x · y + x"),
        # Symbols.
        (Symbol("W", "Q", "1"), "W_Q¹"),
        (Symbol("W", "1"), "W₁"),
        (Symbol("x", "12"), "x₁₂"),
        (Symbol("Q", above="10"), "Q¹⁰"),
        (Symbol("d", "k"), "d_k"),
        (Symbol("X′"), "X′"),
    ],
)
def test_text(expression: Expression, expected: str) -> None:
    assert text(expression) == expected


NUMBERS = st.decimals(-9, 9, places=5).map(Number)
INNER: st.SearchStrategy[Expression] = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(tuple).map(Sum),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(Product),
        st.builds(Difference, inner, inner),
        st.builds(Power, inner, st.just(B)),
    ),
    max_leaves=6,
)
EXPRESSIONS = st.one_of(INNER, st.builds(Quotient, INNER, NUMBERS.filter(lambda n: n.value != 0)))


@given(EXPRESSIONS)
def test_what_is_written_means_what_it_is(expression: Expression) -> None:
    """Read back by the parser that judges the program, which knows nothing of these classes."""
    result, exact = value(expression)
    if exact:
        (equation,) = equations(f"    {text(expression)} = {text(Number(result))}\n")
        assert falsehood(equation) is None


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Frank", "Frank"),
        ("", '""'),
        (" ", "␣"),
        ("   ", "␣␣␣"),
        (" the", "␣the"),
        ("a b  ", "a b␣␣"),
        ("\n", "\\n"),
        ("a\tb", "a\\tb"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x00", "\\x00"),
        ("\x85", "\\x85"),
        ("\u200b", "\\u200b"),
        ("\u202eabc", "\\u202eabc"),
        ("\ufeff", "\\ufeff"),
        ("a\u00a0b", "a\\xa0b"),
        ("\u3000", "\\u3000"),
        ("日本語", "日本語"),
        ("שלום", "שלום"),
        ("e\u0301", "e\u0301"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
        ("a|b $x$ _y_", "a|b $x$ _y_"),
        ("<b>&amp;", "<b>&amp;"),
    ],
)
def test_name_text(name: str, expected: str) -> None:
    assert name_text(name) == expected


@given(st.one_of(st.text(), odd_tokens()))
def test_a_name_is_one_visible_line(name: str) -> None:
    shown = name_text(name)
    assert shown and shown == shown.strip()
    # What joins the signs of a family is no sign by itself.
    assert shown.replace("\u200d", "").isprintable()
    if name.isprintable() and name and name == name.strip(" "):
        assert shown == name
