"""What is not reported: what comments switch off, and what an earlier report knows."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from tracer.audit.judging.finding import Finding
from tracer.audit.project.configuration import ALL, matching, unknown
from tracer.audit.project.paths import absolute
from tracer.audit.reading.texts import Text
from tracer.audit.reports.results import Result, without
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file

Known: TypeAlias = tuple[Path, str, str]
"""The file, the code and the equation of a finding; its line may change."""


def known(path: Path) -> Counter[Known]:
    """Return the findings of a report in JSON, counted.

    Raises:
        TracerError: it cannot be read, or is no such report.
    """
    try:
        found = json.loads(read_file(path))["findings"]
        return Counter(_known(each["file"], each["code"], each["equation"]) for each in found)
    except (ValueError, TypeError, KeyError, RecursionError):
        message = "no report of audit, expected one that --format json wrote"
        raise TracerError(Problem(message, str(path))) from None


def _known(file: str, code: str, equation: str) -> Known:
    return absolute(Path(re.sub(r":cell [0-9]+\Z", "", file))), code, equation


def new(results: Iterable[Result], found: Counter[Known]) -> Iterator[Result]:
    """Yield the results without as many findings of each kind as are known."""
    left = Counter(found)

    def is_known(finding: Finding) -> bool:
        key = _known(finding.text.name, finding.code, finding.equation)
        left[key] -= 1
        return left[key] >= 0

    for result in results:
        old = {finding for finding in result.findings if is_known(finding)}
        yield replace(without(result, old), known=len(old))


_REMARK = re.compile(
    r"\baudit:[ \t]*(?P<word>off|on|ignore)\b(?P<codes>(?:[ \t,]*\b[A-Z][0-9]\w*)*)"
)
_OPENED = re.compile(r"<!--|\{?/\*|//|\.\.|%+|#+")
"""How comments begin, in any of the formats: a text may have those of several."""

_ALONE = re.compile(rf"[\s>]*(?:{_OPENED.pattern})\s*")
_CLOSED = re.compile(r"\s*(?:-->|\*/\}?)?\s*")


class Remarks:
    """The remarks of a file; what a cell of a notebook switches off stays off in those after it."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.problems: list[Problem] = []
        """The codes in remarks that do not exist."""
        self._switches: dict[int | None, tuple[list[int], list[frozenset[str]]]] = {}
        """By cell: the lines from which on other codes are off than before, and these codes."""
        self._ignored: dict[tuple[int | None, int], frozenset[str]] = {}
        """The codes that are ignored, by cell and line."""
        off = frozenset[str]()
        for text in texts:
            lines, states = self._switches[text.cell] = [1], [off]
            for first, last, word, codes in self._read(text):
                if word == "ignore":
                    for place in ((text.cell, line) for line in range(first, last + 1)):
                        self._ignored[place] = self._ignored.get(place, codes) | codes
                    continue
                off = off | codes if word == "off" else frozenset()
                lines.append(first)
                states.append(off)

    def silence(self, finding: Finding) -> bool:
        """Return whether a remark switches a finding off."""
        first, last = finding.place.line, finding.place.end_line
        cell = finding.text.cell
        lines, states = self._switches[cell]
        silent = states[bisect_right(lines, first) - 1 : bisect_right(lines, last)]
        silent += (self._ignored.get((cell, n), frozenset()) for n in range(first, last + 1))
        return any(finding.code in codes for codes in silent)

    def _read(self, text: Text) -> Iterator[tuple[int, int, str, frozenset[str]]]:
        """Yield the first and the last line that each remark concerns, its word and its codes.

        `off` and `on` stand alone on their lines: a text that only writes about them is read.
        """
        if "audit:" not in text.content:
            return
        for number, line in enumerate(text.content.split("\n"), 1):
            found = _REMARK.search(line)
            if found is None:
                continue
            before, behind = line[: found.start()], line[found.end() :]
            is_alone = bool(_ALONE.fullmatch(before) and _CLOSED.fullmatch(behind))
            if not is_alone and (found["word"] != "ignore" or not _OPENED.search(before)):
                continue
            names = re.findall(r"\w+", found["codes"])
            wrong = [message for name in names if (message := unknown(name))]
            self.problems += [Problem(message, text.span(0, 0).text, number) for message in wrong]
            last = number + 1 if is_alone else number
            yield number, last, found["word"], matching(names) if names else frozenset(ALL)
