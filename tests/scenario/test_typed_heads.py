"""Typed queries, keys and values: what fits, and what cannot be beside them."""

from __future__ import annotations

import pytest

from tests.helpers.command import run
from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.writer import written

TYPED = """\
tokens: [a, b]
encoder: {tokens: [x, y], vectors: [[1], [2]]}
layers:
  - attention:
      heads:
        - {Q: [[1, 0], [0, 1]], K: [[1, 2], [3, 4]], V: [[1], [2]]}
    cross_attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}
vocabulary: [a, b]
unembedding: {W_U: [[1, 2]]}
"""
HEADS = "\n      heads:\n        - {Q:"
LATER = "    cross_attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}\n"
END = "unembedding: {W_U: [[1, 2]]}\n"
GIVEN = "needs embeddings, and the queries, keys and values are typed"
HEAD = "layer1.attention.head1"


def problems(*changes: tuple[str, str]) -> list[str]:
    text = TYPED
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    with pytest.raises(TracerError) as caught:
        parse(text, "f.yaml")
    return [f"{problem.address}: {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("Q: [[1, 0], [0, 1]]", "Q: [[1, 0]]"), f"{HEAD}.Q: 1 row, expected 2 (one per token)"),
        (
            ("K: [[1, 2], [3, 4]]", "K: [[1], [3]]"),
            f"{HEAD}.K: 1 column, expected 2 (as many as Q has)",
        ),
        (
            ("V: [[1], [2]]", "V: [[1]]"),
            f"{HEAD}.V: 1 row, expected 2 "
            "(one per token; cross_attention has one per token of the encoder)",
        ),
        (
            (HEADS, f"\n      W_O: {{random: {{}}}}{HEADS}"),
            "layer1.attention.W_O: how many columns? expected {random: {columns: 4}}",
        ),
        ((", V: [[1], [2]]", ""), f"{HEAD}.V: missing, expected V: [[1, 0], …]"),
        (("{Q: [[1, 0], [0, 1]], ", "{"), f"{HEAD}.Q: missing, expected Q: [[1, 0], …]"),
        (
            ("- {Q:", "- {W_Q: [[1], [1]], Q:"),
            f"{HEAD}.W_Q: queries, keys and values of this attention are typed, expected Q, K and "
            "V",
        ),
        (("- {Q:", "- {labels: {query: [x]}, Q:"), f"{HEAD}.labels.query: 1 entry, expected 2"),
        (
            ("{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}", "{Q: [[1]], K: [[1]], V: [[1]]}"),
            "layer1.cross_attention.head1.Q: typed queries, keys and values, expected only in the "
            "decoder's first sub-layer",
        ),
        (
            ("tokens: [a, b]", "tokens: [a, b]\nembeddings: [[1], [2]]"),
            "embeddings: embeddings and typed queries, keys and values, expected only one of them",
        ),
        (
            ("  - attention:\n", "  - attention:\n      residual: true\n"),
            "layer1.attention.residual: typed queries, keys and values are computed from no "
            "vectors, expected residual: false",
        ),
        (
            ("  - attention:\n", "  - norm: {placement: pre}\n    attention:\n"),
            "layer1.norm.placement: typed queries, keys and values are computed from no vectors "
            "that a norm could normalize, expected placement: post or norm: none",
        ),
        ((END, "unembedding: tied\n"), f"unembedding: tied {GIVEN}"),
        ((END, f"{END}features: [x]\n"), f"features: {GIVEN}"),
        ((END, f"{END}token_ids: [1, 2]\n"), f"token_ids: {GIVEN}"),
        ((END, f"{END}generation: {{max_tokens: 2}}\n"), f"generation: {GIVEN}"),
        ((END, f"{END}batch: [[a, b]]\n"), f"batch: {GIVEN}"),
        ((END, f"{END}positions: {{sinusoidal: {{}}}}\n"), f"positions.sinusoidal: {GIVEN}"),
        (
            (", vectors: [[1], [2]]", ""),
            "encoder: expected vectors, or embeddings from which they are computed",
        ),
        (
            (f"attention:{HEADS}", f"cross_attention:{HEADS}"),
            "encoder: the keys and values are typed, so that nothing reads the encoder's vectors, "
            "expected only tokens",
        ),
    ],
)
def test_what_does_not_fit_is_said(change: tuple[str, str], expected: str) -> None:
    changes = [change]
    if change[1].startswith("cross_attention"):
        changes.append((LATER, ""))
    found = problems(*changes)
    assert any(each.startswith(expected) for each in found), found


def test_all_is_said_at_once() -> None:
    too_much = (END, f"{END}features: [x]\nbatch: [[a, b]]\n")
    assert len(problems(("Q: [[1, 0], [0, 1]]", "Q: [[1, 0]]"), too_much)) == 3


def test_a_pinned_query_of_a_wrong_shape() -> None:
    ran = run("run", "-", "--given", f"{HEAD}.query=[[1,2]]", stdin=TYPED)
    assert ran.exit_code == 2 and "given as 1×2 numbers, expected 2×2 numbers" in ran.stderr


def test_it_is_written_as_it_is_read() -> None:
    scenario = parse(TYPED, "f.yaml", "scenario")
    assert parse(written(scenario), "f.yaml") == scenario


def test_other_numbers_have_their_shapes() -> None:
    ran = run("run", "-", "--vary", "1", stdin=TYPED)
    assert ran.exit_code == 0 and "(variant 1)" in ran.stdout


def test_the_number_of_queries_is_fixed() -> None:
    ran = run("shapes", "-", "--length", "5", stdin=TYPED)
    assert ran.exit_code == 2 and "5, expected 2 (one for each typed query)" in ran.stderr


def test_a_text_cannot_go_on_without_embeddings() -> None:
    ran = run("generate", "-", stdin=TYPED)
    assert ran.exit_code == 2 and "another text needs the embeddings by token" in ran.stderr


def test_no_embeddings_are_scaled_without_embeddings() -> None:
    found = problems((END, f"{END}embedding_scale: sqrt\n"))
    assert found == [f"embedding_scale: {GIVEN}"]
