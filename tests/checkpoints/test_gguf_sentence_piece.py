"""SentencePiece's tokens in a GGUF file: Llama 2's, TinyLlama's and Mistral 7B's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ten_scripts
from tests.helpers.sentence_piece_models import mixed_texts, trained
from tests.helpers.tiny_checkpoints import gguf_llama, write_gguf
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError
from tracer.tokenization.tokenizer import Tokenizer

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
SCORES = {
    **{"▁": -9.0, "t": -9.0, "h": -9.0, "e": -9.0, "a": -9.0},
    **{"he": -1.0, "▁t": -2.0, "▁the": -3.0, "aa": -4.0, "aaa": -5.0, "▁▁": -6.0},
}
WORDS = {
    "<unk>": (UNKNOWN, 0.0),
    "<s>": (CONTROL, 0.0),
    "</s>": (CONTROL, 0.0),
    **{f"<0x{byte:02X}>": (BYTE, 0.0) for byte in range(256)},
    **{word: (NORMAL, score) for word, score in SCORES.items()},
    "<tool>": (USER_DEFINED, 0.0),
}
VALUES: dict[str, Any] = {
    "model": "llama",
    "pre": "default",
    "tokens": [*WORDS],
    "scores": [score for _, score in WORDS.values()],
    "token_type": [kind for kind, _ in WORDS.values()],
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def tokenizer(folder: Path, **values: Any) -> Tokenizer:
    held = {f"tokenizer.ggml.{key}": v for key, v in (VALUES | values).items() if v is not None}
    return open_checkpoint(write_gguf(folder / "x.gguf", "llama", gguf_llama(), held)).tokenizer()


def symbols(read: Tokenizer, text: str) -> list[str]:
    return [token.symbol for token in read.encode(text).tokens]


@pytest.mark.parametrize(("text", "expected"), [
    ("the", ["▁the"]),
    (" the", ["▁", "▁the"]),
    ("aaa", ["▁", "aaa"]),
    ("aaaaa", ["▁", "aa", "aaa"]),
    ("té\n", ["▁t", "<0xC3>", "<0xA9>", "<0x0A>"]),
    ("a</s>", ["▁", "a", "</s>"]),
    ("", []),
])  # fmt: skip
def test_the_token_with_the_highest_score_is_merged_first(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    read = tokenizer(tmp_path)
    assert symbols(read, text) == ["<s>", *expected]
    assert read.decode(read.encode(text).ids[1:]) == text


def test_a_space_is_added_after_a_token_that_is_matched_as_a_whole(tmp_path: Path) -> None:
    assert symbols(tokenizer(tmp_path), "the<tool>the")[1:] == ["▁the", "<tool>", "▁the"]


def test_a_merge_has_the_rank_of_its_token(tmp_path: Path) -> None:
    [_, piece] = tokenizer(tmp_path).encode("the").pieces
    merges = [(merge.left, merge.right, merge.rank) for merge in piece.merges]
    assert merges == [("h", "e", 1), ("▁", "t", 2), ("▁t", "he", 3)]
    assert piece.text == " the"


def test_a_file_says_what_is_added_to_a_text(tmp_path: Path) -> None:
    assert symbols(tokenizer(tmp_path, add_bos_token=False), "a") == ["▁", "a"]
    assert symbols(tokenizer(tmp_path, add_eos_token=True), "a")[-1] == "</s>"
    unsaid = tokenizer(tmp_path, bos_token_id=None, eos_token_id=None, add_eos_token=True)
    assert symbols(unsaid, "a") == ["<s>", "▁", "a", "</s>"]
    read = tokenizer(tmp_path, add_space_prefix=False)
    assert symbols(read, "the") == ["<s>", "t", "he"]
    assert read.decode(read.encode(" the").ids[1:]) == " the"


@pytest.mark.parametrize(("values", "told"), [
    ({"scores": None}, "scores: missing, expected a list of numbers"),
    ({"scores": [0.0]}, f"scores: 1 entry, expected {len(WORDS)}"),
    ({"tokens": [*[*WORDS][:-1], "aa"]}, "tokens: 'aa' occurs twice"),
    ({"token_type": [1]}, f"token_type: 1 entry, expected {len(WORDS)}"),
    ({"remove_extra_whitespaces": True}, "remove_extra_whitespaces: got true, supported is false"),
    ({"precompiled_charsmap": [1]},
     "precompiled_charsmap: got [1], this key is unknown and may change the result"),
])  # fmt: skip
def test_what_is_wrong_is_told(values: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(TracerError) as caught:
        tokenizer(tmp_path, **values)
    assert str(caught.value) == f"{tmp_path / 'x.gguf'}: tokenizer.ggml.{told}"


def test_a_character_without_a_token_is_told(tmp_path: Path) -> None:
    """No bytes stand for é if some token has it: the file lacks its single character."""
    words = [*WORDS, "aé"]
    values = {"tokens": words, "scores": [*VALUES["scores"], -7.0]}
    read = tokenizer(tmp_path, **values, token_type=[*VALUES["token_type"], NORMAL])
    assert symbols(read, "aé") == ["<s>", "▁", "aé"]
    with pytest.raises(TracerError, match="'é' is not in the vocabulary"):
        read.encode("té")


def test_ids_are_those_of_sentencepiece(tmp_path: Path) -> None:
    library = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    theirs = library.SentencePieceProcessor(model_proto=trained())
    ids = range(theirs.vocab_size())
    kinds = [
        UNKNOWN if theirs.is_unknown(id)
        else CONTROL if theirs.is_control(id)
        else BYTE if theirs.is_byte(id)
        else NORMAL
        for id in ids
    ]  # fmt: skip
    read = tokenizer(
        tmp_path,
        tokens=[theirs.id_to_piece(id) for id in ids],
        scores=[theirs.get_score(id) for id in ids],
        token_type=kinds,
        add_bos_token=False,
    )
    texts = ten_scripts.texts() + mixed_texts()
    for text in texts:
        found = read.encode(text)
        assert list(found.ids) == theirs.encode(text), text
        assert read.decode(found.ids) == text
