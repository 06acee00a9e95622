"""What a text became: its pieces, the merges in each of them, the tokens."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.tokenization.bpe import Merge


@dataclass(frozen=True)
class Token:
    """A symbol of the vocabulary."""

    id: int
    symbol: str
    """As the vocabulary writes it: Ġthe."""
    content: bytes
    """What it stands for, which need not be whole characters."""

    @property
    def text(self) -> str:
        """What it stands for: ` the`; bytes that are no whole character as \\xe2."""
        return text_of(self.content)


def text_of(content: bytes) -> str:
    """Bytes as text; those that are no whole character as \\xe2."""
    return content.decode(errors="backslashreplace")


@dataclass(frozen=True)
class Piece:
    """A part of the text that is taken by itself: no merge goes beyond its ends."""

    text: str
    """Empty for a token that is put before or behind all text."""
    symbols: tuple[str, ...]
    """Before any are joined; a token that is known as a whole is one symbol."""
    merges: tuple[Merge, ...]
    tokens: tuple[Token, ...]

    @property
    def content(self) -> bytes:
        """Its bytes."""
        return self.text.encode()


@dataclass(frozen=True)
class Tokenization:
    """A text and its pieces, in order."""

    text: str
    pieces: tuple[Piece, ...]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of all pieces."""
        return tuple(token for piece in self.pieces for token in piece.tokens)

    @property
    def ids(self) -> tuple[int, ...]:
        """What the model reads: a row of the embeddings for each."""
        return tuple(token.id for token in self.tokens)
