"""tokenizer.json is read in its older and newer forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Library, models, normalizers, pre_tokenizers, processors

from tests.helpers.tiny_checkpoints import hugging_face_gpt2, write_folder
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError
from tracer.tokenization.tokenizer import Tokenizer

VOCABULARY = {symbol: id for id, symbol in enumerate(["Ġ", "t", "h", "e", "Ġt", "he", "Ġthe"])}
MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he")]


@pytest.fixture
def said() -> dict[str, Any]:
    """What is in a tokenizer.json."""
    library = Library(models.BPE(VOCABULARY, MERGES))
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    library.add_special_tokens(["<s>"])
    library.post_processor = processors.TemplateProcessing(
        ["<s>", "$A"], special_tokens=[("<s>", 7)]
    )
    library.enable_truncation(3)
    library.enable_padding(length=9)
    read: dict[str, Any] = json.loads(library.to_str())
    return read


def tokenizer(folder: Path, said: Any) -> Tokenizer:
    write_folder(folder, "gpt2", hugging_face_gpt2())
    (folder / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")
    return open_checkpoint(folder).tokenizer()


@pytest.mark.parametrize("older", [False, True])
def test_merges_are_written_in_two_ways(older: bool, said: dict[str, Any], tmp_path: Path) -> None:
    if older:
        said["model"]["merges"] = [" ".join(pair) for pair in MERGES]
    tokenization = tokenizer(tmp_path, said).encode("the the the")
    symbols = ["<s>", "t", "he", "Ġthe", "Ġthe"]
    assert [token.symbol for token in tokenization.tokens] == symbols
    assert tokenization.ids == (7, 1, 5, 6, 6)
    assert [piece.text for piece in tokenization.pieces] == ["", "the", " the", " the"]
    assert [merge.rank for merge in tokenization.pieces[2].merges] == [1, 2, 3]


def test_what_stands_around_a_text_is_said_by_tokenizer_json_alone(
    said: dict[str, Any], tmp_path: Path
) -> None:
    beside = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "he"}
    for adds in (False, True):
        values = beside | {"add_bos_token": adds, "add_eos_token": adds}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(values), encoding="utf-8")
        assert tokenizer(tmp_path, said).encode("the").ids == (7, 1, 5)
        alone = tokenizer(tmp_path, said | {"post_processor": None})
        assert alone.encode("the").ids == (1, 5)


@pytest.mark.parametrize(("beside", "told"), [
    ('{"add_prefix_space": true}',
     "add_prefix_space: got true, supported is false: tokenizer.json says so"),
    ('{"add_prefix_space": 1}', "add_prefix_space: got 1, supported is false"),
    ("[]", "expected a mapping"),
    ('{"add_prefix_space": false}', None),
    ('{"add_prefix_space": null}', None),
])  # fmt: skip
def test_a_contradiction_beside_tokenizer_json_is_refused(
    beside: str, told: str | None, said: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "tokenizer_config.json").write_text(beside, encoding="utf-8")
    if told is None:
        assert tokenizer(tmp_path, said).encode("the").ids == (7, 1, 5)
    else:
        with pytest.raises(TracerError) as caught:
            tokenizer(tmp_path, said)
        assert str(caught.value).startswith(f"{tmp_path / 'tokenizer_config.json'}:")
        assert told in str(caught.value)


def test_letters_may_be_characters(tmp_path: Path) -> None:
    symbols = ["<unk>", "<0xC3>", "<0xA9>", "▁", "a", "▁a"]
    vocabulary = {symbol: id for id, symbol in enumerate(symbols)}
    model = models.BPE(vocabulary, [("▁", "a")], unk_token="<unk>", byte_fallback=True)
    library = Library(model)
    library.normalizer = normalizers.Replace(" ", "▁")
    tokens = tokenizer(tmp_path, json.loads(library.to_str())).encode(" aé").tokens
    assert [token.content for token in tokens] == [b" a", b"\xc3", b"\xa9"]


def test_the_version_above_the_merges_is_none(said: dict[str, Any], tmp_path: Path) -> None:
    said["model"]["merges"] = ["#version: 0.2", *(" ".join(pair) for pair in MERGES)]
    [_, piece] = tokenizer(tmp_path, said).encode("he").pieces
    assert [merge.rank for merge in piece.merges] == [2]


@pytest.mark.parametrize(("values", "told"), [
    ({"type": "WordLevel"}, "model.type: got 'WordLevel', supported are BPE, Unigram, WordPiece"),
    ({"type": None}, "model.type: got null, supported are BPE, Unigram, WordPiece"),
    ({"continuing_subword_prefix": "##"}, "model.continuing_subword_prefix: got '##', supported"),
    ({"type": "WordPiece"}, "the tokenizers library cannot use it: "),
    ({"type": "Unigram"}, "the tokenizers library cannot use it: "),
    ({"dropout": 0.5}, "model.dropout: got 0.5, supported is null"),
    ({"end_of_word_suffix": "</w>"}, "model.end_of_word_suffix: got '</w>', supported is null"),
    ({"ignore_merges": 1}, "model.ignore_merges: got 1, expected true or false"),
    ({"merges": [["x", "y"]]}, ""),
    ({"merges": "x y"}, ""),
    ({"vocab": []}, ""),
])  # fmt: skip
def test_what_is_wrong_is_told(
    values: dict[str, Any], told: str, said: dict[str, Any], tmp_path: Path
) -> None:
    said["model"] |= values
    with pytest.raises(TracerError) as caught:
        tokenizer(tmp_path, said)
    message = str(caught.value).replace(str(tmp_path), "")
    assert message.startswith(f"/tokenizer.json: {told}")
    assert "\n" not in message


def test_without_one_tokens_are_numbers_and_a_text_is_refused(tmp_path: Path) -> None:
    read = open_checkpoint(write_folder(tmp_path, "gpt2", hugging_face_gpt2())).tokenizer()
    assert read.texts(3) == ["[0]", "[1]", "[2]"]
    assert read.decode([2, 39]) == "[2][39]"
    with pytest.raises(TracerError, match="which a text needs: use token_ids"):
        read.encode("a")


def test_rows_that_only_fill_up_have_numbers(said: dict[str, Any], tmp_path: Path) -> None:
    read = tokenizer(tmp_path, said)
    assert read.texts(10)[5:] == ["he", " the", "<s>", "[8]", "[9]"]
    assert read.decode([1, 8, 5]) == "t[8]he"


def split(regex: str) -> dict[str, Any]:
    pattern = {"Regex": regex}
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def replaced(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


NESTED = [replaced({"Regex": "."}, "a" * 5000)] * 6
UNKNOWN = {"SpecialToken": {"id": "[none]", "type_id": 0}}
PANICS: dict[str, dict[str, Any]] = {
    "an empty pattern": {"normalizer": replaced({"String": ""}, "x")},
    "a length of 0": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    "an unknown token": {
        "post_processor": {
            **{"type": "TemplateProcessing", "special_tokens": {}},
            **{"single": [UNKNOWN], "pair": []},
        }
    },
    "a map that aborts": {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}
    },
    "a map that panics": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
}
WITHOUT_END = {"normalizer": {"type": "Sequence", "normalizers": NESTED}}


WITH_ITS_MEMORY = pytest.param("a text without end", marks=pytest.mark.fuzz)
"""It takes seconds until it has filled what it may have."""


@pytest.mark.parametrize("name", [*PANICS, WITH_ITS_MEMORY])
def test_what_breaks_the_library_is_told(name: str, said: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TracerError) as caught:
        tokenizer(tmp_path, said | PANICS.get(name, WITHOUT_END)).encode("a" * 40 + "b")
    assert str(caught.value).startswith(f"{tmp_path / 'tokenizer.json'}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("beside", "told"), [
    ({"do_lower_case": True, "strip_accents": None}, None),
    ({"do_lower_case": False}, "do_lower_case: got false, supported is true"),
    ({"tokenize_chinese_chars": False}, "tokenize_chinese_chars: got false, supported is true"),
])  # fmt: skip
def test_the_normalizer_of_bert_is_that_of_both_files(
    beside: dict[str, Any], told: str | None, tmp_path: Path
) -> None:
    library = Library(models.WordPiece({"[UNK]": 0, "the": 1}, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer()
    said = json.loads(library.to_str())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(beside), encoding="utf-8")
    if told is None:
        assert tokenizer(tmp_path, said).encode("The").ids == (1,)
    else:
        with pytest.raises(TracerError) as caught:
            tokenizer(tmp_path, said)
        assert told in str(caught.value)
