"""SentencePiece's .spm file: a vocabulary with scores, in the format of protocol buffers.

The numbers of the fields are those of sentencepiece_model.proto in SentencePiece 0.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.settings import CheckpointSettings
from tracer.checkpoints.tensor import mapped
from tracer.errors import Problem, TracerError
from tracer.tokenization.normalization import TextNormalization

MODELS = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}
NORMAL, USER_DEFINED, BYTE = 1, 4, 6


@dataclass(frozen=True)
class SentencePieceModel:
    """A unigram model of SentencePiece."""

    scores: Mapping[str, Any]
    """The score of each piece, a float32, which SentencePiece adds as such."""
    normalization: TextNormalization


def read_spm(path: Path) -> SentencePieceModel:
    """Return the unigram model of a .spm file.

    Raises:
        TracerError: it is damaged or of another kind.
    """
    content = bytes(mapped(path))
    try:
        pieces = [_piece(dict(_fields(value))) for key, value in _fields(content) if key == 1]
        parts = {key: dict(_fields(value)) for key, value in _fields(content) if key in (2, 3, 5)}
        trainer, normalizer, denormalizer = (parts.get(key, {}) for key in (2, 3, 5))
        normalization = TextNormalization(
            _bytes(normalizer, 2), bool(normalizer.get(3, True)), bool(normalizer.get(4, True))
        )
    except (IndexError, KeyError, ValueError):
        raise TracerError(Problem("not a whole SentencePiece model", str(path))) from None
    kinds = {kind for _, _, kind in pieces}
    settings = CheckpointSettings(str(path), {
        "model_type": MODELS.get(trainer.get(3, 1)),
        "treat_whitespace_as_suffix": bool(trainer.get(24)),
        "escape_whitespaces": bool(normalizer.get(5, True)),
        "user_defined_symbols": USER_DEFINED in kinds,
        "byte_fallback": BYTE in kinds,
        "denormalizer_spec": bool(denormalizer.get(2)),
    })  # fmt: skip
    settings.only("model_type", "unigram")
    for key in ("treat_whitespace_as_suffix", "user_defined_symbols", "byte_fallback"):
        settings.only(key, False)
    settings.only("denormalizer_spec", False)
    settings.only("escape_whitespaces", True)
    settings.check()
    return SentencePieceModel(
        {text: score for text, score, kind in pieces if kind == NORMAL}, normalization
    )


def _piece(fields: Mapping[int, Any]) -> tuple[str, Any, int]:
    """Return the text, the score and the kind of a piece."""
    score = np.frombuffer(_bytes(fields, 2) or bytes(4), "<f4", 1)[0]
    if not np.isfinite(score):
        raise ValueError("a score is not a number")
    return _bytes(fields, 1).decode(), score, fields.get(3, NORMAL)


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
