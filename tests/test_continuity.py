"""What a line puts in stood before, with the same digits; and the judges that see to it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.helpers import continuity, readable_digits
from tests.helpers.command import printed
from tests.helpers.continuity import misplaced, operands, two_forms, violations
from tests.helpers.readable_digits import needless_brackets, unread_digits
from tests.helpers.truth import false_equations, unreadable

CARRY_MODES = ["line", "step"]


def assert_continuous(text: str) -> None:
    assert unreadable(text) == []
    assert violations(text) == []
    assert misplaced(text) == []
    assert two_forms(text) == []


# --- the program ---------------------------------------------------------------------------------


COPIES = """
tokens: [a, b]
embeddings: {a: [0.1234, 0.5678], b: [0.4321, 0.8765]}
layers:
  - attention:
      heads: [{W_Q: [[1], [0.5]], W_K: [[1], [0.5]], W_V: [[0.7123], [0.3]]}]
      W_O: [[0.59, 0.0435]]
  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
    ffn: {W_1: identity, W_2: identity, activation: none}
vocabulary: [a, b]
unembedding: {W_U: [[0.5, 1], [0.25, 0.75]]}
"""
"""Input vectors, the only head's output, attention without W_O, the output: all only passed on."""


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize("address", ["input", "*.concat", "layer2.attention.output", "output"])
def test_what_is_passed_on_with_digits_of_its_own_stands_with_them(
    address: str, carry: str
) -> None:
    digits = f'rounding: {{decimals: 5, carry: {carry}, digits: {{"{address}": 2}}}}\n'
    for command in ("run", "train"):
        text = printed(command, "-", "--format", "terminal", stdin=COPIES + digits, width=80)
        assert_continuous(text)
        says = "are rounded again" in " ".join(text.split())
        assert says == (command == "run")
    why = printed("why", "output[b,1]", "--scenario", "-", stdin=COPIES + digits)
    assert (unreadable(why), false_equations(why)) == ([], [])


MOVES = """
title: Numbers that are moved
tokens: [a, b]
embeddings: {a: [0.123, 0.277], b: [0.5, 1]}
layers:
  - attention:
      heads:
        - {W_Q: identity, W_K: identity, W_V: identity, sink: 0.3}
        - {W_Q: identity, W_K: identity, W_V: identity}
      W_O: [[1, 0], [0, 1], [1, 0], [0, 1]]
    ffn:
      router: [[1, 0.3], [0, 0.7]]
      top: 1
      normalize: false
      experts: [{W_1: identity, W_2: identity}, {W_1: identity, W_2: identity}]
"""


@pytest.mark.parametrize("address", ["*.head1.weights", "*.concat", "*.weights", "*.input"])
def test_moved_numbers_with_digits_of_their_own_are_said_to_be_rounded(address: str) -> None:
    """A part of a matrix, matrices side by side, chosen numbers, chosen rows."""
    rounded = {
        "*.head1.weights": ["A¹"],
        "*.concat": ["[O¹ O²]"],
        "*.weights": ["A¹", "G"],
        "*.input": ["x₁²"],
    }[address]
    for carry in CARRY_MODES:
        digits = f'rounding: {{decimals: 3, carry: {carry}, digits: {{"{address}": 1}}}}\n'
        text = " ".join(printed("run", "-", stdin=MOVES + digits).split())
        found = re.findall(
            "The numbers of ([^“:]+?) are rounded again, because digits are set", text
        )
        assert found == rounded
    unset = printed("run", "-", stdin=f"{MOVES}rounding: {{decimals: 3}}\n")
    assert "rounded again" not in unset


SHORTER_ENCODER = """
tokens: [a, b]
embeddings: {a: [0.1, 0.5], b: [0.4, 0.8]}
positions: {rotary: {base: 100}}
encoder:
  tokens: [c]
  embeddings: [[0.3, 0.7]]
  positions: {rotary: {base: 10, start: 2}}
  layers:
    - attention: {heads: [{W_Q: identity, W_K: [[1, 0.5], [0, 1]], W_V: identity}]}
      ffn: {W_1: [[1, 0.2], [0.5, 1]], W_2: identity, norm: {epsilon: 0.1}}
layers:
  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
    cross_attention: {heads: [{W_Q: identity, W_K: identity, W_V: [[0.2, 0.9], [0.7, 0.1]]}]}
vocabulary: [a, b]
unembedding: {W_U: [[0.5, 1], [0.25, 0.75]]}
"""


def test_training_goes_back_into_an_encoder_of_fewer_tokens() -> None:
    text = printed("train", "-", "--format", "terminal", stdin=SHORTER_ENCODER, width=120)
    assert_continuous(text)
    assert "rotate back(∂L/∂K_Rᴱ, θᴱ)" in text and "rotate back(∂L/∂K_R, θ)" in text
    assert "In the encoder it follows “c”, position 1 of 1." in " ".join(text.split())


LAYERS_OF_THEIR_OWN = """
title: each layer with its own angles
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [0.25, 1]}
positions: {rotary: {base: 2}}
layers:
  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
  - attention: {rotary: {base: 9}, heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
vocabulary: [a, b]
unembedding: {W_U: [[0.5, 1], [0.25, 0.75]]}
targets: [b, a]
"""


@pytest.mark.parametrize("command", ["run", "train"])
def test_layers_rotate_by_angles_of_their_own(command: str) -> None:
    text = printed(command, "-", "--format", "terminal", stdin=LAYERS_OF_THEIR_OWN, width=120)
    assert_continuous(text)
    assert re.search(r"rotate( back)?\(.*, θ₂\)", text)


HEADS_OF_OTHER_WIDTHS = """
title: All queries are computed before the norm of all keys
tokens: [a]
embeddings: [[1, 0.5]]
rounding: {carry: line, decimals: 1}
layers:
  - attention:
      key_norm: {over: heads}
      heads:
        - {W_Q: identity, W_K: identity, W_V: identity}
        - {W_Q: [[1], [3]], W_K: [[1], [3]], W_V: identity}
      W_O: {random: {}}
"""


def test_each_head_has_a_width_of_its_own() -> None:
    text = printed("run", "-", "--format", "terminal", stdin=HEADS_OF_OTHER_WIDTHS, width=120)
    assert_continuous(text)
    assert misplaced(text.replace("√d_k = √2 ", "√d_k = √1 "))


MASKS_OF_THEIR_OWN = """
title: The first and the third layer have one mask, the second another
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [0.25, 1]}
mask: [[0, -inf], [-7, 0]]
rounding: {carry: line, decimals: 2}
layers:
  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
  - attention: {mask: causal, heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
"""


def test_a_mask_is_the_one_of_the_step_that_is_named() -> None:
    text = printed("run", "-", "--format", "terminal", stdin=MASKS_OF_THEIR_OWN, width=120)
    assert text.count(" + (-7) ") == 2
    assert_continuous(text)
    of_another = re.sub(r"As in step 7\.(?=\n\n    a: .*-7)", "As in step 17.", text)
    assert [found.number for found in misplaced(of_another)] == ["-7"]


# --- the judge of continuity ---------------------------------------------------------------------

GOOD = """
Two tokens

The calculation follows the token b, position 2 of 2, and 7.77 is only a number.

1 · Tokens and embeddings
───

  position  id   token
  1         101  a
  2         102  b

  X    d₀    d₁
  a   0.5  1.25
  b  -0.5  2

2 · Positions
───

  ω = 10000^(-2k / 2)

    ω₀: 10000^(0 / 2) = 1.000

  θ = pos×ω

    ω₀: 2×1.000 = 2.000

The sines:

    ω₀: sin(2.000) ≈ 0.909

The cosines:

    ω₀: cos(2.000) ≈ -0.416

  P     d₀      d₁
  a  0.841   0.540
  b  0.909  -0.416

3 · Input vectors
───

  X′ = X + P

    d₀: -0.5 + 0.909 = 0.409
    d₁: 2 + (-0.416) = 1.584

  X′     d₀     d₁
  a   1.341  1.790
  b   0.409  1.584

4 · Head 1: Query
───

  Q¹ = X′ · W_Q¹ + b_Q¹

  W_Q¹  q₁
  d₀     1
  d₁     0

  W_Q¹    q₂
  d₀     2.0
  d₁    -3.0

  b_Q¹   q₁     q₂
  ""    0.1  0.250

    q₁: 0.409×1 + 1.584×0 + 0.1 = 0.409 + 0 + 0.1 = 0.509
    q₂: 0.409×2.0 + 1.584×(-3.0) + 0.250
        = 0.818 - 4.752 + 0.250
        = -3.684

  Q¹     q₁
  a   1.441
  b   0.509

  Q¹      q₂
  a   -2.438
  b   -3.684

5 · Head 1: Attention scores
───

The divisor:

    √d_k = √2 ≈ 1.414

  S¹ = Q¹ · X′ᵀ / √d_k

    a: (0.509×1.341 + (-3.684)×1.790) / √2 ≈ (0.683 - 6.594) / √2
       = -5.911 / √2 ≈ -4.180
    b: (0.509×0.409 + [1 more: -5.835]) / √2
       ≈ (0.208 + [1 more: -5.835]) / √2 = -5.627 / √2 ≈ -3.979

6 · Head 1: Causal mask
───

    a: -4.180 + (-∞) = -∞

  S¹ + M       a       b
  a       -1.500      -∞
  b           -∞  -3.979

7 · Head 1: Softmax
───

The exponentials:

    a: e^(-∞) = 0
    b: e^(-3.979) ≈ 0.01870

Their sum:

  Σ¹ = sum(e^(S¹ + M))

    Σ¹ = 0 + 0.01870 = 0.01870

Each of them divided by the sum:

  A¹ = e^(S¹ + M) / Σ¹

    a: 0 / 0.01870 = 0
    b: 0.01870 / 0.01870 = 1.000

8 · LayerNorm
───

The mean:

  μ = mean(X′)

    μ = (0.409 + 1.584) / 2 = 1.993 / 2 = 0.9965

Each number minus the mean:

    d₀: 0.409 - 0.9965 = -0.5875
    d₁: 1.584 - 0.9965 = 0.5875

Their squares:

    d₀: (-0.5875)² ≈ 0.34516
    d₁: 0.5875² ≈ 0.34516

The variance:

  σ² = mean((X′ - μ)²)

    σ² = (0.34516 + 0.34516) / 2 = 0.34516

  σ = √(σ² + 0.1)

    σ = √(0.34516 + 0.1) = √0.44516 ≈ 0.66720

Each deviation, measured in standard deviations:

  x₁ = (X′ - μ) / σ

    d₀: -0.5875 / 0.66720 ≈ -0.881
    d₁: 0.5875 / 0.66720 ≈ 0.881

9 · FFN: activation
───

  a = max(0, x₁)

    d₀: max(0, -0.881) = 0
    d₁: max(0, 0.881) = 0.881

Their running sums:

    a: 0 + 0.881 = 0.881
    b: 0.881 + 0 = 0.881
"""


def test_a_good_page_is_accepted() -> None:
    assert unreadable(GOOD) == []
    assert false_equations(GOOD) == []
    assert violations(GOOD) == []
    assert misplaced(GOOD) == []
    assert two_forms(GOOD) == []
    assert unread_digits(GOOD) == []
    assert needless_brackets(GOOD) == []


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, f"{old!r} stands {GOOD.count(old)} times"
    return GOOD.replace(old, new)


FROM_NOWHERE = {
    "a digit more": ("-0.5 + 0.909 =", "-0.5 + 0.9093 =", "0.9093"),
    "a digit less": ("-0.5 + 0.909 =", "-0.5 + 0.91 =", "0.91"),
    "a typed number, padded": ("-0.5 + 0.909 =", "-0.500 + 0.909 =", "-0.500"),
    "another sign": ("2 + (-0.416)", "2 + 0.416", "0.416"),
    "a parameter without its zero": ("1.584×(-3.0)", "1.584×(-3)", "-3"),
    "a number from nowhere": ("0.409×1 +", "0.123×1 +", "0.123"),
    "a number that only comes later": ("0.409×1 +", "0.509×1 +", "0.509"),
    "the result of the line itself": ("(0.509×1.341", "(-4.180×1.341", "-4.180"),
    "a number within an earlier line": ("e^(-3.979)", "e^(-5.627)", "-5.627"),
    "a number of a sentence": ("0.409×1 +", "7.77×1 +", "7.77"),
    "a number of a title": ("0.409×1 +", "4×1 +", "4"),
    "an id": ("0.409×1 +", "102×1 +", "102"),
    "a term of a mean with a digit more": ("1.584) / 2", "1.5840) / 2", "1.5840"),
    "a mean of too many": ("(0.409 + 1.584) / 2", "(0.409 + 1.584) / 3", "3"),
    "the mean, rounded": ("1.584 - 0.9965", "1.584 - 0.997", "0.997"),
    "a deviation with a digit more": ("(-0.5875)²", "(-0.58750)²", "-0.58750"),
    "a deviation, rounded": ("-0.5875 / 0.66720", "-0.588 / 0.66720", "-0.588"),
    "a spread with a digit less": ("d₁: 0.5875 / 0.66720", "d₁: 0.5875 / 0.6672", "0.6672"),
    "an exponential with a digit more": ("0.01870 / 0.01870", "0.018704 / 0.01870", "0.018704"),
    "another epsilon": ("√(0.34516 + 0.1)", "√(0.34516 + 0.01)", "0.01"),
    "another width": ("√d_k = √2", "√d_k = √3", "3"),
    "the root of another width": ("1.790) / √2 ≈", "1.790) / √3 ≈", "3"),
    "another base": ("10000^(0 / 2)", "1000^(0 / 2)", "1000"),
    "another exponent": ("10000^(0 / 2)", "10000^(-2 / 2)", "-2"),
    "a position with decimals": ("2×1.000 =", "2.0×1.000 =", "2.0"),
    "another bound than 0": ("max(0, -0.881)", "max(0.01, -0.881)", "0.01"),
    "a running sum that begins elsewhere": ("a: 0 + 0.881", "a: 0.3 + 0.881", "0.3"),
}


@pytest.mark.parametrize(("old", "new", "number"), FROM_NOWHERE.values(), ids=FROM_NOWHERE)
def test_a_number_from_nowhere_is_caught(old: str, new: str, number: str) -> None:
    text = changed(old, new)
    (found,) = violations(text)
    assert found.number == number
    assert found.line == text[: text.index(new)].count("\n") + 1
    assert text.split("\n")[found.line - 1].strip() in found.text
    assert found in misplaced(text)


def test_a_sum_that_is_elided_in_two_forms_is_caught() -> None:
    (found,) = violations(changed("(0.208 + [1 more: -5.835]", "(0.208 + [1 more: -5.8353]"))
    assert found.number == "[1 more: -5.8353]"


FROM_ELSEWHERE = {
    "positions for inputs": ("q₁: 0.409×1 +", "q₁: 0.841×1 +", "0.841"),
    "an input for a parameter": ("q₁: 0.409×1 +", "q₁: 0.409×1.25 +", "1.25"),
    "a position for an embedding": ("2 + (-0.416)", "2.000 + (-0.416)", "2.000"),
    "the mean for the variance": ("√(0.34516 + 0.1)", "√(0.9965 + 0.1)", "0.9965"),
    "an input for a sum": ("0.01870 / 0.01870", "0.01870 / 1.341", "1.341"),
    "a nameless number of an earlier step": ("d₁: max(0, 0.881)", "d₁: max(0, 0.5875)", "0.5875"),
}


@pytest.mark.parametrize(("old", "new", "number"), FROM_ELSEWHERE.values(), ids=FROM_ELSEWHERE)
def test_a_number_that_stood_under_another_name_is_caught(old: str, new: str, number: str) -> None:
    text = changed(old, new)
    assert violations(text) == []
    assert [found.number for found in misplaced(text)] == [number]


def test_a_later_value_takes_the_place_of_an_earlier_one() -> None:
    again = """
10 · Head 1: Query
───

  Q¹     q₁     q₂
  b   0.111  0.222

11 · Head 1: Output
───

  y = Q¹ · 2

    q₁: 0.111×2 = 0.222
    q₂: 0.509×2 = 1.018
"""
    assert violations(GOOD + again) == []
    assert [found.number for found in misplaced(GOOD + again)] == ["0.509"]


def test_a_minus_is_that_of_the_operation_or_that_of_the_number() -> None:
    matrix = "  X    d₀    d₁\n  a  1.25  -0.5\n"
    for line in ("1.25 + (-0.5) = 0.75", "1.25 - 0.5 = 0.75", "-0.5 - 1.25 = -1.75"):
        assert violations(f"{matrix}\n    {line}") == []
    for line in ("1.25 + 0.5 = 1.75", "-1.25 + 1.25 = 0", "1.25 - 0.50 = 0.75"):
        assert len(violations(f"{matrix}\n    {line}")) == 1


def test_every_number_that_is_put_in_is_an_operand() -> None:
    line = "Σ = (-0.5)×1.25 + 2 / √3 - e^(-0.1) + max(0, 4) + 10^(-2 / 6) + 5² = 24.8"
    numbers = [operand.number for operand in operands(f"    {line}")]
    assert numbers == ["-0.5", "1.25", "2", "3", "-0.1", "0", "4", "10", "-2", "6", "5"]


TWO_FORMS = {
    "a row with a digit less": ("b   0.409  1.584", "b   0.409  1.58"),
    "a row with a digit more": ("b   0.409  1.584", "b   0.4090  1.584"),
    "a folded row": ("b   -3.684", "b   -3.68"),
    "a line": ("-0.5 + 0.909 = 0.409", "-0.5 + 0.909 ≈ 0.41"),
    "a sine": ("sin(2.000) ≈ 0.909", "sin(2.000) ≈ 0.9093"),
    "a cosine": ("cos(2.000) ≈ -0.416", "cos(2.000) ≈ -0.42"),
}


@pytest.mark.parametrize(("old", "new"), TWO_FORMS.values(), ids=TWO_FORMS)
def test_two_forms_of_one_value_are_caught(old: str, new: str) -> None:
    assert two_forms(changed(old, new)) != []


def test_lines_for_some_of_the_entries_are_held_against_those() -> None:
    page = """
1 · Mask
───

  T = S + M

    c: 0.5 + (-∞) = -∞

  T     a     b   c
  b   1.5  0.25  -∞
"""
    assert two_forms(page) == []
    (found,) = two_forms(page.replace("    c: 0.5 + (-∞) = -∞", "    b: 0.2 + 0.02 = 0.22"))
    assert found == "1 · Mask: no row of T has the numbers of its lines"


@pytest.mark.parametrize("judge", [continuity, readable_digits])
def test_the_judges_depend_on_nothing_they_judge(judge: ModuleType) -> None:
    assert judge.__file__
    tree = ast.parse(Path(judge.__file__).read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    ]
    assert not any(module.split(".")[0] == "tracer" for module in modules)
    judges = {"tests.helpers", "tests.helpers.truth", "tests.helpers.terminal_page"}
    assert {module for module in modules if module.startswith("tests")} <= judges


# --- the judge of needless signs -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("√(4.0×10⁻²⁰ + 0.1) = √0.100000000000000000040 ≈ 0.316", ["0.100000000000000000040"]),
        ("80.72000000000000000000000000044 / 2 ≈ 40.36", ["80.72000000000000000000000000044"]),
        ("0.2826726 / 0.282672583467 ≈ 1.000000", ["0.282672583467"]),
        ("0.5 + [5 more: -0.31299999999950] ≈ 0.187", ["[5 more: -0.31299999999950]"]),
        ("1.234567890×10⁻⁵ / 2 ≈ 6.2×10⁻⁶", ["1.234567890×10⁻⁵"]),
        ("0.123456789 / 2 ≈ 0.062", []),  # nine digits
        ("1234567.8901 / 2 ≈ 617283.945", []),  # one decimal more
        ("1234567890 / 2 = 617283945", []),
        ("4013.243565² ≈ 16106123.9", []),  # with fewer digits it would be 16106124.0
        ("4013.2435650² ≈ 16106123.9", ["4013.2435650"]),
        ("0.123456789012 / 2 = 0.061728394506", []),  # as many as the result
        ("0.5 + (-∞) = -∞", []),
    ],
)
def test_digits_that_nobody_reads(line: str, numbers: list[str]) -> None:
    text = f"A sentence on 80.72000000000000000000000000044.\n\n    {line}"
    assert [found.number for found in unread_digits(text)] == numbers


@pytest.mark.parametrize(
    ("line", "brackets"),
    [
        ("4.428×10¹³ + (2.734×10¹³) = 7.162×10¹³", ["(2.734×10¹³)"]),
        ("1.952 + (1×10⁻⁵) + (2×10⁻⁵) = 1.95203", ["(1×10⁻⁵)", "(2×10⁻⁵)"]),
        ("5 - (1×10¹) = -5", ["(1×10¹)"]),
        ("4.428×10¹³ + 2.734×10¹³ = 7.162×10¹³", []),
        ("1.952 + (-1×10⁻⁵) = 1.95199", []),
        ("0 / (5.883×10¹³) = 0", []),
        ("1 + (2×10¹)² = 401", []),
        ("1 + (2×10¹ + 3) = 24", []),
    ],
)
def test_needless_brackets(line: str, brackets: list[str]) -> None:
    assert [found.number for found in needless_brackets(f"    {line}")] == brackets
