"""The tokenizer of Hugging Face's folder: tokenizer.json.

Its post-processor says which tokens stand before and behind a text. As transformers 5 does, this
reads no add_bos_token or add_eos_token from the tokenizer_config.json beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracer.checkpoints.extras import isolated
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.settings import Settings
from tracer.files.reading import read_file
from tracer.tokenization.alphabets import Alphabet, ByteLetters, Characters
from tracer.tokenization.tokenizer import Tokenizer

FILE, BESIDE = "tokenizer.json", "tokenizer_config.json"
PREFIX_SPACE = "add_prefix_space"


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer, of merges of bytes or of characters; without a file, one of numbers alone.

    Raises:
        TracerError: it is damaged or of another kind, or the tokenizers library is missing.
    """
    path = folder / FILE
    if not path.exists():
        return Tokenizer(None, {}, {}, (), Alphabet())
    said = read_json(path)
    model = Settings(str(path), said).within("model")
    model.one_of("type", {"BPE": None})
    whole_first = model.flag("ignore_merges", False)
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            model.wrong(key, "supported is null")
    model.check()
    library = isolated(str(path))
    library.serve(read_file(path))
    added = library.added()  # which is answered where all is as the library wants it
    vocabulary = model.get("vocab")
    byte_levels = [*_byte_levels(said.get("pre_tokenizer"))]
    _check_prefix_space(folder / BESIDE, byte_levels)
    alphabet = ByteLetters() if byte_levels else Characters(vocabulary)
    merges = [*_pairs(model.get("merges"))]
    return Tokenizer(library, vocabulary, added, merges, alphabet, whole_first=whole_first)


def _pairs(merges: list[Any]) -> Iterator[tuple[str, str]]:
    """Older files write a pair with a space between, newer ones as a list."""
    for merge in merges:
        if not isinstance(merge, str):
            yield tuple(merge)
        elif not merge.startswith("#version"):  # as merges.txt begins
            left, _, right = merge.partition(" ")
            yield left, right


def _byte_levels(pre_tokenizer: Any) -> Iterator[dict[str, Any]]:
    """The steps of the splitting that write bytes as letters."""
    match pre_tokenizer:
        case {"type": "ByteLevel"}:
            yield pre_tokenizer
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            for step in steps:
                yield from _byte_levels(step)


def _check_prefix_space(path: Path, byte_levels: list[dict[str, Any]]) -> None:
    """Raise where the file beside tokenizer.json contradicts its space before a text.

    transformers then follows the one or the other, depending on the class of the tokenizer.

    Raises:
        TracerError: it says something else, or cannot be read.
    """
    if not path.exists():
        return
    settings = Settings(str(path), read_json(path))
    if settings.get(PREFIX_SPACE) is not None:
        for step in byte_levels:
            settings.only(PREFIX_SPACE, step[PREFIX_SPACE], f"{FILE} says so")
    settings.check()
