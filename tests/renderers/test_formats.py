"""In every format the equations are those of the terminal, and they are true."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import cycle

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from tests.helpers.command import printed
from tests.helpers.every_part import every_part
from tests.helpers.latex_truth import UnreadableError, from_latex, from_markdown
from tests.helpers.random_scenarios import Scenario, odd_tokens, printed_or_rejected, scenarios
from tests.helpers.truth import Equation, equations, false_equations, unreadable

FORMATS: dict[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
    "markdown": (("--format", "markdown"), from_markdown),
    "math": (("--format", "markdown", "--math"), from_markdown),
    "latex": (("--format", "latex"), from_latex),
    "standalone": (("--format", "latex", "--standalone"), from_latex),
}
OTHERS = ("science", "pizza", "comics")
ENOUGH = 200

OTHER_COMMANDS = [
    ("loss", "pizza"),
    ("why", "layer1.attention.head1.weights[Alex,Frank]"),
    ("why", "layer1.attention.head1.masked[Frank,Emma]", "--depth", "2"),
    ("generate", "pizza", "--max-tokens", "1", "--worked", "--kv-cache", "--seed", "1"),
    ("step", "softmax", "-s", "pizza", "--layer", "1", "--no-mask", "--token", "2"),
    ("train", "alex-learns", "--momentum", "0.5", "--weight-decay", "0.1", "--clip", "0.1"),
    ("attribute", "logits[la,pizza]", "-s", "pizza", "--by", "neuron"),
    ("step", "probabilities", "-s", "comics", "--decimals", "2", "--carry", "never"),
]

every_format = pytest.mark.parametrize("form", FORMATS)
several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def bare(equation: Equation) -> tuple[str, str, str]:
    """An equation without parentheses, of which a fraction or a power needs fewer."""
    ignored = str.maketrans("", "", "() ")
    left, right = equation.left.translate(ignored), equation.right.translate(ignored)
    return left, equation.relation, right


@cache
def judged(worked: str) -> tuple[list[Equation], list[str], list[tuple[Equation, str]]]:
    """Equations, lines that are none, falsehoods. A run and its tutorial have the same."""
    return equations(worked), unreadable(worked), false_equations(worked)


@cache
def shown(*command: str) -> list[tuple[str, str, str]]:
    """The equations that a terminal shows."""
    return list(map(bare, equations(printed(*command))))


def assert_as(expected: list[tuple[str, str, str]], form: str, text: str) -> None:
    worked = re.sub("\n+", "\n", FORMATS[form][1](text))
    found, unread, false = judged(worked)
    assert (unread, false) == ([], [])
    equal = list(map(bare, found))
    if "appendix" in text:  # on paper, steps that repeat earlier ones come last
        equal, expected = sorted(equal), sorted(expected)
    assert equal == expected


# --- equations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "scenario", "form"),
    [
        *(("run", "alex", form) for form in FORMATS),
        *zip(cycle(["tutorial", "run"]), OTHERS * 2, cycle(FORMATS), strict=False),
    ],
)
def test_bundled_scenarios(command: str, scenario: str, form: str) -> None:
    expected = shown(command, scenario, "--format", "terminal")
    assert_as(expected, form, printed(command, scenario, *FORMATS[form][0]))
    assert scenario != "alex" or len(expected) >= ENOUGH


@pytest.mark.parametrize(
    ("command", "form"),
    [*zip(OTHER_COMMANDS * 2, [*FORMATS] * 2 + [*FORMATS][::-1] * 2, strict=True)],
)
def test_other_commands(command: tuple[str, ...], form: str) -> None:
    expected = shown(*command)
    assert_as(expected, form, printed(*command, *FORMATS[form][0]))
    assert expected


@pytest.fixture(scope="module")
def training() -> list[tuple[str, str, str]]:
    """The equations of a training with every part, on a terminal."""
    return list(map(bare, equations(printed("train", "-", stdin=every_part()))))


@pytest.mark.parametrize("form", ["math", "standalone"])
def test_every_part_of_training(form: str, training: list[tuple[str, str, str]]) -> None:
    assert_as(training, form, printed("train", "-", *FORMATS[form][0], stdin=every_part()))


@several
@given(
    scenario=scenarios(carry="step", names=odd_tokens(), epsilons=("0.1",)),
    form=st.sampled_from([*FORMATS]),
)
def test_random_scenarios(scenario: Scenario, form: str) -> None:
    terminal = printed_or_rejected(scenario, "tutorial", "-", "--format", "terminal")
    text = printed_or_rejected(scenario, "tutorial", "-", *FORMATS[form][0])
    assert_as(list(map(bare, equations(terminal))), form, text)


@every_format
@pytest.mark.parametrize("digits", ["16.353 /", "11.563"], ids=["inside", "result"])
def test_a_wrong_digit_is_found(digits: str, form: str) -> None:
    options, read = FORMATS[form]
    text = printed("step", "scores", "--head", "1", *options)
    shown = digits.replace(" /", "}{") if form == "math" else digits
    wrong = re.sub("3(?=[^0-9.]*$)", "4", shown)
    before, _, after = text.partition(shown)
    (false, _), *_ = false_equations(read(before + wrong + after))
    assert wrong[:6] in false.left + false.right


READ = {
    r"\[ (1 \times 2 + (-3)) / \sqrt{2} \approx -0.71 \]": "(1×2 + (-3)) / √(2) ≈ -0.71",
    r"\[ \frac{1 + 2}{4} = 0.75 \]": "(1 + 2) / (4) = 0.75",
    r"\[ e^{-0.5} + (-0.498)^{2} \approx 1 \]": "e^(-0.5) + (-0.498)² ≈ 1",
    r"\[ 2.1 \times 10^{-5} \times 2 = 4.2 \times 10^{-5} \]": "2.1×10⁻⁵×2 = 4.2×10⁻⁵",
    r"\[ 1 + [\text{58 more: } 1.23] = 2.23 \]": "1 + [58 more: 1.23] = 2.23",
    r"\[ \sqrt{d_{k}} = \sqrt{2} \approx 1.414 \]": "√(d_k) = √(2) ≈ 1.414",
    r"\[ \max(0, -\infty) = -\ln(1) \]": "max(0, -∞) = -ln(1)",
    r"\[ \frac{\partial L}{\partial (\sigma^{2})} = \frac{1}{2} = 0.5 \]": (
        "∂L/∂(σ²) = (1) / (2) = 0.5"
    ),
    r"\[ (\frac{\partial L}{\partial W})^{2} = \bar{g} \times \hat{x} - 1 = 2 \]": (
        "(∂L/∂W)² = ḡ×x̂ - 1 = 2"
    ),
    r"\[ a = \max(0, h) \]": "",
    r"\[ {X'}_{\text{a = 1}} = [1,\ -2.5] \]": "",
    "\\[ \\begin{array}{l|r}\nM & \\text{=} \\\\ \\hline\na & -\\infty\n\\end{array} \\]": "",
    "\\begin{alignat*}{2}\n\\text{\\& \\{:}\\quad & 1 + \\sin(1) && \\\\\n& \\quad - 1 &&\n"
    "\\end{alignat*}": "& : 1 + sin(1)\n- 1",
    "\\begin{alignat*}{2}\n\\text{a\\dots{}z:}\\quad & 1 && = 1\n\\end{alignat*}": "a…z: 1 = 1",
    "\\begin{alignat*}{2}\n\\text{\\$\\$ a:}\\quad & 1 && = 1\n\\end{alignat*}": "a: 1 = 1",
    "\\begin{alignat*}{2}\n& {-}1 + 2 && \\approx 1.5\n\\end{alignat*}": "-1 + 2 ≈ 1.5",
}


@pytest.mark.parametrize("latex", READ)
def test_mathematics_as_text(latex: str) -> None:
    lines = (line.strip() for line in from_latex(f"{latex}\n").splitlines())
    assert "\n".join(filter(None, lines)) == READ[latex]


@pytest.mark.parametrize(
    "latex",
    [
        r"\[ 1 \neq 2 \]",
        r"\[ \sqrt{2 = 2 \]",
        "\\[ 1 = 1 \n",
        "\\begin{alignat*}{2}\n& = 1 &&\n\\end{alignat*}",
        "\\begin{alignat*}{2}\n1 = 1\n\\end{alignat*}",
        "\\begin{alignat*}{2}\n& 1 && 1\n\\end{alignat*}",
        "\\begin{alignat*}{2}\n& 1 && = 1 && = 2\n\\end{alignat*}",
        "\\begin{align*}\n& 1 && = 1\n\\end{align*}",
        "\\[ \\begin{array}{l|r}\n1 = 2\n\\end{bmatrix} \\]",
    ],
)
def test_mathematics_that_is_not_understood_is_an_error(latex: str) -> None:
    with pytest.raises(UnreadableError):
        from_latex(latex)


@pytest.mark.parametrize("text", ["```text\n1 = 1\n", "$$\n1 = 1", "```text\n1 = 1\n  1\n```"])
def test_fences_that_are_not_understood_are_an_error(text: str) -> None:
    with pytest.raises(UnreadableError):
        from_markdown(text)
