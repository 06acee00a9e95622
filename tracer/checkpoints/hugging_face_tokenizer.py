"""The tokenizer of a Hugging Face folder: tokenizer.json.

Its post-processor adds tokens before and after a text. As in transformers 5, add_bos_token and
add_eos_token in the tokenizer_config.json beside it are ignored.
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
from tracer.tokenization.bpe import Merging, ranks
from tracer.tokenization.tokenizer import Tokenizer

FILE, BESIDE = "tokenizer.json", "tokenizer_config.json"
PREFIX_SPACE = "add_prefix_space"


def tokenizer_of(folder: Path) -> Tokenizer:
    """Return a tokenizer with byte-level or character merges; without a file, it knows only ids.

    Raises:
        TracerError: it is damaged or of another kind, or the tokenizers library is missing.
    """
    path = folder / FILE
    if not path.exists():
        return Tokenizer(None, {}, {}, Merging({}, Alphabet()), Alphabet())
    content = read_json(path)
    model = Settings(str(path), content).within("model")
    model.one_of("type", {"BPE": None})
    whole_first = model.flag("ignore_merges", False)
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            model.wrong(key, "supported is null")
    model.check()
    library = isolated(str(path))
    library.serve(read_file(path))
    added = library.added()  # answered only if the library accepts the file
    vocabulary = model.get("vocab")
    byte_levels = [*_byte_levels(content.get("pre_tokenizer"))]
    _check_prefix_space(folder / BESIDE, byte_levels)
    alphabet = ByteLetters() if byte_levels else Characters(vocabulary)
    order = ranks([*_pairs(model.get("merges"))])
    merging = Merging(order, alphabet, vocabulary if whole_first else ())
    return Tokenizer(library, vocabulary, added, merging, alphabet)


def _pairs(merges: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the merges; older files join a pair with a space, newer ones store a list."""
    for merge in merges:
        if not isinstance(merge, str):
            yield tuple(merge)
        elif not merge.startswith("#version"):  # the first line of merges.txt
            left, _, right = merge.partition(" ")
            yield left, right


def _byte_levels(pre_tokenizer: Any) -> Iterator[dict[str, Any]]:
    """Yield the splitting steps that write bytes as letters."""
    match pre_tokenizer:
        case {"type": "ByteLevel"}:
            yield pre_tokenizer
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            for step in steps:
                yield from _byte_levels(step)


def _check_prefix_space(path: Path, byte_levels: list[dict[str, Any]]) -> None:
    """Check that tokenizer_config.json agrees with tokenizer.json on a space before a text.

    If they differ, the tokenizer's class decides which of them transformers follows.

    Raises:
        TracerError: they differ, or the file cannot be read.
    """
    if not path.exists():
        return
    settings = Settings(str(path), read_json(path))
    if settings.get(PREFIX_SPACE) is not None:
        for step in byte_levels:
            settings.only(PREFIX_SPACE, step[PREFIX_SPACE], f"{FILE} says so")
    settings.check()
