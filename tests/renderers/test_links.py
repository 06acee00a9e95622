"""The way around a document: which section a step means, in time that grows as the document."""

from __future__ import annotations

from time import process_time

import pytest

from tracer.lesson.document import Document, Paragraph, Reference, Section
from tracer.renderers import Format, links, render


def document(*numbers: int | None) -> Document:
    """A section for each number, which refers to step 1."""
    blocks = (Paragraph(("As in ", Reference(1))),)
    return Document(
        "name", "Title", (), tuple(Section(n, f"Step {i}", blocks) for i, n in enumerate(numbers))
    )


def test_a_step_is_the_last_of_its_number_up_to_there() -> None:
    outline = links.Outline(document(1, 2, None, 1, 2))
    assert [outline.meant(here, 1) for here in range(-1, 5)] == [None, 0, 0, 0, 3, 3]
    assert [outline.meant(here, 2) for here in range(-1, 5)] == [None, None, 1, 1, 1, 4]
    assert outline.meant(4, 3) is None


def test_what_is_referred_to() -> None:
    assert links.Outline(document(2, 1, 3, 1)).referred_to == {1, 3}


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.LATEX])
def test_a_long_document_takes_no_more_time_for_each_section(form: Format) -> None:
    def seconds(length: int) -> float:
        long = document(*range(1, length + 1))
        start = process_time()
        render(long, form)
        return process_time() - start

    shortest = [min(seconds(length) for _ in range(3)) for length in (1000, 4000)]
    assert shortest[1] < 8 * shortest[0]
