"""The texts of norms of head outputs: every format, sentences, programs, edits of a page."""

from __future__ import annotations

from tests.helpers.command import printed
from tests.helpers.part_tests import joined, page_edits, programs, texts, true_texts
from tests.helpers.scenario_yaml import to_yaml
from tests.lesson.test_every_claim import wrong
from tests.parts.head_norm.test_decoder import drawn

ROOT, GATED = (to_yaml({**drawn(seed), "rounding": {}}) for seed in (0, 1))
BOTH = {"softmax": ROOT, "delta": GATED}

test_every_text_is_written = texts(
    BOTH, "run - --format json", "shapes -", "attribute logits[c,a] -s -"
)
test_programs_compute_the_numbers = programs(BOTH)
test_edits_of_a_page = page_edits(BOTH, 4)

test_texts_are_true = true_texts(drawn(0))


def test_sentences_of_both_passes_are_true() -> None:
    for seed in (0, 1):
        spec = {**drawn(seed), "rounding": {}}
        assert wrong("train", spec) == []
    told = joined(printed("run", "-", width=200, stdin=ROOT))
    assert "Each output's numbers are divided by their root mean square, with ε, then" in told
