"""The tokenizer in a GGUF file: vocabulary, merges, and the name of the splitting rule."""

from __future__ import annotations

import json
from typing import Any

from tracer.checkpoints.extras import isolated
from tracer.checkpoints.gguf_file import GGUFFile
from tracer.checkpoints.settings import Settings
from tracer.tokenization.alphabets import ByteLetters
from tracer.tokenization.tokenizer import Tokenizer

PREFIX, EOS = "tokenizer.ggml.", "eos_token_id"
LLAMA_3, QWEN_2 = "llama-bpe", "qwen2"
WHOLE = (3, 4)
"""Types of tokens that are matched as a whole: control tokens and user-defined ones."""

WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""GPT-2's: endings; words, numbers and signs, each with a space before it; other spaces."""
LATER_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Llama 3's and Qwen2's: a word may have any sign before it; a number has few digits."""
PATTERNS = {
    "gpt-2": [WORDS],
    "smollm": [r"\p{N}", WORDS],
    LLAMA_3: [LATER_WORDS.replace("DIGITS", "3")],
    QWEN_2: [LATER_WORDS.replace("DIGITS", "1")],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", WORDS, r"\p{N}+", "[0-9][0-9][0-9]"],
}
"""The splitting steps, in order, by the name of the rule in a file."""


def ends(read: GGUFFile) -> tuple[int, ...]:
    """Return the id of the end token, if the file names one.

    Raises:
        TracerError: the id is not a number.
    """
    settings = Settings(read.file, read.values, PREFIX)
    found = () if settings.get(EOS) is None else (settings.whole(EOS, least=0),)
    settings.check()
    return found


def tokenizer_of(read: GGUFFile) -> Tokenizer:
    """Return the tokenizer; only byte-level BPE is supported.

    Raises:
        TracerError: it is of another kind or damaged, or the tokenizers library is missing.
    """
    settings = Settings(read.file, read.values, PREFIX)
    settings.one_of("model", {"gpt2": None})
    name = settings.one_of("pre", {name: name for name in PATTERNS}, "default")
    words, joined = settings.entries("tokens", str), settings.entries("merges", str)
    types = settings.entries("token_type", int)
    settings.only("add_eos_token", False)
    begins = settings.flag("add_bos_token", name == LLAMA_3)
    first = settings.whole("bos_token_id", least=0, most=len(words) - 1) if begins else None
    settings.check()

    library = isolated(read.file, "tokenizer.ggml")
    merges = [(left, right) for left, _, right in (text.partition(" ") for text in joined)]
    vocabulary = {word: id for id, word in enumerate(words)}
    whole = (word for word, kind in zip(words, types, strict=False) if kind in WHOLE)
    added = {word: vocabulary[word] for word in whole}
    described = {
        "added_tokens": [
            {"id": id, "content": word, **dict.fromkeys(_NO_FLAGS, False)}
            for word, id in added.items()
        ],
        "normalizer": {"type": "NFC"} if name == QWEN_2 else None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [*map(_split, PATTERNS[name]), {**_LETTERS, "use_regex": False}],
        },
        "post_processor": None if first is None else _put_before(words[first], first),
        "decoder": _LETTERS,
        "model": {
            "type": "BPE",
            "vocab": vocabulary,
            "merges": joined,
            "ignore_merges": name == LLAMA_3,
        },
    }
    library.serve(json.dumps(described, ensure_ascii=False))
    return Tokenizer(library, vocabulary, added, merges, ByteLetters(), whole_first=name == LLAMA_3)


# In the format of tokenizer.json, which the tokenizers library reads.

_NO_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_LETTERS = {
    "type": "ByteLevel",
    **{"add_prefix_space": False, "trim_offsets": True, "use_regex": True},
}


def _split(pattern: str) -> dict[str, Any]:
    """Return the step that makes each match of the pattern a separate piece."""
    regex = {"Regex": pattern}
    return {"type": "Split", "pattern": regex, "behavior": "Isolated", "invert": False}


def _put_before(word: str, id: int) -> dict[str, Any]:
    """Return the step that adds a token before each text."""
    token = {"SpecialToken": {"id": word, "type_id": 0}}
    text, other = ({"Sequence": {"id": part, "type_id": 0}} for part in "AB")
    return {
        "type": "TemplateProcessing",
        **{"single": [token, text], "pair": [token, text, other]},
        "special_tokens": {word: {"id": word, "ids": [id], "tokens": [word]}},
    }
