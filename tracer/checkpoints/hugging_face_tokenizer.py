"""The tokenizer of a Hugging Face folder: tokenizer.json.

Its post-processor adds tokens before and after a text. As in transformers 5, add_bos_token and
add_eos_token in the tokenizer_config.json beside it are ignored.

The file says how a text is split. transformers 5 ignores that for classes such as GPT2Tokenizer,
Qwen2Tokenizer and LlamaTokenizer, and splits as their models usually do.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracer.checkpoints.extras import isolated_library
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.settings import CheckpointSettings
from tracer.files.reading import read_file
from tracer.tokenization.alphabets import ByteLetters, Characters
from tracer.tokenization.bpe import Merging, ranks
from tracer.tokenization.isolated import IsolatedLibrary
from tracer.tokenization.tokenizer import Tokenizer, tokenizer_of_ids

FILE, BESIDE = "tokenizer.json", "tokenizer_config.json"
PREFIX_SPACE = "add_prefix_space"


def tokenizer_of(folder: Path) -> Tokenizer:
    """Return a tokenizer with merges or a unigram model; without a file, it knows only ids.

    Raises:
        TracerError: it is damaged or of another kind, or the tokenizers library is missing.
    """
    path = folder / FILE
    if not path.exists():
        return tokenizer_of_ids()
    content = read_json(path)
    model = CheckpointSettings(str(path), content).within("model")
    read = model.one_of("type", {"BPE": _byte_pairs, "Unigram": _unigram})
    model.flag("ignore_merges", False)
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            model.wrong(key, "supported is null")
    model.check()
    library = isolated_library("tokenizers", str(path))
    library.serve(read_file(path).encode())
    added = library.added()  # answered only if the library accepts the file
    byte_levels = [*_byte_levels(content.get("pre_tokenizer"))]
    _check_prefix_space(folder / BESIDE, byte_levels)
    return read(library, added, model, of_bytes=bool(byte_levels))


def _byte_pairs(
    library: IsolatedLibrary, added: dict[str, int], model: CheckpointSettings, *, of_bytes: bool
) -> Tokenizer:
    vocabulary = model.get("vocab")
    alphabet = ByteLetters() if of_bytes else Characters(vocabulary)
    whole = vocabulary if model.flag("ignore_merges", False) else ()
    merging = Merging(ranks([*_pairs(model.get("merges"))]), alphabet, whole)
    return Tokenizer(library, vocabulary, added, merging, alphabet, model.get("unk_token"))


def _unigram(
    library: IsolatedLibrary, added: dict[str, int], model: CheckpointSettings, *, of_bytes: bool
) -> Tokenizer:
    scores = [(word, float(score)) for word, score in model.get("vocab")]
    vocabulary = {word: id for id, (word, _) in enumerate(scores)}
    alphabet = ByteLetters() if of_bytes else Characters(vocabulary)
    number = model.get("unk_id")
    unknown = None if number is None else scores[number][0]
    return Tokenizer(library, vocabulary, added, dict(scores), alphabet, unknown)


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
    settings = CheckpointSettings(str(path), read_json(path))
    if settings.get(PREFIX_SPACE) is not None:
        for step in byte_levels:
            settings.only(PREFIX_SPACE, step[PREFIX_SPACE], f"{FILE} says so")
    settings.check()
