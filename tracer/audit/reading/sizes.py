"""Sizes of networks and computers: their suffixes, such as K and GiB, and the names beside them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from tracer.audit.reading import expression as ex

_PREFIXED = re.compile(r"(?P<prefix>[KkMGTPEZ])?(?P<binary>i)?(?P<base>B|b|byte|bit|Bps|bps|FLOP)?")
_SECONDS = {"s": 0, "ms": -1, "us": -2, "ns": -3, "ps": -4}
_THOUSAND, _BINARY = Decimal(1000), Decimal(1024)


@cache
def multipliers(unit: str) -> tuple[Decimal, ...]:
    """Return what a suffix may multiply its number by; nothing if it is no size.

    B is a billion, or one byte; K, M and G are powers of 1,000 or of 1,024.
    """
    if unit == "B":
        return _THOUSAND**3, Decimal(1)
    if unit in _SECONDS:
        return (_THOUSAND ** _SECONDS[unit],)
    found = _PREFIXED.fullmatch(unit)
    if found is None:
        return ()
    power = "KMGTPEZ".index(found["prefix"].upper()) + 1 if found["prefix"] else 0
    if found["binary"]:
        return (_BINARY**power,)
    is_decimal = not power or found["base"] == "FLOP" or unit == "T"
    return (_THOUSAND**power,) if is_decimal else (_THOUSAND**power, _BINARY**power)


def suffixes(*sides: ex.Expression) -> set[str]:
    """Return the units of all numbers."""
    return {name for side in sides for each in ex.numbers(side) for name, _ in each.measure}


def result(left: ex.Expression, right: ex.Expression) -> ex.Number | None:
    """Return the number on the right if it and the numbers on the left are sizes, with a suffix.

    A letter such as G on the left only may be a symbol.
    """
    number = right.arguments[0] if ex.is_percent(right) else right  # type: ignore[union-attr]
    computed, printed = suffixes(left), suffixes(right)
    if not isinstance(number, ex.Number) or not all(map(multipliers, computed | printed)):
        return None
    return number if printed or any(len(name) > 1 for name in computed) else None


def is_literal(left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether a result has its power of ten beside it: 7.34 × 10⁹ FLOPs, not 7.34 GFLOPs."""
    has_power = isinstance(right, ex.Number) and bool(right.measure) and "e" in right.printed
    return has_power and all(multipliers(each) == (Decimal(1),) for each in suffixes(left, right))


def are_comparable(left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether a wrong result can only be an error.

    A share may be one of a size: only 2/8 = 268M are active. A result without a suffix may be one
    in other units, unless two sizes are divided.
    """
    if suffixes(left):
        divided = {sign for sign, part in getattr(left, "factors", ()) if suffixes(part)}
        return bool(suffixes(right)) or divided == {"*", "/"}
    match left:
        case ex.Product((_, ("/", ex.Number()))):
            return False
    return True


_WORDS = (
    r"layers?|heads?|tokens?|param(?:eter)?s?|dims?|dimensions?|blocks?|experts?|matri(?:x|ces)"
    r"|vectors?|tensors?|values?|elements?|positions?|sequences?|samples?|requests?|users?|[GT]PUs?"
    r"|nodes?|chips?|devices?|channels?|neurons?|weights?|batch(?:es)?|steps?|features?|bytes?"
    r"|quer(?:y|ies)|keys?|K|V|KV|vocab|hidden|seqs?|replicas?|images?|patches"
    r"|(?:head|hidden|model)_dim|d_(?:model|head|ff)|seq_len|(?:hidden|batch|vocab)_size"
    r"|[Ff][Pp](?:8|16|32)|[Bb][Ff]16|[Ii][Nn][Tt][48]"
)
_GAP = "[ \u2009\u202f]"
_WORD = r"[A-Za-z][A-Za-z_]*(?:-[A-Za-z]+)*"
_OPERATOR = r"[×*·⋅÷]|/(?=[ ]?[\d(])|\\(?:times|cdot|div)\b|x[ ]\d"
_NAME = re.compile(
    rf"""
      (?P<per>/(?:tok(?:en)?|param(?:eter)?|layer|head|GPU|request|sequence|sample|step|element|value
        |batch|word|sec(?:ond)?|image|expert|block|user|char(?:acter)?|node|device|chip|iter(?:ation)?
        )s?\b)?
      (?P<name>(?:
        {_GAP}\((?:{_WORD}|[Ff][Pp]\d+|[Bb][Ff]16|[Ii][Nn][Tt]\d)(?:[ ]?[ ,&+/][ ]?{_WORD}){{0,4}}\)
      | {_GAP}(?!x{_GAP}){_WORD}
      | {_GAP}?\\text\s?\{{[^{{}}\d]{{1,40}}\}}
      | {_GAP}?(?:层|层数|个头|头|维|字节|个?参数|卡)
      ){{1,4}}(?={_GAP}?(?P<operator>{_OPERATOR}|[=≈]|\\approx)))?
    """,
    re.VERBOSE,
)
_KNOWN = re.compile(rf"(?<![\w-])(?:{_WORDS})(?![\w-])|\\text|[层头维节数卡]")
_BEHIND = re.compile(rf"(?:[×*·⋅÷/]|(?<=[ \d])x|\\(?:times|cdot|div)){_GAP}?\Z")


def end_of_name(text: str, start: int, end: int) -> int:
    """Return where the name behind a number ends, as in 32 attention heads × 128.

    A name ends at an operator; or at an equals sign, if the number is an operand.
    """
    found = _NAME.match(text, end)
    if found is None or not found[0]:
        return end
    if not found["name"] or not _KNOWN.search(found["name"]):
        return found.end("per") if found["per"] else end
    if found["operator"][0] in "=≈" or found["operator"] == "\\approx":
        is_operand = _BEHIND.search(text, max(0, start - 8), start)
        return found.end() if is_operand else end
    return found.end()
