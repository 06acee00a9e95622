"""The text of token types: their lines, what is said of them, code, and a page that is edited."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.every_part import WITH_TYPES
from tests.helpers.part_tests import joined, page_edits, programs


def test_the_lines_of_the_sums() -> None:
    """-0.5 + 1 = 0.5 of the word and the type of b; 0.5 + 0.5 = 1 with its position."""
    written = printed("run", "-", "--detail", "full", stdin=WITH_TYPES)
    text = joined(written)
    assert "T (2 × 2) = by type(W_T)" in text and "X_T (2 × 2) = X + T" in text
    assert "d₀: -0.5 + 1 = 0.500" in text and "d₀: 0.500 + 0.5 = 1.000" in text
    assert "The position vectors are added to the embeddings X_T" in text
    assert "The normalized vectors are passed on unchanged." in text
    assert violations(written) == []


@pytest.mark.parametrize(("types", "said"), [
    ("[0, 1]", "Types tell the model which tokens belong together"),
    ("[1, 1]", "All tokens have the same type, so the same vector is added to each."),
])  # fmt: skip
def test_what_types_are_for(types: str, said: str) -> None:
    text = joined(printed("run", "-", stdin=WITH_TYPES.replace("[0, 1]", types, 1)))
    assert said in text


def test_without_positions_the_order_counts_where_types_are_added() -> None:
    text = WITH_TYPES.replace("tokens: [a, b]\n", "mask: none\ntokens: [a, b, a]\n", 1)
    text = text.replace("[0.5, -0.2]]}", "[0.5, -0.2], [1, 0]]}").partition("training")[0]
    with_types = text.replace("token_types: [0, 1]", "token_types: [0, 1, 1]")
    without = text.replace("token_types: [0, 1]\ntype_embeddings: [[0.5, -1], [1, 0.25]]\n", "")
    said = "Without positions, reordering the other tokens would not change the result"
    assert said in joined(printed("run", "-", stdin=without))
    assert said not in joined(printed("run", "-", stdin=with_types))


test_the_program_computes_the_same = programs({"types": WITH_TYPES})
test_edits_of_a_page = page_edits({"types": WITH_TYPES})
