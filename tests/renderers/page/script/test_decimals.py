"""The decimals of the script agree with Python's, and with the program's, in every digit."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from decimal import (
    ROUND_05UP,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    localcontext,
)
from typing import Any, TypeAlias

import numpy as np
import pytest

from tests.renderers.page.script.conftest import SCRIPT
from tracer.formula import evaluation, numbers
from tracer.formula.arithmetic import DECIMALS, FLOAT64
from tracer.formula.normal import normal
from tracer.formula.tanh import tanh
from tracer.formula.waves import cosine, sine

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node")

ANSWERS = """
let input = "";
for await (const part of process.stdin) input += part;
const shown = (found) => typeof found === "object" ? [String(found.c), String(found.e)] : found;
const answer = ([name, operands, how]) => {
  const given = operands.map((each) =>
    Array.isArray(each) ? each.map(decimal) : typeof each === "string" ? decimal(each) : each);
  const context = how && { precision: how[0], rounding: how[1], saturates: how[2], inexact: false };
  try {
    return [shown(eval(name)(...given, ...(context ? [context] : []))), context && context.inexact];
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    return [error.message, null];
  }
};
process.stdout.write(JSON.stringify(JSON.parse(input).map(answer)));
"""
"""What each function of the script returns for its operands, or why there is no result."""

How: TypeAlias = tuple[int, str, bool] | None
"""A context: digits, rounding, and whether what is too large is ∞."""
Case: TypeAlias = tuple[str, Sequence[Any], How]

ROUNDINGS = {"05up": ROUND_05UP, "half_even": ROUND_HALF_EVEN, "half_up": ROUND_HALF_UP}
COMPUTING = (60, "05up", False)
CONTEXTS: Sequence[How] = (
    *(COMPUTING, (60, "05up", True), (400, "05up", False), (3, "05up", False)),
    *((50, "half_even", False), (50, "half_even", True), (7, "half_up", False)),
)
NOISE, ROUNDED_NOISE = "1e-40", "1e-14"


def in_node(cases: Sequence[Case]) -> list[Any]:
    """The answers of the script."""
    assert NODE
    files = (SCRIPT / f"{name}.js" for name in ("decimal", "functions", "normal"))
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    command = [NODE, "--input-type=module", "--eval", code + ANSWERS]
    asked = json.dumps(cases)
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[Any] = json.loads(ran.stdout)
    return found


def number(text: str) -> Decimal:
    """A number, but no -0, which the script does not have."""
    return Decimal(text) or Decimal(text).copy_abs()


def shown(result: object) -> object:
    """A result with all its digits and its exponent, as Node writes it."""
    if not isinstance(result, Decimal):
        return result
    sign, digits, exponent = result.as_tuple()
    if exponent == "F":
        return ["-1" if sign else "1", "Infinity"]
    whole = int("".join(map(str, digits)))
    return [str(-whole if sign else whole), str(exponent)]


def in_python(case: Case, expected: Callable[..., object]) -> list[object]:
    """What Python computes, and whether it rounds."""
    _, operands, how = case
    given = [list(map(number, x)) if isinstance(x, list) else x for x in operands]
    given = [number(x) if isinstance(x, str) else x for x in given]
    precision, rounding, saturates = how or COMPUTING
    try:
        with localcontext(Context(precision, ROUNDINGS[rounding])) as context:
            context.traps[Overflow] = not saturates
            result = expected(*given)
            return [shown(result), bool(context.flags[Inexact]) if how else None]
    except Overflow:
        return ["overflow", None]
    except DivisionByZero:
        return ["division by zero", None]
    except InvalidOperation:
        return ["invalid", None]


def assert_alike(cases: Sequence[Case], *expected: Callable[..., object]) -> None:
    """Assert that Node and Python say the same; each case is for the function of its place."""
    answers = in_node(cases)
    for i, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        assert answer == in_python(case, expected[i % len(expected)]), case


class Draw(random.Random):
    """Random operands."""

    def number(self) -> str:
        """A number of any magnitude: short or long, a tie, with trailing zeros, 0, 1."""
        if self.random() < 0.06:
            return self.choice(["0", "0.00", "0e3", "1", "1.000", "-1", "10", "-0.0010"])
        long = self.choice([1, 2, 3, 5, 8, 15, 17, 30, 50, 60, 61, 80])
        digits = str(self.randrange(10**long))
        if self.random() < 0.3:
            zeros = "0" * self.choice([0, 0, 5, 40])
            digits = digits[: max(1, long // 2)] + self.choice(["5", "50", "0", "000"]) + zeros
        usual = [0, 0, -1, -2, -3, -long, -long - 3, 5, 20, -20, -70, 100, -100]
        return f"{self.sign()}{digits}e{self.choice([*usual, self.randrange(-200, 200)])}"

    def sign(self) -> str:
        """A sign or none."""
        return self.choice(["", "-"])

    def small(self) -> str:
        """An exponent, an angle, or what else functions have a value for."""
        digits = self.randrange(10 ** self.choice([1, 2, 3, 4, 6, 17, 50]))
        places = self.choice([0, 0, 1, 1, 2, 2, 3, 3, 5, 17, 30, 50, 59, 60, 61, 62, 63, 90])
        return f"{self.sign()}{digits}e-{places}"

    def near_one(self) -> str:
        """A number whose logarithm is small."""
        zeros, rest = self.randrange(70), self.randrange(10**9)
        return self.choice([f"1.{'0' * zeros}{rest}", f"0.{'9' * zeros}{rest}"])

    def near_a_turn(self) -> str:
        """An angle near a multiple of a quarter turn, where a wave is near 0."""
        known = Decimal("1.57079632679489661923132169163975144209858469968755291")
        digits = Context(self.choice([3, 10, 30, 50]))
        return str(digits.multiply(known, self.randrange(-400, 400)))

    def terms(self) -> list[str]:
        """Terms of a sum, which may cancel but for a rest."""
        found = [self.number() for _ in range(self.choice([1, 2, 3, 8]))]
        if self.random() < 0.4:
            found += [each[1:] if each[0] == "-" else f"-{each}" for each in found]
            found.append(self.choice(["1e-30", "1e-50", "1e-70", "0"]))
        self.shuffle(found)
        return found

    def how(self, contexts: Sequence[How] = CONTEXTS) -> How:
        """A context."""
        return self.choice(contexts)


def test_arithmetic() -> None:
    draw = Draw(1)
    names = ("add", "subtract", "multiply", "divide")
    cases = [
        (name, [draw.number(), draw.number()], draw.how()) for _ in range(3000) for name in names
    ]
    assert_alike(
        cases, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b
    )


def test_infinities() -> None:
    numbers = ("Infinity", "-Infinity", "0", "2.50", "-3e5")
    names = ("add", "subtract", "multiply", "divide", "compare")
    cases = [(name, [a, b], COMPUTING) for a in numbers for b in numbers for name in names]
    assert_alike(
        [
            (name, given, None) if name == "compare" else (name, given, how)
            for name, given, how in cases
        ],
        *(lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b),
        lambda a, b: int(a.compare(b)),
    )


def test_beyond_the_limits() -> None:
    """Products become too large, or lose digits and vanish."""
    draw = Draw(2)
    far = []
    for _ in range(500):
        exponents = [499_940, 499_990, 500_010, -600_000, draw.randrange(-500_060, -499_990)]
        digits = draw.randrange(1, 10 ** draw.choice([1, 30, 60]))
        far.append(f"{draw.sign()}{digits}e{draw.choice(exponents)}")
    cases = [("multiply", [draw.choice(far), draw.choice(far)], draw.how()) for _ in range(2000)]
    assert_alike(cases, lambda a, b: a * b)
    tiny = [f"{draw.randrange(1000)}e-{draw.randrange(999_990, 1_000_060)}" for _ in range(2000)]
    assert_alike([("plus", [each], draw.how()) for each in tiny], lambda a: +a)


def test_order() -> None:
    draw = Draw(3)
    cases: list[Case] = []
    for _ in range(3000):
        a = draw.number()
        near = str(Decimal(a) + Decimal(draw.choice(["0", "0.00", "1e-9", "-1e-70", "5"])))
        cases.append(("compare", [a, draw.choice([near, draw.number()])], None))
    assert_alike(cases, lambda a, b: int(a.compare(b)))


def test_roots() -> None:
    draw = Draw(4)
    squares = [str(Decimal(draw.small()) ** 2) for _ in range(500)]
    given = [draw.number().lstrip("-") for _ in range(2500)] + squares + ["-2", "Infinity"]
    assert_alike([("squareRoot", [each], draw.how()) for each in given], Decimal.sqrt)


TRANSCENDENTAL: Sequence[How] = (COMPUTING, (50, "half_even", False), (80, "05up", True))


def test_exponentials() -> None:
    draw = Draw(5)
    far = [f"{draw.randrange(-2_300_000, 3_000_000)}.{draw.randrange(1000)}" for _ in range(200)]
    given = [draw.small() for _ in range(2000)] + far + ["Infinity", "-Infinity", "-9e30", "9e30"]
    assert_alike([("exponential", [x], draw.how(TRANSCENDENTAL)) for x in given], Decimal.exp)


def test_logarithms() -> None:
    draw = Draw(6)
    given = [draw.number().lstrip("-") for _ in range(1500)] + ["-1", "Infinity", "3e900000"]
    given += [draw.near_one() for _ in range(1000)]
    assert_alike([("logarithm", [x], draw.how(TRANSCENDENTAL)) for x in given], Decimal.ln)


def test_powers() -> None:
    draw = Draw(7)
    given = [[draw.number(), f"{draw.sign()}{draw.randrange(60)}"] for _ in range(1000)]
    given += [
        [draw.small(), f"{draw.sign()}{draw.randrange(10**4)}e-{draw.randrange(1, 6)}"]
        for _ in range(1000)
    ]
    ones = ["1", "1.00", "-1", "-1.0", "1.0000", "2", "0", "0.0", "Infinity"]
    given += [
        [one, exponent] for one in ones for exponent in ["0", "3", "-2", "0.3", "-0.25", "2.0"]
    ]
    cases: list[Case] = [("power", each, draw.how(TRANSCENDENTAL)) for each in given]
    cases += [("power", [base, "54123187763860514e-3"], COMPUTING) for base in ("8.5e-40", "2e40")]
    assert_alike(cases, lambda a, b: a**b)


def test_roots_of_powers() -> None:
    draw = Draw(8)
    bases = ["10000", "2", "500000", "16", "1.44", "27e-3"]
    given = [
        [draw.choice(bases), str(draw.randrange(-9, 9)), str(draw.randrange(1, 9))]
        for _ in range(1000)
    ]
    cases: list[Case] = [("rootOfPower", each, COMPUTING) for each in given]
    assert_alike(cases, evaluation._root_of_power)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sine", sine), ("cosine", cosine), ("hyperbolicTangent", tanh), ("normalShare", normal)],
)
def test_functions(name: str, expected: Callable[[Decimal], Decimal]) -> None:
    draw = Draw(9)
    given = [draw.small() for _ in range(300)] + ["0", "0.000"]
    if name in ("sine", "cosine"):
        given += [draw.near_a_turn() for _ in range(100)]
        given += [str(draw.randrange(10 ** draw.randrange(30, 62))) for _ in range(50)]
    cases: list[Case] = [(name, [x], draw.how(TRANSCENDENTAL)) for x in given]
    for case, (found, is_inexact) in zip(cases, in_node(cases), strict=True):
        assert found == in_python(case, expected)[0], case
        assert found == "overflow" or is_inexact is bool(Decimal(case[1][0]))


def test_rounding_to_places() -> None:
    draw = Draw(10)
    places = [0, 1, 2, 3, 3, 4, 6, 12, -1, -3, 30, 58, 59, 60, 61, 100, -100]
    cases: list[Case] = []
    for _ in range(3000):
        number, decimals = draw.number(), draw.choice([0, 1, 3, 4, 5, 8])
        cases.append(("roundHalfAway", [number, draw.choice(places)], None))
        cases.append(("visiblePlaces", [number, decimals], None))
        cases.append(("guarded", [number, decimals, draw.choice([0, 1, 2])], None))
        cases.append(("trimmed", [number], None))
    functions = (numbers.round_half_away, numbers.visible_places, numbers.guarded, numbers.trimmed)
    assert_alike(cases, *functions)


def test_rounding_to_a_context() -> None:
    draw = Draw(11)
    cases = [("plus", [draw.number()], draw.how()) for _ in range(3000)]
    assert_alike(cases, lambda a: +a)


def test_plain_digits() -> None:
    draw = Draw(12)
    given = [draw.number() for _ in range(2000)] + ["Infinity", "-Infinity", "1E+3", "+.5", "7."]
    cases: list[Case] = [("textOf", [each], None) for each in given]
    assert_alike(cases, lambda a: format(a, "f"))


def test_sums() -> None:
    draw = Draw(13)
    cases: list[Case] = []
    for _ in range(1500):
        terms = draw.terms()
        cases.append(("totalOf", [terms], None))
        cases.append(("sumOf", [terms, NOISE], None))
        cases.append(("sumOf", [terms, ROUNDED_NOISE], None))
    assert_alike(
        cases,
        evaluation.total_of,
        lambda terms, _: DECIMALS.sum(np.array(terms, object)).item(),
        lambda terms, _: FLOAT64.sum(np.array(terms, object)).item(),
    )


def test_sums_whose_terms_are_far_apart() -> None:
    draw = Draw(14)
    cases: list[Case] = []
    for _ in range(300):
        large, small = draw.choice([0, 5, 300, 500, 1000]), draw.choice([0, 100, 450, 1000])
        terms = [f"1e{large}", f"-3e-{small}", f"0e-{draw.choice([0, 700])}", draw.number()]
        cases.append(("totalOf", [terms], None))
        cases.append(("sumOf", [terms, NOISE], None))
    assert_alike(
        cases, evaluation.total_of, lambda terms, _: DECIMALS.sum(np.array(terms, object)).item()
    )


def stored(arithmetic: Any) -> Callable[[Decimal], Decimal]:
    """How an arithmetic stores one number."""
    return lambda number: arithmetic.stored(np.array([number], object)).item()


def test_stored_decimals() -> None:
    draw = Draw(15)
    cut_off = ["", "0" * 60, "0" * 60 + "1", "0" * 45 + "1"]
    ties = []
    for _ in range(1500):
        digits = draw.randrange(10 ** draw.choice([1, 3, 38, 39, 40]))
        ties.append(f"{draw.sign()}{digits}5{draw.choice(cut_off)}e-{draw.randrange(90)}")
    given = [draw.number() for _ in range(1500)] + ties + ["Infinity"]
    assert_alike([("toNearestDecimal", [each], None) for each in given], stored(DECIMALS))


def test_stored_floats() -> None:
    draw = Draw(16)
    given = [draw.number() for _ in range(1500)] + ["-Infinity"]
    for _ in range(3000):
        number = draw.randrange(1, 10 ** draw.choice([1, 3, 14, 16, 17])) * 2.0 ** draw.randrange(
            -60, 60
        )
        near = Decimal(draw.choice(["0", "1e-40", "-1e-40", "1e-18", "1e-16"]))
        written = draw.choice([Decimal(repr(number)), Decimal(number)])
        given.append(draw.sign() + str(Context(60).fma(near, written, written)))
    for _ in range(500):
        exponent = draw.choice([-345, -343, -330, -325, 285, 289, 290, 300, -310])
        given.append(f"{draw.sign()}{draw.randrange(10**20)}e{exponent}")
    assert_alike([("toNearestFloat", [each], None) for each in given], stored(FLOAT64))
