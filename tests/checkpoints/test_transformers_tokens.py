"""Texts in ten scripts have the ids that transformers gives them, for each kind of tokenizer."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Library, decoders, models, pre_tokenizers, trainers

from tests.helpers.tiny_checkpoints import gguf_llama, hugging_face_llama, write_folder, write_gguf
from tracer.checkpoints.opening import open_checkpoint

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

WORDS = (
    "the cat sat on naïve mats, isn't it? IT'S 1234.56 née; don't",
    "der Hund läuft über die Straße ÄÖÜ",
    "быстрая лиса прыгает через ленивую собаку",
    "η γρήγορη αλεπού πηδάει",
    "الثعلب السريع يقفز فوق الكلب",
    "השועל המהיר קופץ מעל הכלב",
    "तेज़ लोमड़ी आलसी कुत्ते के ऊपर कूदती है",
    "敏捷的棕色狐狸跳过懒狗",
    "すばやい茶色のキツネが怠け者の犬を飛び越える",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다",
    "สุนัขจิ้งจอกสีน้ำตาล",
    "def f(x):\n\treturn x**2  # ok\n\n",
)
SPECIAL = ["<unk>", "<s>", "</s>", "<|endoftext|>"]
PARTS = [*(word for line in WORDS for word in line.split(" ")), *SPECIAL]
SPACES = ["", " ", " ", " ", "  ", "\n", "\t", "e\u0301", "\u00a0", "😀", "12345"]
TEXTS = 500


def texts() -> list[str]:
    chance = random.Random(1)
    return [
        "".join(chance.choice(PARTS) + chance.choice(SPACES) for _ in range(chance.randrange(1, 8)))
        for _ in range(TEXTS)
    ]


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


def unigram() -> Any:
    library = Library(models.Unigram())
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    library.train_from_iterator(WORDS, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=library)


KINDS: dict[str, Callable[[], Any]] = {
    "gpt2": lambda: transformers.GPT2Tokenizer(**byte_pairs(of_bytes=True)),
    "qwen2": lambda: transformers.Qwen2Tokenizer(**byte_pairs(of_bytes=True)),
    "llama": lambda: transformers.LlamaTokenizer(**byte_pairs(of_bytes=False)),
    "older llama": lambda: transformers.LlamaTokenizer(**byte_pairs(of_bytes=False), legacy=True),
    "unigram": unigram,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_has_the_ids_of_transformers(kind: str, tmp_path: Path) -> None:
    write_folder(tmp_path, "llama", hugging_face_llama())
    KINDS[kind]().save_pretrained(tmp_path)
    # The class LlamaTokenizer of transformers 5 does not read how tokenizer.json splits a text.
    reads = "PreTrainedTokenizerFast" if kind == "older llama" else "AutoTokenizer"
    theirs = getattr(transformers, reads).from_pretrained(tmp_path)
    ours = open_checkpoint(tmp_path).tokenizer()
    for text in texts():
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text


@pytest.mark.parametrize(("kind", "pre"), [("gpt2", "gpt-2"), ("qwen2", "qwen2")])
def test_a_gguf_file_has_the_ids_of_transformers(kind: str, pre: str, tmp_path: Path) -> None:
    theirs = KINDS[kind]()
    words = theirs.convert_ids_to_tokens(list(range(len(theirs))))
    values = {
        "model": "gpt2",
        "pre": pre,
        "tokens": words,
        "token_type": [3 if word in theirs.all_special_tokens else 1 for word in words],
        "merges": [" ".join(pair) for pair in byte_pairs(of_bytes=True)["merges"]],
    }
    held = {f"tokenizer.ggml.{key}": value for key, value in values.items()}
    file = write_gguf(tmp_path / "x.gguf", "llama", gguf_llama(), held)
    ours = open_checkpoint(file).tokenizer()
    for text in texts():
        assert list(ours.encode(text).ids) == theirs(text)["input_ids"], text
