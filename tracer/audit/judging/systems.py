"""Number systems: where a text speaks of them, and what holds in them but not in base 10."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product

from tracer.audit.judging.readings import Reading, Sides, exclusive_or
from tracer.audit.judging.wording import NEAR
from tracer.audit.reading import expression as ex
from tracer.audit.reading.texts import Text

CHAPTER = 5000
"""The characters before and after an equation in which a subject is looked for."""

SUBJECT = 6
"""A chapter with this many words of a number system is about it."""

FURTHEST = 2000
"""So is a text if there is on average one such word for this many characters."""

_POSITIONAL = re.compile(
    r"""(?=[BbOotdHh129二八十补原尾])(?:
      \b[Bb]inary\b(?![ -](?:tree|search|class|cross|file|choice|outcome|label|variable|option))
    | \b[Oo]ctal | \b[Hh]ex(?:adecimal)?\b | \b[Bb]ase[ -](?!10\b)(?:\d|two|eight|sixteen)
    | \b[12]['’]?s[ ]complement | \btwo['’]?s[ -]complement
    | 二进制 | 八进制 | 十六进制 | 补码 | 原码 | 尾数
    | \bdual(?:zahl|system) | \bBinär | \bbinaire | \bhexadez
    )""",
    re.VERBOSE,
)
_MODULAR = re.compile(
    r"""(?=[wotnb129fpGgMmcHha≡ℤ𝔽ZF\\余取])(?:
      \b(?:one|two|nine|ten|[129]|10)['’]?s?['’]?[ -]complement
    | \bcarry\ (?:1|the|out|bit) | \bwith\ (?:a\ )?carry | \boverflow | \bclock\ arithmetic
    | \bfinite\ field | \bprime\ field | \bGalois | \bGF\s?\( | \b[Hh]omomorphi
    | \bcosets?\b | \b(?:abelian|cyclic)\ group
    | \b[Mm]od(?:ulo|ular\ arithmetic|ulus)?\b | 取模 | 取余 | 余数
    | ≡ | \\equiv | \\[bp]?mod\b | [ℤ𝔽] | \\(?:mathbb|mathbf|Bbb)\s?\{?[FZ]\}?\s?_
    | \\[FZ][FZ]?\s?_ | \b[ZF]_\{?\d
    )""",
    re.VERBOSE,
)
_BITWISE = re.compile(
    r"""(?=[bBXx⊕\\fGcg])(?:
      \bBoole | \bboolean | \bbitwise | \bXOR\b | \bxor\b | ⊕ | \\oplus
    | \bfinite\ field | \bGalois | \bGF\s?\(
    )""",
    re.VERBOSE,
)
_DEFINED = re.compile(
    r"(?<![\w\\])[a-z]\s?(?:\*|∗|\\ast)\s?[a-z]\s*:?=\s*(?:\\begin|[^=\n$]{0,40}[-+])"
)
_OPERATION = re.compile(r"operation|[Oo]pération|Verknüpfung|associativ")
_MODULUS = re.compile(
    r"(?:[Mm]od(?:ulo|ulus)?|[Mm]odulo\sn|\\[bp]mod|[ℤ𝔽]|[FZ]\}?_|GF|gcd)"
    r"[\s$({=\\;:,~_]{0,6}(\d{1,12})(?:\s?\^\{?(\d{1,2})\b)?"
)
_BITS = re.compile(r"\b(\d{1,2})[ -][Bb]it")
_NAMED_BASE = re.compile(r"\bbase[ -](\d{1,2})\b|_\{?(\d{1,2})\}?")


@dataclass(frozen=True)
class Systems:
    """A text, and where it speaks of number systems."""

    text: Text

    @cached_property
    def _positional(self) -> list[int]:
        return self._places(_POSITIONAL)

    @cached_property
    def _modular(self) -> list[int]:
        return self._places(_MODULAR)

    @cached_property
    def _bitwise(self) -> list[int]:
        return self._places(_BITWISE)

    @cached_property
    def _defined(self) -> list[int]:
        return self._places(_DEFINED)

    @cached_property
    def _operations(self) -> list[int]:
        return self._places(_OPERATION)

    def _places(self, words: re.Pattern[str]) -> list[int]:
        return [found.start() for found in words.finditer(self.text.content)]

    def is_positional(self, start: int, end: int) -> bool:
        """Return whether the text around a stretch is about another base than 10."""
        return self._is_about(self._positional, start, end)

    def is_modular(self, start: int, end: int) -> bool:
        """Return whether the text around a stretch computes with remainders."""
        return self._is_about(self._modular, start, end)

    def is_bitwise(self, start: int, end: int) -> bool:
        """Return whether the text around a stretch computes with single bits."""
        return self._is_about(self._bitwise, start, end)

    def _is_about(self, places: list[int], start: int, end: int) -> bool:
        """Return whether a word is near a stretch, or many are in its chapter or the text."""
        near = _between(places, start - NEAR, end + NEAR // 2)
        in_chapter = _between(places, start - CHAPTER, end + CHAPTER)
        is_whole_text = len(places) * FURTHEST >= len(self.text.content)
        return near > 0 or in_chapter >= SUBJECT or (len(places) >= SUBJECT and is_whole_text)

    def redefines_products(self, start: int, end: int) -> bool:
        """Return whether the text around a stretch is about another operation *: a * b = a + b."""
        chapter = start - CHAPTER, end + CHAPTER
        return _between(self._defined, *chapter) > 0 < _between(self._operations, *chapter)

    def bases(self, start: int, end: int) -> set[int]:
        """Return the bases in which the numbers of a stretch may be written."""
        around = self.text.content[max(0, start - NEAR) : end + NEAR // 2]
        named = {int(one or other) for one, other in _NAMED_BASE.findall(around)}
        return {2, 8, 16} | {base for base in named if 2 <= base <= 36}

    def moduli(self, start: int, end: int) -> set[int]:
        """Return the moduli that are named in the chapter around a stretch."""
        chapter = self.text.content[max(0, start - CHAPTER) : end + CHAPTER]
        named = (int(digits) ** int(power or 1) for digits, power in _MODULUS.findall(chapter))
        words = (2 ** int(bits) for bits in _BITS.findall(chapter))
        return {modulus for modulus in (*named, *words) if modulus > 1}


def _between(places: list[int], start: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, start)


# --- what holds ----------------------------------------------------------------------------------


def in_bases(bases: set[int], *, exponents: bool = True) -> Reading:
    """Return the reading of one side, or of both, in another base: 1101 = 8 + 4 + 1.

    Without `exponents`, only numbers with decimals are read so, as in 0.111 · 2².
    """

    def read(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
        for one, other in product((10, *sorted(bases)), repeat=2):
            if (one != other and 10 in (one, other)) or one == other != 10:
                yield (
                    ex.mapped(left, _in_base(one, exponents=exponents)),
                    ex.mapped(right, _in_base(other, exponents=exponents)),
                )

    return read


def _in_base(base: int, *, exponents: bool) -> Callable[[ex.Expression], ex.Expression]:
    def of(part: ex.Expression) -> ex.Expression:
        if base == 10 or not isinstance(part, ex.Number) or (part.is_whole and not exponents):
            return part
        whole, _, decimals = part.printed.partition(".")
        try:
            value = Decimal(int(whole + decimals, base)) / Decimal(base) ** len(decimals)
        except ValueError:  # a digit that the base does not have
            return part
        return ex.Number(value, str(value), part.start, part.end)

    return of


def is_remainder(computed: Decimal, printed: Decimal, moduli: set[int]) -> bool:
    """Return whether a printed number may be the remainder of a computed one.

    The modulus is one of these, or a usual one, or anything if none is known.
    """
    if computed != computed.to_integral_value() or printed != printed.to_integral_value():
        return printed == printed.to_integral_value()  # 1/3 = 5, modulo 7
    apart = abs(int(computed) - int(printed))
    if not moduli:
        return apart > abs(printed)
    return any(apart % modulus == 0 and abs(printed) < modulus for modulus in moduli | _WORDS)


def are_congruent(one: Decimal, other: Decimal, moduli: set[int]) -> bool:
    """Return whether two numbers leave the same remainder: 1 = 7 - 2·63 modulo 60."""
    apart = one - other
    return apart != apart.to_integral_value() or any(not int(apart) % each for each in moduli)


def wraps(computed: Decimal | None, printed: Decimal) -> bool:
    """Return whether numbers differ by all values of a word of bits: 127 + 1 = -128."""
    return computed is not None and abs(computed - printed) in _WORDS


_WORDS = {2**bits for bits in (8, 16, 32, 64)}


def bits(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read + and ^ as exclusive or: 5 + 4 = 1."""
    yield from exclusive_or(left, right)

    def added(part: ex.Expression) -> ex.Expression:
        match part:
            case ex.Sum(terms) if all(isinstance(t, ex.Number) and t.is_whole for t in terms):
                total = 0
                for term in ex.numbers(part):
                    total ^= int(term.value)
                return ex.Number(Decimal(total), str(total), 0, 0)
        return part

    yield ex.mapped(left, added), ex.mapped(right, added)
