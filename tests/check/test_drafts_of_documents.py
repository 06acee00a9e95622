"""Drafts of the five documents, compared with the figures files that their authors would write.

An address is right if it is that of the figures file, or of a value that copies it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracer.check.checking import figures_beside
from tracer.check.draft.drafting import all_candidates
from tracer.check.draft.matching import Match, matched
from tracer.check.draft.reading import groups
from tracer.check.figures import CheckedFigure, NumberFigure, figures
from tracer.check.listed import read_figures
from tracer.check.passes import Pass
from tracer.decoder.value import Entry, Value
from tracer.scenario.loading import load

DOCUMENTS = Path(__file__).parents[3] / "shared" / "documents"
NAMES = {"alex": "000", "science": "001", "gpt2-small": "002", "comics": "003", "pizza": "004"}
PUBLISHED = 1_458
"""The numbers that the documents publish, also those for which the scenarios have no address."""
RIGHT, WRONG = 0.72, 0.01
"""The least share of them with the right address, and the most with a wrong one, unmarked."""
LEAST = {"alex": 0.95, "science": 0.90, "comics": 0.80, "pizza": 0.85}
"""The least share with the right address of the numbers that have one in the scenario."""

Place = tuple[int, str]
"""A line of the text, and a number there."""
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Tally:
    """How many numbers of a figures file a draft has right, wrong, wrong but marked, and not."""

    right: int
    wrong: int
    marked: int
    missing: int

    @property
    def total(self) -> int:
        """All numbers with an address."""
        return self.right + self.wrong + self.marked + self.missing


def key_of(within: Pass, value: Value, at: tuple[int, ...], part: str, term: int | None) -> Key:
    """A number of a value, at the address that it is copied from."""
    entry = within.origins.followed(Entry(value, at))
    return (entry.value.address, entry.at, part, term, within.trace.tokens)


def expected(figure: CheckedFigure) -> tuple[Place, Key] | None:
    """The place and the address of a figure; None if the scenario has none."""
    line = figure.listed.line or 0
    if isinstance(figure, NumberFigure):
        place, entry = (line, str(figure.printed.value)), figure.entry
        return place, key_of(figure.within, *entry, figure.listed.part, figure.term)
    if figure.within is None:
        return None
    return (line, figure.text), (figure.listed.address, figure.listed.part)


def drafted(match: Match, within: Pass) -> Iterator[tuple[Place, Key]]:
    """The place and the address of each number of a match."""
    value, at, part = match.candidate.value, match.candidate.at, match.candidate.part
    free = [n if i is None else 1 for i, n in zip(at, value.shape, strict=True)]
    length = len(match.rows[0])
    for k, number in enumerate(n for row in match.rows for n in row):
        line = match.group.lines[k // length] if len(match.rows) > 1 else match.line
        if part == "products":
            terms = [i for i, is_shown in enumerate(match.candidate.shown) if is_shown]
            index, term = tuple(i or 0 for i in at), terms[k]
        else:
            found = np.unravel_index(k, free) if free else ()
            pairs = zip(found, at, strict=True)
            index, term = tuple(int(n) if i is None else i for n, i in pairs), None
        yield (line, str(number.value)), key_of(within, value, index, part, term)


@cache
def tally(name: str) -> Tally:
    if not DOCUMENTS.is_dir():
        pytest.skip("the documents are not here")
    loaded = load(name)
    want, have = defaultdict[Place, list[Key]](list), defaultdict[Place, list[Any]](list)
    for figure in figures(read_figures(figures_beside(name, Path())), loaded):
        if entry := expected(figure):
            want[entry[0]].append(entry[1])
    [path] = DOCUMENTS.glob(f"{NAMES[name]}*")
    left = groups(path.name, path.read_text(encoding="utf-8"))
    for candidates in all_candidates(loaded) if loaded.scenario.has_numbers else ():
        found = matched(left, candidates)
        left = [group for group in left if all(match.group is not group for match in found)]
        for match in found:
            for place, key in drafted(match, candidates.within):
                have[place].append((key, bool(match.others)))
    counts = Counter[str]()
    for place, keys in want.items():
        asked = Counter(keys)
        others = []
        for key, is_marked in have[place]:
            if asked[key]:
                asked[key] -= 1
                counts["right"] += 1
            else:
                others.append("marked" if is_marked else "wrong")
        missing = asked.total()
        counts.update(others[:missing])
        counts["missing"] += max(0, missing - len(others))
    for place in have.keys() - want.keys():
        counts.update("wrong" for _, is_marked in have[place] if not is_marked)
    return Tally(*(counts[each] for each in ("right", "wrong", "marked", "missing")))


def test_most_numbers_of_the_documents_get_their_address() -> None:
    """Shapes and numbers of parameters, which a draft leaves out, count as missing."""
    every = [tally(name) for name in NAMES]
    assert sum(each.right for each in every) >= RIGHT * PUBLISHED, every
    assert sum(each.wrong for each in every) <= WRONG * PUBLISHED, every


@pytest.mark.parametrize("name", LEAST)
def test_hardly_any_address_is_wrong_and_unmarked(name: str) -> None:
    found = tally(name)
    assert found.wrong <= 0.04 * found.total, found
    assert found.right >= LEAST[name] * found.total, found
