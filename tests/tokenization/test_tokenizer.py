"""Tokens are those of the tokenizers library, and the merges lead to them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import (
    AddedToken,
    Tokenizer as Theirs,
    decoders,
    normalizers,
    pre_tokenizers,
    trainers,
)
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing

from tracer.errors import TracerError
from tracer.tokenization.alphabets import Alphabet, ByteLetters, Characters
from tracer.tokenization.bpe import Merging, merged, ranks
from tracer.tokenization.library import Library
from tracer.tokenization.tokenization import Tokenization
from tracer.tokenization.tokenizer import Tokenizer

CORPUS = ["the cat sat on the mat, the other cat ate 1234 naïve mice", "don't sit; it's hot, né?"]
SPECIAL = ["<|begin|>", "<|end|>"]


def merges_of(library: Theirs) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(library.to_str())["model"]["merges"]]


def ours(
    library: Theirs, merges: Any, alphabet: Alphabet, *, whole_first: bool = False
) -> Tokenizer:
    vocabulary = library.get_vocab(with_added_tokens=False)
    served = Library(library)
    merging = Merging(ranks(merges), alphabet, vocabulary if whole_first else ())
    return Tokenizer(served, vocabulary, served.added(), merging, alphabet)


def of_bytes() -> tuple[Theirs, Tokenizer]:
    """As GPT-2's, with 60 merges that this corpus teaches."""
    library = Theirs(BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + 62, initial_alphabet=alphabet, special_tokens=SPECIAL, show_progress=False
    )
    library.train_from_iterator(CORPUS, trainer)
    return library, ours(library, merges_of(library), ByteLetters())


def of_characters() -> tuple[Theirs, Tokenizer]:
    """As Llama 2's: spaces as ▁, one before the text, and bytes for what is not known."""
    learned = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("a", "t"), ("▁", "▁")]
    symbols = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁theacs"]
    vocabulary = {symbol: id for id, symbol in enumerate([*symbols, *map("".join, learned)])}
    library = Theirs(BPE(vocabulary, learned, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    library.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    library.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return library, ours(library, learned, Characters(library.get_vocab()))


def of_one_space() -> tuple[Theirs, Tokenizer]:
    """As Llama's now: only the beginning of the whole text has a space before it."""
    library, _ = of_characters()
    library.normalizer = None
    # One step alone may stand in a sequence, as in Mistral's file that transformers 5 writes.
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="first", split=False)]
    )
    library.add_special_tokens(SPECIAL)
    return library, ours(library, merges_of(library), Characters(library.get_vocab()))


def of_added() -> tuple[Theirs, Tokenizer]:
    """Tokens that take the spaces beside them, stand as a word, or are sought when normalized."""
    library, _ = of_bytes()
    library.normalizer = normalizers.NFC()
    library.add_special_tokens([AddedToken("<left>", lstrip=True), AddedToken("<r>", rstrip=True)])
    library.add_tokens([AddedToken("cat", single_word=True, normalized=False)])
    library.add_tokens([AddedToken("né", normalized=True), AddedToken("hé", normalized=False)])
    return library, ours(library, merges_of(library), ByteLetters())


OF_BYTES, OF_CHARACTERS, OF_ONE_SPACE = of_bytes(), of_characters(), of_one_space()
OF_ADDED = of_added()
PARTS = st.sampled_from([*SPECIAL, "the", " cat", "  ", "\n", "it's", "12", "é", "日", "😀", "\0"])
TEXTS = st.lists(PARTS | st.text(max_size=5), max_size=8).map("".join)


def holds_together(tokenization: Tokenization) -> None:
    """Each piece goes from its symbols by its merges to its tokens, and their bytes are its own."""
    for piece in tokenization.pieces:
        symbols = list(piece.symbols)
        for done, merge in enumerate(piece.merges, 1):
            at = next(
                at
                for at in range(len(symbols))
                if symbols[at : at + 2] == [merge.left, merge.right]
            )
            symbols[at : at + 2] = [merge.joined]
            assert tuple(symbols) == merged(piece.symbols, piece.merges[:done])
        assert symbols == [token.symbol for token in piece.tokens]
        assert piece.content == b"".join(token.content for token in piece.tokens)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_tokens_of_bytes_are_the_librarys(text: str) -> None:
    library, tokenizer = OF_BYTES
    tokenization = tokenizer.encode(text)
    assert list(tokenization.ids) == library.encode(text).ids
    assert "".join(piece.text for piece in tokenization.pieces) == text
    assert tokenizer.decode(tokenization.ids) == text
    holds_together(tokenization)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_tokens_of_characters_are_the_librarys(text: str) -> None:
    library, tokenizer = OF_CHARACTERS
    tokenization = tokenizer.encode(text)
    assert list(tokenization.ids) == library.encode(text).ids
    spaced = f" {text}" if text else ""
    assert tokenizer.decode(tokenization.ids) == spaced.replace("▁", " ")
    holds_together(tokenization)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_only_the_beginning_of_a_text_may_have_a_space_before_it(text: str) -> None:
    library, tokenizer = OF_ONE_SPACE
    assert list(tokenizer.encode(text).ids) == library.encode(text).ids


ADDED = st.sampled_from(["<left>", "<r>", "cat", "cats", "ne\u0301", "he\u0301", "hé", "\n", " "])


@settings(max_examples=100, deadline=None)
@given(st.lists(PARTS | ADDED, max_size=8).map("".join))
def test_tokens_that_are_matched_in_other_ways_are_the_librarys(text: str) -> None:
    library, tokenizer = OF_ADDED
    assert list(tokenizer.encode(text).ids) == library.encode(text).ids


def test_a_piece_has_the_spaces_that_its_token_takes() -> None:
    pieces = OF_ADDED[1].encode("a  <left> the <r>  cat, ne\u0301").pieces
    whole = [(piece.text, piece.tokens[0].symbol) for piece in pieces if not piece.merges]
    assert whole[:2] == [("a", "a"), ("  <left>", "<left>")]
    assert [*whole[3:5], whole[-1]] == [("<r>  ", "<r>"), ("cat", "cat"), ("né", "né")]


def test_a_piece_is_told_with_what_it_went_through() -> None:
    [the] = OF_CHARACTERS[1].encode("the").pieces
    assert the.text == " the"
    assert the.symbols == ("▁", "t", "h", "e")
    merged = [(merge.left, merge.right, merge.rank) for merge in the.merges]
    assert merged == [("▁", "t", 1), ("h", "e", 2), ("▁t", "he", 3)]
    [token] = the.tokens
    assert (token.symbol, token.content, token.text) == ("▁the", b" the", " the")


def test_bytes_that_are_no_character_are_shown_as_bytes() -> None:
    [piece] = OF_BYTES[1].encode("日").pieces
    assert [token.text for token in piece.tokens] == ["\\xe6", "\\x97", "\\xa5"]
    assert piece.text == "日"


def test_tokens_that_are_known_as_a_whole_are_not_split() -> None:
    pieces = OF_BYTES[1].encode("a<|end|>").pieces
    assert [(piece.text, piece.symbols) for piece in pieces] == [
        ("a", ("a",)),
        ("<|end|>", ("<|end|>",)),
    ]


def test_of_two_such_tokens_that_begin_alike_a_text_holds_the_longer() -> None:
    library, _ = of_bytes()
    library.add_special_tokens(["<|end|><|end|>"])
    text = "<|end|><|end|><|end|>"
    pieces = ours(library, merges_of(library), ByteLetters()).encode(text).pieces
    assert [piece.text for piece in pieces] == ["<|end|><|end|>", "<|end|>"]


def test_what_a_model_wants_around_a_text_stands_for_none_of_it() -> None:
    library, _ = of_bytes()
    begin, end = ((name, library.token_to_id(name)) for name in SPECIAL)
    library.post_processor = TemplateProcessing(
        ["<|begin|>", "$A", "<|end|>"], special_tokens=[begin, end]
    )
    tokenization = ours(library, merges_of(library), ByteLetters()).encode("<|end|>a")
    assert list(tokenization.ids) == library.encode("<|end|>a").ids
    shown = [(piece.text, piece.tokens[0].text) for piece in tokenization.pieces]
    assert shown == [("", "<|begin|>"), ("<|end|>", "<|end|>"), ("a", "a"), ("", "<|end|>")]


def test_a_piece_in_the_vocabulary_may_need_no_merges() -> None:
    symbols = ["a", "b", "c", "ab", "abc"]
    vocabulary = {symbol: id for id, symbol in enumerate(symbols)}
    library = Theirs(BPE(vocabulary, [("a", "b")], ignore_merges=True))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = ours(library, [("a", "b")], ByteLetters(), whole_first=True)
    [piece] = tokenizer.encode("abc").pieces
    assert (piece.symbols, piece.merges, piece.tokens[0].id) == (("abc",), (), 4)
    [piece] = tokenizer.encode("abca").pieces
    assert [token.symbol for token in piece.tokens] == ["ab", "c", "a"]


def test_what_cannot_be_tokenized_is_told() -> None:
    library = Theirs(BPE({"a": 0, " ": 1}, []))
    tokenizer = ours(library, [], ByteLetters())
    with pytest.raises(TracerError, match="'b' is not in the vocabulary"):
        tokenizer.encode("ab")
    library = Theirs(BPE({"a": 0, "c": 1, "ac": 2}, [("a", "c")]))
    assert library.encode("abc").ids == [2]  # what it has no symbol for is left out
    with pytest.raises(TracerError, match="'b' is not in the vocabulary"):
        ours(library, [("a", "c")], Alphabet()).encode("abc")
    with pytest.raises(TracerError, match="is not UTF-8"):
        tokenizer.encode("a\ud800")
    for number in (2, -1, 2**40):
        with pytest.raises(TracerError, match=f"^no token has the id {number}$"):
            tokenizer.token(number)
    with pytest.raises(TracerError, match="a method that is not supported"):
        ours(of_bytes()[0], [], ByteLetters()).encode("the")  # without its merges
