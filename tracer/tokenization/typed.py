"""A typed text with typed or learned merges → tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tracer.tokenization.alphabets import Alphabet
from tracer.tokenization.bpe import bpe, merged, ranks
from tracer.tokenization.learning import learn
from tracer.tokenization.tokenization import UNKNOWN, Piece, Token, Tokenization

PIECES = re.compile(" ?[^ ]+| +(?![^ ])")
"""Words, each with the space before it; any further spaces are a separate piece."""


def encode(
    text: str, merges: Sequence[tuple[str, str]], corpus: Mapping[str, int] | None = None
) -> Tokenization:
    """Split the text before its spaces, and merge the characters of each piece.

    The words of a corpus have no spaces, so with a corpus the text is split into words without
    them. A character that is in none of its words is the token [UNK].
    """
    order, alphabet = ranks(merges), Alphabet()
    known = None if corpus is None else frozenset("".join(corpus))

    def piece(text: str) -> Piece:
        symbols = tuple(
            each if known is None or each in known else UNKNOWN for each in alphabet.symbols(text)
        )
        done = tuple(bpe(symbols, order))
        tokens = [Token(None, each, alphabet.content(each)) for each in merged(symbols, done)]
        return Piece(text, symbols, done, tuple(tokens))

    pieces = PIECES.findall(text) if corpus is None else re.findall("[^ ]+", text)
    learned = () if corpus is None else learn(corpus, len(merges))
    return Tokenization(text, tuple(map(piece, pieces)), alphabet, learned)
