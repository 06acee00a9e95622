"""Symbols stand for the bytes that the library takes them for."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st
from tokenizers.pre_tokenizers import ByteLevel

from tracer.tokenization.alphabets import LETTERS, ByteLetters, Characters


def test_each_byte_has_its_letter() -> None:
    assert sorted(LETTERS) == [*range(256)]
    assert {*LETTERS.values()} == {*ByteLevel.alphabet()}
    assert (LETTERS[ord("a")], LETTERS[ord(" ")], LETTERS[ord("\n")]) == ("a", "Ġ", "Ċ")


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_letters_are_those_of_the_library(text: str) -> None:
    pieces = ByteLevel(False, use_regex=False).pre_tokenize_str(text)
    piece = "".join(piece for piece, _ in pieces)
    assert ByteLetters().content(piece) == text.encode()
    assert "".join(ByteLetters().symbols(piece)) == piece


def test_what_is_not_written_in_letters_stands_for_itself() -> None:
    assert ByteLetters().content("<|日 |>") == "<|日 |>".encode()


def test_characters_stand_for_themselves_or_their_bytes() -> None:
    alphabet = Characters({"▁", "a", "é"})
    assert alphabet.symbols("▁aéĉ") == ["▁", "a", "é", "<0xC4>", "<0x89>"]
    assert alphabet.content("▁aé") == " aé".encode()
    assert alphabet.content("<0xC4>") == b"\xc4"
    assert alphabet.content("<0xXY>") == b"<0xXY>"
