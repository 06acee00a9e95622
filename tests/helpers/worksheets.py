"""What a teacher does with a worksheet and its key: reads the answers, and fills them in."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from tracer.decoder.forward import Trace
from tracer.formula.expression import Blank, Number
from tracer.lesson.document import Document
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.tutorial import tutorial
from tracer.node import rewritten

FILLED = re.compile(r"\[(\d+): ([^\]]+)\]")
ROOM = re.compile(r"\[(\d+):(_+(?:\._+)?(?:×10\^__)?)\](?! %)")
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def told(of: Trace) -> Document:
    """The tutorial of a trace, for its last token."""
    return tutorial(of, steps(of.records), len(of.tokens) - 1)


def answers(key: str) -> dict[int, Decimal]:
    """What the text of a key says of each blank, which it does once."""
    found = [(int(number), said) for number, said in FILLED.findall(key.replace("\\", ""))]
    assert len(dict(found)) == len(found)
    return {number: read(said) for number, said in found}


def form(said: str) -> str:
    """How many decimals a number has, and whether with a power of ten: 2._×10^__."""
    mantissa, times, _ = said.partition("×")
    return "_" * len(mantissa.partition(".")[2]) + times


def rooms(sheet: str) -> dict[int, set[str]]:
    """The form that each blank of a text says its number has, at whatever place; not in percent."""
    found = ROOM.findall(sheet.replace("\\", ""))
    each: dict[int, set[str]] = {int(number): set() for number, _ in found}
    for number, room in found:
        each[int(number)].add(form(room))
    return each


def forms(key: str) -> dict[int, set[str]]:
    """The same of a key."""
    return {int(number): {form(said)} for number, said in FILLED.findall(key.replace("\\", ""))}


def read(said: str) -> Decimal:
    """-0.25, or 2.1×10⁻⁵."""
    mantissa, _, exponent = said.partition("×10")
    return Decimal(mantissa).scaleb(int(exponent.translate(POWERS) or 0))


def filled(sheet: Document, known: dict[int, Decimal]) -> Document:
    """The text without its first paragraphs, which say that it is a worksheet, and which."""
    whole: Any = rewritten(sheet, Blank, lambda blank: Number(known[blank.number]))
    assert isinstance(whole, Document)
    title, introduction = whole.title, whole.introduction[2:]
    return Document(whole.scenario, title, introduction, whole.sections, whole.whole)
