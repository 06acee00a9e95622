"""Marian's tokenizers: SentencePiece's unigram model chooses the tokens, vocab.json their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tracer.tokenization.bpe import Merge
from tracer.tokenization.normalization import TextNormalization
from tracer.tokenization.unigram import Unigram

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class MarianPieces:
    """What surrounds the unigram model, with the methods of `library.Library`."""

    normalization: TextNormalization
    content_of: Mapping[int, bytes]
    """The bytes of each token."""
    special: Collection[int]
    """The ids of the tokens that represent no text, such as the end token."""
    before: Sequence[int]
    """The ids that are added before each text."""
    after: Sequence[int]
    """The ids that are added after each text."""

    def encode(self, text: str, parts: Sequence[str]) -> dict[str, Any]:
        """Return the ids that are added before and after a text, and the pieces of each part.

        The ids of the text are None, because only the unigram model defines them.
        """
        pieces = [[*self._pieces(part)] for part in parts]
        return {"ids": None, "before": self.before, "after": self.after, "pieces": pieces}

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens, with a space after each special token."""
        parts = list[str]()
        for is_special, run in groupby(ids, self.special.__contains__):
            contents = [self.content_of[id].decode() for id in run]
            parts += (
                [f"{each} " for each in contents] if is_special else ["".join(contents).lstrip()]
            )
        return "".join(parts).rstrip()

    def _pieces(self, part: str) -> Iterator[str]:
        """Yield the code of the language to translate into, such as `>>fra<<`, and the text."""
        end = part.find("<<") + 2 if part.startswith(">>") else 0
        if end > 2:
            yield part[:end]
        rest = self.normalization(part[end:] if end > 2 else part)
        if rest:
            yield rest


class MarianUnigram(Unigram):
    """The tokens of a piece; those without an id become `<unk>`."""

    def __init__(self, score_of: Mapping[str, Any], known: Collection[str]) -> None:
        """Create the model; `known` are the tokens with an id."""
        super().__init__(score_of, None, with_bytes=False)
        self._known = known

    def split(self, piece: str) -> tuple[tuple[str, ...], tuple[Merge, ...]]:
        """Return the tokens of a piece, and no merges; the code of a language is one token."""
        is_code = piece.startswith(">>") and piece.endswith("<<")
        tokens = (piece,) if is_code else super().split(piece)[0]
        return tuple(token if token in self._known else UNKNOWN for token in tokens), ()
