"""The tokenizer of Hugging Face's folder: tokenizer.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tracer.checkpoints.extras import extra
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.settings import Settings
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.tokenization.alphabets import ByteLetters, Characters
from tracer.tokenization.tokenizer import Tokenizer

FILE = "tokenizer.json"


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer, of merges of bytes or of characters.

    Raises:
        TracerError: it is missing, damaged or of another kind, or so is the tokenizers library.
    """
    path = folder / FILE
    said = read_json(path)
    model = Settings(str(path), said).within("model")
    model.one_of("type", {"BPE": None})
    whole_first = model.flag("ignore_merges", False)
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            model.wrong(key, "known is null")
    model.check()
    with extra("tokenizers"):
        import tokenizers
    try:
        library = tokenizers.Tokenizer.from_str(read_file(path))
    except Exception as error:  # the library raises no other
        raise TracerError(Problem(str(error), str(path))) from None
    library.no_truncation()
    library.no_padding()
    has_letters = _has_byte_letters(said.get("pre_tokenizer"))
    alphabet = ByteLetters() if has_letters else Characters(library.get_vocab())
    merges = [_pair(merge) for merge in model.get("merges")]
    return Tokenizer(library, merges, alphabet, whole_first=whole_first)


def _pair(merge: str | list[str]) -> tuple[str, str]:
    """Older files write a pair with a space between, newer ones as a list."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right


def _has_byte_letters(pre_tokenizer: Any) -> bool:
    """Whether a step of the splitting, or of several, writes bytes as letters."""
    match pre_tokenizer:
        case {"type": "ByteLevel"}:
            return True
        case {"type": "Sequence", "pretokenizers": [*steps]}:
            return any(map(_has_byte_letters, steps))
    return False
