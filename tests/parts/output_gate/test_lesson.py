"""The texts of gates of head outputs: every format, sentences, programs, edits of a page."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.part_tests import CARRIES, page_edits, programs, texts
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.truth import false_equations
from tests.lesson.test_every_claim import SEEN, wrong
from tests.parts.output_gate.judged import PART
from tests.parts.output_gate.test_decoder import drawn

GATED = to_yaml({**drawn(0), "rounding": {}})
STATE = to_yaml({**drawn(3), "rounding": {}})
"""SiLU behind the delta rule."""


BOTH = {"softmax": GATED, "delta": STATE}

test_every_text_is_written = texts(
    BOTH,
    "run - --detail normal",
    "run - --format json",
    "shapes -",
    "attribute logits[c,a] -s -",
)
test_programs_compute_the_numbers = programs(BOTH)
test_edits_of_a_page = page_edits({"softmax": GATED})


@pytest.mark.parametrize("carry", CARRIES)
def test_texts_are_true(carry: str) -> None:
    spec = {**drawn(0), "rounding": {"carry": carry}}
    text = printed("run", "-", stdin=to_yaml(spec))
    assert false_equations(text) == []
    assert carry == "never" or violations(text) == []
    assert wrong("tutorial", spec) == []


def test_every_form_of_sentence_is_met() -> None:
    SEEN.clear()
    for seed in (0, 1):
        spec = drawn(seed)
        del spec["rounding"]
        assert wrong("run", spec) == []
        assert wrong("train", spec) == []
    assert [form for form in PART.claims if not SEEN[form]] == []
