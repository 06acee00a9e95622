"""The findings in public repositories that were judged by calculation and by eye.

The column `used` tells which repositories were looked at while working, and in which later round
the others were audited for the first time. After each round its false alarms were looked at, too.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

JUDGED = Path(__file__).with_name("judged.csv")
ROUNDS = {"while working", "first", "second", "third", "fourth", "fifth"}


def test_each_judgement_names_its_place_and_verdict() -> None:
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", row["repository"]), row
        assert re.fullmatch(r"[0-9a-f]{40}", row["commit"]), row
        assert int(row["line"]) >= 1, row
        assert row["path"], row
        assert row["code"] in {"A01", "A03"}, row
        assert row["verdict"] in {"true", "false alarm"}, row
        assert row["used"] in ROUNDS, row
