"""The tokenizer of a Hugging Face folder: tokenizer.json, or older files.

The post-processor of tokenizer.json adds tokens before and after a text. As in transformers 5,
add_bos_token and add_eos_token in the tokenizer_config.json beside it are ignored.

The file says how a text is split. transformers 5 ignores that for classes such as GPT2Tokenizer,
Qwen2Tokenizer and LlamaTokenizer, and splits as their models usually do.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.older_tokenizers import older_tokenizer
from tracer.checkpoints.settings import CheckpointSettings
from tracer.checkpoints.tokenizer_folder import BESIDE
from tracer.checkpoints.tokenizer_json import Description, byte_levels, described_tokenizer
from tracer.files.reading import read_file
from tracer.tokenization.tokenizer import Tokenizer

FILE = "tokenizer.json"
PREFIX_SPACE = "add_prefix_space"
OF_NORMALIZER = {
    **{"do_lower_case": "lowercase", "tokenize_chinese_chars": "handle_chinese_chars"},
    "strip_accents": "strip_accents",
}
"""The keys of tokenizer_config.json for those of a BertNormalizer."""


def tokenizer_of(folder: Path) -> Tokenizer:
    """Return a tokenizer with merges, a unigram model or WordPiece; without files, of ids only.

    Raises:
        TracerError: it is damaged or of another kind, or the tokenizers library is missing.
    """
    path = folder / FILE
    if not path.exists():
        return older_tokenizer(folder)
    described = read_json(path)
    tokenizer = described_tokenizer(described, str(path), content=read_file(path))
    _check_prefix_space(folder / BESIDE, byte_levels(described.get("pre_tokenizer")))
    _check_normalizer(folder / BESIDE, described.get("normalizer"))
    return tokenizer


def _check_normalizer(path: Path, normalizer: Description | None) -> None:
    """Check that tokenizer_config.json agrees with the BertNormalizer of tokenizer.json.

    Raises:
        TracerError: they differ, so that transformers follows the former; or it cannot be read.
    """
    if not path.exists() or normalizer is None or normalizer.get("type") != "BertNormalizer":
        return
    settings = CheckpointSettings(str(path), read_json(path))
    for key, own in OF_NORMALIZER.items():
        if settings.get(key) is not None:
            settings.only(key, normalizer.get(own), f"{FILE} says so")
    settings.check()


def _check_prefix_space(path: Path, byte_levels: Iterable[Description]) -> None:
    """Check that tokenizer_config.json agrees with tokenizer.json on a space before a text.

    If they differ, the tokenizer's class decides which of them transformers follows.

    Raises:
        TracerError: they differ, or the file cannot be read.
    """
    if not path.exists():
        return
    settings = CheckpointSettings(str(path), read_json(path))
    if settings.get(PREFIX_SPACE) is not None:
        for step in byte_levels:
            settings.only(PREFIX_SPACE, step[PREFIX_SPACE], f"{FILE} says so")
    settings.check()
