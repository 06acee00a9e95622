"""SentencePiece's .spm file: a vocabulary with scores, in the format of protocol buffers.

The numbers of the fields are those of sentencepiece_model.proto in SentencePiece 0.2. The module of
the sentencepiece library that reads it works only with one release of protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracer.checkpoints.settings import CheckpointSettings
from tracer.errors import Problem, TracerError

MODELS = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}
NORMAL, CONTROL, USER_DEFINED, BYTE = 1, 3, 4, 6


@dataclass(frozen=True)
class SentencePieceModel:
    """A vocabulary, and how a text is normalized."""

    pieces: tuple[tuple[str, float, int], ...]
    """The text, the score and the kind of each piece; its id is its place."""
    model_type: str
    """unigram or BPE."""
    byte_fallback: bool
    """Whether the bytes of an unknown character are tokens."""
    unknown: str | None
    begin: str | None
    end: str | None
    """The tokens for unknown characters, and around a text."""
    replaced: bytes
    """The compiled rules that replace characters; empty for none."""
    space_first: bool
    """Whether a space is added before a text."""
    removes_spaces: bool
    """Whether spaces at the ends, and all but one of several spaces, are removed."""


def read_spm(content: bytes, file: str) -> SentencePieceModel:
    """Return the model in a file.

    Raises:
        TracerError: the file is damaged or of another kind.
    """
    try:
        pieces = tuple(_piece(dict(_fields(value))) for key, value in _fields(content) if key == 1)
        parts = {key: dict(_fields(value)) for key, value in _fields(content) if key in (2, 3, 5)}
        trainer, normalizer, denormalizer = (parts.get(key, {}) for key in (2, 3, 5))
        unknown, begin, end = (
            (_bytes(trainer, 45 + use).decode() or name)
            if trainer.get(40 + use, use) < len(pieces)  # −1 is stored as a large number
            else None
            for use, name in enumerate(("<unk>", "<s>", "</s>"))
        )
        replaced = _bytes(normalizer, 2)
    except (IndexError, KeyError, ValueError, TypeError):
        raise TracerError(Problem("not a whole SentencePiece model", file)) from None
    settings = CheckpointSettings(file, {
        "model_type": MODELS.get(trainer.get(3, 1)),
        "treat_whitespace_as_suffix": bool(trainer.get(24)),
        "escape_whitespaces": bool(normalizer.get(5, True)),
        "denormalizer_spec": bool(denormalizer.get(2)),
    })  # fmt: skip
    model_type = settings.one_of("model_type", {name: name for name in ("unigram", "BPE")})
    settings.only("treat_whitespace_as_suffix", False)
    settings.only("escape_whitespaces", True)
    settings.only("denormalizer_spec", False)
    settings.check()
    return SentencePieceModel(
        pieces,
        model_type,
        bool(trainer.get(35)),
        unknown,
        begin,
        end,
        replaced,
        bool(normalizer.get(3, True)),
        bool(normalizer.get(4, True)),
    )


def scores_in(content: bytes, file: str) -> Mapping[str, float]:
    """Return the score of each piece of a unigram model without bytes and symbols of its own.

    Raises:
        TracerError: the file is damaged or of another kind.
    """
    model = read_spm(content, file)
    kinds = {kind for _, _, kind in model.pieces}
    settings = CheckpointSettings(file, {
        "model_type": model.model_type,
        "user_defined_symbols": USER_DEFINED in kinds,
        "byte_fallback": BYTE in kinds,
    })  # fmt: skip
    settings.only("model_type", "unigram")
    settings.only("user_defined_symbols", False)
    settings.only("byte_fallback", False)
    settings.check()
    return {text: score for text, score, kind in model.pieces if kind == NORMAL}


def _piece(fields: Mapping[int, Any]) -> tuple[str, float, int]:
    """Return the text, the score and the kind of a piece."""
    score = np.frombuffer(_bytes(fields, 2) or bytes(4), "<f4", 1)[0]
    if not np.isfinite(score):
        raise ValueError("a score is not a number")
    return _bytes(fields, 1).decode(), float(score), fields.get(3, NORMAL)


def _bytes(fields: Mapping[int, Any], key: int) -> bytes:
    value = fields.get(key, b"")
    if not isinstance(value, bytes):
        raise ValueError("a number, expected bytes")
    return value


def _fields(message: bytes | int) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field: an integer, or bytes.

    Raises:
        IndexError, KeyError, ValueError: the message is damaged.
    """
    if isinstance(message, int):
        raise ValueError("a number, expected a message")
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        length, at = _varint(message, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
        if at + length > len(message):
            raise ValueError("a field is longer than its message")
        yield number, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return an integer in groups of seven bits, the lowest first, and where it ends."""
    found = shift = 0
    while message[at] & 0x80 and shift < 63:
        found |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return found | message[at] << shift, at + 1
