"""Folders without tokenizer.json: vocab.json with merges.txt, or tokenizer.model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.sentence_piece_models import mixed_texts, trained
from tests.helpers.ten_scripts import texts
from tracer.checkpoints.hugging_face_tokenizer import tokenizer_of
from tracer.errors import TracerError
from tracer.tokenization.alphabets import LETTERS
from tracer.tokenization.tokenizer import Tokenizer

MERGES = ["Ġ t", "h e", "Ġt he"]
WORDS = [*LETTERS.values(), *(merge.replace(" ", "") for merge in MERGES), "</s>", "<pad>"]
VOCABULARY = {word: id for id, word in enumerate(WORDS)}
FILES: dict[str, Any] = {
    "vocab.json": VOCABULARY,
    "merges.txt": "\n".join(["#version: 0.2", *MERGES, ""]),
}
OF_OPT = {
    "tokenizer_class": "GPT2Tokenizer",
    **{"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"},
    "add_bos_token": True,
}
OF_LLAMA = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}
FLAGS = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def write(folder: Path, family: str, files: Mapping[str, Any], **beside: Any) -> Path:
    """Write the files of a tokenizer; `beside`: the values of tokenizer_config.json.

    A tokenizer.model is given by the options with which it is learned.
    """
    every = {"config.json": {"model_type": family}, **files}
    for name, content in (every | ({"tokenizer_config.json": beside} if beside else {})).items():
        if name == "tokenizer.model":
            (folder / name).write_bytes(trained(**content))
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def symbols(read: Tokenizer, text: str) -> list[str]:
    return [token.symbol for token in read.encode(text).tokens]


def test_merges_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    read = tokenizer_of(write(tmp_path, "gpt2", FILES))
    tokenization = read.encode("the the<|endoftext|>")
    assert [token.symbol for token in tokenization.tokens] == ["t", "he", "Ġthe", "<|endoftext|>"]
    assert tokenization.ids[-1] == len(WORDS)  # a token that the vocabulary lacks gets the next id
    assert [merge.rank for merge in tokenization.pieces[1].merges] == [1, 2, 3]
    assert read.decode(tokenization.ids) == "the the<|endoftext|>"


def test_opt_begins_a_text_with_a_token(tmp_path: Path) -> None:
    read = tokenizer_of(write(tmp_path, "opt", FILES, **OF_OPT))
    assert symbols(read, "the<pad> the</s>") == ["</s>", "t", "he", "<pad>", "Ġthe", "</s>"]


def test_a_space_may_be_put_before_a_text(tmp_path: Path) -> None:
    read = tokenizer_of(write(tmp_path, "gpt2", FILES, add_prefix_space=True))
    assert symbols(read, "the") == ["Ġthe"]


def test_qwen_2_composes_characters_and_splits_digits(tmp_path: Path) -> None:
    read = tokenizer_of(write(tmp_path, "qwen2", FILES))
    assert [piece.text for piece in read.encode("e\u0301 12").pieces] == ["é", " ", "1", "2"]


def test_older_files_name_added_tokens(tmp_path: Path) -> None:
    first, second = len(WORDS), len(WORDS) + 1
    files = {
        "added_tokens.json": {"<b>": second, "<a>": first},
        "special_tokens_map.json": {"sep_token": {"content": "<left>", **FLAGS, "lstrip": True}},
    }
    read = tokenizer_of(write(tmp_path, "gpt2", FILES | files))
    tokenization = read.encode("<b><a>t  <left>t")
    assert tokenization.ids == (second, first, VOCABULARY["t"], second + 2, VOCABULARY["t"])
    assert tokenization.pieces[3].text == "  <left>"


def test_the_newer_file_replaces_the_older_ones(tmp_path: Path) -> None:
    older = {"special_tokens_map.json": {"bos_token": "<old>"}, "added_tokens.json": {"<x>": 1}}
    added = {str(len(WORDS)): {"content": "<a>", **FLAGS}}
    beside = {"added_tokens_decoder": added, "bos_token": "<a>", "add_bos_token": True}
    read = tokenizer_of(write(tmp_path, "gpt2", FILES | older, **beside))
    assert read.encode("t").ids == (len(WORDS), VOCABULARY["t"])
    assert "<old>" not in symbols(read, "<old>")


@pytest.mark.parametrize(("family", "files", "beside", "told"), [
    ("gpt2", [], {}, "no tokenizer.json, nor vocab.json and merges.txt"),
    ("gpt2", ["vocab.json"], {}, "no tokenizer.json, nor merges.txt"),
    ("llama", ["vocab.json", "merges.txt"], OF_LLAMA, "no tokenizer.json, nor tokenizer.model"),
    ("gpt2", ["vocab.json"], {"tokenizer_class": "RobertaTokenizer"},
     "no tokenizer.json (without it, RobertaTokenizer is not supported)"),
])  # fmt: skip
def test_what_is_missing_is_told(
    family: str, files: list[str], beside: dict[str, Any], told: str, tmp_path: Path
) -> None:
    read = tokenizer_of(write(tmp_path, family, {name: FILES[name] for name in files}, **beside))
    assert read.texts(2) == ["[0]", "[1]"]
    with pytest.raises(TracerError) as caught:
        read.encode("the")
    assert str(caught.value) == f"the folder has {told}, which a text needs: use token_ids instead"


@pytest.mark.parametrize(("name", "content", "told"), [
    ("vocab.json", "[]", "vocab.json:1:1: expected a mapping"),
    ("vocab.json", {"a": "b"}, "vocab.json: the tokenizers library cannot use it:"),
    ("merges.txt", "a", "vocab.json: the tokenizers library cannot use it:"),
    ("tokenizer_config.json", {"eos_token": 1}, "eos_token: got 1, expected a token"),
    ("tokenizer_config.json", {"added_tokens_decoder": {"x": "a"}},
     "added_tokens_decoder: got {'x': 'a'}, expected tokens by their ids"),
    ("tokenizer_config.json", {"extra_special_tokens": 1},
     "extra_special_tokens: got 1, expected a list of tokens"),
    ("tokenizer_config.json", {"add_bos_token": 1}, "add_bos_token: got 1, expected true or false"),
    ("tokenizer_config.json", {"split_special_tokens": True},
     "split_special_tokens: got true, supported is false"),
    ("added_tokens.json", {"a": "b"}, "a: got 'b', expected a whole number"),
])  # fmt: skip
def test_what_is_wrong_is_told(name: str, content: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(TracerError) as caught:
        tokenizer_of(write(tmp_path, "gpt2", FILES | {name: content}))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


MODELS: dict[str, dict[str, Any]] = {
    "as Llama's": {},
    "with rules for characters": {"normalization_rule_name": "nmt_nfkc"},
    "without spaces at the ends": {"remove_extra_whitespaces": True},
    "without a space before a text": {"add_dummy_prefix": False},
    "without bytes": {"byte_fallback": False},
    "with pieces that are never merged": {"user_defined_symbols": "<tool>,ab"},
    "unigram": {"model_type": "unigram", "vocab_size": 500},
    "unigram without bytes": {"model_type": "unigram", "byte_fallback": False},
}


@pytest.mark.parametrize("name", MODELS)
def test_ids_are_those_of_sentencepiece(name: str, tmp_path: Path) -> None:
    library = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    theirs = library.SentencePieceProcessor(model_proto=trained(**MODELS[name]))
    read = tokenizer_of(write(tmp_path, "mistral", {"tokenizer.model": MODELS[name]}))
    for text in texts() + mixed_texts():
        assert list(read.encode(text).ids) == theirs.encode(text), text


def test_llama_has_its_own_way_with_spaces(tmp_path: Path) -> None:
    files: dict[str, Any] = {"tokenizer.model": {}}
    read = tokenizer_of(write(tmp_path, "llama", files, **OF_LLAMA))
    assert symbols(read, "a</s>a") == ["<s>", "▁a", "</s>", "a"]
    assert read.decode(read.encode("a b").ids[1:]) == "a b"
    (older := tmp_path / "older").mkdir()
    read = tokenizer_of(write(older, "llama", files, **OF_LLAMA, legacy=True))
    assert symbols(read, "a</s>a") == ["<s>", "▁a", "</s>", "▁a"]


def test_gemma_adds_no_space(tmp_path: Path) -> None:
    files: dict[str, Any] = {"tokenizer.model": {"user_defined_symbols": "<b>"}}
    read = tokenizer_of(write(tmp_path, "gemma", files, add_bos_token=True))
    assert symbols(read, "a a<b>a") == ["<bos>", "a", "▁a", "<b>", "a"]


def test_another_name_of_a_piece_is_refused(tmp_path: Path) -> None:
    added = {"0": {"content": "<none>", **FLAGS}}
    files: dict[str, Any] = {"tokenizer.model": {}}
    with pytest.raises(TracerError, match="got '<none>', supported is '<unk>'"):
        tokenizer_of(write(tmp_path, "mistral", files, added_tokens_decoder=added))


def older(**beside: Any) -> dict[str, Any]:
    return FILES | {"tokenizer_config.json": beside}


def of_pieces(options: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"tokenizer.model": options, "tokenizer_config.json": beside}


OF_BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "é", "e", "!", "ca"]
LETTERS_OF_BERT = [f"{prefix}{letter}" for letter in "abcdefghijklmn" for prefix in ("", "##")]


def of_words(**beside: Any) -> dict[str, Any]:
    words = [*OF_BERT, *LETTERS_OF_BERT, "中", "文", "##文"]
    return {
        "vocab.txt": "\n".join([*words, ""]),
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", **beside},
    }


OF_GEMMA = {
    **{f"{name}_id": id for id, name in enumerate(("pad", "eos", "bos", "unk"))},
    **{f"{name}_piece": f"<{name}>" for name in ("pad", "eos", "bos")},
    "user_defined_symbols": "<mask>,<turn>,▁▁,<b>",
    "add_dummy_prefix": False,
}
AS_OLDER_OBJECT = {"__type": "AddedToken", "content": "</s>", **FLAGS, "normalized": True}
FOLDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("gpt2", FILES),
    "opt": ("opt", older(**OF_OPT)),
    "opt with objects": ("opt", older(**OF_OPT, sep_token=AS_OLDER_OBJECT)),
    "a space before a text": ("gpt2", older(add_prefix_space=True)),
    "older files": (
        "gpt2",
        {
            **FILES,
            "added_tokens.json": {"<turn>": len(WORDS) + 1, "<b>": len(WORDS)},
            "special_tokens_map.json": {"pad_token": "<p>", "additional_special_tokens": ["<b>"]},
        },
    ),
    "tokens around a text": (
        "gpt2",
        older(
            bos_token="<b>",
            eos_token="<e>",
            add_bos_token=True,
            add_eos_token=True,
            additional_special_tokens=["<turn>"],
            image_token="<image>",
        ),
    ),
    "codegen": ("phi", older(tokenizer_class="CodeGenTokenizer")),
    "qwen2": ("qwen2", older(tokenizer_class="Qwen2Tokenizer", bos_token=None)),
    "llama": ("llama", of_pieces({}, **OF_LLAMA)),
    "older llama": ("llama", of_pieces({}, **OF_LLAMA, legacy=True)),
    "llama without a space": ("llama", of_pieces({}, **OF_LLAMA, add_prefix_space=False)),
    "llama with own pieces": ("llama", of_pieces({"user_defined_symbols": "<b>"}, **OF_LLAMA)),
    "mistral": ("mistral", of_pieces({}, **OF_LLAMA)),
    "newer mistral": ("mistral", of_pieces({}, **OF_LLAMA, legacy=False)),
    "mistral with own pieces": (
        "mistral",
        of_pieces({"user_defined_symbols": "<b>,ab"}, **OF_LLAMA),
    ),
    "unigram": ("mistral", of_pieces({"model_type": "unigram", "vocab_size": 500}, **OF_LLAMA)),
    "bert": ("gpt2", of_words()),
    "cased bert": ("gpt2", of_words(do_lower_case=False, cls_token="<s>")),
    "bert with accents": ("gpt2", of_words(strip_accents=False, tokenize_chinese_chars=False)),
    "nothing but a model": ("llama", {"tokenizer.model": {}}),
    "gemma": ("gemma", of_pieces(OF_GEMMA, tokenizer_class="GemmaTokenizer", add_bos_token=True)),
    "gemma2": ("gemma2", of_pieces(OF_GEMMA, additional_special_tokens=["<turn>"])),
}


def test_bert_takes_the_longest_token_first(tmp_path: Path) -> None:
    read = tokenizer_of(write(tmp_path, "gpt2", of_words()))
    tokens = ["[CLS]", "the", "cat", "##s", "[MASK]", "e", "[UNK]", "中", "文", "!", "[SEP]"]
    assert symbols(read, "The cats [MASK] é xyz中文!") == tokens
    assert [piece.text for piece in read.encode("The cats é").pieces[1:4]] == ["the", "cats", "e"]


@pytest.mark.parametrize("name", FOLDERS)
def test_ids_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    folder = write(tmp_path, *FOLDERS[name])
    theirs, ours = transformers.AutoTokenizer.from_pretrained(folder), tokenizer_of(folder)
    for text in mixed_texts(["<s>", "</s>", "<unk>", "<pad>", "<b>", "<turn>", "<e>", "<image>"]):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


def test_the_class_of_a_family_is_that_of_transformers() -> None:
    auto = pytest.importorskip(
        "transformers.models.auto.tokenization_auto", reason="transformers is not installed"
    )
    from tracer.checkpoints.tokenizer_folder import CLASS_OF_FAMILY

    for family, kind in CLASS_OF_FAMILY.items():
        assert auto.TOKENIZER_MAPPING_NAMES[family] == kind
