"""The operands of an expression: numbers, brackets, functions, and the reading position."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from tracer.audit.reading import expression as ex
from tracer.audit.reading.brackets import entries
from tracer.audit.reading.tokens import END, Token
from tracer.audit.reading.vocabulary import FUNCTIONS, Is
from tracer.audit.reasons import Doubt

DEEPEST = 40
"""Deeper nesting of brackets and powers is not read."""

MOST_ZEROS = 1000
"""A number with more zeros is not read."""


class UnreadableError(Exception):
    """The tokens are no expression, or one that is not supported."""


class Operands(ABC):
    """Reads operands; what computes with them is read by a subclass."""

    def __init__(self, tokens: Sequence[Token], pairs: dict[int, int], *, spaced: bool) -> None:
        self.tokens, self.pairs, self.spaced = tokens, pairs, spaced
        self.end = self.depth = 0
        self.doubt: Doubt | None = None
        self.go(0)

    def doubts(self, reason: Doubt) -> None:
        """Remember the first doubt."""
        self.doubt = self.doubt or reason

    def whole(self, start: int, end: int) -> ex.Expression:
        """Return the expression from `start` to before `end`; the reading position stays."""
        before = self.at, self.end
        self.end = end
        self.go(start)
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadableError
        found = self.sum()
        if self.next is not END:
            raise UnreadableError
        self.depth -= 1
        at, self.end = before
        self.go(at)
        return found

    def go(self, at: int) -> None:
        """Move to a token, skipping line ends."""
        while at < self.end and self.tokens[at].kind is Is.LINE:
            at += 1
        self.at = at
        self.next = self.tokens[at] if at < self.end else END

    def sign(self, signs: str) -> Token | None:
        """Take the next token if it is one of these operators; else return None."""
        token = self.next
        if token.kind is not Is.OPERATOR or token.text not in signs:
            return None
        self.go(self.at + 1)
        return token

    @abstractmethod
    def sum(self) -> ex.Expression:
        """Read an expression of the lowest precedence."""

    @abstractmethod
    def power(self) -> ex.Expression:
        """Read a primary with all operators that follow it."""

    @abstractmethod
    def exponent(self, sign: Token) -> ex.Expression:
        """Read what follows ^, or a superscript."""

    def primary(self) -> ex.Expression:
        """Read a number, a bracket, a function or a root."""
        token = self.next
        if token.kind is Is.OPEN:
            return self.bracket()
        self.go(self.at + 1)
        match token.kind:
            case Is.NUMBER:
                return printed_number(token.text, token.start, token.end, token.measure)
            case Is.NAME:
                return self.named(token)
            case Is.OPERATOR if token.text == "√":
                return ex.Call("sqrt", (self.primary(),))
            case Is.OPERATOR if token.text == "‖":
                return self.norm()
        raise UnreadableError

    def norm(self) -> ex.Expression:
        """Read the expression between ‖ and ‖."""
        for i in range(self.at, self.end):
            if self.tokens[i].kind is Is.OPERATOR and self.tokens[i].text == "‖":
                found = self.whole(self.at, i)
                self.go(i + 1)
                return ex.Call("norm", (found,))
        raise UnreadableError

    def bracket(self) -> ex.Expression:
        """Read the contents of brackets: an expression, or a row of expressions."""
        sign = self.tokens[self.at].text
        items = self.in_brackets()
        if sign in "⌊⌈":
            return ex.Call("floor" if sign == "⌊" else "ceil", items)
        if len(items) == 1:
            return items[0]
        if sign == "{" or not items:
            raise UnreadableError
        if sign == "(" and all(isinstance(item, ex.Number) and item.is_whole for item in items):
            self.doubts(Doubt.SHAPE)  # (8, 1)
        return ex.Vector(items)

    def in_brackets(self) -> tuple[ex.Expression, ...]:
        """Read the entries in the brackets that open here."""
        closed = self.pairs.get(self.at, self.end)
        if closed >= self.end:
            raise UnreadableError
        found = tuple(
            ex.Vector(tuple(self.whole(*span) for span in entry))
            if isinstance(entry, list)
            else self.whole(*entry)
            for entry in entries(self.tokens, self.pairs, self.at)
        )
        self.go(closed + 1)
        return found

    def named(self, token: Token) -> ex.Expression:
        """Read a constant or a function call."""
        name = token.text
        following = self.next
        if name == "π":
            factor = self.tokens[self.at - 2]  # 4π(3 + 1), but not π(10)
            if following.kind is Is.OPEN and not following.gap and factor.kind is not Is.NUMBER:
                raise UnreadableError
            return ex.Constant("π")
        if name == "e":
            if following.text[0] != "^":
                raise UnreadableError
            return ex.Constant("e")
        if name == "frac":
            over, under = self.pair()
            return ex.Product((("*", over), ("/", under)))
        if name == "binom":
            return ex.Call("choose", self.pair())
        if name in ("σ", "choose"):
            return self.doubtful("sigmoid" if name == "σ" else name)
        if name == "sqrt" and following.text == "[":
            raise UnreadableError  # a root of another degree
        if name not in FUNCTIONS | {"log2", "log10"}:
            raise UnreadableError
        return ex.Call(name, self.arguments())

    def doubtful(self, name: str) -> ex.Expression:
        """Read σ(0.5) or C(5, 2); σ of whole numbers, and C, may be another function."""
        if self.next.text != "(" or self.next.gap:
            raise UnreadableError
        arguments = self.arguments()
        if all(number.is_whole for each in arguments for number in ex.numbers(each)):
            self.doubts(Doubt.FUNCTION)
        return ex.Call(name, arguments)

    def pair(self) -> tuple[ex.Expression, ex.Expression]:
        r"""Read the two parts of a fraction, which may be single digits: \frac12."""
        token = self.next
        if token.kind is Is.NUMBER and len(token.text) == 2 and token.text.isdecimal():
            self.go(self.at + 1)
            one, other = (printed_number(digit, token.start, token.end) for digit in token.text)
            return one, other
        return self.braced(), self.braced()

    def braced(self) -> ex.Expression:
        """Read what braces hold, or a single digit."""
        if self.next.text != "{" and not (self.next.kind is Is.NUMBER and len(self.next.text) == 1):
            raise UnreadableError
        return self.primary()

    def arguments(self) -> tuple[ex.Expression, ...]:
        """Read the arguments of a function: in brackets, or the next factor."""
        token = self.next
        if token.kind is Is.OPEN and token.text in "({":
            return self.in_brackets()
        if token.kind is Is.OPEN:
            return (self.primary(),)
        if token.gap > 1:
            self.doubts(Doubt.FUNCTION)  # cos   0.86 / 1.005
        of = self.power()
        if self.next.text in "*/x(" or self.next.kind is Is.NAME:
            self.doubts(Doubt.ORDER)  # sin π/6
        return (of,)


def printed_number(digits: str, start: int, end: int, measure: ex.Measure = ()) -> ex.Number:
    """Return a number with its printed digits; all numbers are created here.

    Raises:
        UnreadableError: it is no number, or has too many zeros.
    """
    value = _value(digits)
    if value is None:
        raise UnreadableError
    return ex.Number(value, digits, start, end, measure)


@lru_cache(maxsize=10_000)
def _value(digits: str) -> Decimal | None:
    """Return the value of digits; None if they are no number, or stand for too many zeros."""
    try:
        value = Decimal(digits)
    except InvalidOperation:
        return None
    return value if abs(value.adjusted()) <= MOST_ZEROS else None
