"""The format of tokenizer.json: read from that file, or written here for files of other formats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tracer.checkpoints.extras import isolated_library
from tracer.checkpoints.settings import CheckpointSettings
from tracer.tokenization.alphabets import Alphabet, ByteLetters, Characters
from tracer.tokenization.bpe import Merging, ranks
from tracer.tokenization.isolated import IsolatedLibrary
from tracer.tokenization.tokenizer import Tokenizer
from tracer.tokenization.word_pieces import WordPieces

Description = Mapping[str, Any]
"""The values of a tokenizer.json, or one of its steps."""
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
"""How a token is matched that is matched as a whole."""
PREFIX = "continuing_subword_prefix"


def described_tokenizer(
    described: Description, file: str, address: str | None = None, content: str | None = None
) -> Tokenizer:
    """Return a tokenizer with merges, a unigram model or WordPiece.

    Problems name the file and the address.

    `content`: the text of the tokenizer.json; None if the description is not read from one.

    Raises:
        TracerError: it is damaged or of another kind, or the tokenizers library is missing.
    """
    model = CheckpointSettings(file, described).within("model")
    kinds = {"BPE": _byte_pairs, "Unigram": _unigram, "WordPiece": _word_pieces}
    read = model.one_of("type", kinds)
    model.flag("ignore_merges", False)
    for key in ("dropout", PREFIX, "end_of_word_suffix"):
        if model.get(key) and (key, read) != (PREFIX, _word_pieces):
            model.wrong(key, "supported is null")
    model.check()
    library = isolated_library("tokenizers", file, address)
    library.serve((content or json.dumps(described)).encode())
    added = library.added()  # answered only if the library accepts the description
    return read(library, added, model, of_bytes=any(byte_levels(described.get("pre_tokenizer"))))


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


def _word_pieces(
    library: IsolatedLibrary, added: dict[str, int], model: CheckpointSettings, *, of_bytes: bool
) -> Tokenizer:
    vocabulary, prefix = model.get("vocab"), str(model.get(PREFIX))
    unknown = str(model.get("unk_token"))
    return Tokenizer(library, vocabulary, added, WordPieces(prefix), Alphabet(), unknown)


def _pairs(merges: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the merges; older files join a pair with a space, newer ones store a list."""
    for merge in merges:
        if not isinstance(merge, str):
            yield tuple(merge)
        elif not merge.startswith("#version"):  # the first line of merges.txt
            left, _, right = merge.partition(" ")
            yield left, right


def byte_levels(pre_tokenizer: Any) -> Iterator[Description]:
    """Yield the splitting steps that write bytes as letters."""
    match pre_tokenizer:
        case {"type": "ByteLevel"}:
            yield pre_tokenizer
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            for step in steps:
                yield from byte_levels(step)


def byte_letters(*, use_regex: bool, prefix_space: bool = False) -> Description:
    """Return the step that writes bytes as letters; `use_regex`: after GPT-2's splitting."""
    flags = {"add_prefix_space": prefix_space, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def in_order(kind: str, steps: Iterable[Description]) -> Description:
    """Return several steps as one; `kind`: normalizers, pretokenizers or decoders."""
    return {"type": "Sequence", kind: [*steps]}


def split(pattern: str) -> Description:
    """Return the step that makes each match of the pattern a separate piece."""
    regex = {"Regex": pattern}
    return {"type": "Split", "pattern": regex, "behavior": "Isolated", "invert": False}


def put_around(
    before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]
) -> Description | None:
    """Return the step that adds tokens, given with their ids, before and after each text."""
    if not before and not after:
        return None
    first, last = (
        [{"SpecialToken": {"id": word, "type_id": 0}} for word, _ in words]
        for words in (before, after)
    )
    text, other = ({"Sequence": {"id": part, "type_id": 0}} for part in "AB")
    return {
        "type": "TemplateProcessing",
        **{"single": [*first, text, *last], "pair": [*first, text, other, *last]},
        "special_tokens": {
            word: {"id": word, "ids": [id], "tokens": [word]} for word, id in (*before, *after)
        },
    }
