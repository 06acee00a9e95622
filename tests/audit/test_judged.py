"""The findings in public repositories that were judged by calculation and by eye.

The column `used` tells which repositories were looked at while working, and in which later round
the others were audited for the first time. The column `confirmed` says whether something confirmed
how the equation is read; it is empty for earlier rounds.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.audit import statistics


def test_each_judgement_names_its_place_and_verdict() -> None:
    assert statistics.judged()
    for row in statistics.judged():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", row["repository"]), row
        assert re.fullmatch(r"[0-9a-f]{40}", row["commit"]), row
        assert int(row["line"]) >= 1, row
        assert row["path"], row
        assert row["code"] in {"A01", "A03"}, row
        assert row["verdict"] in {"true", "false alarm"}, row
        assert row["used"] and row["kind"], row
        assert row["confirmed"] in {"yes", "no", ""}, row


def test_the_statistics_say_what_each_rule_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = next(row for row in statistics.judged() if row["path"].endswith(".md"))
    file = tmp_path / row["repository"].replace("/", "+") / row["path"]
    file.parent.mkdir(parents=True)
    before = "\n" * (int(row["line"]) - 1)
    file.write_text(f"{before}p = 2 · 7 = 15, and p = 101 + 1 = 110 {'and so on. ' * 100}")
    statistics.main([str(tmp_path)])
    told = capsys.readouterr().out
    where = "in the field" if statistics.FIELD in row["kind"] else "elsewhere"
    verdict = f"1 {row['verdict']} {where}"
    assert told.startswith(f"1 equation read, 0 hold; reported: {verdict}\n")
    assert re.search(rf"\n  is_binary +{verdict}\n", told)
    assert re.search(rf"\n  near the result +{verdict}\n", told)
    assert re.search(r"\n  a prefix *\n", told)
