"""Headings on a terminal: parts of a text and their steps, with a rule under each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tracer.formula.expression import Chain
from tracer.lesson.document import Section
from tracer.renderers.palette import RULE, SECTION
from tracer.renderers.rows import GAP, Row, cells, padded, wrapped
from tracer.renderers.text import one_line

JOINT, PART_RULE, STEP_RULE = " · ", "═", "─"


def section_title(section: Section) -> str:
    """`7 · Head 1 · Attention scores`."""
    number = [] if section.number is None else [str(section.number)]
    return JOINT.join([*number, *(section.within or (section.title,))])


def part_titles(sections: Sequence[Section]) -> Iterator[str | None]:
    """The title of a part that begins with each section, if one begins there and needs a title.

    So it does beside other parts, and where it says what the titles of its steps do not.
    """
    for _, group in groupby(sections, lambda section: section.part is None):
        together = list(group)
        silent = (s.within and s.title != JOINT.join(s.within) for s in together)
        parted = len({section.part for section in together}) > 1 or any(silent)
        before = None
        for section in together:
            yield section.part if parted and section.part != before else None
            before = section.part


def fits_beside(title: str, formula: Chain | None, width: int) -> bool:
    """Whether a formula fits at the right of a title."""
    return formula is not None and cells(title + GAP + one_line(formula)) <= width


def heading_rows(title: str, rule: str, width: int, formula: Chain | None = None) -> Iterator[Row]:
    """A title, a formula at its right if there is one, and a rule under both."""
    *above, last = (row.stylize(SECTION) for row in wrapped(title, width))
    yield from above
    if formula is not None:
        shown = one_line(formula)
        last.plain = padded(last.plain, width - cells(shown)) + shown
    yield last
    yield Row(rule * width, RULE)
