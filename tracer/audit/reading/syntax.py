"""Tokens → an expression, by precedence climbing; raises an exception for what cannot be parsed."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.audit.reading import expression as ex, units
from tracer.audit.reading.operands import (
    DEEPEST,
    MOST_ZEROS,
    Operands,
    UnreadableError,
    printed_number,
)
from tracer.audit.reading.tokens import Token
from tracer.audit.reading.vocabulary import Is
from tracer.audit.reasons import Doubt


def read(
    tokens: Sequence[Token], pairs: dict[int, int], start: int, end: int, *, spaced: bool
) -> tuple[ex.Expression, Doubt | None]:
    """Return the expression of the tokens from `start` to before `end`, and a doubt about it.

    With `spaced`, a minus with a space before it and none after it is read as a negative sign.

    Raises:
        UnreadableError: the tokens are no expression.
    """
    only = tokens[start]
    if end - start == 1 and only.kind is Is.NUMBER:  # a short way, because most results are
        return printed_number(only.text, only.start, only.end, only.measure), None
    reader = _Reader(tokens, pairs, spaced=spaced)
    expression = reader.whole(start, end)
    return expression, reader.doubt


class _Reader(Operands):
    def sum(self) -> ex.Expression:
        terms = [self.product()]
        percent = ex.is_percent(terms[0])
        while sign := self.sign("+-–"):
            if sign.text == "–":
                self.doubts(Doubt.RANGE)  # 10 – 12
            term = self.product()
            if self._is_range([*terms, term], sign):
                self.doubts(Doubt.RANGE)
            if ex.is_percent(term) != percent:
                self.doubts(Doubt.PERCENT)  # 5 + 10 % is 5.1, or 5.5
            terms.append(term if sign.text == "+" else ex.Negative(term))
        return ex.Sum(tuple(terms)) if len(terms) > 1 else terms[0]

    def _is_range(self, terms: list[ex.Expression], sign: Token) -> bool:
        if self.depth > 1:  # (8-10)^2, \\frac{8-10}{2}
            closed, behind = self.tokens[self.end : self.end + 2]
            operators = ("^", "^2", "^3", "/", "*", "!", "sqrt", "√")
            if not self.spaced or closed.text == "}" or behind.text in operators:
                return False
        last = terms[-1]
        if isinstance(last, ex.Call) and last.name == "percent":  # 5-10%
            last = last.arguments[0]
        whole = all(isinstance(of, ex.Number) and of.is_whole for of in (*terms[:-1], last))
        apart = sign.gap or self.tokens[self.at - 1].gap
        return whole and len(terms) == 2 and sign.text == "-" and not apart

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
                if divided and sign.text != "/" and not sign.gap:
                    self.doubts(Doubt.ORDER)  # 8960 / 2*2
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
        if self.spaced and self.tokens[self.at - 1].kind is Is.LINE:
            return False
        is_of_one = self.pairs.get(self.at, self.end) - self.at <= 3  # 0.61 (61 %)
        if token.gap and token.text in ("(", "[") and is_of_one:
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
            elif token.text == "!":
                self.go(self.at + 1)
                if self.next.text == "!":
                    raise UnreadableError  # 5!! is 5 · 3 · 1
                found = ex.Call("factorial", (found,))
            else:
                return found

    def _operand_follows(self) -> bool:
        following = self.tokens[self.at + 1 : self.at + 2] if self.at + 1 < self.end else ()
        return any(token.kind in (Is.NUMBER, Is.OPEN, Is.NAME) for token in following)

    def exponent(self, sign: Token) -> ex.Expression:
        if len(sign.text) > 1:  # a superscript
            return printed_number(sign.text[1:].lstrip("+"), sign.start, sign.end)
        if self.next.text == "{" and self.tokens[self.at + 1].text == "(":
            self.doubts(Doubt.FUNCTION)  # 5^{(4)} is 5 · 4 · 3 · 2
        negative = self.sign("-")
        self.sign("+")
        found = self.primary()
        token = self.next
        if token.kind is Is.OPERATOR and token.text[0] == "^":
            raise UnreadableError  # 2^3^2 is read in two ways
        return ex.Negative(found) if negative else found


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
                return printed_number(value, digits.start, power.end, measure)
    return None
