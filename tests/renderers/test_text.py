"""Expressions and names as plain text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from tests.helpers.random_scenarios import odd_tokens
from tests.helpers.truth import equations, falsehood
from tracer.formula import expression as ex
from tracer.formula.evaluation import value
from tracer.lesson.document import Percent
from tracer.names import name_text
from tracer.renderers.notation import is_scientific
from tracer.renderers.text import in_percent, number_text, text


def n(number: str) -> ex.Number:
    return ex.Number(Decimal(number))


A, B, C, MINUS, TINY = n("1.5"), n("2"), n("0.25"), n("-0.5"), n("0.000021")
X, Y = ex.Symbol("x"), ex.Symbol("y")


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
    assert text(ex.Blank(7, n(answer))) == f"[7:{room}]"


def test_a_share_shows_the_decimals_of_its_percentage() -> None:
    assert text(in_percent(Percent(ex.Blank(7, n("0.964"))))) == "[7:___._]"
    assert text(in_percent(Percent(ex.Blank(7, n("0.98"))))) == "[7:_____]"
    assert text(in_percent(Percent(ex.Blank(7, n("0.9800"))))) == "[7:_____]"


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
        (ex.Sum((A, B)), "1.5 + 2"),
        (ex.Sum((A, MINUS)), "1.5 + (-0.5)"),
        (ex.Sum((MINUS, A)), "-0.5 + 1.5"),
        (ex.Sum((MINUS, MINUS)), "-0.5 + (-0.5)"),
        (ex.Sum((A, MINUS, B)), "1.5 - 0.5 + 2"),
        (ex.Sum((MINUS, MINUS, MINUS)), "-0.5 - 0.5 - 0.5"),
        (ex.Sum((A, n("0"), C, MINUS)), "1.5 + 0 + 0.25 - 0.5"),
        (ex.Sum((A, n("-0.000021"), B)), "1.5 - 2.1×10⁻⁵ + 2"),
        (ex.Sum((A, TINY)), "1.5 + 2.1×10⁻⁵"),
        (ex.Sum((TINY, TINY, A)), "2.1×10⁻⁵ + 2.1×10⁻⁵ + 1.5"),
        (ex.Sum((A, n("-0.000021"))), "1.5 + (-2.1×10⁻⁵)"),
        (ex.Sum((n("6.1"), n("-Infinity"))), "6.1 + (-∞)"),
        (ex.Sum((n("-0.3"), n("-Infinity"), A)), "-0.3 + (-∞) + 1.5"),
        (ex.Sum((ex.Product((MINUS, A)), MINUS, B)), "(-0.5)×1.5 + (-0.5) + 2"),
        (ex.Sum((A, ex.Rest(58, MINUS))), "1.5 + [58 more: -0.5]"),
        (ex.Sum((A, ex.Sum((B, C)))), "1.5 + (2 + 0.25)"),
        (ex.Sum((A, ex.Difference(B, C))), "1.5 + (2 - 0.25)"),
        (ex.Sum((ex.Quotient(A, B), C)), "1.5 / 2 + 0.25"),
        # Differences.
        (ex.Difference(A, B), "1.5 - 2"),
        (ex.Difference(MINUS, B), "-0.5 - 2"),
        (ex.Difference(A, MINUS), "1.5 - (-0.5)"),
        (ex.Difference(TINY, A), "2.1×10⁻⁵ - 1.5"),
        (ex.Difference(ex.Sum((A, B)), C), "1.5 + 2 - 0.25"),
        (ex.Difference(A, ex.Sum((B, C))), "1.5 - (2 + 0.25)"),
        (ex.Difference(A, ex.Difference(B, C)), "1.5 - (2 - 0.25)"),
        (ex.Difference(A, ex.Product((B, C))), "1.5 - 2×0.25"),
        # Products: each negative number in parentheses.
        (ex.Product((A, B, C)), "1.5×2×0.25"),
        (ex.Product((MINUS, A)), "(-0.5)×1.5"),
        (ex.Product((A, MINUS)), "1.5×(-0.5)"),
        (ex.Product((TINY, B)), "(2.1×10⁻⁵)×2"),
        (ex.Product((ex.Sum((A, B)), C)), "(1.5 + 2)×0.25"),
        (ex.Product((ex.Quotient(A, B), C)), "(1.5 / 2)×0.25"),
        (ex.Product((ex.Power(A, B), ex.Root(C))), "1.5²×√0.25"),
        # Quotients.
        (ex.Quotient(A, B), "1.5 / 2"),
        (ex.Quotient(MINUS, B), "-0.5 / 2"),
        (ex.Quotient(A, MINUS), "1.5 / (-0.5)"),
        (ex.Quotient(TINY, TINY), "2.1×10⁻⁵ / (2.1×10⁻⁵)"),
        (ex.Quotient(ex.Sum((A, B)), ex.Root(B)), "(1.5 + 2) / √2"),
        (ex.Quotient(ex.Product((A, B)), C), "(1.5×2) / 0.25"),
        (ex.Quotient(A, ex.Product((B, C))), "1.5 / (2×0.25)"),
        (ex.Quotient(ex.Quotient(A, B), C), "1.5 / 2 / 0.25"),
        (ex.Quotient(A, ex.Quotient(B, C)), "1.5 / (2 / 0.25)"),
        # Powers and roots.
        (ex.Power(A, B), "1.5²"),
        (ex.Power(MINUS, B), "(-0.5)²"),
        (ex.Power(TINY, B), "(2.1×10⁻⁵)²"),
        (ex.Power(ex.Root(A), B), "(√1.5)²"),
        (ex.Power(n("10000"), ex.Quotient(n("-2"), n("6"))), "10000^(-2 / 6)"),
        (ex.Power(B, C), "2^0.25"),
        (ex.Power(B, MINUS), "2^(-0.5)"),
        (ex.Root(A), "√1.5"),
        (ex.Root(TINY), "√(2.1×10⁻⁵)"),
        (ex.Root(ex.Sum((A, B))), "√(1.5 + 2)"),
        (ex.Root(ex.Power(ex.Symbol("σ"), B)), "√(σ²)"),
        (ex.Exponential(A), "e^1.5"),
        (ex.Exponential(MINUS), "e^(-0.5)"),
        (ex.Exponential(n("-Infinity")), "e^(-∞)"),
        (ex.Exponential(ex.Sum((X, Y))), "e^(x + y)"),
        # Calls and formulas.
        (ex.Call("max", (n("0"), MINUS)), "max(0, -0.5)"),
        (ex.Call("sin", (ex.Sum((A, B)),)), "sin(1.5 + 2)"),
        (ex.Sum((ex.Call("FFN", (X,)), Y)), "FFN(x) + y"),
        (
            ex.Quotient(ex.MatrixProduct(ex.Symbol("Q"), ex.Transposed(ex.Symbol("K"))), X),
            "Q · Kᵀ / x",
        ),
        (ex.Transposed(ex.Symbol("K", above="1")), "K¹ᵀ"),
        (ex.Transposed(ex.Sum((X, Y))), "(x + y)ᵀ"),
        (ex.MatrixProduct(ex.Brackets((X, Y)), ex.Symbol("W", "O")), "[x y] · W_O"),
        (ex.MatrixProduct(ex.Sum((X, Y)), X), "(x + y) · x"),
        (ex.Sum((ex.MatrixProduct(X, Y), X)), "x · y + x"),
        # Symbols.
        (ex.Symbol("W", "Q", "1"), "W_Q¹"),
        (ex.Symbol("W", "1"), "W₁"),
        (ex.Symbol("x", "12"), "x₁₂"),
        (ex.Symbol("Q", above="10"), "Q¹⁰"),
        (ex.Symbol("d", "k"), "d_k"),
        (ex.Symbol("X′"), "X′"),
    ],
)
def test_text(expression: ex.Expression, expected: str) -> None:
    assert text(expression) == expected


NUMBERS = st.decimals(-9, 9, places=5).map(ex.Number)
INNER: st.SearchStrategy[ex.Expression] = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(tuple).map(ex.Sum),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(ex.Product),
        st.builds(ex.Difference, inner, inner),
        st.builds(ex.Power, inner, st.just(B)),
    ),
    max_leaves=6,
)
EXPRESSIONS = st.one_of(
    INNER, st.builds(ex.Quotient, INNER, NUMBERS.filter(lambda n: n.value != 0))
)


@given(EXPRESSIONS)
def test_what_is_written_means_what_it_is(expression: ex.Expression) -> None:
    """Read back by the parser that judges the program, which knows nothing of these classes."""
    result, exact = value(expression)
    if exact:
        (equation,) = equations(f"    {text(expression)} = {text(ex.Number(result))}\n")
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
