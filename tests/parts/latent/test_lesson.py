"""The texts of latent attention: a cached turn, shapes, attributions, every format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.part_tests import joined, texts
from tests.helpers.scenario_yaml import to_yaml
from tests.lesson.test_every_claim import wrong
from tests.parts.latent.test_decoder import drawn

ROTARY = to_yaml(drawn(15))
"""With W_DQ, both norms and rotary parts."""
PLAIN = to_yaml(drawn(0))


test_every_text_is_written = texts(
    {"plain": PLAIN, "rotary": ROTARY},
    "tutorial - --format markdown",
    "lens -",
    "steps -",
    "run - --format json",
    "why layer1.attention.head1.scores[b,a] -s -",
    "value layer1.attention.latent[b,1] -s -",
    "attribute logits[b,a] -s -",
)


@pytest.mark.parametrize("scenario", [PLAIN, ROTARY], ids=["plain", "rotary"])
def test_a_page_is_written(scenario: str, tmp_path: Path) -> None:
    printed("page", "-", "--output", str(tmp_path / "page.html"), stdin=scenario)
    assert "C_N" in (tmp_path / "page.html").read_text(encoding="utf-8") or scenario is PLAIN


def test_a_cached_turn_names_what_is_reused() -> None:
    words = ("generate", "-", "--kv-cache", "--start", "a", "--max-tokens", "2")
    found = joined(printed(*words, stdin=ROTARY))
    reused = "the latent vectors and the rotary parts of the keys of “a” are reused from earlier"
    assert reused in found
    found = joined(printed(*words, stdin=PLAIN))
    assert "the latent vectors of “a” are reused from earlier turns" in found


def test_a_cached_turn_shows_normalized_rows_in_the_norms_step() -> None:
    words = ("generate", "-", "--kv-cache", "--start", "a", "--max-tokens", "2", "--worked")
    second = printed(*words, stdin=ROTARY).partition("Turn 2")[2]
    assert re.search(r"^  C +c₁.*\n▸ ", second, re.MULTILINE)
    assert re.search(r"^  C_N +c₁.*\n  a .*\n▸ ", second, re.MULTILINE)


def test_a_cache_keeps_latent_vectors() -> None:
    """d_c + d_R numbers for each token, in place of 2 heads' d_k + d_R + d_v."""
    spec = drawn(15)
    attention = spec["layers"][0]["attention"]
    kept = sum(len(attention["latent"][name][0]) for name in ("W_DKV", "W_KR"))
    replaced = sum(
        len(head[name][0]) for head in attention["heads"] for name in ("W_K", "W_QR", "W_V")
    )
    found = json.loads(printed("shapes", "-", "--format", "json", stdin=ROTARY))["cache"]
    assert (found["per_token"], found["replaced_per_token"]) == (kept, replaced)
    text = joined(printed("shapes", "-", stdin=ROTARY))
    assert f"each token adds {kept} numbers to it." in text
    what = "latent vectors and rotary parts of the keys"
    assert f"Keys and values in place of {what} would add {replaced}." in text


def test_a_layer_without_positions_does_not_rotate_the_rotary_parts() -> None:
    spec = drawn(15)
    spec["layers"][0]["attention"]["rotary"] = "none"
    text = joined(printed("run", "-", stdin=to_yaml(spec)))
    assert "rotated by the angles" not in text and "Rotated by its position:" not in text
    assert "The rotary part of the keys is computed with W_KR. This layer has no rotary" in text
    assert wrong("tutorial", spec) == []
    caches = [
        json.loads(printed("shapes", "-", "--format", "json", stdin=stdin))["cache"]
        for stdin in (to_yaml(spec), ROTARY)
    ]
    assert caches[0] == caches[1]


@pytest.mark.parametrize("rotary", [{}, {"rotary": "none"}])
def test_scores_are_divided_by_the_root_of_the_joined_width(rotary: dict[str, str]) -> None:
    spec = {**drawn(15), "rounding": {"decimals": 2, "carry": "line"}}
    spec["layers"][0]["attention"] |= rotary
    head = spec["layers"][0]["attention"]["heads"][0]
    width = len(head["W_Q"][0]) + len(head["W_QR"][0])
    for line in (20, 80):
        text = printed("run", "-", width=line, stdin=to_yaml(spec))
        assert f"√d_k = √{width} " in text
        assert violations(text) == []


def test_only_biases_are_parts_of_their_own() -> None:
    score = ("attribute", "layer1.attention.head1.scores[b,a]", "-s", "-")
    found = joined(printed(*score, stdin=ROTARY))
    assert "The latent vector is its token's vector times W_DKV." in found
    assert "The rotary part of the query is its token's row of C_QN times W_QR¹." in found
    assert "bias is a part" not in found
    biased = drawn(15)
    head = biased["layers"][0]["attention"]["heads"][0]
    head["b_K"] = [1] * len(head["W_K"][0])
    found = joined(printed(*score, stdin=to_yaml(biased)))
    assert "The bias is a part of the key, too." in found
    assert "The bias is a part of the rotary" not in found
    assert "A component that adds nothing to it has zeros." in found
