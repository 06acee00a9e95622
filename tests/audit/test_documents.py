"""The five documents that the project began with: how many equations hold, and what does not.

They were worked out with a calculator. Lines that hold only with unrounded numbers are listed
with `~`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.audit.judging.findings import audit
from tracer.audit.judging.judgement import Verdict
from tracer.audit.reading.texts import Markup, Text

FOLDER = Path(__file__).parents[3] / "shared" / "documents"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the documents are not here")

SIGNS = {Verdict.CONSISTENT: "~", Verdict.FALSE: "A01", Verdict.LAST_DIGIT: "A02"}
SIGNS |= {Verdict.CUT: "A04"}


@pytest.mark.parametrize(
    ("name", "read", "others"),
    [
        ("000", 26, "76~ 77~ 79~ 83A01 83~ 83A01 172~ 178~ 213~ 213~ 213~"),
        ("001", 35, "345~ 347~ 353A04 393A02 400~"),
        ("002", 0, ""),
        ("003", 4, ""),
        ("004", 1, ""),
    ],
)
def test_each_equation_has_its_verdict(name: str, read: int, others: str) -> None:
    (file,) = FOLDER.glob(f"{name}_*.txt")
    text = Text(file.name, file.read_text(encoding="utf-8"), Markup.PLAIN)
    found = audit(text)
    assert found.read == read
    differing = [
        f"{text.place(chain.start)[0]}{SIGNS[chain.verdict]}"
        for chain in found.chains
        if not chain.verdict.at_face
    ]
    assert " ".join(differing) == others
