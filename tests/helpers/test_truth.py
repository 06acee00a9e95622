import ast
import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.helpers import truth

TRUE = """
    1 + 2 = 3
    0.25×0.5 = 0.125
    1.5 × 2 = 3.000
    1 / 3 ≈ 0.333
    2 / 3 ≈ 0.667
    8 / 4 / 2 = 1
    1 / 2×3 = 1.5
    2 + 3×4 = 14
    (2 + 3)×4 = 20
    10 - 2 - 3 = 5
    10 - (2 - 3) = 11
    -0.282 + 0.315 - 0.165 + 0.691 - 0.028 - 0.012 = 0.519
    (-0.352)×0.8 = -0.2816
    (-0.352)×0.8 ≈ -0.282
    5.1 + (-0.5) = 4.6
    (-0.498)² = 0.248004
    (-0.498)² ≈ 0.248
    2³ = 8
    (-1.5)³ = -3.375
    Φ(0) = 0.5
    tanh(0) = 0
    30×tanh(12.345 / 30) ≈ 30×0.389746 ≈ 11.692
    0.5×tanh(-0.509 / 0.5) ≈ 0.5×(-0.76905) ≈ -0.385
    tanh(0.0001) ≈ 0.0000999999996667
    tanh(500) ≈ 1
    1793772.77 / (1 + 2.4×10⁻⁷⁷⁹⁰²⁶) ≈ 1793772.77 / 1 = 1793772.77
    1 + e^(-1793772.77) ≈ 1 + 2.4×10⁻⁷⁷⁹⁰²⁶
    (2×10⁻⁷⁷⁹⁰²⁶)×(3×10⁷⁷⁹⁰²⁶) = 6
    √(4×10⁻⁸⁰⁰⁰) = 2×10⁻⁴⁰⁰⁰
    Φ(1) ≈ 0.8413
    0.735×Φ(0.735) ≈ 0.735×0.769 ≈ 0.565
    (-3.700)×Φ(-3.700) ≈ (-3.700)×0.000108 = -0.0003996 ≈ -0.00040
    Φ(-98.8) ≈ 8.6×10⁻²¹²³
    (-3.9×10²⁵)×Φ(-3.9×10²⁵) ≈ (-3.9×10²⁵)×0 = 0
    (-3.9×10²⁵) / (1 + e^(3.9×10²⁵)) ≈ 0
    e^(-√(2×10⁴⁰)) ≈ e^(-1.41×10²⁰)
    √(8 / π) ≈ 1.596
    1.840 / (1 + e^(-1.840)) ≈ 1.840 / (1 + 0.159) = 1.840 / 1.159 ≈ 1.588
    0.077 / (1 + e^(-√(8 / π)×(0.077 + 0.044715×0.077³))) ≈ 0.077 / (1 + e^(-0.123)) ≈ 0.041
    max(-∞, 0.364, -1.541) = 0.364
    -∞ - (-0.901) = -∞
    √5.23870 + 0.01 ≈ 2.28882 + 0.01 = 2.29882
    (2.589×2.789 + 1.589×2.538) / √2 ≈ (7.221 + 4.033) / 1.414 = 11.254 / 1.414 ≈ 7.959
    (7.22 + 4.03) / √2 = 11.25 / √2 ≈ 11.25 / 1.414 ≈ 7.956
    √4 = 2
    √2.25 = 1.5
    √(1.21 + 0.23) = 1.2
    √1.998 ≈ 1.414
    √2×√2 = 2
    √8 / √2 = 2
    √8 = 2×√2
    0.5 - √2 ≈ -0.914
    10000^0 = 1
    10000^(2/4) = 100
    10000^0.5 = 100
    10000^(-2/8) = 0.1
    10000^(2/6) ≈ 10000^0.333 ≈ 21.478
    10000^(2/6) ≈ 21.544
    10000^(-2/6) ≈ 0.046
    2^10 = 1024
    0.5^(-2) = 4
    e^0 = 1
    e^1 ≈ 2.718
    e^11.563 ≈ 105134.946
    e^(-0.5) ≈ 0.607
    e^(-∞) = 0
    e^(1.5 - 0.5) = e^1
    e^0.5×e^(-0.5) = 1
    e^1.2 / (e^1.2 + e^(-∞)) = 1
    e^1.2 / (e^1.2 + e^1.2) = 0.5
    e^0.3 / (e^0.3 + e^1) + e^1 / (e^0.3 + e^1) = 1
    0 / (1 + e^0.5) = 0
    1 / (1 + e^(-200)) ≈ 1.000
    1.5 - e^(-300) ≈ 1
    6.1 + (-∞) = -∞
    -0.3 + (-∞) = -∞
    (-∞) / √2 = -∞
    max(0, -1.185) = 0
    max(0, 1.185) = 1.185
    max(1.5, 6.1 + (-∞), 2.25, √2) = 2.25
    max(0, √2) ≈ max(0, 1.414) = 1.414
    sin(0) = 0
    cos(0) = 1
    ln(1) = 0
    sin(1) ≈ 0.841
    sin(3.1415926535897932384626433832795028841971) ≈ 6.9×10⁻⁴¹
    sin(0.5)² + cos(0.5)² = 1
    sin(1000000) ≈ -0.3499935021712930
    cos(1000000) ≈ 0.9367521275331448
    ln(2.5) ≈ 0.916
    -ln(0.5) ≈ 0.693
    3×10² = 300
    2.1×10⁻⁵ = 0.000021
    2.1×10⁻⁵×2 = 4.2×10⁻⁵
    (-2.1×10⁻⁵) + 1 = 0.999979
    e^30 ≈ 1.069×10¹³
    1 / 47000 ≈ 2.1×10⁻⁵
    0.99996×10⁵ ≈ 1.000×10⁵
    [58 more: 1.2345] + 1 = 2.2345
    0.12×0.5 + [58 more: 1.2345] + 0.1 ≈ 0.06 + [58 more: 1.235] + 0.1 = 1.395
    0.5 + [2 more: -1.2345] = -0.7345
    5.5345 ≈ 5.535
    -5.5345 ≈ -5.535
    0.0005 ≈ 0.001
    0.0004 ≈ 0.000
    -0.0004 ≈ 0
    0.5×0.3 + 0.5×(-0.64) + 1 ≈ 0.2 - 0.3 + 1
    1.04 - (0.11 + 0.21) ≈ 1.0 - 0.3
    1.04 - (0.11 + 0.21) ≈ 1.0 - (0.1 + 0.2)
    1.04 - (0.11 + 0.21) ≈ 1.0 - 0.1 - 0.2
    2.34567 ≈ 2.346
    ReLU′(6.12) = 1
    ReLU′(0) = 0
    ReLU′(-1.5) = 0
    ∂L/∂σ = -(0.25 - 0.75 + 2) = -1.5
    ∂L₂/∂(σ²) = 0.05027 / (2×1.50552) ≈ 0.01670
    ∂L/∂((r₁ - μ)²) = 0.3 / 2 = 0.15
    sum((∂L/∂W_Q¹)²) = 0.3² + (-0.4)² = 0.25
"""

FALSE = """
    (2.589×2.789 + 1.589×2.538) / √2 = 11.254 / 1.414
    11.254 / 1.414 = 7.956
    11.254 / 1.414 = 7.959
    11.254 / 1.414 ≈ 7.958
    11.254 / 1.414 ≈ 7.960
    -0.282 + 0.315 - 0.165 + 0.691 - 0.028 - 0.012 = 0.520
    -0.282 + 0.315 - 0.165 + 0.691 - 0.028 - 0.012 ≈ 0.520
    √1.998 = 1.413
    √1.998 ≈ 1.413
    2³ = 6
    Φ(1) = 0.8413
    tanh(0.5) = 0.46
    1793772.77 / (1 + 2.4×10⁻⁷⁷⁹⁰²⁶) = 1793772.77
    1 + e^(-1793772.77) ≈ 1 + 2.5×10⁻⁷⁷⁹⁰²⁶
    √(4×10⁻⁸⁰⁰⁰) = 2.1×10⁻⁴⁰⁰⁰
    tanh(0.0001) ≈ 0.0000999999996666
    Φ(1) ≈ 0.8414
    (-0.5)×Φ(-0.5) ≈ (-0.5)×0.691
    Φ(-98.8) ≈ 8.7×10⁻²¹²³
    Φ(-3.9×10²⁵) = 0
    (-3.9×10²⁵) / (1 + e^(3.9×10²⁵)) = 0
    e^(3.9×10²⁵) ≈ 10
    e^(-√(2×10⁴⁰)) ≈ e^(-1.42×10²⁰)
    √(8 / π) ≈ 1.595
    √(8 / π) = 1.5957691216
    1.698 / (1 + e^(-1.698)) ≈ 1.698 / (1 + 0.184)
    max(-∞, 0.364, -1.541) = -1.541
    √1.998 = 1.414
    1 / 3 = 0.333
    2 / 3 ≈ 0.666
    2 / 3 ≈ 0.66
    1 + 2 = 4
    1 + 2 ≈ 4
    5.5345 ≈ 5.534
    -5.5345 ≈ -5.534
    0.0005 ≈ 0.000
    -0.5 ≈ 0
    5.53449 ≈ 5.535
    1 - 0.5 - 0.5 = 1
    8 / 4 / 2 = 4
    -0.5² = 0.25
    √2 = 1.41421356237309504880168872420969807856967187537694
    √2 = √3
    (7.22 + 4.03) / √2 = 11.26 / √2
    (7.22 + 4.03) / √2 = 11.25 / √3
    10000^(2/6) = 21.544
    10000^(2/6) = 10000^0.333
    10000^(2/6) ≈ 10000^0.334
    e^0.5 = 1.649
    1 + e^(-200) = 1
    1 / (1 + e^(-200)) = 1
    e^(-10000) = 0
    1.5 - e^(-300) ≈ 2
    6.1 + (-∞) = ∞
    6.1 + (-∞) ≈ -1000
    e^700 ≈ ∞
    max(0, -1.185) = -1.185
    max(0, 1.185) ≈ max(0, 1.18)
    sin(1) = 0.841
    sin(1000000) ≈ -0.3499935021712929
    2.1×10⁻⁵ = 0.00021
    e^30 ≈ 1.068×10¹³
    e^30 ≈ 1.069×10¹²
    e^30 = 1.069×10¹³
    1.000×10⁵ ≈ 1.001×10⁵
    0.12×0.5 + [58 more: 1.2345] ≈ 0.06 + [58 more: 1.234]
    0.12×0.5 + [58 more: 1.2345] ≈ 0.06 + [57 more: 1.235]
    (2.589×2.789 + 1.589×2.538) / √2 ≈ (7.221 + 4.032) / 1.414
    (2.589×2.789 + 1.589×2.538) / √2 ≈ (7.221 + 4.033) / 1.415
    (2.589×2.789 + 1.589×2.538) / √2 ≈ (7.221 - 4.033) / 1.414
    (2.589×2.789 + 1.589×2.538) / √2 ≈ (4.033 + 7.221) / 1.414
    (2.589×2.789 + 1.589×2.538) / √2 ≈ 11.254 + 1.414
    0.5×0.3 + 0.5×(-0.64) + 1 ≈ 0.2 - 0.3
    2 - 0.33×0.33 ≈ 2 + 0.3×0.3
    1 / 0 = 0
    (1 - 1) / (1 - 1) = 1
    √(-1) = 1
    (-8)^(1/3) = -2
    ln(0) ≈ -∞
    ∞ - ∞ = 0
    0×∞ = 0
    √8 / (√8 - 2×√2) = 1
    ReLU′(6.12) = 6.12
    ReLU′(0) = 1
    ReLU′(-1.5) ≈ 1
    ∂L/∂σ = -(0.25 - 0.75 + 2) = 1.5
    ∂L₂/∂(σ²) = 0.05027 / (2×1.50552) = 0.01670
    sum((∂L/∂W_Q¹)²) = 0.3² + (-0.4)² = -0.07
"""


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


@pytest.mark.parametrize("line", lines(TRUE))
def test_a_true_line_is_accepted(line: str) -> None:
    assert truth.equations(line)
    assert truth.unreadable(line) == []
    assert truth.false_equations(line) == []


@pytest.mark.parametrize("line", lines(FALSE))
def test_a_false_line_is_caught(line: str) -> None:
    assert truth.unreadable(line) == []
    ((equation, reason),) = truth.false_equations(line)
    assert equation.text == line.strip()
    assert reason


def test_each_false_link_of_a_chain_is_caught() -> None:
    line = "    (2.589×2.789 + 1.589×2.538) / √2 = 11.254 / 1.414 = 7.956"
    assert [(found.left, found.right) for found, _ in truth.false_equations(line)] == [
        ("(2.589×2.789 + 1.589×2.538) / √2", "11.254 / 1.414"),
        ("11.254 / 1.414", "7.956"),
    ]


def test_the_reason_shows_the_value_and_the_part_that_is_wrong() -> None:
    def reasons(line: str) -> list[str]:
        return [reason for _, reason in truth.false_equations(f"    {line}")]

    assert reasons("0.282 + 0.315 = 0.6") == ["the left side is 0.597, the right side is 0.6"]
    assert reasons("(1.25×1.25 + 2) / √2 ≈ (1.562 + 2) / √2") == [
        "1.25×1.25 is 1.5625, which 1.562 is not the rounding of"
    ]
    assert reasons("√2×3 ≈ 1.41 + 3") == ["1.41 + 3 is not built as √2×3 is"]
    assert reasons("1 / 0 = 1") == ["a side has no value: a division by zero"]


def test_an_approximation_of_equal_sides_is_needless_but_not_false() -> None:
    text = "    1 / 4 ≈ 0.250\n    1 / 3 ≈ 0.333\n    1 / 4 = 0.25\n    2×√2 + 0 ≈ √8"
    assert truth.false_equations(text) == []
    assert [found.left for found in truth.needless_equations(text)] == ["1 / 4", "2×√2 + 0"]
    assert truth.needless_equations("    1 / 4 ≈ 0.3\n    1 / 0 ≈ 1") == []


def test_continuation_lines_are_joined() -> None:
    text = """title

    x_1:  0.1×0.2 + 0.3×0.4
          + 0.5×0.6
          - 0.01
        = 0.02 + 0.12 + 0.3 - 0.01
      = 0.43
      ≈ 0.4
    second: 1 + 1 = 2

      = 3
"""
    assert truth.unreadable(text) == []
    assert truth.false_equations(text) == []
    found = truth.equations(text)
    assert [(each.line, each.left, each.relation, each.right) for each in found] == [
        (3, "0.1×0.2 + 0.3×0.4 + 0.5×0.6 - 0.01", "=", "0.02 + 0.12 + 0.3 - 0.01"),
        (3, "0.02 + 0.12 + 0.3 - 0.01", "=", "0.43"),
        (3, "0.43", "≈", "0.4"),
        (9, "1 + 1", "=", "2"),
    ]
    joined = "0.1×0.2 + 0.3×0.4 + 0.5×0.6 - 0.01 = 0.02 + 0.12 + 0.3 - 0.01 = 0.43 ≈ 0.4"
    assert found[0].text == joined


def test_a_line_behind_a_comma_goes_on_with_any_sign() -> None:
    text = "    m: max(0.5,\n         1.5, 0)\n       = 1.5\n    1 = 1\n      2 = 3\n"
    assert [(each.left, each.right) for each in truth.equations(text)] == [
        ("max(0.5, 1.5, 0)", "1.5"),
        ("1", "1"),
    ]


def test_a_false_continuation_is_caught() -> None:
    ((found, _),) = truth.false_equations("    a: 1 + 1\n      = 2\n      = 3")
    assert (found.line, found.left, found.right) == (1, "2", "3")


def test_only_blocks_indented_by_four_are_worked_lines() -> None:
    text = "1 = 2\n  1 = 2\n   1 = 2\n     1 = 2\n        1 = 2\n\n      = 3\n    1 = 1\n  = 2"
    assert [found.text for found in truth.equations(text)] == ["1 = 1"]
    assert truth.unreadable(text) == []


@pytest.mark.parametrize(
    "label",
    [
        *("", "a = b", "1 = 2", "x: y", "√", "e^", "≈", "=", "1 + 1 = 2", "1 = 1: 2 = 2", "max("),
        *(":", "::", "12:30", "[", "]", "[58 more", "[3 more: 1", "(", "-", "3", "x =", "μ = 3"),
        *(
            "日本語",
            "🙂",
            "a b",
            "a ",
            "\u3000",
            "\u00a0",
            "\u2028",
            "\x85",
            "\r",
            "\t",
            "'",
            "“1”",
        ),
    ],
)
@pytest.mark.parametrize("padding", [" ", "      "])
def test_a_label_may_hold_anything(label: str, padding: str) -> None:
    text = f"\n    {label}:{padding}0.5 + [2 more: 1.5] = 2\n      ≈ 3"
    assert truth.unreadable(text) == []
    assert [(found.line, found.left, found.right) for found in truth.equations(text)] == [
        (2, "0.5 + [2 more: 1.5]", "2"),
        (2, "2", "3"),
    ]
    assert [found.right for found, _ in truth.false_equations(text)] == ["3"]
    assert truth.equations(text)[0].text == "0.5 + [2 more: 1.5] = 2 ≈ 3"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("√d_k = √2 ≈ 1.414", 1),
        ("μ = (1 + 2) / 2 = 3 / 2 = 1.5", 2),
        ("σ² = √(σ² + ε) = 0.5 + 0.25 = 0.75", 1),
        ("x: y: q·k / √d_k = 1×2 / √4 = 1", 1),
        ("a = b: x̂₁ = (x₁ - μ) / σ = (1 - 3) / 2 = -1", 1),
        ("PE(pos, 2×i) = sin(pos / 10000^(2×i/d)) = sin(0) = 0", 1),
        ("silu(0.5) = 0.5 / (1 + e^(-0.5)) ≈ 0.311", 1),
        ("e = 3 - 0.5 = 2.5", 1),
        ("d_k = 2", 0),
        ("scale: √d_k = √2", 0),
    ],
)
def test_symbolic_sides_at_the_front_are_skipped(line: str, count: int) -> None:
    assert truth.unreadable(f"    {line}") == []
    assert len(truth.equations(f"    {line}")) == count
    assert truth.false_equations(f"    {line}") == []


@pytest.mark.parametrize(
    "line",
    [
        *("hello", "label:", "3", "label: 3", "1 + 2", "a = b", "= 3", "1 =", "1 = = 1", "1 2 = 3"),
        *("1 + x = 3 = y", "3 = x", "μ = 3 = x = 3", "1.2O×3 = 3.6", "0.5×nan = nan"),
        *("5 + -3 = 2", "5×-3 = -15", "e^-1 ≈ 0.4", "√-1 = 1", "2(3) = 6", "(1 + 2 = 3", "1) = 1"),
        *("1.2.3 = 1", ".5 = 0.5", "1. = 1", "1,000 = 1000", "5 − 3 = 2", "1 = 1 (exactly)"),
        *("10⁻⁵ = 0.00001", "2⁴ = 16", "√2² = 2", "sin(1, 2) = 3", "sin 1 = 3", "1·2 = 2 = 2"),
        *("[58 more 1.2] = 1.2", "[58 more: 1 + 2] = 3", "1.2 = [58 more: 1.2", "silu(0.5) = 0.3"),
        *("1 = 1: ", "1 = 1 = 1;", "1 ≠ 2 = 2", "max() = 0", "1 == 1", "½ = 0.5", "1 + = 1"),
    ],
)
def test_what_is_no_chain_is_unreadable(line: str) -> None:
    text = f"  title\n    {line}\n    1 + 1 = 2"
    assert truth.unreadable(text) == [line.strip()]
    assert [found.text for found in truth.equations(text)] == ["1 + 1 = 2"]


def test_a_bad_continuation_makes_the_whole_line_unreadable() -> None:
    assert truth.unreadable("    a: 1 = 1\n      = x") == ["a: 1 = 1 = x"]
    assert truth.equations("    a: 1 = 1\n      = x") == []


@pytest.mark.parametrize("x", ["0.001", "0.5", "2.2", "3.14159", "6.2", "12.75"])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sin", math.sin),
        ("cos", math.cos),
        ("tanh", math.tanh),
        ("ln", math.log),
        ("√", math.sqrt),
        ("e^", math.exp),
    ],
)
def test_functions_agree_with_the_machine(
    name: str, function: Callable[[float], float], x: str
) -> None:
    value = Decimal(function(float(x)))
    printed = f"{value:.{8 - value.adjusted()}f}"
    assert truth.false_equations(f"    {name}({x}) ≈ {printed}") == []
    assert truth.false_equations(f"    {name}({x}) = {printed}") != []


@pytest.mark.parametrize("x", ["-35.5", "-12.75", "-6.1", "-5.9", "-0.5", "0.001", "5.9", "7.5"])
def test_the_normal_distribution_agrees_with_the_machine(x: str) -> None:
    value = Decimal(math.erfc(-float(x) / math.sqrt(2)) / 2)
    printed = f"{value:.{8 - value.adjusted()}f}"
    assert truth.false_equations(f"    Φ({x}) ≈ {printed}") == []
    assert truth.false_equations(f"    Φ({x}) = {printed}") != []


def test_it_depends_on_nothing_it_judges() -> None:
    tree = ast.parse(Path(truth.__file__).read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    own = {"__future__", "dataclasses", "decimal", "fractions", "functools", "math", "re"}
    assert imported == own


# --- properties ----------------------------------------------------------------------------------

decimals = st.decimals(-1000, 1000, allow_nan=False, places=3)
nonzero = decimals.filter(bool)
steps = st.sampled_from([1, -1])


def operand(number: Decimal) -> str:
    return f"({number:f})" if number.is_signed() else f"{number:f}"


def half_away(value: Fraction, places: int) -> Decimal:
    digits = math.floor(abs(value) * 10**places + Fraction(1, 2))
    return Decimal(digits if value > 0 else -digits).scaleb(-places)


def is_false(left: str, relation: str, right: Decimal) -> bool:
    ((equation),) = truth.equations(f"    x: {left} {relation} {right:f}")
    return truth.falsehood(equation) is not None


@given(st.lists(st.tuples(decimals, decimals), min_size=1, max_size=5), steps)
def test_a_last_digit_changed_by_one_is_caught_in_an_exact_sum(
    pairs: list[tuple[Decimal, Decimal]], step: int
) -> None:
    left = " + ".join(f"{operand(a)}×{operand(b)}" for a, b in pairs)
    exact = sum((a * b for a, b in pairs), Decimal(0))
    unit = Decimal(1).scaleb(int(exact.as_tuple().exponent))
    assert not is_false(left, "=", exact)
    assert is_false(left, "=", exact + step * unit)
    assert is_false(left, "≈", exact + step * unit)


@given(decimals, nonzero, st.integers(0, 8), steps)
def test_a_last_digit_changed_by_one_is_caught_in_a_rounded_quotient(
    over: Decimal, under: Decimal, places: int, step: int
) -> None:
    left = f"{operand(over)} / {operand(under)}"
    value = Fraction(over) / Fraction(under)
    rounded = half_away(value, places)
    assert not is_false(left, "≈", rounded)
    assert is_false(left, "≈", rounded + step * Decimal(1).scaleb(-places))
    assert is_false(left, "=", rounded) == (Fraction(rounded) != value)


@given(st.decimals("0.001", 1000, places=3), st.integers(0, 12), steps)
def test_a_last_digit_changed_by_one_is_caught_in_a_root(
    square: Decimal, places: int, step: int
) -> None:
    rounded = square.sqrt().quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    assert not is_false(f"√{square}", "≈", rounded)
    assert is_false(f"√{square}", "≈", rounded + step * Decimal(1).scaleb(-places))


@given(decimals, decimals, nonzero, steps, st.integers(0, 2))
def test_a_last_digit_changed_by_one_is_caught_in_a_longer_right_side(
    a: Decimal, b: Decimal, c: Decimal, step: int, where: int
) -> None:
    left = f"({operand(a)}×{operand(b)} + {operand(b)}×{operand(c)}) / {operand(c)}"
    parts = [
        half_away(Fraction(a * b), 2),
        half_away(Fraction(b * c), 2),
        half_away(Fraction(c), 2),
    ]

    def line() -> str:
        first, second, third = map(operand, parts)
        return f"    {left} ≈ ({first} + {second}) / {third}"

    if not parts[2]:
        return
    assert truth.false_equations(line()) == []
    parts[where] += step * Decimal("0.01")
    if parts[2]:
        exactly_equal = truth.needless_equations(line()) != []
        assert exactly_equal or truth.false_equations(line()) != []
