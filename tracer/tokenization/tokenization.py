"""What a text became: its pieces, the merges in each of them, the tokens."""

from __future__ import annotations

from tracer.frozen import frozen
from tracer.tokenization.alphabets import Alphabet, as_text
from tracer.tokenization.bpe import Merge


@frozen
class Token:
    """A symbol of the vocabulary."""

    id: int | None
    """Its number in a trained model's vocabulary."""
    symbol: str
    """As the vocabulary writes it: Ġthe."""
    content: bytes
    """What it stands for, which need not be whole characters."""

    @property
    def text(self) -> str:
        """What it stands for: ` the`; bytes that are no whole character as \\xe2."""
        return as_text(self.content)


@frozen
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


@frozen
class Tokenization:
    """A text and its pieces, in order."""

    text: str
    pieces: tuple[Piece, ...]
    alphabet: Alphabet

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of all pieces."""
        return tuple(token for piece in self.pieces for token in piece.tokens)

    @property
    def ids(self) -> tuple[int, ...]:
        """What a trained model reads: a row of the embeddings for each."""
        return tuple(token.id for token in self.tokens if token.id is not None)

    def read(self, symbol: str) -> str:
        """A symbol as its text: ` the` for Ġthe."""
        return as_text(self.alphabet.content(symbol))
