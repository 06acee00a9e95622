"""Marian's tokenizers: the sentencepiece library chooses the tokens, vocab.json their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tracer.tokenization.added import WholeTokens
from tracer.tokenization.isolated import IsolatedLibrary

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class MarianPieces:
    """The tokens of a unigram model, with the methods of `library.Library`."""

    model: IsolatedLibrary
    whole: WholeTokens
    known: Collection[str]
    """The tokens with an id; others become `<unk>`."""
    content_of: Mapping[int, bytes]
    """The bytes of each token."""
    special: Collection[int]
    """The ids of the tokens that represent no text, such as the end token."""
    before: Sequence[int]
    """The ids that are added before each text."""
    after: Sequence[int]
    """The ids that are added after each text."""

    def encode(self, text: str) -> dict[str, Any]:
        """Return the ids that are added before and after a text, and the tokens of each piece."""
        pieces = [
            piece
            for part, is_whole in self.whole.split(text)
            for piece in ([[(part, part)]] if is_whole else self._pieces(part))
        ]
        around = {"before": self.before, "after": self.after}
        return {"ids": None, **around, "pieces": pieces, "skipped": ""}

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens, with a space after each special token."""
        parts = list[str]()
        for is_special, run in groupby(ids, self.special.__contains__):
            contents = [self.content_of[id].decode() for id in run]
            parts += (
                [f"{each} " for each in contents] if is_special else ["".join(contents).lstrip()]
            )
        return "".join(parts).rstrip()

    def _pieces(self, part: str) -> Iterator[list[tuple[str, str]]]:
        """Yield the code of the language to translate into, such as `>>fra<<`, and the text.

        The text is as the library normalizes it. Each has its tokens.
        """
        end = part.find("<<") + 2 if part.startswith(">>") else 0
        code, text = (part[:end], part[end:]) if end > 2 else ("", part)
        for tokens in ([code] if code else [], self.model.tokens(text)):
            if tokens:
                yield [(each if each in self.known else UNKNOWN, each) for each in tokens]
