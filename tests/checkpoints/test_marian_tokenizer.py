"""Marian's tokenizers; what is damaged is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.tiny_marian import PAD, VOCABULARY, spm, write_folder
from tracer.checkpoints.marian_tokenizer import tokenizer_of
from tracer.errors import TracerError

SYMBOL_OF = {id: symbol for symbol, id in VOCABULARY.items()}


def symbols(ids: tuple[int, ...]) -> list[str]:
    return [SYMBOL_OF[id] for id in ids]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "x")


@pytest.mark.parametrize(("text", "expected"), [
    ("hello world.", ["▁hello", "▁world", ".", "</s>"]),
    ("  a   a ", ["▁a", "▁a", "</s>"]),
    ("", ["</s>"]),
    ("hell", ["▁", "he", "<unk>", "</s>"]),  # ll has a score, and no id
    ("aéa", ["▁a", "é", "a", "</s>"]),  # é has an id, and no score
    ("a££a", ["▁a", "<unk>", "a", "</s>"]),
    ("a</s>a", ["▁a", "</s>", "▁a", "</s>"]),
    (">>fra<< hello", [">>fra<<", "▁hello", "</s>"]),
    (">>xyz<<hello", ["<unk>", "▁hello", "</s>"]),
    (">>xyz<<>>fra<<", ["<unk>", "▁", "<unk>", "r", "a", "<unk>", "</s>"]),
])  # fmt: skip
def test_an_encoder_reads_tokens_and_the_end(text: str, expected: list[str], folder: Path) -> None:
    assert symbols(tokenizer_of(folder).encode(text).ids) == expected


def test_a_decoder_reads_its_start_and_tokens(folder: Path) -> None:
    tokenizer = tokenizer_of(folder, PAD)
    found = tokenizer.encode("hello a").ids
    assert symbols(found) == ["<pad>", "▁hello", "▁a"]
    assert tokenizer.decode([*found, 0]) == "<pad> hello a</s>"
    assert tokenizer.decode(found[1:]) == "hello a"


REPLACED = {"ﬁ": "fi", "\t": " ", "A": "a", "Aa": "x", "\u200b": "", "Ⅷ": "VIII", "1 2": "12"}


@pytest.mark.parametrize(("text", "expected"), [
    ("ﬁne", "▁fine"),
    (" \t a\tb ", "▁a▁b"),
    ("AaAb", "▁xab"),
    ("\u200b", ""),
    ("\u200ba", "▁a"),
    ("Ⅷ Ⅶ", "▁VIII▁Ⅶ"),
    ("1 2 1 3", "▁12▁1▁3"),
])  # fmt: skip
def test_a_text_is_normalized(text: str, expected: str, folder: Path) -> None:
    (folder / "source.spm").write_bytes(spm(replacements=REPLACED))
    [*pieces, _end] = tokenizer_of(folder).encode(text).pieces
    assert "".join(piece.text for piece in pieces) == expected.replace("▁", " ")


@pytest.mark.parametrize(("said", "message"), [
    ({"kind": 2}, "model_type: got 'BPE', supported is 'unigram'"),
    ({"others": [("a", 4)]}, "user_defined_symbols: got true, supported is false"),
    ({"others": [("<0x00>", 6)]}, "byte_fallback: got true, supported is false"),
    ({"normalizer": {5: 0}}, "escape_whitespaces: got false, supported is true"),
])  # fmt: skip
def test_other_models_are_refused(said: Mapping[str, Any], message: str, folder: Path) -> None:
    (folder / "source.spm").write_bytes(spm(**said))
    with pytest.raises(TracerError) as caught:
        tokenizer_of(folder)
    assert str(caught.value) == f"{folder / 'source.spm'}: {message}"


def test_a_damaged_file_is_refused_or_read(folder: Path) -> None:
    whole = spm(replacements=REPLACED)
    path, random = folder / "source.spm", np.random.default_rng(1)
    refused = 0
    for _ in range(40):
        content = bytearray(whole[: random.integers(1, len(whole))])
        content[random.integers(len(content))] = random.integers(256)
        path.write_bytes(content)
        try:
            tokenizer_of(folder).encode("ﬁ A 1 2 \u200b")
        except TracerError as error:
            refused += 1
            assert str(error).startswith(f"{path}: ")
    assert refused > 20


@pytest.mark.parametrize(("name", "content", "message"), [
    ("vocab.json", {"</s>": 0}, "vocab.json: <unk>: missing, expected its id"),
    ("vocab.json", {"</s>": "x", "<unk>": 1}, "vocab.json: </s>: got 'x', expected a whole"),
    ("tokenizer_config.json", {"separate_vocabs": True}, "separate_vocabs: got true"),
    ("tokenizer_config.json", {"eos_token": {"content": "<e>"}}, "supported is </s>"),
    ("tokenizer_config.json", {"sp_model_kwargs": {"alpha": 1}}, "sp_model_kwargs: got"),
])  # fmt: skip
def test_other_words_and_settings_are_refused(
    name: str, content: Any, message: str, folder: Path
) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TracerError) as caught:
        tokenizer_of(folder)
    assert message in str(caught.value)


def test_without_scores_there_are_words_and_without_words_ids(folder: Path) -> None:
    (folder / "source.spm").unlink()
    words = tokenizer_of(folder)
    assert words.texts(5) == ["</s>", "<unk>", " ", "a", "b"]
    with pytest.raises(TracerError, match=r"the folder has no source\.spm, which a text needs"):
        words.encode("a")
    (folder / "vocab.json").unlink()
    assert tokenizer_of(folder).texts(2) == ["[0]", "[1]"]
