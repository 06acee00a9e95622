"""A unigram model's tokens are those of the library, and no other split has a larger sum."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer as Theirs, decoders, pre_tokenizers, trainers
from tokenizers.models import Unigram as TheirModel

from tracer.tokenization.alphabets import Characters
from tracer.tokenization.library import Library
from tracer.tokenization.tokenizer import Tokenizer
from tracer.tokenization.unigram import Unigram

CORPUS = ["the cat sat on the mat, the other cat ate 1234 naïve mice", "don't sit; it's hot, né?"]
SCORES = {"<unk>": 0.0, "a": -3.0, "b": -3.0, "ab": -5.0, "ba": -4.5, "aa": -6.0, "bab": -7.0}


def ways(text: str) -> Iterator[list[str]]:
    """Every way to write a text with tokens."""
    if not text:
        yield []
    for end in range(1, len(text) + 1):
        if text[:end] in SCORES:
            yield from ([text[:end], *rest] for rest in ways(text[end:]))


@settings(max_examples=60, deadline=None)
@given(st.text("ab", min_size=1, max_size=9))
def test_no_other_way_has_a_larger_sum(text: str) -> None:
    found, merges = Unigram(SCORES, "<unk>", with_bytes=False).split(text)
    sums = [sum(SCORES[token] for token in way) for way in ways(text)]
    assert merges == ()
    assert "".join(found) == text
    assert sum(SCORES[token] for token in found) == pytest.approx(max(sums))


def test_unknown_characters_are_one_token_or_their_bytes() -> None:
    split = Unigram(SCORES, "<unk>", with_bytes=False).split
    assert split("日本ab日")[0] == ("<unk>", "ab", "<unk>")
    assert split("") == ((), ())
    of_bytes = {f"<0x{byte:02X}>": 0.0 for byte in range(256)}
    split = Unigram(SCORES | of_bytes, "<unk>", with_bytes=True).split
    assert split("aé")[0] == ("a", "<0xC3>", "<0xA9>")


@pytest.fixture(scope="module")
def library() -> Theirs:
    found = Theirs(TheirModel())
    found.pre_tokenizer = pre_tokenizers.Metaspace()
    found.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, special_tokens=["<unk>", "<end>"], unk_token="<unk>", show_progress=False
    )
    found.train_from_iterator(CORPUS, trainer)
    return found


@pytest.mark.parametrize("with_bytes", [False, True])
def test_tokens_are_the_librarys(library: Theirs, with_bytes: bool) -> None:
    said = json.loads(library.to_str())
    if with_bytes:
        said["model"] |= {"byte_fallback": True}
        said["model"]["vocab"] += [[f"<0x{byte:02X}>", -99.0] for byte in range(256)]
    theirs = Theirs.from_str(json.dumps(said))
    vocabulary = [(word, float(score)) for word, score in said["model"]["vocab"]]
    ids = {word: id for id, (word, _) in enumerate(vocabulary)}
    model = Unigram(dict(vocabulary), "<unk>", with_bytes=with_bytes)
    served = Library(theirs)
    ours = Tokenizer(served, ids, served.added(), model, Characters(ids))
    parts = st.sampled_from(["<end>", "the", " cat", "  ", "\n", "it's", "12", "é", "日本", "😀"])

    @settings(max_examples=100, deadline=None)
    @given(st.lists(parts | st.text(max_size=5), max_size=8).map("".join))
    def check(text: str) -> None:
        assert list(ours.encode(text).ids) == theirs.encode(text).ids

    check()
