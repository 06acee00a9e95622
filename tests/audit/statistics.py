"""Count what each rule of `audit` decides: python -m tests.audit.statistics FOLDER…

Each folder holds texts. A file in `owner/name/` or `owner+name/` that judged.csv names is compared
with the judgements: a row of the tables says how many pairs of sides that do not hold were true
findings, false alarms, or not judged. A doubt counts where it is the only one, and strong evidence
would have the pair reported. A kind of evidence counts where there is no doubt.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from tracer.audit.judging import chains
from tracer.audit.judging.confirmation import KINDS, Strength, strength
from tracer.audit.judging.doubts import CHECKS, doubt
from tracer.audit.judging.findings import audit
from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading.texts import ENDINGS, Text, texts
from tracer.audit.reasons import Doubt
from tracer.errors import TracerError
from tracer.names import count

JUDGED = Path(__file__).with_name("judged.csv")
FIELD = "machine learning"
"""The kinds of repositories whose texts are about neural networks have this in their names."""


class Place(NamedTuple):
    """Where a judged finding is."""

    file: str
    cell: int | None
    line: int


def judged() -> list[dict[str, str]]:
    """Return the rows of the judgements."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Counts:
    """What is counted."""

    def __init__(self) -> None:
        self.verdicts = dict[Place, str]()
        for row in judged():
            cell = int(row["cell"]) if row["cell"] else None
            where = "in the field" if FIELD in row["kind"] else "elsewhere"
            place = Place(f"{row['repository']}/{row['path']}", cell, int(row["line"]))
            self.verdicts[place] = f"{row['verdict']} {where}"
        self.doubts = defaultdict[str, Counter[str]](Counter)
        self.kinds = defaultdict[str, Counter[str]](Counter)
        self.reported = Counter[str]()
        self.read = self.hold = 0

    def verdict(self, text: Text, at: int) -> str:
        """Return the judgement of a place in a text."""
        line, _ = text.place(at)
        return self.verdicts.get(Place(text.name, text.cell, line), "not judged")

    def add(self, pair: Pair, *while_read: Doubt | None) -> None:
        """Count the doubts and the evidence of a pair that does not hold."""
        if pair.found.verdict < Verdict.SCALE:
            return
        found = [f"while read: {reason.name}" for reason in while_read if reason]
        found += [check.__name__.strip("_") for _, check in CHECKS if check(pair)]
        verdict = self.verdict(pair.text, pair.start)
        if len(found) == 1 and strength(pair) is Strength.STRONG:
            self.doubts[found[0]][verdict] += 1
        for name, (_, holds) in KINDS.items() if not found else ():
            self.kinds[name][verdict] += holds(pair)

    def audited(self, text: Text) -> None:
        """Audit a text, and count."""

        def counted(pair: Pair, *while_read: Doubt | None) -> Doubt | None:
            self.add(pair, *while_read)
            return doubt(pair, *while_read)

        with mock.patch.object(chains, "doubt", counted):
            found = audit(text)
        self.read, self.hold = self.read + found.read, self.hold + found.hold
        for each in found.findings:
            if each.code in ("A01", "A03"):
                self.reported[self.verdict(text, each.start)] += 1

    def lines(self) -> Iterator[str]:
        """Yield the tables."""
        read = f"{count(self.read, 'equation')} read, {self.hold} hold"
        yield f"{read}; reported: {_told(self.reported)}"
        for title, table in (("doubts", self.doubts), ("kinds of evidence", self.kinds)):
            yield f"\n{title}"
            yield from (f"  {name:<28} {_told(each)}" for name, each in sorted(table.items()))


def _told(counter: Counter[str]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counter.items()) if number)


def main(folders: list[str]) -> None:
    """Print what is counted in the texts of some folders."""
    counts = Counts()
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in ENDINGS and path.is_file():
                name = path.relative_to(folder).as_posix().replace("+", "/", 1)
                try:
                    read = texts(name, path.read_text(encoding="utf-8", errors="replace"))
                except TracerError:
                    continue
                for text in read:
                    counts.audited(text)
    sys.stdout.writelines(f"{line}\n" for line in counts.lines())


if __name__ == "__main__":
    main(sys.argv[1:])
