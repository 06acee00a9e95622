"""An independent judge of printed arithmetic: text in, equations out, a verdict on each.

A worked line is indented by exactly four spaces: an optional `label: `, then a chain of sides
joined by `=` and `≈`, which may go on over deeper lines that begin with `=`, `≈`, `+`, `-` or `/`,
or stand behind a comma.
`=` must hold exactly with the digits shown; `≈` must be correct rounding, number by number.

Every value is held exactly, as a quotient of two polynomials with rational coefficients whose
unknowns are the irrational parts (`√2`, `e^0.5`, `sin(1)`, …). What is the same on both sides thus
cancels exactly, and decimals (120 digits) only have to tell the sign of what is left over.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache

_KNOWN = (
    *("max", "min", "sin", "cos", "tanh", "ln", "log2", "Φ", "ReLU′"),
    *("abs", "round", "floor", "E2M1"),
)
_CONTEXT = Context(prec=120, Emax=MAX_EMAX, Emin=MIN_EMIN)
_NOISE = Decimal("1e-90")  # a remainder this small beside its own terms is zero
_BEYOND = Decimal("1e18")  # e to the power of more has no Decimal
_FAR_POWER = 2000  # from here on a power of ten stays one
_FAR_TANH = 1000  # from here on tanh has more nines than digits
_FAR, _FRACTIONS = 6, 400  # from here on so many fractions give 120 digits of a tail
_LINES_KEPT = 20_000  # most are judged again: in another format, or by another question


@dataclass(frozen=True)
class Equation:
    line: int  # the line, counted from 1, on which the worked line starts
    text: str  # the whole worked line, joined and without its label
    left: str
    relation: str  # "=" or "≈"
    right: str


def equations(text: str) -> list[Equation]:
    """Every two neighboring numeric sides of every worked line."""
    found = []
    for number, line in _worked_lines(text):
        chain, sides, relations = _chain(line) or ("", [], [])
        for left, relation, right in zip(sides, relations, sides[1:], strict=False):
            found.append(Equation(number, chain, left, relation, right))
    return found


def unreadable(text: str) -> list[str]:
    """The worked lines that are no chain of numeric sides, and so escape judgement."""
    return [line for _, line in _worked_lines(text) if _chain(line) is None]


@dataclass(frozen=True)
class Worked:
    """A worked line, read: `label: name = side ≈ side`."""

    line: int  # the line, counted from 1, on which it starts
    text: str  # the whole of it, joined, with its label
    label: str
    names: tuple[str, ...]  # the symbolic sides that it begins with
    sides: tuple[Node, ...]  # the numeric sides


def worked(text: str) -> list[Worked]:
    """Every worked line that can be read."""
    found = []
    for number, line in _worked_lines(text):
        if read := _chain(line):
            chain, sides, _ = read
            every = [side.strip() for side in re.split("[=≈]", chain)]
            names = tuple(every[: len(every) - len(sides)])
            label = line.removesuffix(chain).strip().removesuffix(":")
            parsed = tuple(map(_parsed, sides))
            found.append(Worked(number, line, label, names, parsed))
    return found


def falsehood(equation: Equation) -> str | None:
    """Why the equation is false as printed; None if it is true."""
    return _falsehood(equation.left, equation.relation, equation.right)


@lru_cache(_LINES_KEPT)
def _falsehood(left_side: str, relation: str, right_side: str) -> str | None:
    try:
        with localcontext(_CONTEXT):
            ours, theirs = _worth(left_side), _worth(right_side)
            if _compare(ours, theirs) == 0:
                return None
            if relation == "=":
                return f"the left side is {_shown(ours)}, the right side is {_shown(theirs)}"
            return _misrounded(_parsed(left_side), _parsed(right_side))
    except ArithmeticError as error:
        return f"a side has no value: {error}"


def false_equations(text: str) -> list[tuple[Equation, str]]:
    verdicts = [(equation, falsehood(equation)) for equation in equations(text)]
    return [(equation, reason) for equation, reason in verdicts if reason is not None]


def needless(equation: Equation) -> bool:
    """Whether an `≈` stands between sides that are exactly equal: no falsehood, but no need."""
    as_equal = replace(equation, relation="=")
    return equation.relation == "≈" and falsehood(as_equal) is None


def needless_equations(text: str) -> list[Equation]:
    return [equation for equation in equations(text) if needless(equation)]


# --- lines ---------------------------------------------------------------------------------------


def without_pictures(text: str) -> str:
    """The text with the picture of the model emptied: only it has ways."""
    blocks = text.split("\n\n")
    for i, block in enumerate(blocks):
        if re.search("[│┌└]", block):
            blocks[i] = "\n" * block.count("\n")
    return "\n\n".join(blocks)


def _worked_lines(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    open_ = False  # whether the line before belongs to a worked line
    for number, line in enumerate(without_pictures(text).split("\n"), start=1):
        if re.match(r" {4}[^ ]", line):
            found.append((number, line.strip()))
            open_ = True
        elif open_ and re.match(r" {6,}[-=≈+/]" if found[-1][1][-1] != "," else " {6,}", line):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            open_ = False
    return found


@lru_cache(_LINES_KEPT)
def _chain(line: str) -> tuple[str, list[str], list[str]] | None:
    """The longest end of the line, after any label, that is a chain: (it, sides, relations)."""
    starts = [0] + [match.end() for match in re.finditer(r":(?= )", line)]
    for start in starts:
        chain = line[start:].strip()
        sides, relations = [s.strip() for s in re.split("[=≈]", chain)], re.findall("[=≈]", chain)
        try:
            kinds = [_kinds(_parsed(side)) for side in sides]
        except _UnreadableError:
            continue
        symbolic = [bool(each & {"name", "call"}) for each in kinds]
        skipped = sum(symbolic)
        if not relations or skipped == len(sides) or any(symbolic[skipped:]):
            continue
        if skipped == len(sides) - 1 and any("name" not in each for each in kinds[:-1]):
            continue  # `f(0.5) = 0.3`: a statement on numbers with nothing to judge it by
        return chain, sides[skipped:], relations[skipped:]
    return None


# --- parsing -------------------------------------------------------------------------------------

_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_WORD = r"[^\W\d_²³][\w\u0300-\u036f'′]*"
_INSIDE = r"\([^()]*\)"
for _ in range(3):  # one in another: ((FFN(x₂^(E)) - μ)²)
    _INSIDE = rf"\((?:[^()]|{_INSIDE})*\)"
_BRACKETS = _INSIDE
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?P<mantissa>[0-9]+(?:\.(?P<decimals>[0-9]+))?)"
    r"(?:×10(?P<power>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))?)"
    r"|(?P<more>\[(?P<count>[0-9]+) more: )"
    rf"|(?P<name>e(?=[²³](?!\w))|∂L[₀-₉]*/∂(?:{_WORD}|{_BRACKETS})|{_WORD})"
    r"|(?P<sign>[-+×·/^²³√∞(),\]]))"
)


class _UnreadableError(ValueError):
    pass


@dataclass(frozen=True)
class Node:
    """A side, or a part of one."""

    kind: str  # "number", "sum", "name", "call", or the operator or function itself
    text: str
    parts: tuple[Node, ...] = ()
    signs: tuple[int, ...] = ()  # of the terms of a sum
    value: _Value | None = None  # of a number
    last: int | None = None  # the power of ten of a number's last digit
    more: str = ""  # how many terms a number stands for, in `[58 more: 1.2345]`


def _kinds(node: Node) -> set[str]:
    return {node.kind}.union(*map(_kinds, node.parts))


class _Parser:
    """Recursive descent over one side."""

    def __init__(self, source: str) -> None:
        self.source, self.at = source, 0
        self.tokens: list[re.Match[str]] = []
        end = 0
        while end < len(source):
            token = _TOKEN.match(source, end)
            if token is None or (token["name"] and not token["name"].strip("∂")[0].isalpha()):
                raise _UnreadableError(source)
            self.tokens.append(token)
            end = token.end()

    def side(self) -> Node:
        node = self.sum()
        if self.at < len(self.tokens):
            raise _UnreadableError(self.source)
        return node

    def peek(self) -> str:
        return self.tokens[self.at][0].strip() if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        """The next token if it is one of those wanted, else nothing."""
        token = self.peek()
        if token not in wanted:
            return ""
        self.at += 1
        return token

    def need(self, wanted: str) -> None:
        if not self.take(wanted):
            raise _UnreadableError(self.source)

    def node(self, kind: str, start: int, *parts: Node, signs: tuple[int, ...] = ()) -> Node:
        text = self.source[self.tokens[start].start() : self.tokens[self.at - 1].end()].strip()
        return Node(kind, text, parts, signs)

    def sum(self) -> Node:
        start = self.at
        sign = -1 if self.take("-") else 1
        terms, signs = [self.term()], [sign]
        if sign < 0 and (negative := _negative(terms[0])):
            terms, signs = [negative], [1]
        while operator := self.take("+", "-"):
            terms.append(self.term())
            signs.append(1 if operator == "+" else -1)
        if signs == [1]:
            return terms[0]
        return self.node("sum", start, *terms, signs=tuple(signs))

    def term(self) -> Node:
        start, node = self.at, self.factor()
        while operator := self.take("×", "·", "/"):
            node = self.node(operator, start, node, self.factor())
            if operator == "·" and "name" not in _kinds(node):  # between symbols only
                raise _UnreadableError(self.source)
        return node

    def factor(self) -> Node:
        start = self.at
        if self.take("√"):
            return self.node("√", start, self.atom())
        if self.take("e"):
            if self.take("^"):
                return self.node("e^", start, self.atom())
            if power := self.take("²", "³"):
                return self.node("e^", start, _number("2" if power == "²" else "3", "", "0"))
            self.at = start
        base = self.atom()
        if power := self.take("²", "³"):
            return self.node(power, start, base)
        return self.node("^", start, base, self.atom()) if self.take("^") else base

    def atom(self) -> Node:
        start = self.at
        if start == len(self.tokens):
            raise _UnreadableError(self.source)
        token = self.tokens[start]
        self.at += 1
        if token["number"]:
            return _number(token["mantissa"], token["decimals"] or "", token["power"] or "0")
        if token["more"]:
            inner = self.sum()
            self.need("]")
            if inner.kind != "number":
                raise _UnreadableError(self.source)
            return replace(inner, text=self.node("", start).text, more=token["count"])
        if token["name"]:
            if not self.take("("):
                return self.node("π" if token["name"] == "π" else "name", start)
            arguments = [self.sum()]
            while self.take(","):
                arguments.append(self.sum())
            self.need(")")
            known = token["name"] in _KNOWN
            if known and token["name"] not in ("max", "min") and len(arguments) > 1:
                raise _UnreadableError(self.source)
            return self.node(token["name"] if known else "call", start, *arguments)
        if token["sign"] == "∞":
            return replace(self.node("number", start), value=_Value(infinite=1))
        if token["sign"] == "(":
            inner = self.sum()
            self.need(")")
            return inner
        raise _UnreadableError(self.source)


@lru_cache(_LINES_KEPT)
def _parsed(side: str) -> Node:
    """A side, read once: it stands on the right of one relation and on the left of the next."""
    return _Parser(side).side()


@lru_cache(_LINES_KEPT)
def _number(mantissa: str, decimals: str, power: str) -> Node:
    exponent = int(power.translate(_SUPERSCRIPTS))
    value = _rational(Fraction(mantissa)) * _ten_to(exponent)
    text = mantissa if power == "0" else f"{mantissa}×10{power}"
    return Node("number", text, value=value, last=exponent - len(decimals))


def _negative(node: Node) -> Node | None:
    """The node with a minus that belongs to the number it begins with: -1.1 / 2 is (-1.1) / 2."""
    if node.kind == "number":
        return replace(node, text=f"-{node.text}", value=-_evaluate(node))
    if node.kind in ("×", "/") and (first := _negative(node.parts[0])):
        return replace(node, text=f"-{node.text}", parts=(first, *node.parts[1:]))
    return None


# --- rounding ------------------------------------------------------------------------------------


def _misrounded(left: Node, right: Node, sign: int = 1) -> str | None:
    """Where a number of the right side is not the part of the left (times sign) it replaces."""
    if right.kind == "number":
        value, number = _evaluate(left), _evaluate(right)
        half = _HALF * _ten_to(right.last or 0)
        if left.more and right.more and left.more != right.more:
            return f"{right.text} does not stand for as many terms as {left.text}"
        if _rounds_to(value if sign > 0 else -value, number, half):
            return None
        return f"{left.text} is {_shown(value)}, which {right.text} is not the rounding of"
    if left.kind == right.kind == "sum" and len(left.parts) != len(right.parts):
        left, right = _flat(left), _flat(right)
    if sign < 0 or left.kind != right.kind or len(left.parts) != len(right.parts):
        return f"{right.text} is not built as {left.text} is"
    ones = (1,) * len(left.parts)
    signs = zip(left.signs or ones, right.signs or ones, strict=True)
    for (a, b), ours, theirs in zip(signs, left.parts, right.parts, strict=True):
        if reason := _misrounded(ours, theirs, a * b):
            return reason
    return None


def _flat(node: Node) -> Node:
    """The sum with the sums among its terms written out."""
    terms: list[tuple[int, Node]] = []
    for sign, part in zip(node.signs, node.parts, strict=True):
        inner = _flat(part) if part.kind == "sum" else replace(part, parts=(part,), signs=(1,))
        terms += [(sign * s, term) for s, term in zip(inner.signs, inner.parts, strict=True)]
    return replace(node, parts=tuple(t for _, t in terms), signs=tuple(s for s, _ in terms))


def _rounds_to(value: _Value, number: _Value, half: _Value) -> bool:
    """Whether the number, half its last digit's step given, is the value rounded half away."""
    if value.infinite or number.infinite:
        return _compare(value, number) == 0
    sign = _compare(number, _ZERO)
    if sign < 0:
        value, number = -value, -number
    low = _compare(value, number + -half)
    return (low > 0 or low == 0 != sign) and _compare(value, number + half) < 0


def _shown(value: _Value) -> str:
    if value.infinite:
        return "∞" if value.infinite > 0 else "-∞"
    exact = _decimal(value)
    short = Context(prec=20, Emax=MAX_EMAX, Emin=MIN_EMIN).plus(exact).normalize()
    plain = f"{short:f}" if -10 < short.adjusted() < 20 else str(short)
    return plain if short == exact else f"{plain}…"


# --- evaluation ----------------------------------------------------------------------------------


@lru_cache(_LINES_KEPT)
def _worth(side: str) -> _Value:
    return _evaluate(_parsed(side))


def _evaluate(node: Node) -> _Value:
    if node.value is not None:
        return node.value
    parts = [_evaluate(part) for part in node.parts]
    match node.kind, parts:
        case "sum", _:
            total = _ZERO
            for sign, part in zip(node.signs, parts, strict=True):
                total += part if sign > 0 else -part
            return total
        case "max", [largest, *others]:
            for other in others:
                largest = other if _compare(other, largest) > 0 else largest
            return largest
        case "min", [least, *others]:
            for other in others:
                least = other if _compare(other, least) < 0 else least
            return least
        case "×", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "²", [a]:
            return a * a
        case "³", [a]:
            return a * a * a
        case "^", [a, b]:
            return _power(a, b)
        case "√", [a]:
            return _power(a, _HALF)
        case "e^", [a]:
            return _exponential(a)
        case "ReLU′", [a]:
            return _ONE if _compare(a, _ZERO) > 0 else _ZERO
        case ("sin" | "cos" | "tanh" | "ln" | "Φ") as name, [a]:
            return _function(name, a)
        case "π", []:
            return _opaque("π")
        case "abs", [a]:
            return -a if _compare(a, _ZERO) < 0 else a
        case ("round" | "floor" | "E2M1" | "log2") as name, [a]:
            return _stepped(name, a)
    raise _UnreadableError(node.text)  # a name: it has no value


def _stepped(name: str, x: _Value) -> _Value:
    """A function that jumps, of a fraction; the logarithm of a power of two is whole."""
    number = _fraction(x)
    if name == "log2":
        if number is None or number <= 0:
            raise ArithmeticError("log2 of a number for which it is not defined")
        exponent = 0
        while Fraction(2) ** exponent > number:
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= number:
            exponent += 1
        if Fraction(2) ** exponent == number:
            return _Value(frozenset({(_NOTHING, Fraction(exponent))})) if exponent else _ZERO
        return _opaque("ln", x) / _opaque("ln", _ONE + _ONE)
    if number is None:
        sides = {_stepped(name, _near(x, end)) for end in (-1, 1)}
        if len(sides) != 1:
            raise ArithmeticError(f"{name} next to a jump")
        return sides.pop()
    if name == "E2M1":
        listed = [Fraction(each) / 2 for each in (0, 1, 2, 3, 4, 6, 8, 12)]
        size = min(abs(number), listed[-1])
        place = min(range(8), key=lambda i: (abs(listed[i] - size), i % 2))
        found = listed[place] if number > 0 else -listed[place]
    else:
        found = Fraction(round(number) if name == "round" else math.floor(number))
    return _Value(frozenset({(_NOTHING, found)})) if found else _ZERO


def _near(x: _Value, end: int) -> _Value:
    """A fraction a little below or above a number that is no fraction."""
    close = Fraction(_decimal(x)) + Fraction(end, 10**60)
    return _Value(frozenset({(_NOTHING, close)}))


def _power(base: _Value, exponent: _Value) -> _Value:
    b, n = _fraction(base), _fraction(exponent)
    if n is not None and n.denominator == 1 and (b is None or b <= 0):
        result = _ONE
        for _ in range(abs(n.numerator)):
            result *= base
        return result if n >= 0 else _ONE / result
    sign = _sign(base)
    if base.infinite or exponent.infinite or sign < 0 or (sign == 0 and _sign(exponent) < 0):
        raise ArithmeticError("a root or power that is not defined")
    if sign == 0:
        return _ZERO
    if b is None or n is None:
        return _opaque("^", base, exponent)
    factor, monomial = _monomial([(b, n)])
    return _Value(frozenset({(monomial, factor)}))


def _exponential(exponent: _Value) -> _Value:
    if exponent.infinite:
        return _INFINITY if exponent.infinite > 0 else _ZERO
    n = _fraction(exponent)
    if n is None:
        return _opaque("e^", exponent)
    _, monomial = _monomial([(_Atom("e"), n)])
    return _Value(frozenset({(monomial, Fraction(1))}))


def _function(name: str, x: _Value) -> _Value:
    if x.infinite or (name == "ln" and _sign(x) <= 0):
        raise ArithmeticError(f"{name} of a number for which it is not defined")
    if name == "ln" and _compare(x, _ONE) == 0:
        return _ZERO
    if name == "Φ" and _sign(x) == 0:
        return _HALF
    if name != "ln" and _sign(x) == 0:
        return _ONE if name == "cos" else _ZERO
    return _opaque(name, x)


def _opaque(name: str, *of: _Value) -> _Value:
    return _Value(frozenset({(frozenset({(_Atom(name, of), Fraction(1))}), Fraction(1))}))


# --- values --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Atom:
    """A part that is not taken apart further; `e` has no arguments, `10` stands for far powers."""

    name: str
    of: tuple[_Value, ...] = ()


_Monomial = frozenset[tuple[Fraction | _Atom, Fraction]]  # bases with their exponents
_Poly = frozenset[tuple[_Monomial, Fraction]]  # monomials with their coefficients
_NOTHING: _Monomial = frozenset()
_UNIT: _Poly = frozenset({(_NOTHING, Fraction(1))})


@dataclass(frozen=True)
class _Value:
    over: _Poly = frozenset()
    under: _Poly = _UNIT
    infinite: int = 0  # -1 or 1 for -∞ and ∞

    def __neg__(self) -> _Value:
        return _Value(frozenset((m, -c) for m, c in self.over), self.under, -self.infinite)

    def __add__(self, other: _Value) -> _Value:
        if self.infinite or other.infinite:
            if self.infinite + other.infinite == 0:
                raise ArithmeticError("∞ - ∞")
            return self if self.infinite else other
        if self.under == other.under:
            return _quotient(_collected([*self.over, *other.over]), self.under)
        crossed = [*_product(self.over, other.under), *_product(other.over, self.under)]
        return _quotient(_collected(crossed), _product(self.under, other.under))

    def __mul__(self, other: _Value) -> _Value:
        if self.infinite or other.infinite:
            sign = _sign(self) * _sign(other)
            if sign == 0:
                raise ArithmeticError("0×∞")
            return _Value(infinite=sign)
        return _quotient(_product(self.over, other.over), _product(self.under, other.under))

    def __truediv__(self, other: _Value) -> _Value:
        if self.infinite and other.infinite:
            raise ArithmeticError("∞ / ∞")
        if other.infinite:
            return _ZERO
        if _sign(other) == 0:
            raise ArithmeticError("a division by zero")
        return self * _quotient(other.under, other.over)


_ZERO = _Value()
_ONE = _Value(_UNIT)
_HALF = _Value(frozenset({(_NOTHING, Fraction(1, 2))}))
_INFINITY = _Value(infinite=1)


def _rational(number: Fraction | int) -> _Value:
    return _Value(_collected([(_NOTHING, Fraction(number))]))


def _ten_to(power: int) -> _Value:
    """A power of ten, which is not written out as a fraction with thousands of digits."""
    if abs(power) < _FAR_POWER:
        return _rational(Fraction(10) ** power)
    return _Value(frozenset({(frozenset({(_Atom("10"), Fraction(power))}), Fraction(1))}))


def _fraction(value: _Value) -> Fraction | None:
    """The value as a rational number, if it holds no irrational part."""
    coefficients = dict(value.over)
    rational = coefficients.pop(_NOTHING, Fraction(0))
    return None if coefficients or value.infinite or value.under != _UNIT else rational


def _quotient(over: _Poly, under: _Poly) -> _Value:
    if under == _UNIT or len(under) > 1:
        return _Value(over, under if over else _UNIT)
    ((monomial, coefficient),) = under
    factor, inverse = _monomial([(base, -exponent) for base, exponent in monomial])
    return _Value(_product(over, frozenset({(inverse, factor / coefficient)})))


def _product(left: _Poly, right: _Poly) -> _Poly:
    terms = []
    for ours, a in left:
        for theirs, b in right:
            if ours or theirs:
                factor, monomial = _monomial([*ours, *theirs])
                terms.append((monomial, a * b * factor))
            else:
                terms.append((_NOTHING, a * b))
    return _collected(terms)


def _collected(terms: list[tuple[_Monomial, Fraction]]) -> _Poly:
    found: dict[_Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        same = found.get(monomial)
        found[monomial] = coefficient if same is None else same + coefficient
    return frozenset((m, c) for m, c in found.items() if c)


def _monomial(powers: list[tuple[Fraction | _Atom, Fraction]]) -> tuple[Fraction, _Monomial]:
    """A product of powers, as its rational factor and what is irrational in it."""
    exponents: dict[Fraction | _Atom, Fraction] = {}
    for base, exponent in powers:
        exponents[base] = exponents.get(base, Fraction(0)) + exponent
    factor, kept = Fraction(1), []
    for base, exponent in exponents.items():
        if isinstance(base, Fraction):
            roots = [_root(n, exponent.denominator) for n in (base.numerator, base.denominator)]
            if roots[0] and roots[1]:
                factor *= Fraction(roots[0], roots[1]) ** exponent.numerator
                continue
            factor *= base ** math.floor(exponent)
            exponent %= 1
        if exponent:
            kept.append((base, exponent))
    return factor, frozenset(kept)


def _root(number: int, degree: int) -> int | None:
    """The root of a positive integer, if it is an integer too."""
    if degree == 1 or number == 1:
        return number
    if degree > number.bit_length():
        return None
    guess = round((Decimal(number).ln() / degree).exp())
    return guess if guess**degree == number else None


def _compare(left: _Value, right: _Value) -> int:
    if left.infinite or right.infinite:
        return (left.infinite > right.infinite) - (left.infinite < right.infinite)
    return 0 if left == right else _sign(left + -right)


def _sign(value: _Value) -> int:
    if value.infinite:
        return value.infinite
    result = 1
    for poly in (value.over, value.under):
        if poly == _UNIT:
            continue
        terms = [_term(*term) for term in poly]
        total = sum(terms, Decimal(0))
        if abs(total) <= _NOISE * max(map(abs, terms), default=Decimal(0)):
            return 0
        result = result if total > 0 else -result
    return result


def _decimal(value: _Value) -> Decimal:
    over, under = (sum((_term(*term) for term in p), Decimal(0)) for p in (value.over, value.under))
    return over / under


def _term(monomial: _Monomial, coefficient: Fraction) -> Decimal:
    result = Decimal(coefficient.numerator) / coefficient.denominator
    for base, power in monomial:
        exponent = Decimal(power.numerator) / power.denominator
        if isinstance(base, Fraction):
            result *= (Decimal(base.numerator) / base.denominator) ** exponent
        elif base.name == "e":
            result *= _e_to(exponent)
        elif base.name == "10":
            result *= Decimal(1).scaleb(power.numerator)
        else:
            result *= _irrational(base.name, *map(_decimal, base.of)) ** exponent
    return result


def _irrational(name: str, *of: Decimal) -> Decimal:
    match name:
        case "e^":
            return _e_to(of[0])
        case "ln":
            return of[0].ln()
        case "π":
            return _PI
        case "Φ":
            return _normal(of[0])
        case "sin":
            return _sine(of[0])
        case "cos":
            return _sine(of[0] + _PI / 2)
        case "tanh":
            return _hyperbolic_tangent(of[0])
    return of[0] ** of[1]


def _normal(x: Decimal) -> Decimal:
    """½ + (x - x³/(2·3) + x⁵/(4·2!·5) - x⁷/(8·3!·7) + …) / √(2π), or what is left of its tail."""
    if abs(x) > _FAR:
        return _tail(-x) if x < 0 else 1 - _tail(x)
    with localcontext() as context:
        context.prec += 30 + int(x * x)  # what cancels needs digits
        power = total = x
        n = 0
        while abs(power) > Decimal(10) ** -context.prec:
            n += 1
            power *= -x * x / (2 * n)
            total += power / (2 * n + 1)
        result = Decimal("0.5") + total / (2 * _PI).sqrt()
    return +result


def _tail(x: Decimal) -> Decimal:
    """1 - Φ(x), by Laplace's fraction: e^(-x²/2) / √(2π) / (x + 1/(x + 2/(x + 3/(x + …))))."""
    under = x
    for n in range(_FRACTIONS, 0, -1):
        under = x + n / under
    return _e_to(-x * x / 2) / (2 * _PI).sqrt() / under


def _e_to(x: Decimal) -> Decimal:
    """e^x; of an x beyond all bounds a number that is nearer to 1, but grows with x as well."""
    if abs(x) <= _BEYOND:
        return x.exp()
    far = _BEYOND.exp() * abs(x) / _BEYOND
    return far if x > 0 else 1 / far


def _hyperbolic_tangent(x: Decimal) -> Decimal:
    """sinh x / cosh x; far from 0 nearer to 1 than any digit shows, but not 1."""
    if abs(x) > _FAR_TANH:
        return (1 - Decimal(10) ** (1 - getcontext().prec)).copy_sign(x)
    with localcontext() as context:
        context.prec += 30 + max(0, -2 * x.adjusted())
        result = (x.exp() - (-x).exp()) / (x.exp() + (-x).exp())
    return +result


def _sine(x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += 30
        x = x.remainder_near(2 * _PI)
        term = total = x
        n = 1
        while abs(term) > Decimal(10) ** -context.prec:
            n += 2
            term *= -x * x / (n * (n - 1))
            total += term
    return +total


def _pi() -> Decimal:
    """By Machin's formula: π / 4 = 4 arctan(1/5) - arctan(1/239)."""
    unit = 10**200
    total = 0
    for weight, x in ((16, 5), (-4, 239)):
        power, n = weight * unit // x, 1
        while power:
            total += power // n
            power, n = -power // (x * x), n + 2
    return Decimal(f"{total}e-200")


_PI = _pi()
