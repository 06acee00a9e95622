"""How a text is split before its merges, by the name in a GGUF file: `tokenizer.ggml.pre`.

llama.cpp's `llama-vocab.cpp` lists the names. The patterns are those of the models' tokenizers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""GPT-2's: endings; words, numbers and signs, each with a space before it; other spaces."""
ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
LATER_WORDS = rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,DIGITS}}|{SIGNS}|{SPACES}"
"""Llama 3's and Qwen2's: a word may have any sign before it; a number has few digits."""
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
BEGIN = r"[^\r\n\p{L}\p{N}]?"
BY_CASE = (
    rf"{BEGIN}[{UPPER}]*[{LOWER}]+ENDING|{BEGIN}[{UPPER}]+[{LOWER}]*ENDING"
    rf"|\p{{N}}{{1,DIGITS}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}"
)
"""GPT-4o's and Mistral's: a capital letter after a small one begins another word."""
ALL_BUT_SIGNS = r" ?[^(\s|.,!?…。，、।۔،)]+"
"""BLOOM's: words of all characters but these signs."""
NUMBERS_BY_THREE = "[0-9][0-9][0-9]"
MARKED_WORDS = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    rf"[!-/:-@\[-`{{-~][A-Za-z]+|{MARKED_WORDS}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{SPACES}",
)
"""Numbers of few digits; Chinese and Japanese characters; words, also after a sign, and signs."""
QWEN_35 = (
    rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{SPACES}"
)
"""Like Qwen2's, but words have accents that are characters of their own."""


@dataclass(frozen=True)
class Splitting:
    """The splitting steps of a tokenizer, and what comes with them."""

    patterns: tuple[str, ...]
    """The steps, in order; each match of a pattern is a separate piece."""
    whole_first: bool = False
    """Whether a piece that is in the vocabulary needs no merges."""
    begins: bool = False
    """Whether a text begins with the model's start token if the file does not say."""
    composed: bool = False
    """Whether a letter and its accents are first joined to one character (Unicode's NFC)."""


_GPT_2 = Splitting((WORDS,))
_DIGITS = Splitting((r"\p{N}", WORDS))
_LLAMA_3 = Splitting((LATER_WORDS.replace("DIGITS", "3"),))
_QWEN_2 = Splitting((LATER_WORDS.replace("DIGITS", "1"),))
_GPT_4O = Splitting((BY_CASE.replace("DIGITS", "3").replace("ENDING", f"{ENDINGS}?"),))
_BLOOM = Splitting((ALL_BUT_SIGNS,))

_GROUPS: Mapping[str, Splitting] = {
    "gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum modern-bert mpt "
    "olmo jais trillion granite-docling exaone4": _GPT_2,
    "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2": _DIGITS,
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": Splitting(
        _LLAMA_3.patterns, whole_first=True, begins=True
    ),
    "dbrx smaug-bpe glm4 chatglm-bpe": _LLAMA_3,
    "qwen2": Splitting(_QWEN_2.patterns, composed=True),
    "qwen35": Splitting((QWEN_35,), composed=True),
    "seed-coder": Splitting((_QWEN_2.patterns[0].replace(SIGNS, r" ?[^\s\p{L}\p{N}\r\n]+"),)),
    "deepseek-v3 hunyuan-dense joyai-llm": Splitting(DEEPSEEK_V3),
    "deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2": _QWEN_2,
    "tekken": Splitting(
        (BY_CASE.replace("DIGITS", "1").replace("ENDING", ""),), whole_first=True, begins=True
    ),
    "gpt-4o llama4 kanana2 talkie minimax-m2": _GPT_4O,
    "bloom gpt3-finnish poro-chat": _BLOOM,
    "viking": Splitting((*_BLOOM.patterns, r"\p{N}")),
    "falcon": Splitting((r"[\p{P}\$\+<=>\^~\|`]+", WORDS, NUMBERS_BY_THREE)),
    "deepseek-coder": Splitting(
        (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}")
    ),
    "default": Splitting((r"[\p{P}\$\+<=>\^~\|]+", WORDS, r"\p{N}+", NUMBERS_BY_THREE)),
}
SPLITTINGS: Mapping[str, Splitting] = {
    name: splitting for names, splitting in _GROUPS.items() for name in names.split()
}
