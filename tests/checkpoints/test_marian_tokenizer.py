"""Marian's tokenizers, against all ways to split a text; what is damaged is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.helpers.tiny_marian import PAD, PIECES, VOCABULARY, charsmap, spm, write_folder
from tracer.checkpoints.marian_tokenizer import tokenizer_of
from tracer.checkpoints.spm_file import read_spm
from tracer.errors import TracerError
from tracer.tokenization.marian import MarianUnigram
from tracer.tokenization.normalization import TextNormalization

LOWEST = min(PIECES.values()) - 10
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
])  # fmt: skip
def test_an_encoder_reads_tokens_and_the_end(text: str, expected: list[str], folder: Path) -> None:
    assert symbols(tokenizer_of(folder).encode(text).ids) == expected


def test_a_decoder_reads_its_start_and_tokens(folder: Path) -> None:
    tokenizer = tokenizer_of(folder, PAD)
    found = tokenizer.encode("hello a").ids
    assert symbols(found) == ["<pad>", "▁hello", "▁a"]
    assert tokenizer.decode([*found, 0]) == "<pad> hello a</s>"
    assert tokenizer.decode(found[1:]) == "hello a"


def ways(text: str) -> Iterator[tuple[float, list[str]]]:
    """Every way to split a text, with its sum of scores."""
    if not text:
        yield 0.0, []
    for end in range(1, len(text) + 1):
        score = PIECES.get(text[:end], LOWEST if end == 1 else None)
        if score is not None:
            for others, rest in ways(text[end:]):
                yield score + others, [text[:end], *rest]


@given(st.text("▁ahelorwd£", max_size=9))
def test_the_tokens_have_the_largest_sum_of_scores(text: str) -> None:
    scores = {text: np.float32(score) for text, score in PIECES.items()}
    parts = {text[i:j] for i in range(len(text)) for j in range(i, len(text) + 1)}
    found = MarianUnigram(scores, parts).split(text)[0]
    total = sum(PIECES.get(token, LOWEST * len(token)) for token in found)
    assert "".join(found) == text
    assert total == max(each for each, _ in ways(text))


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
def test_a_text_is_normalized(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "x.spm").write_bytes(spm(replacements=REPLACED))
    assert read_spm(tmp_path / "x.spm").normalization(text) == expected


RULES = {"ﬁ": "fi", "A": "a", "\t": " "}


@given(st.text("ﬁA \ta1é▁", max_size=8), st.booleans(), st.booleans())
def test_normalizing_is_replacing_and_joining(text: str, adds: bool, removes: bool) -> None:
    expected = text
    for old, new in RULES.items():
        expected = expected.replace(old, new)
    if removes:
        expected = " ".join(filter(None, expected.split(" ")))
    expected = ("▁" if text and adds else "") + expected.replace(" ", "▁")
    expected = expected.rstrip("▁") if removes else expected
    assert TextNormalization(charsmap(RULES), adds, removes)(text) == expected


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


def test_a_damaged_file_is_refused_or_read(tmp_path: Path) -> None:
    whole = spm(replacements=REPLACED)
    path, random = tmp_path / "x.spm", np.random.default_rng(1)
    refused = 0
    for _ in range(200):
        content = bytearray(whole[: random.integers(1, len(whole))])
        content[random.integers(len(content))] = random.integers(256)
        path.write_bytes(content)
        try:
            read_spm(path).normalization("ﬁ A 1 2 \u200b")
        except TracerError as error:
            refused += 1
            assert str(error).startswith(f"{path}: ")
    assert refused > 100


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
    with pytest.raises(TracerError, match="the model has no tokenizer"):
        words.encode("a")
    (folder / "vocab.json").unlink()
    assert tokenizer_of(folder).texts(2) == ["[0]", "[1]"]
