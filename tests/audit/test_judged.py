"""The findings in public repositories that were judged by calculation and by eye.

The column `used` tells which repositories were looked at while working, and in which later round
the others were audited for the first time. After each round its false alarms were looked at, too.
The column `confirmed` says whether something confirms how the equation is read; it is empty for
earlier rounds, and for equations that are not read any more.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

JUDGED = Path(__file__).with_name("judged.csv")
README = Path(__file__).parents[2] / "README.md"
EARLIER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
LAST = (
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second"),
    *("twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh"),
    "twenty-eighth",
)
"""The rounds that README is about."""


def rows() -> list[dict[str, str]]:
    with JUDGED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def true_and_all(
    code: str, rounds: tuple[str, ...], confirmed: tuple[str, ...] = ("yes", "no", "")
) -> tuple[int, int]:
    found = [
        row["verdict"]
        for row in rows()
        if row["code"] == code and row["used"] in rounds and row["confirmed"] in confirmed
    ]
    return found.count("true"), len(found)


def test_each_judgement_names_its_place_and_verdict() -> None:
    assert rows()
    for row in rows():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", row["repository"]), row
        assert re.fullmatch(r"[0-9a-f]{40}", row["commit"]), row
        assert int(row["line"]) >= 1, row
        assert row["path"], row
        assert row["code"] in {"A01", "A03"}, row
        assert row["verdict"] in {"true", "false alarm"}, row
        assert row["used"] in {"while working", *EARLIER, *LAST}, row
        assert row["kind"], row
        assert row["confirmed"] in {"yes", "no", ""}, row


def test_readme_claims_what_was_judged() -> None:
    readme = " ".join(README.read_text(encoding="utf-8").split())
    true, found = true_and_all("A01", LAST)
    assert f"{true} of {found} findings of false arithmetic (A01)" in readme, (true, found)
    true, found = true_and_all("A01", LAST[-5:])
    assert f"in the last five of 19 rounds, {true} of {found} were true" in readme, (true, found)
    assert len(LAST) == 19
    true, found = true_and_all("A03", LAST)
    assert f"{true} of {found} of a wrong power of ten (A03)" in readme, (true, found)
    true, found = true_and_all("A01", LAST, ("yes",))
    claim = f"{found} are confirmed, of which {true} are true ({true / found:.0%})"
    assert claim.replace("%", " %") in readme, claim
    true, found = true_and_all("A03", LAST, ("yes",))
    assert f"of the 55, {found} are, of which {true} are true" in readme, (true, found)
