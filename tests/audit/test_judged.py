"""The findings in public repositories that were judged by calculation and by eye.

The column `used` tells which repositories were looked at while working, and in which later round
the others were audited for the first time. After each round its false alarms were looked at, too.
The column `confirmed` says whether something confirms how the equation is read; it is empty for
earlier rounds, and for equations that are not read any more. The last rounds were audited with that
rule, so that they have confirmed findings only.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

JUDGED = Path(__file__).with_name("judged.csv")
PAGE = Path(__file__).parents[2] / ".github" / "docs" / "audit.md"
EARLIER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
BEFORE = (
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second"),
    *("twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh"),
    "twenty-eighth",
)
"""The rounds before findings had to be confirmed."""
LAST = (
    *("twenty-ninth", "thirtieth", "thirty-first", "thirty-second", "thirty-third"),
    *("thirty-fourth", "thirty-fifth", "thirty-sixth", "thirty-seventh"),
)
"""The rounds since then."""
COPIED = ("submergepsc/obsidian_notes", "bvirrion/one-math-book")
"""The repositories with most of their false alarms."""


def rows() -> list[dict[str, str]]:
    with JUDGED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def true_and_all(
    code: str, rounds: tuple[str, ...], without: tuple[str, ...] = ()
) -> tuple[int, int]:
    found = [
        row["verdict"]
        for row in rows()
        if row["code"] == code and row["used"] in rounds and row["repository"] not in without
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
        assert row["used"] in {"while working", *EARLIER, *BEFORE, *LAST}, row
        assert row["kind"], row
        assert row["confirmed"] in {"yes", "no", ""}, row


def test_its_page_claims_what_was_judged() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    (true, found), (scales, all_scales) = (true_and_all(code, LAST) for code in ("A01", "A03"))
    claim = f"(A01), {true} of {found} were true, and {scales} of {all_scales} of a wrong power"
    assert claim in page, claim
    elsewhere, all_elsewhere = true_and_all("A01", LAST, COPIED)
    copied = found - true - (all_elsewhere - elsewhere)
    claim = (
        f"Of the {found - true} false alarms of A01, {copied} came from two repositories: copied "
        "pages that hold each formula twice, and one book in twelve languages; without them, "
        f"{elsewhere} of {all_elsewhere} were true"
    )
    assert claim in page, claim
    (true, found), (scales, all_scales) = (true_and_all(code, LAST[-1:]) for code in ("A01", "A03"))
    claim = f"{true} of {found} were true, and {scales} of {all_scales}."
    assert f"the last time, {claim}" in page, claim
    assert len(LAST) == 9
    assert "Nine times, public repositories" in page
    true, found = true_and_all("A01", BEFORE)
    claim = (
        f"In {len(BEFORE)} earlier rounds, in which equations did not have to be confirmed, "
        f"{true} of {found} were true."
    )
    assert claim in page, claim
