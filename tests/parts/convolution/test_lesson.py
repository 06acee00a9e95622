"""The texts of convolutions: every format, sentences, programs, edits of a page."""

from __future__ import annotations

from tests.helpers.command import printed
from tests.helpers.evaluated import tape_of
from tests.helpers.part_tests import joined, page_edits, programs, texts, true_texts
from tests.helpers.scenario_yaml import to_yaml
from tests.lesson.test_every_claim import SEEN, wrong
from tests.parts.convolution.judged import PART
from tests.parts.convolution.test_decoder import drawn

SOFTMAX = to_yaml({**drawn(0), "rounding": {}})
DELTA = to_yaml({**drawn(3), "rounding": {}})
"""Without an activation, before the delta rule."""


BOTH = {"softmax": SOFTMAX, "delta": DELTA}

test_every_text_is_written = texts(
    BOTH,
    "run - --detail normal",
    "run - --format json",
    "shapes -",
    "attribute logits[c,a] -s -",
)
test_programs_compute_the_numbers = programs(BOTH)
test_edits_of_a_page = page_edits(BOTH, 4)

test_texts_are_true = true_texts(drawn(0))


def test_every_form_of_sentence_is_met() -> None:
    SEEN.clear()
    for seed, command in ((0, "train"), (3, "run")):
        spec = drawn(seed)
        del spec["rounding"]
        assert wrong(command, spec) == []
    assert [form for form in PART.claims if not SEEN[form]] == []


def test_a_turn_says_which_rows_it_reads() -> None:
    turn = ("generate", "-", "--kv-cache", "--start", "a", "--max-tokens", "2", "--worked")
    told = joined(printed(*turn, width=200, stdin=SOFTMAX))
    assert "The last queries of the previous turn:" in told
    assert "The last query of the previous turn:" in told
    assert "The new queries below these:" in told
    assert "The key of “a” is reused; only the key of" in told


def test_a_cache_keeps_the_rows_before_a_filter() -> None:
    """3 of 2 queries and 2 of 2 values of head 1; 1 of 2 queries and 2 of 2 keys of head 2."""
    told = joined(printed("shapes", "-", width=200, stdin=SOFTMAX))
    kept = 3 * 2 + 2 * 2 + 1 * 2 + 2 * 2
    assert f"the last rows before each convolution, {kept} numbers in all" in told
    told = " ".join(printed("shapes", "-", "--caches", width=200, stdin=SOFTMAX).split())
    assert f"The rows before convolutions, {kept} numbers in all, are not counted." in told
    plain = {**drawn(0), "rounding": {}}
    for head in plain["layers"][0]["attention"]["heads"]:
        for letter in "QKV":
            head.pop(f"conv_{letter}", None)
    assert "convolution" not in printed("shapes", "-", stdin=to_yaml(plain))


def test_a_page_offers_no_mask_that_a_filter_refuses() -> None:
    tape = tape_of(SOFTMAX)
    assert tape
    mask = next(each for each in tape["settings"] if each["kind"] == "mask")
    assert "causal" in mask["choices"] and "none" not in mask["choices"]
    assert "{window: 1}" in mask["choices"]
