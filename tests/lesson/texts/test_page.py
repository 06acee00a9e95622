"""A text for every token, with the line of every number that it shows."""

from __future__ import annotations

import pytest

from tests.helpers.traces import bundled
from tracer.decoder.value import Entry
from tracer.formula.expression import Number
from tracer.lesson.document import Matrix, Working
from tracer.lesson.texts.forward_pass import forward_pass
from tracer.lesson.texts.page import Page, page
from tracer.lesson.texts.selection import select, steps
from tracer.lesson.texts.why import why
from tracer.node import found
from tracer.renderers.text import text


def explored(name: str) -> Page:
    trace = bundled(name)
    return page(trace, steps(trace.records), len(trace.tokens) - 1)


@pytest.mark.parametrize("name", ["alex", "comics"])
def test_every_line_is_the_one_that_why_prints(name: str) -> None:
    found = bundled(name)
    told = page(found, steps(found.records), 0)
    lines = 0
    for value, source in told.sources.items():
        if value not in found.producers:
            continue
        for at in [*source.lines][:2]:
            first = why(found, Entry(value, at), 0).sections[0].blocks
            (line,) = (line for b in first if isinstance(b, Working) for line in b.lines)
            sides = [text(side) for side in line.chain.sides]
            own = [text(side) for side in source.lines[at].sides]
            assert sides[-len(own) :] == own
            lines += 1
    assert lines > 30


def test_it_is_told_for_each_token() -> None:
    found = bundled("alex")
    chosen = select(steps(found.records), "attention", 1, 2)
    told = page(found, chosen, 1)
    for token, document in enumerate(told.documents):
        alone = forward_pass(found, chosen, token, whole=False)
        shown = [s for i, s in enumerate(document.sections) if i not in told.without_mask]
        for section, other in zip(shown, alone.sections, strict=False):
            mine = [block for block in section.blocks if isinstance(block, Working)]
            assert mine == [block for block in other.blocks if isinstance(block, Working)]


def test_every_number_of_every_matrix_is_known() -> None:
    told = explored("alex")
    matrices = [
        block for s in told.document.sections for block in s.blocks if isinstance(block, Matrix)
    ]
    assert len(matrices) > 30
    for number in found(tuple(matrices), Number):
        assert number.entry
        source = told.sources[number.entry.value]
        assert source.numbers[number.entry.at] == number
        known = source.given, number.entry.at in source.lines, number.entry.at in source.moved
        assert sum(known) == 1 or number.value == 0


def test_the_mask_is_taken_from_each_head() -> None:
    told = explored("alex")
    titles = [told.document.sections[i].title for i in sorted(told.without_mask)]
    assert titles == ["Head 1 · Without the mask", "Head 2 · Without the mask"]
