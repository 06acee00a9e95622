"""Comments in a text that switch findings off: `audit: off`, `audit: on`, `audit: ignore A01`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tracer.audit.judging.finding import Finding
from tracer.audit.project.configuration import ALL, matching, unknown
from tracer.audit.reading.texts import Text
from tracer.errors import Problem

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
        first, _, last, _ = finding.region
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
            self.problems += [Problem(message, text.title, number) for message in wrong]
            last = number + 1 if is_alone else number
            yield number, last, found["word"], matching(names) if names else frozenset(ALL)
