"""A student with a calculator, who has the text of a worksheet and nothing else.

Read are the worked lines of Markdown. A blank gets what the side before it comes to, or the part of
that in the same place, rounded to the decimals that the blank shows.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal, localcontext
from itertools import pairwise

FENCED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"^\S.*?: +")
BLANK = re.compile(r"\[(\d+):_+\.?(_*)(×10\^__)?\]")
RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
ROOT = re.compile(r"√([\w.]+)")
NAMES = ("e", "π", "sqrt", "max", "min", "sin", "cos", "tanh", "ln", "Φ", "ReLU_slope")
DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def worked_out(sheet: str) -> dict[int, Decimal]:
    """What the student writes into the blanks of the lines, in the order of the text."""
    rooms = BLANK.findall(sheet)
    student = _Student({int(number): (len(behind), power != "") for number, behind, power in rooms})
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_HALF_UP
        for line in _lines(sheet):
            student.line(line)
    return student.written


def _lines(sheet: str) -> Iterator[str]:
    """The worked lines, each whole and without its label."""
    for block in FENCED.findall(sheet):
        for line in re.split(r"\n(?=\S)", block):
            if " = " in line or " ≈ " in line:  # not in a picture
                yield " ".join(LABEL.sub("", line).split())


class _Student:
    def __init__(self, rooms: dict[int, tuple[int, bool]]) -> None:
        self.rooms = rooms
        """How many decimals belong in each blank, and whether a power of ten stands behind them."""
        self.written = dict[int, Decimal]()

    def line(self, line: str) -> None:
        """What a line leaves out, side after side."""
        sides = [_parsed(side) for side in re.split(" [=≈] ", line)]
        for before, side in pairwise(sides):
            if before and side:
                self.compare(before, side)

    def compare(self, before: ast.expr, side: ast.expr) -> None:
        """Find the blanks of a side that were not met, and work each out."""
        match before, side:
            case _, ast.Name(id=name) if name not in NAMES:
                number = int(name.removeprefix("blank"))
                if number not in self.written:
                    self.written[number] = self.rounded(self.value(before), number)
            case ast.BinOp(op=ast.Add() | ast.Sub()), ast.BinOp(op=ast.Add() | ast.Sub()):
                terms, others = list(_terms(before)), list(_terms(side))
                if len(terms) == len(others):
                    for (sign, term), (other_sign, other) in zip(terms, others, strict=True):
                        same = term if sign == other_sign else ast.UnaryOp(ast.USub(), term)
                        self.compare(same, other)
            case ast.BinOp(left=a, right=b), ast.BinOp(left=c, right=d):
                self.compare(a, c)
                self.compare(b, d)
            case ast.UnaryOp(operand=a), ast.UnaryOp(operand=b):
                self.compare(a, b)
            case _, ast.UnaryOp(operand=b):  # of -a×b ≈ -[1:…]
                self.compare(ast.UnaryOp(ast.USub(), before), b)
            case ast.Call(args=a), ast.Call(args=b) if len(a) == len(b):
                for argument, of_side in zip(a, b, strict=True):
                    self.compare(argument, of_side)

    def rounded(self, value: Decimal, number: int) -> Decimal:
        decimals, power = self.rooms[number]
        return value.quantize(Decimal(1).scaleb((value.adjusted() if power else 0) - decimals))

    def value(self, part: ast.expr) -> Decimal:
        """What an expression comes to with what is written so far."""
        match part:
            case ast.Constant(value=str(number)):
                return Decimal(number)
            case ast.Name(id="π"):
                return Decimal(math.pi)
            case ast.Name(id=name):
                return self.written[int(name.removeprefix("blank"))]
            case ast.UnaryOp(operand=a):
                return -self.value(a)
            case ast.BinOp(left=ast.Name(id="e"), op=ast.Pow(), right=b):
                return self.value(b).exp()
            case ast.BinOp(left=a, op=operator, right=b):
                return _of_two(operator, self.value(a), self.value(b))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return _called(name, [self.value(each) for each in arguments])
            case _:
                raise ValueError(ast.dump(part))


def _of_two(operator: ast.operator, a: Decimal, b: Decimal) -> Decimal:
    match operator:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Div():
            return a / b
        case _:
            return a**b


def _called(name: str, of: list[Decimal]) -> Decimal:
    match name:
        case "max":
            return max(of)
        case "min":
            return min(of)
        case "sqrt":
            return of[0].sqrt()
        case "ln":
            return of[0].ln()
        case "tanh":
            return Decimal(math.tanh(of[0]))
        case "Φ":
            return Decimal(math.erfc(-float(of[0]) / math.sqrt(2)) / 2)
        case "ReLU_slope":
            return Decimal(of[0] > 0)
        case _:
            return Decimal(math.sin(of[0]) if name == "sin" else math.cos(of[0]))


def _terms(part: ast.expr, sign: int = 1) -> Iterator[tuple[int, ast.expr]]:
    """The terms of a sum, each with its sign."""
    match part:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            yield from _terms(left, sign)
            yield (sign if isinstance(op, ast.Add) else -sign), right
        case _:
            yield sign, part


def _parsed(side: str) -> ast.expr | None:
    """A side as Python would read it, its numbers with all digits; None if it is in symbols."""
    written = re.sub(r"\[\d+ more: ([^]]+)\]", r"(\1)", BLANK.sub(r"blank\1", side))
    written = RAISED.sub(lambda found: f"^({found[0].translate(DIGITS)})", written)
    written = ROOT.sub(r"sqrt(\1)", written).replace("√", "sqrt")
    written = written.replace("×", "*").replace("^", "**").replace("ReLU′", "ReLU_slope")
    words = set(re.findall(r"[^\W\d]\w*", written))
    if any(word not in NAMES and not word.startswith("blank") for word in words):
        return None
    written = written.replace("∞", "Infinity")
    quoted = re.sub(r"(?<![\w.])\d+(\.\d+)?|Infinity", lambda found: f"'{found[0]}'", written)
    return ast.parse(quoted, mode="eval").body
