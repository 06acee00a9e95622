"""The headings of a document, their anchors, and the section that “step 4” refers to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from tracer.lesson.document import Document, Paragraph, Reference, Section
from tracer.node import found

MOST_NAMES = 4
"""So many steps are named one by one."""

WORTH_CONTENTS = 3
"""The fewest headings for a table of contents."""


@dataclass(frozen=True)
class Heading:
    """The title over a section: of a part (level 1), a step in it (2), or one without a part (1).

    `section` is the index of that section.
    """

    title: str
    level: int
    section: int
    opens_part: bool = False


@dataclass(frozen=True)
class Fold:
    """Neighboring sections that can be skipped."""

    sections: tuple[int, ...]
    document: Document

    @property
    def title(self) -> str:
        """`Head 2 (steps 11–17): the same with other numbers`."""
        there = [self.document.sections[i] for i in self.sections]
        numbered = there[0].number is not None
        if len(there) == 1:
            (section,) = there
            words = " · ".join(section.within or (section.title,))
            counted = f" (step {section.number})" if numbered else ""
            return f"{words}{counted}: the same with other numbers"
        names = list(dict.fromkeys(section.within[0] for section in there if section.within))
        listed = ", ".join(names) if len(names) < MOST_NAMES else f"{names[0]} to {names[-1]}"
        counted = f" (steps {there[0].number}–{there[-1].number})" if numbered else ""
        return f"{listed}{counted}: the same with other numbers"


class Outline:
    """The headings of a document, their anchors, and the sections of its steps."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.headings = list(_headings(document))
        wanted = document.whole and document.has_contents
        worth_it = wanted and len(self.headings) >= WORTH_CONTENTS
        self.contents = self.headings if worth_it else []
        """The headings in the table of contents."""
        self.over = defaultdict[int, list[Heading]](list)
        """The headings over each section."""
        for heading in self.headings:
            self.over[heading.section].append(heading)
        self.places = defaultdict[int, list[int]](list)
        """The sections of each step."""
        for i, section in enumerate(document.sections):
            for number in section.steps:
                self.places[number].append(i)

    @cached_property
    def folds(self) -> dict[int, Fold]:
        """What can be skipped, by its first section: neighbors in one part of the text."""
        found: dict[int, Fold] = {}
        sections = self.document.sections
        for i, section in enumerate(sections):
            if not section.folded:
                continue
            before = sections[i - 1] if i else section
            if found and before.folded and before.part == section.part:
                first, fold = found.popitem()
                found[first] = Fold((*fold.sections, i), self.document)
            else:
                found[i] = Fold((i,), self.document)
        return found

    def meant(self, here: int, number: int) -> int | None:
        """The section of a step as seen from another: the last up to there, or None.

        A generated text has a step of that number in each turn.
        """
        places = self.places.get(number, [])
        up_to_here = bisect_right(places, here)
        return places[up_to_here - 1] if up_to_here else None

    @cached_property
    def referred_to(self) -> set[int]:
        """The sections that sentences refer to."""
        meant = {
            self.meant(i, reference.number)
            for i, section in enumerate(self.document.sections)
            for block in section.blocks
            if isinstance(block, Paragraph)
            for reference in found(block, Reference)
        }
        return {section for section in meant if section is not None}

    @cached_property
    def anchors(self) -> dict[Heading, str]:
        """The link of each heading: `alex.step-4`, numbered where it repeats.

        The dot keeps it apart from anchors that other programs make of headings.
        """
        scenario = _plain(self.document.scenario).replace("-", "") or "scenario"
        named: dict[str, Heading] = {}
        for heading in self.headings:
            name = first = f"{scenario}.{_named(self.document, heading)}"
            again = count(2)
            while name in named:
                name = f"{first}-{next(again)}"
            named[name] = heading
        return {heading: name for name, heading in named.items()}


def _headings(document: Document) -> Iterator[Heading]:
    """The headings in order, in two levels if the document begins with a part."""
    in_parts = document.whole and any(section.part for section in document.sections[:1])
    before = None
    for i, section in enumerate(document.sections):
        alone = not in_parts or section.part in (None, section.title)
        if section.part and not alone and section.part != before:
            yield Heading(section.part, 1, i, opens_part=True)
        before = section.part
        yield Heading(_title(section, within=not alone), 1 if alone else 2, i)


def _title(section: Section, *, within: bool) -> str:
    """The title of a step with its number; `within` a part, without the part's title."""
    words = " · ".join(section.within) if within and section.within else section.title
    return f"{section.counted}. {words}" if section.counted else words


def of_sections(anchors: Mapping[Heading, str]) -> dict[int | None, str]:
    """The link of each section."""
    return {h.section: anchor for h, anchor in anchors.items() if not h.opens_part}


def _named(document: Document, heading: Heading) -> str:
    number = document.sections[heading.section].number
    if number is None or heading.opens_part:
        return _plain(heading.title)
    return f"step-{number}"


def _plain(words: str) -> str:
    """Lower-case ASCII letters and digits, with - for everything between them."""
    return re.sub("[^a-z0-9]+", "-", words.lower()).strip("-")
