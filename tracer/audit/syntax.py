"""Tokens → an expression, by precedence climbing; raises an exception for what cannot be parsed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from tracer.audit import expression as ex, series, units
from tracer.audit.brackets import entries
from tracer.audit.doubts import Doubt
from tracer.audit.tokens import Token
from tracer.audit.vocabulary import FUNCTIONS, Is

DEEPEST = 40
"""Deeper nesting of brackets and powers is not read."""

MOST_ZEROS = 1000
"""A number with more zeros is not read."""


class UnreadableError(Exception):
    """The tokens are no expression, or one that is not supported."""


END = Token(Is.BREAK, "\n", 0, 0, 0)
"""Stands for the token after the last one."""


def read(
    tokens: Sequence[Token], pairs: dict[int, int], start: int, end: int, *, spaced: bool
) -> tuple[ex.Expression, Doubt | None]:
    """Return the expression of the tokens from `start` to before `end`, and a doubt about it.

    With `spaced`, a minus with a space before it and none after it is read as a negative sign.

    Raises:
        UnreadableError: the tokens are no expression.
    """
    reader = _Reader(tokens, pairs, spaced=spaced)
    expression = reader.whole(start, end)
    return expression, reader.doubt


class _Reader:
    """Reads one expression."""

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
        """Move to a token, skipping line ends, which mean nothing inside an expression."""
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

    def sum(self) -> ex.Expression:
        terms = [self.product()]
        percent = ex.is_percent(terms[0])
        left_out: int | None = None  # the terms before an ellipsis
        while sign := self.sign("+-–"):
            if sign.text == "–":
                self.doubts(Doubt.RANGE)  # 10 – 12
            if self.next.text == "…" and sign.text == "+" and left_out is None:
                left_out = len(terms)
                self.go(self.at + 1)
                continue
            behind = self.next
            if self.spaced and sign.text == "-" and sign.gap and not (behind is END or behind.gap):
                self.doubts(Doubt.MINUS)  # 6.9 -log(2) has two readings
            term = self.product()
            if self._is_range([*terms, term], sign):
                self.doubts(Doubt.RANGE)
            if ex.is_percent(term) != percent:
                self.doubts(Doubt.PERCENT)  # 5 + 10 % is 5.1, or 5.5
            terms.append(term if sign.text == "+" else ex.Negative(term))
        if left_out is not None:
            return self.series(terms[:left_out], terms[left_out:])
        return ex.Sum(tuple(terms)) if len(terms) > 1 else terms[0]

    def series(self, before: list[ex.Expression], after: list[ex.Expression]) -> ex.Expression:
        """Return the sum of a series, of which an ellipsis leaves terms out."""
        found = series.sums(before, after)
        if not found:
            raise UnreadableError
        if len(found) > 1:
            self.doubts(Doubt.SERIES)  # 1 + 2 + … + 64
        return found[0]

    def _is_range(self, terms: list[ex.Expression], sign: Token) -> bool:
        """Return whether it looks like a range such as 10-12."""
        if self.depth > 1 and (not self.spaced or self._is_computed_with()):
            return False  # (8-10)^2
        whole = all(isinstance(term, ex.Number) and term.is_whole for term in terms)
        apart = sign.gap or self.tokens[self.at - 1].gap
        return whole and len(terms) == 2 and sign.text == "-" and not apart

    def _is_computed_with(self) -> bool:
        """Return whether the bracket that ends here is part of a fraction, a power or a product."""
        closed, behind = self.tokens[self.end : self.end + 2]
        return closed.text == "}" or behind.text[0] in "^/*" or behind.text in ("sqrt", "√")

    def product(self) -> ex.Expression:
        factors = [("*", self.factor())]
        divided: int | None = None  # the spaces before the last sign of division
        while True:
            if sign := self.sign("*/@x"):
                following = self.factor()
                if sign.text in "*x" and (number := _scientific(factors[-1][1], following)):
                    if factors[-1][0] == "/":
                        self.doubts(Doubt.ORDER)  # 6 / 2×10³
                    factors[-1] = (factors[-1][0], number)
                    continue
                if sign.text == "x" and not sign.gap:
                    self.doubts(Doubt.SHAPE)  # 3x3
                factors.append(("*" if sign.text == "x" else sign.text, following))
                if sign.text == "/":
                    if divided is not None and divided != sign.gap:
                        self.doubts(Doubt.ORDER)  # 5 / 1/6
                    divided = sign.gap
            elif self._is_juxtaposed() or self._is_behind_binomial(factors[-1][1]):
                if divided is not None:
                    self.doubts(Doubt.ORDER)  # 6/2(3)
                factors.append(("*", self.power()))
            else:
                return ex.Product(tuple(factors)) if len(factors) > 1 else factors[0][1]

    def _is_juxtaposed(self) -> bool:
        """Return whether a factor follows without an operator: 0.7(1 - 0.7), 2√2, 2π."""
        token = self.next
        if token.gap and token.text in ("(", "[") and self._may_be_remark():
            self.doubts(Doubt.REMARK)
        elif token.gap > 1:
            self.doubts(Doubt.COLUMNS)
        if token.text == "frac" and self.tokens[self.at - 1].text.isdecimal():
            self.doubts(Doubt.MIXED)  # 2 1/3
        root = token.kind is Is.OPERATOR and token.text in "√∛"
        return root or token.kind in (Is.OPEN, Is.NAME)

    def _is_behind_binomial(self, factor: ex.Expression) -> bool:
        r"""Return whether a number follows a binomial coefficient: \binom{4}{2} 0.9^2."""
        is_binomial = isinstance(factor, ex.Call) and factor.name == "choose"
        return is_binomial and self.next.kind is Is.NUMBER

    def _may_be_remark(self) -> bool:
        """Return whether it is prose, or a bracket in mathematics that holds just a number."""
        closed = self.pairs.get(self.at, self.end)
        return self.spaced or closed - self.at <= 3  # (61 %)

    def factor(self) -> ex.Expression:
        if token := self.sign("-+"):
            self.depth += 1
            if self.depth > DEEPEST:
                raise UnreadableError
            of = self.factor()
            self.depth -= 1
            if isinstance(of, ex.Power) and token.text == "-" and isinstance(of.base, ex.Number):
                self.doubts(Doubt.ORDER)  # -2² is -4; some mean 4
            return ex.Negative(of) if token.text == "-" else of
        return self.power()

    def power(self) -> ex.Expression:
        """Read a primary with all operators that follow it."""
        found = self.primary()
        while True:
            token = self.next
            if token.kind is not Is.OPERATOR:
                return found
            if token.text[0] == "^":
                self.go(self.at + 1)
                found = ex.Power(found, self.exponent(token))
            elif token.text == "ᵀ" and isinstance(found, ex.Vector):
                self.go(self.at + 1)
                found = ex.Call("transpose", (found,))
            elif token.text == "%" and not self._operand_follows():
                self.go(self.at + 1)
                found = ex.Call("percent", (found,))
            elif token.text in "°!":
                self.go(self.at + 1)
                found = ex.Call("degrees" if token.text == "°" else "factorial", (found,))
            else:
                return found

    def _operand_follows(self) -> bool:
        following = self.tokens[self.at + 1 : self.at + 2] if self.at + 1 < self.end else ()
        return any(token.kind in (Is.NUMBER, Is.OPEN, Is.NAME) for token in following)

    def exponent(self, sign: Token) -> ex.Expression:
        if len(sign.text) > 1:  # a superscript
            return _number(sign.text[1:].lstrip("+"), sign.start, sign.end)
        negative = self.sign("-")
        self.sign("+")
        found = self.primary()
        token = self.next
        if token.kind is Is.OPERATOR and token.text[0] == "^":
            raise UnreadableError  # 2^3^2 is read in two ways
        return ex.Negative(found) if negative else found

    def primary(self) -> ex.Expression:
        token = self.next
        if token.kind is Is.OPEN:
            return self.bracket()
        self.go(self.at + 1)
        match token.kind:
            case Is.NUMBER:
                return _number(token.text, token.start, token.end, token.measure)
            case Is.NAME:
                return self.named(token)
            case Is.OPERATOR if token.text in "√∛":
                return ex.Call("cbrt" if token.text == "∛" else "sqrt", (self.primary(),))
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
            if sign == "[" and isinstance(items[0], ex.Number):
                self.doubts(Doubt.REFERENCE)  # [5]
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
            return self.root()
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

    def root(self) -> ex.Expression:
        """Read the degree of a root, and what it is of."""
        degree, opened = self.whole(self.at + 1, self.pairs.get(self.at, self.at)), self.at
        if not isinstance(degree, ex.Number):
            raise UnreadableError
        self.go(self.pairs[opened] + 1)
        of = self.braced()
        if degree.value == 3:
            return ex.Call("cbrt", (of,))
        one = ex.Number(Decimal(1), "1", degree.start, degree.end)
        return ex.Power(of, ex.Product((("*", one), ("/", degree))))

    def pair(self) -> tuple[ex.Expression, ex.Expression]:
        r"""Read the two parts of a fraction, which may be single digits: \frac12."""
        token = self.next
        if token.kind is Is.NUMBER and len(token.text) == 2 and token.text.isdecimal():
            self.go(self.at + 1)
            one, other = (_number(digit, token.start, token.end) for digit in token.text)
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
        of = self.power()
        if self.next.text in "*/x(":
            self.doubts(Doubt.ORDER)  # sin π/6
        return (of,)


def _number(digits: str, start: int, end: int, measure: ex.Measure = ()) -> ex.Number:
    """Return a number with its printed digits; all numbers are created here.

    Raises:
        UnreadableError: it is no number, or has too many zeros.
    """
    try:
        value = Decimal(digits)
    except InvalidOperation:
        raise UnreadableError from None
    if abs(value.adjusted()) > MOST_ZEROS:
        raise UnreadableError
    return ex.Number(value, digits, start, end, measure)


def _scientific(one: ex.Expression, other: ex.Expression) -> ex.Expression | None:
    """Return 5.1×10⁻⁶ as one number; None if the factors are not of that form."""
    if isinstance(one, ex.Negative) and (number := _scientific(one.of, other)):
        return ex.Negative(number)
    match one, other:
        case ex.Number() as digits, ex.Power(ex.Number(printed="10") as ten, exponent) if (
            digits.value
        ):
            power = exponent.of if isinstance(exponent, ex.Negative) else exponent
            if isinstance(power, ex.Number) and power.is_whole and abs(power.value) < MOST_ZEROS:
                zeros = -power.value if power is not exponent else power.value
                value = f"{digits.value.scaleb(zeros):e}"
                measure = units.product(digits.measure, ten.measure)
                return _number(value, digits.start, power.end, measure)
    return None
