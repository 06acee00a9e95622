"""SentencePiece's byte-pair encoding (Kudo & Richardson 2018): spaces are characters like others.

A text is not split into words before its characters are merged, and the token with the highest
score is merged first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracer.tokenization.added import WholeTokens
from tracer.tokenization.alphabets import SPACE
from tracer.tokenization.bpe import Merging, merged


@dataclass(frozen=True)
class SentencePiece:
    """Merges and what surrounds them, with the methods of `library.Library`."""

    merging: Merging
    whole: WholeTokens
    content_of: Mapping[int, bytes]
    """The bytes of each token."""
    before: Sequence[int]
    """The ids that are added before each text."""
    after: Sequence[int]
    """The ids that are added after each text."""
    space_first: bool
    """Whether a space is added before a text, and after each token that is matched as a whole."""

    def encode(self, text: str) -> dict[str, Any]:
        """Return the ids that are added before and after a text, and the tokens of each part.

        The ids of the text are None, because only the merges define them.
        """
        pieces = [
            [(part, part)] if is_whole else [(token, "") for token in self._tokens(part)]
            for part, is_whole in self.whole.split(text)
        ]
        around = {"before": self.before, "after": self.after}
        return {"ids": None, **around, "pieces": pieces, "skipped": ""}

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens; bytes that form no whole character become �."""
        text = b"".join(self.content_of[id] for id in ids).decode(errors="replace")
        return text.removeprefix(" ") if self.space_first else text

    def _tokens(self, part: str) -> tuple[str, ...]:
        first = SPACE if self.space_first else ""
        return merged(*self.merging.split(first + part.replace(" ", SPACE)))


class TokenRanks:
    """The ranks of joined tokens, whatever their two parts are: the highest score is first."""

    def __init__(self, score_of: Mapping[str, float]) -> None:
        """Rank the tokens; equal scores have equal ranks, counted from 1."""
        scores = sorted({*score_of.values()}, reverse=True)
        order = {score: rank for rank, score in enumerate(scores, 1)}
        self._rank_of = {token: order[score] for token, score in score_of.items()}

    def get(self, pair: tuple[str, str], /) -> int | None:
        """Return the rank of a pair; None if the vocabulary does not have the joined token."""
        return self._rank_of.get(pair[0] + pair[1])
