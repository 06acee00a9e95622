"""Tiny trained models with a vocabulary of 40 words, and scenarios that name them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from gguf import GGMLQuantizationType
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from tests.helpers import tiny_checkpoints

MERGES = [("h", "e"), ("Ġ", "the"), ("t", "he"), ("Ġ", "a"), ("a", "n"), ("Ġ", "he"), ("i", "s")]
SYMBOLS = [*ascii_lowercase, "Ġ", ",", ".", "1", "2", "3", *(a + b for a, b in MERGES), "<end>"]
END = SYMBOLS.index("<end>")
TEXT = "the a, is"
"""Five tokens: `the`, ` a`, `,`, ` ` and `is`."""

MODELS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "gguf gpt2": ("gguf", "gpt2", {}),
    "gguf llama": ("gguf", "llama", {}),
    "gguf llama of scores": ("gguf", "llama", {}),
    "gguf qwen2": ("gguf", "qwen2", {}),
    "folder gpt2": ("folder", "gpt2", {}),
    "folder gpt2 with a unigram model": ("folder", "gpt2", {}),
    "folder gpt2 with WordPiece": ("folder", "gpt2", {}),
    "folder llama": ("folder", "llama", {}),
    "folder mistral": ("folder", "mistral", {"sliding_window": 2}),
    "folder qwen2": ("folder", "qwen2", {}),
}
"""Format, family and what is said of it beside its sizes."""


def model(
    folder: Path,
    name: str = "gguf llama",
    tensors: tiny_checkpoints.Tensors | None = None,
    kinds: Mapping[str, GGMLQuantizationType] | None = None,
) -> Path:
    """A file or a folder, with other tensors if they are given; `kinds` as in `write_gguf`."""
    form, family, said = MODELS[name]
    if form == "gguf":
        gpt2 = family == "gpt2"
        drawn = (
            tiny_checkpoints.gguf_gpt2()
            if gpt2
            else tiny_checkpoints.gguf_llama(biases=family == "qwen2")
        )
        return tiny_checkpoints.write_gguf(
            *(folder / "tiny.gguf", family, tensors or drawn),
            *(_tokens(of_scores="scores" in name), kinds),
        )
    gpt2 = family == "gpt2"
    drawn = (
        tiny_checkpoints.hugging_face_gpt2()
        if gpt2
        else tiny_checkpoints.hugging_face_llama(biases=family == "qwen2")
    )
    path = tiny_checkpoints.write_folder(
        folder / "tiny", family, tensors or drawn, {**said, "eos_token_id": END}
    )
    described = unigram_json() if "unigram" in name else tokenizer_json()
    described = word_piece_json() if "WordPiece" in name else described
    (path / "tokenizer.json").write_text(described, encoding="utf-8")
    return path


def scenario(folder: Path, name: str = "gguf llama", text: str = TEXT, **more: Any) -> str:
    """The path of a scenario that reads a text; `more` are its other keys."""
    return naming(model(folder, name), text=text, **more)


def naming(checkpoint: Path, **said: Any) -> str:
    """The path of a scenario beside a model."""
    path = checkpoint.parent / "tiny.yaml"
    whole = {"checkpoint": checkpoint.name, **said}
    lines = [f"{key}: {json.dumps(value)}" for key, value in whole.items() if value is not None]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def _tokens(*, of_scores: bool) -> dict[str, Any]:
    """What a GGUF file says of its vocabulary: merges, or SentencePiece's scores."""
    assert len(SYMBOLS) == tiny_checkpoints.WORDS
    said: dict[str, Any] = {
        "model": "llama" if of_scores else "gpt2",
        "pre": "default" if of_scores else "gpt-2",
        "tokens": [symbol.replace("Ġ", "▁") for symbol in SYMBOLS] if of_scores else SYMBOLS,
        "token_type": [3 if symbol == "<end>" else 1 for symbol in SYMBOLS],
        "eos_token_id": END,
    }
    if of_scores:
        said |= {
            "scores": [-float(id) for id in range(len(SYMBOLS))],
            **{"add_bos_token": False, "add_space_prefix": False},
        }
    else:
        said |= {"merges": [" ".join(pair) for pair in MERGES]}
    return {f"tokenizer.ggml.{key}": value for key, value in said.items()}


def tokenizer_json() -> str:
    """What a folder says of its vocabulary."""
    library = Tokenizer(models.BPE({symbol: id for id, symbol in enumerate(SYMBOLS)}, MERGES))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    library.add_special_tokens(["<end>"])
    return str(library.to_str())


def word_piece_json() -> str:
    """The same number of tokens for words: [UNK], parts of words, and letters inside of words."""
    begin = ["[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##ed", "the", "it", ".", "##i", "##s"]
    letters = [f"##{letter}" for letter in "abcdefghjklmnopqrtuvwxyz"]
    symbols = [*begin, *letters, *(f"[{number}]" for number in range(99))][: len(SYMBOLS)]
    ids = {symbol: id for id, symbol in enumerate(symbols)}
    library = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    around = [(word, ids[word]) for word in ("[CLS]", "[SEP]")]
    library.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=around)
    return str(library.to_str())


def unigram_json() -> str:
    """The same vocabulary with scores, each word and each number of spaces a piece."""
    symbols = [symbol.replace("Ġ", "▁") for symbol in SYMBOLS]
    library = Tokenizer(models.Unigram([(s, -float(id)) for id, s in enumerate(symbols)], END))
    library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    library.decoder = decoders.Metaspace(prepend_scheme="never")
    library.add_special_tokens(["<end>"])
    return str(library.to_str())
