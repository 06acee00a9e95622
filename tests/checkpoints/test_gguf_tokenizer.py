"""A GGUF file's vocabulary, merges and way of splitting make its tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.tiny_checkpoints import gguf_llama, write_gguf
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError
from tracer.tokenization.alphabets import LETTERS
from tracer.tokenization.tokenizer import Tokenizer

MERGES = ["Ġ t", "h e", "Ġt he"]
WORDS = [*LETTERS.values(), *(merge.replace(" ", "") for merge in MERGES), "<|end|>", "Ġthem"]
END = WORDS.index("<|end|>")
VALUES: dict[str, Any] = {
    "model": "gpt2",
    "pre": "gpt-2",
    "tokens": WORDS,
    "token_type": [3 if word == "<|end|>" else 1 for word in WORDS],
    "merges": MERGES,
    "bos_token_id": END,
}


def tokenizer(folder: Path, **values: Any) -> Tokenizer:
    said = {f"tokenizer.ggml.{key}": value for key, value in (VALUES | values).items()}
    held = {key: value for key, value in said.items() if value is not None}
    return open_checkpoint(write_gguf(folder / "x.gguf", "llama", gguf_llama(), held)).tokenizer()


def test_tokens_have_the_numbers_of_the_file(tmp_path: Path) -> None:
    read = tokenizer(tmp_path)
    tokenization = read.encode("the the<|end|>")
    symbols = ["t", "he", "Ġthe", "<|end|>"]
    assert [token.symbol for token in tokenization.tokens] == symbols
    assert list(tokenization.ids) == [WORDS.index(symbol) for symbol in symbols]
    assert [piece.text for piece in tokenization.pieces] == ["the", " the", "<|end|>"]
    assert [merge.rank for merge in tokenization.pieces[1].merges] == [1, 2, 3]
    assert read.decode(tokenization.ids) == "the the<|end|>"


@pytest.mark.parametrize(("name", "text", "pieces"), [
    ("gpt-2", "It's 1234, \n\n no!", ["It", "'s", " 1234", ",", " \n\n", " no", "!"]),
    ("smollm", "It's 12 no", ["It", "'s", " ", "1", "2", " no"]),
    ("llama-bpe", "IT'S 12345,no\n\n é!", ["IT", "'S", " ", "123", "45", ",no", "\n\n", " é", "!"]),
    ("qwen2", "IT'S 12,no\n e\u0301!", ["IT", "'S", " ", "1", "2", ",no", "\n", " é", "!"]),
    ("default", "It's 12345, no", ["It", "'", "s", " ", "123", "45", ",", " no"]),
    ("starcoder", "It's 12 no", ["It", "'s", " ", "1", "2", " no"]),
    ("glm4", "IT'S 12345", ["IT", "'S", " ", "123", "45"]),
    ("deepseek-r1-qwen", "e\u0301 12", ["e", "\u0301", " ", "1", "2"]),
    ("tekken", "aB'S 12/\n", ["a", "B", "'S", " ", "1", "2", "/\n"]),
    ("gpt-4o", "aB'S 1234/\n", ["a", "B'S", " ", "123", "4", "/\n"]),
    ("bloom", "It's, 12", ["It's", ",", " 12"]),
    ("viking", "It's, 12", ["It's", ",", " ", "1", "2"]),
    ("falcon", "It`s 1234", ["It", "`", "s", " ", "123", "4"]),
    ("qwen35", "IT'S 12 e\u0302\u0302t!\n", ["IT", "'S", " ", "1", "2", " ê\u0302t", "!\n"]),
    ("seed-coder", "It's 12!\n", ["It", "'s", " ", "1", "2", "!", "\n"]),
    ("deepseek-v3", "a.b 1234日本!\n", ["a", ".b", " ", "123", "4", "日本", "!\n"]),
    ("deepseek-coder", "It's 12\n", ["It", "'", "s", " ", "1", "2", "\n"]),
])  # fmt: skip
def test_a_text_is_split_as_the_model_has_learned(
    name: str, text: str, pieces: list[str], tmp_path: Path
) -> None:
    found = tokenizer(tmp_path, pre=name, add_bos_token=False).encode(text).pieces
    assert [piece.text for piece in found] == pieces


def test_a_text_may_begin_with_a_token_of_the_model(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], bool]] = [
        ({}, False),
        ({"add_bos_token": True}, True),
        ({"pre": "llama-bpe"}, True),
        ({"pre": "llama-bpe", "add_bos_token": False}, False),
        ({"pre": "tekken"}, True),
        ({"pre": "smaug-bpe"}, False),
    ]
    for values, begins in cases:
        assert (tokenizer(tmp_path, **values).encode("he").ids[0] == END) == begins


def test_a_text_may_end_with_a_token_of_the_model(tmp_path: Path) -> None:
    read = tokenizer(tmp_path, add_eos_token=True, eos_token_id=END, add_bos_token=True)
    assert read.encode("he").ids == (END, WORDS.index("he"), END)


def test_a_file_may_name_several_ends(tmp_path: Path) -> None:
    said = {"eos_token_id": 5, "eot_token_id": 7, "eom_token_id": 5, "fim_pad_token_id": 9}
    held = {f"tokenizer.ggml.{key}": value for key, value in (VALUES | said).items()}
    read = open_checkpoint(write_gguf(tmp_path / "x.gguf", "llama", gguf_llama(), held))
    assert read.ends == (5, 7)
    assert read.tokenizer().encode("he").ids == (WORDS.index("he"),)


@pytest.mark.parametrize("model", [None, "none", "no_vocab"])
def test_without_a_tokenizer_tokens_are_numbers(model: str | None, tmp_path: Path) -> None:
    read = tokenizer(tmp_path, model=model)
    assert read.texts(2) == ["[0]", "[1]"]
    with pytest.raises(TracerError, match="which a text needs: use token_ids"):
        read.encode("a")


def test_without_types_no_token_is_matched_as_a_whole(tmp_path: Path) -> None:
    read = tokenizer(tmp_path, token_type=None).encode("<|end|>")
    assert [token.symbol for token in read.tokens] == [*"<|end|>"]


def test_llama_3_takes_what_it_has_as_a_whole(tmp_path: Path) -> None:
    of_llama = tokenizer(tmp_path, pre="llama-bpe", add_bos_token=False).encode(" them")
    assert [token.symbol for token in of_llama.tokens] == ["Ġthem"]
    merged = tokenizer(tmp_path).encode(" them")
    assert [token.symbol for token in merged.tokens] == ["Ġthe", "m"]


@pytest.mark.parametrize(("values", "told"), [
    ({"model": "t5"}, ".model: got 't5', supported are gpt2, llama"),
    ({"model": 1}, ".model: got 1, supported are gpt2, llama"),
    ({"pre": "gpt2"}, ".pre: got 'gpt2', supported are gpt-2, phi-2, jina-es,"),
    ({"add_eos_token": True}, ".eos_token_id: missing, expected a whole number from 0 to 260"),
    ({"add_sep_token": True}, ".add_sep_token: got true, supported is false"),
    ({"add_space_prefix": True}, ".add_space_prefix: got true, supported is false"),
    ({"normalizer.lowercase": True},
     ".normalizer.lowercase: got true, this key is unknown and may change the result"),
    ({"tokens": [*WORDS[:-1], "he"]}, ".tokens: 'he' occurs twice"),
    ({"token_type": [1, 1]}, f".token_type: 2 entries, expected {len(WORDS)}"),
    ({"tokens": None}, ".tokens: missing, expected a list of texts"),
    ({"merges": [1]}, ".merges: got [1], expected a list of texts"),
    ({"token_type": "x"}, ".token_type: got 'x', expected a list of whole numbers"),
    ({"add_bos_token": 1}, ".add_bos_token: got 1, expected true or false"),
    ({"add_bos_token": True, "bos_token_id": 999},
     ".bos_token_id: got 999, expected a whole number from 0 to 260"),
    ({"merges": ["x"]}, ": "),
    ({"merges": ["x日 y"]}, ": "),
])  # fmt: skip
def test_what_is_wrong_is_told(values: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(TracerError) as caught:
        tokenizer(tmp_path, **values).encode("the")
    message = str(caught.value).replace(str(tmp_path), "")
    assert message.startswith(f"/x.gguf: tokenizer.ggml{told}")
    assert "\n" not in message
