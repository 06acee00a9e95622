"""A typed text with typed merges → tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracer.tokenization.alphabets import Alphabet
from tracer.tokenization.bpe import bpe, merged, ranks
from tracer.tokenization.tokenization import Piece, Token, Tokenization

PIECES = re.compile(" ?[^ ]+| +(?![^ ])")
"""Words, each with the space before it; any further spaces are a separate piece."""


def encode(text: str, merges: Sequence[tuple[str, str]]) -> Tokenization:
    """Split the text at its spaces, and merge the characters of each piece."""
    order, alphabet = ranks(merges), Alphabet()

    def piece(text: str) -> Piece:
        symbols = tuple(alphabet.symbols(text))
        done = tuple(bpe(symbols, order))
        tokens = [Token(None, each, alphabet.content(each)) for each in merged(symbols, done)]
        return Piece(text, symbols, done, tuple(tokens))

    return Tokenization(text, tuple(map(piece, PIECES.findall(text))), alphabet)
