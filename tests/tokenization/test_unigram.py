"""A unigram model's tokens are those of the library."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer as Theirs, decoders, pre_tokenizers, trainers
from tokenizers.models import Unigram as TheirModel

from tracer.tokenization.alphabets import Characters
from tracer.tokenization.library import Library
from tracer.tokenization.tokenizer import Tokenizer

CORPUS = ["the cat sat on the mat, the other cat ate 1234 naïve mice", "don't sit; it's hot, né?"]


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
    served = Library(theirs)
    ours = Tokenizer(served, ids, served.added(), dict(vocabulary), Characters(ids), "<unk>")
    parts = st.sampled_from(["<end>", "the", " cat", "  ", "\n", "it's", "12", "é", "日本", "😀"])

    @settings(max_examples=100, deadline=None)
    @given(st.lists(parts | st.text(max_size=5), max_size=8).map("".join))
    def check(text: str) -> None:
        assert list(ours.encode(text).ids) == theirs.encode(text).ids

    check()
