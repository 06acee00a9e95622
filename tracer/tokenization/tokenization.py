"""The result of tokenizing a text: its pieces, the merges in each piece, the tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracer.tokenization.alphabets import Alphabet, as_text
from tracer.tokenization.bpe import Merge, Method
from tracer.tokenization.learning import LearnedMerge

UNKNOWN = "[UNK]"
"""The token for a character that the corpus does not have."""


@dataclass(frozen=True)
class Token:
    """A symbol of the vocabulary."""

    id: int | None
    """The row of the embeddings in a trained model."""
    symbol: str
    """The symbol in the vocabulary: Ġthe."""
    content: bytes
    """The bytes of the token, which need not be whole characters."""

    @property
    def text(self) -> str:
        """The token's text: ` the`; a byte that belongs to no whole character as \\xe2."""
        return as_text(self.content)


@dataclass(frozen=True)
class Piece:
    """A part of the text that is tokenized separately: no merge crosses its ends."""

    text: str
    """Empty for a token that is added before or after every text."""
    symbols: tuple[str, ...]
    """The symbols before any merge; a token that is matched as a whole is one symbol."""
    merges: tuple[Merge, ...]
    tokens: tuple[Token, ...]

    @property
    def content(self) -> bytes:
        """The bytes of the piece."""
        return self.text.encode()


@dataclass(frozen=True)
class Tokenization:
    """A text and its pieces, in order."""

    text: str
    pieces: tuple[Piece, ...]
    alphabet: Alphabet
    learned: tuple[LearnedMerge, ...] = ()
    """The merges with the counts from which they were learned, if they were learned here."""
    method: Method = "merges"
    scores: Mapping[str, float] = field(default_factory=dict)
    """The scores of its tokens, if a unigram language model chose them."""
    prefix: str = ""
    """The beginning of a token that continues a piece, if the longest token is taken first."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of all pieces."""
        return tuple(token for piece in self.pieces for token in piece.tokens)

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids that a trained model reads; each selects a row of the embeddings."""
        return tuple(token.id for token in self.tokens if token.id is not None)

    def read(self, symbol: str) -> str:
        """Return a symbol as text: ` the` for Ġthe."""
        return as_text(self.alphabet.content(symbol))
