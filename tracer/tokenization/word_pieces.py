"""WordPiece (Schuster and Nakajima 2012), as BERT uses it: the longest token first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WordPieces:
    """A vocabulary from which the longest token is taken, from the left of a piece to its right."""

    prefix: str
    """The beginning of a token that continues a piece, such as ##."""
