"""Texts in ten scripts have the ids that transformers gives them, for each kind of tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    Regex,
    Tokenizer as Library,
    decoders,
    models,
    pre_tokenizers,
    processors,
    trainers,
)

from tests.helpers.ten_scripts import WORDS, texts
from tests.helpers.tiny_checkpoints import gguf_llama, hugging_face_llama, write_folder, write_gguf
from tracer.checkpoints.opening import open_checkpoint

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

SPECIAL = ["<unk>", "<s>", "</s>", "<|endoftext|>"]
LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How the tokenizer.json of Llama 3 splits a text."""
MERGED = 300
"""So many of the tokens of Llama 3 have merges here."""


def byte_pairs(*, of_bytes: bool) -> dict[str, Any]:
    """A vocabulary and merges, learned from the words."""
    library = Library(models.BPE(byte_fallback=not of_bytes))
    alphabet: list[str] = pre_tokenizers.ByteLevel.alphabet() if of_bytes else []
    library.pre_tokenizer = (
        pre_tokenizers.ByteLevel(add_prefix_space=False) if of_bytes else pre_tokenizers.Metaspace()
    )
    all_bytes = [] if of_bytes else [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=[*SPECIAL, *all_bytes],
        initial_alphabet=alphabet,
        show_progress=False,
    )
    library.train_from_iterator(WORDS, trainer)
    found: dict[str, Any] = json.loads(library.to_str())["model"]
    return {"vocab": found["vocab"], "merges": [tuple(pair) for pair in found["merges"]]}


def llama_3() -> Any:
    """Some tokens have no merges, and need none; a text begins with the start token."""
    pairs = byte_pairs(of_bytes=True)
    model = models.BPE(pairs["vocab"], pairs["merges"][:MERGED], ignore_merges=True)
    library = Library(model)
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    library.decoder = decoders.ByteLevel()
    library.add_special_tokens(SPECIAL)
    start = ("<s>", library.token_to_id("<s>"))
    library.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[start])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=library)


KINDS: dict[str, Callable[[], Any]] = {
    "gpt2": lambda: transformers.GPT2Tokenizer(**byte_pairs(of_bytes=True)),
    "qwen2": lambda: transformers.Qwen2Tokenizer(**byte_pairs(of_bytes=True)),
    "llama 3": llama_3,
    "llama": lambda: transformers.LlamaTokenizer(**byte_pairs(of_bytes=False)),
    "older llama": lambda: transformers.LlamaTokenizer(**byte_pairs(of_bytes=False), legacy=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_has_the_ids_of_transformers(kind: str, tmp_path: Path) -> None:
    write_folder(tmp_path, "llama", hugging_face_llama())
    KINDS[kind]().save_pretrained(tmp_path)
    # The class LlamaTokenizer of transformers 5 does not read how tokenizer.json splits a text.
    reads = "PreTrainedTokenizerFast" if kind == "older llama" else "AutoTokenizer"
    theirs = getattr(transformers, reads).from_pretrained(tmp_path)
    ours = open_checkpoint(tmp_path).tokenizer()
    for text in texts(SPECIAL):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


@pytest.mark.parametrize(
    ("kind", "pre"), [("gpt2", "gpt-2"), ("qwen2", "qwen2"), ("llama 3", "llama-bpe")]
)
def test_a_gguf_file_has_the_ids_of_transformers(kind: str, pre: str, tmp_path: Path) -> None:
    theirs = KINDS[kind]()
    words = theirs.convert_ids_to_tokens(list(range(len(theirs))))
    merges = byte_pairs(of_bytes=True)["merges"]
    values = {
        "model": "gpt2",
        "pre": pre,
        "tokens": words,
        "token_type": [3 if word in theirs.get_added_vocab() else 1 for word in words],
        "bos_token_id": words.index("<s>"),
        "merges": [" ".join(pair) for pair in merges[: MERGED if kind == "llama 3" else None]],
    }
    held = {f"tokenizer.ggml.{key}": value for key, value in values.items()}
    file = write_gguf(tmp_path / "x.gguf", "llama", gguf_llama(), held)
    ours = open_checkpoint(file).tokenizer()
    for text in texts(SPECIAL):
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text
