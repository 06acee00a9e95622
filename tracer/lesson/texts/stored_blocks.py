"""How a weight of a GGUF file is stored: the scale and the integers of its block, and its line."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from tracer.checkpoints.gguf_blocks import StoredNumber, stored_number
from tracer.checkpoints.parameter import Parameter
from tracer.decoder.lazy import LazyTensor
from tracer.decoder.pencil import Pencil
from tracer.decoder.value import Entry
from tracer.formula import expression as ex
from tracer.formula.evaluation import holds, relation, value
from tracer.formula.numbers import exponent_of, round_half_away, trimmed
from tracer.lesson import document as doc
from tracer.lesson.entries import number

FORMULAS = {
    "Q8_0": "d×q",
    **{"Q4_0": "d×(q - 8)", "Q5_0": "d×(q - 16)", "Q6_K": "d×s×(q - 32)"},
    **{"Q4_1": "d×q + m", "Q5_1": "d×q + m"},
    **{"Q4_K": "d×s×q - m×t", "Q5_K": "d×s×q - m×t"},
    "MXFP4": "d×q",
}
"""What a number is by the parts of its block."""

OF_Q = {"Q8_0": "integers from -128 to 127", "MXFP4": "numbers of four bits (E2M1)"}
OF_LARGER = {
    **dict.fromkeys(
        ("Q4_K", "Q5_K"), "8 groups share d and m, which are multiplied by s and t of the group."
    ),
    "Q6_K": "16 groups share d, which is multiplied by s of the group.",
}
"""What belongs to a larger block of several groups."""

MOST_DIGITS = 30


def stored_block(pencil: Pencil, entry: Entry) -> doc.Section | None:
    """Return a section about the block that holds a weight; None if it is not in such a block."""
    of = entry.value
    if not isinstance(of, LazyTensor) or not isinstance(of.stored, Parameter) or len(entry.at) != 2:
        return None
    parameter = of.stored
    at = entry.at[::-1] if parameter.transposed else entry.at
    row, column = (part[i] for part, i in zip(parameter.part, at, strict=True))
    found = stored_number(parameter.tensor, row, column)
    if found is None:
        return None
    return doc.Section(None, "How the file stores it", tuple(_blocks(pencil, entry, found)))


def _blocks(pencil: Pencil, entry: Entry, found: StoredNumber) -> Iterator[doc.Block]:
    group, kind = found.group, found.kind
    bits = f"integers of {'six' if kind == 'Q6_K' else 'five' if '5' in kind else 'four'} bits"
    larger = f"{OF_LARGER[kind]} " if kind in OF_LARGER else ""
    yield doc.Paragraph(
        (
            f"{found.tensor} is stored as {kind}: each group of {found.size} numbers of a row has "
            f"its own scale, and q are {OF_Q.get(kind, bits)}. {larger}A number is "
            f"w = {FORMULAS[kind]}.",
        )
    )
    first, q = found.column - found.place, [_plain(each) for each in group.integers]
    yield doc.Paragraph(
        (
            f"This weight is number {found.place + 1} of its group, which is in row "
            f"{found.row + 1} of the tensor, columns {first + 1} to {first + found.size}. "
            f"Here, {', '.join(_parts(found))}, and q = {q[found.place]}. All numbers q of the "
            f"group: {', '.join(q)}.",
        )
    )
    yield doc.Working((doc.Line(None, _line(pencil, entry, found)),))


def _parts(found: StoredNumber) -> Iterator[str]:
    """The parts of a group, with all their digits."""
    group = found.group
    yield f"d = {_plain(group.scale)}"
    if group.factors:
        yield f"s = {group.factors[0]}"
    if group.least is not None:
        yield f"m = {_plain(group.least)}"
        if group.factors:
            yield f"t = {group.factors[1]}"


def _plain(exact: Decimal) -> str:
    return f"{trimmed(exact):f}"


def _line(pencil: Pencil, entry: Entry, found: StoredNumber) -> ex.Chain:
    """The line of a number, with as many digits of its scale as keep it true."""
    result = number(pencil, entry.value, entry.at)
    for digits in range(3, MOST_DIGITS):
        sides = _sides(found, digits)
        if holds(sides[-1], result, result.places):
            return _chain((*sides, result))
    sides = _sides(found, MOST_DIGITS)  # the file's reader has rounded it to a float32
    exact = value(sides[-1])[0]
    return _chain((*sides, ex.Number(round_half_away(exact, result.places))))


def _chain(sides: tuple[ex.Expression, ...]) -> ex.Chain:
    relations = tuple(relation(a, b) for a, b in pairwise(sides))
    return ex.Chain((ex.Symbol("w"), *sides), ("=", *relations))


def _sides(found: StoredNumber, digits: int) -> tuple[ex.Expression, ...]:
    """The formula with the numbers put in, and with the difference worked out."""
    group = found.group
    q = ex.Number(group.integers[found.place].normalize() + 0)
    scale = _with_digits(group.scale, digits)
    of_group = (ex.Number.of(group.factors[0]),) if group.factors else ()
    if group.offset:
        counted = ex.Difference(q, ex.Number.of(group.offset))
        known = ex.Number(q.value - group.offset)
        return tuple(ex.Product((scale, *of_group, each)) for each in (counted, known))
    product = ex.Product((scale, *of_group, q))
    if group.least is None:
        return (product,)
    least = _with_digits(group.least, digits)
    if group.factors:
        return (ex.Difference(product, ex.Product((least, ex.Number.of(group.factors[1])))),)
    return (ex.Sum((product, least)),)


def _with_digits(exact: Decimal, digits: int) -> ex.Number:
    """A number with so many significant digits, or all if it has fewer."""
    short = trimmed(exact)
    places = min(digits - 1 - short.adjusted(), -exponent_of(short)) if short else 0
    return ex.Number(round_half_away(short, max(places, 0)))
