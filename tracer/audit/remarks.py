"""Comments in a text that switch findings off: `audit: off`, `audit: on`, `audit: ignore A01`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tracer.audit.codes import ALL, matching, unknown
from tracer.audit.findings import Finding
from tracer.audit.texts import Text
from tracer.errors import Problem

_REMARK = re.compile(
    r"\baudit:[ \t]*(?P<word>off|on|ignore)\b(?P<codes>(?:[ \t,]*\b[A-Z][0-9]\w*)*)"
)
_OPENED = re.compile(r"<!--|\{?/\*|//|\.\.|%+|#+")
"""How comments begin, in any of the formats: a text may have those of several."""

_ALONE = re.compile(rf"[\s>]*(?:{_OPENED.pattern})\s*")
_CLOSED = re.compile(r"\s*(?:-->|\*/\}?)?\s*")


class Silence(NamedTuple):
    """Lines of a text in which nothing with these codes is reported."""

    first: int
    last: int | None
    """None if that is the text's last line."""
    codes: frozenset[str]


class Remarks:
    """The remarks of a file; what a cell of a notebook switches off stays off in those after it."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.problems: list[Problem] = []
        """The codes in remarks that do not exist."""
        self._silences: dict[int | None, list[Silence]] = {}
        off: frozenset[str] = frozenset()
        for text in texts:
            self._silences[text.cell] = found = []
            since = 1
            for line, word, codes in self._read(text):
                if word == "ignore":
                    found.append(Silence(*line, codes))
                    continue
                if off:
                    found.append(Silence(since, line[0], off))
                off, since = off | codes if word == "off" else frozenset(), line[0]
            if off:
                found.append(Silence(since, None, off))

    def silence(self, finding: Finding) -> bool:
        """Return whether a remark switches a finding off."""
        first, _, last, _ = finding.region
        return any(
            finding.code in each.codes
            and each.first <= last
            and (each.last is None or first <= each.last)
            for each in self._silences[finding.text.cell]
        )

    def _read(self, text: Text) -> Iterator[tuple[tuple[int, int], str, frozenset[str]]]:
        """Yield the lines that each remark concerns, its word and its codes.

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
            yield (number, last), found["word"], matching(names) if names else frozenset(ALL)
