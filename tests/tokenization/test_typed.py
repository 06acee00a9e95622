"""A typed text becomes the tokens that the library makes of it with the same merges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokenizers.models import BPE

from tests.tokenization.test_bpe import learned
from tracer.tokenization.typed import encode

LETTERS = " abc"
GPT2_PIECES = r" ?[^ ]+|\s+(?!\S)|\s+"
"""GPT-2's way with spaces: all but the last of them are by themselves."""


def library(merges: list[tuple[str, str]]) -> Tokenizer:
    symbols = dict.fromkeys([*LETTERS, *("".join(pair) for pair in merges)])
    found = Tokenizer(BPE({symbol: id for id, symbol in enumerate(symbols)}, merges))
    found.pre_tokenizer = pre_tokenizers.Split(Regex(GPT2_PIECES), "isolated")
    return found


@settings(max_examples=100, deadline=None)
@given(learned(LETTERS), st.text(LETTERS, max_size=20))
def test_the_library_finds_the_same(merges: list[tuple[str, str]], text: str) -> None:
    theirs = library(merges).encode(text)
    ours = encode(text, merges)
    assert [token.text for token in ours.tokens] == theirs.tokens
    assert "".join(piece.text for piece in ours.pieces) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("low lower", ["low", " lower"]),
        (" low", [" low"]),
        ("a   b", ["a", "  ", " b"]),
        ("a  ", ["a", "  "]),
        ("a\nb\tc", ["a\nb\tc"]),
        ("", []),
    ],
)
def test_a_word_keeps_the_space_before_it(text: str, pieces: list[str]) -> None:
    assert [piece.text for piece in encode(text, []).pieces] == pieces


def test_characters_that_no_merge_joins_are_tokens() -> None:
    [piece] = encode("né👩\u200d👧", [("n", "é")]).pieces
    assert [token.text for token in piece.tokens] == ["né", "👩", "\u200d", "👧"]
    assert piece.content == "né👩\u200d👧".encode()
    assert {token.id for token in piece.tokens} == {None}
