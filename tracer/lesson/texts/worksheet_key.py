"""The key to a worksheet: what belongs in its blanks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tracer.formula.expression import Blank, Number
from tracer.lesson import document as doc
from tracer.node import Node, found, rewritten

TO_FILL_IN: doc.Sentence = ("What belongs in each blank, there where it is worked out.",)


def key(sheet: doc.Document) -> doc.Document:
    """The lines and matrices of a worksheet in which its blanks stand first, with the answers."""
    met = set[int]()
    filled = [replace(s, blocks=tuple(_filled(s.blocks, met))) for s in sheet.sections]
    _, which, *_ = sheet.introduction
    introduction = (doc.Paragraph(TO_FILL_IN), which)
    sections = tuple(section for section in filled if section.blocks)
    return doc.Document(sheet.scenario, f"Key: {sheet.title}", introduction, sections, sheet.whole)


def _filled(blocks: Sequence[doc.Block], met: set[int]) -> Iterator[doc.Block]:
    for block in blocks:
        if isinstance(block, doc.Working):
            lines = [line for line in block.lines if _begins(line, met)]
            if lines:
                yield doc.Working(tuple(_with_answers(line, met) for line in lines))
        elif isinstance(block, doc.Matrix) and _begins(block, met):
            yield _with_answers(replace(block, figure=None), met)


def _begins(part: Node, met: set[int]) -> bool:
    return any(blank.number not in met for blank in found(part, Blank))


def _with_answers(part: Any, met: set[int]) -> Any:
    """A part with numbers in its blanks; those met for the first time keep theirs beside them."""

    def answer(blank: Blank) -> Number | Blank:
        if blank.number in met:
            return blank.answer
        met.add(blank.number)
        return replace(blank, filled=True)

    return rewritten(part, Blank, answer)
