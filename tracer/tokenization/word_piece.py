"""WordPiece (Schuster and Nakajima 2012), as BERT uses it: the longest token is taken first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tracer.tokenization.alphabets import Alphabet


@dataclass(frozen=True)
class Continued(Alphabet):
    """Characters as they are; a token that continues a word begins with a prefix such as ##."""

    prefix: str

    def content(self, symbol: str) -> bytes:
        """Return the bytes of a symbol, without the prefix."""
        return symbol.removeprefix(self.prefix).encode()

    def name(self, symbol: str) -> str:
        """Return the symbol itself: ##s and s are different tokens."""
        return symbol


@dataclass(frozen=True)
class WordPieces:
    """The tokens of a piece: the longest that it begins with, then the longest of the rest."""

    known: Collection[str]
    """The vocabulary."""
    prefix: str
    """What a token begins with that does not begin a piece."""
    most: int
    """The characters of the longest piece that is split."""

    def split(self, piece: str) -> tuple[str, ...] | None:
        """Return the tokens of a piece; None if the vocabulary cannot write it."""
        if len(piece) > self.most:
            return None
        found: list[str] = []
        begin = 0
        while begin < len(piece):
            prefix = self.prefix if begin else ""
            ends = range(len(piece), begin, -1)
            tokens = ((end, prefix + piece[begin:end]) for end in ends)
            end, token = next(((e, t) for e, t in tokens if t in self.known), (0, ""))
            if not token:
                return None
            found.append(token)
            begin = end
        return tuple(found)
