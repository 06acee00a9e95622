"""The tokenizer of a trained model: the library computes the tokens, merges explain them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tracer.errors import Problem, TracerError
from tracer.tokenization.alphabets import Alphabet, as_text
from tracer.tokenization.bpe import Merging, merged
from tracer.tokenization.isolated import IsolatedLibrary
from tracer.tokenization.library import Library
from tracer.tokenization.marian import MarianPieces
from tracer.tokenization.sentence_piece import SentencePiece
from tracer.tokenization.tokenization import Piece, Token, Tokenization
from tracer.tokenization.unigram import Unigram


class Tokenizer:
    """Text → tokens, and back.

    An id without a token, such as a padding row of the embeddings, is written `[304]`.
    """

    def __init__(
        self,
        library: Library | IsolatedLibrary | SentencePiece | MarianPieces | None,
        vocabulary: Mapping[str, int],
        added: Mapping[str, int],
        model: Merging | Unigram,
        alphabet: Alphabet,
    ) -> None:
        """Create a tokenizer; without a library, it knows only ids.

        `added`: the tokens that are matched as a whole. `model`: how a piece becomes tokens.
        """
        self._library, self._model = library, model
        self._added, self._alphabet = added, alphabet
        self._ids = {**vocabulary, **self._added}
        self._symbols = {id: symbol for symbol, id in self._ids.items()}
        # The longest first: if one name begins with another, the longer one is matched.
        names = sorted(self._added, key=len, reverse=True)
        self._names = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None

    def encode(self, text: str) -> Tokenization:
        """Return the pieces of a text, with the tokens that the model adds before and after it.

        Raises:
            TracerError: the text cannot be tokenized.
        """
        if not self._library:
            files = "in a folder, tokenizer.json; for Marian, vocab.json, source.spm and target.spm"
            message = f"the model has no tokenizer ({files}), which a text needs"
            raise TracerError(Problem(f"{message}: use token_ids instead"))
        parts = [*filter(None, self._names.split(text) if self._names else [text])]
        split = [part for part in parts if part not in self._added]
        theirs = self._library.encode(_utf_8(text), split)
        pieces = (
            *(_put_in(self.token(id)) for id in theirs["before"]),
            *self._pieces(parts, iter(theirs["pieces"])),
            *(_put_in(self.token(id)) for id in theirs["after"]),
        )
        tokenization = self._tokenization(text, pieces)
        if theirs["ids"] not in (None, list(tokenization.ids)):
            message = f"{text!r} is split into tokens by a method that is not supported"
            raise TracerError(Problem(message))
        return tokenization

    def _tokenization(self, text: str, pieces: tuple[Piece, ...]) -> Tokenization:
        model = self._model
        if isinstance(model, Merging):
            return Tokenization(text, pieces, self._alphabet, method=model.method)
        scores = model.scores(tuple(symbol for piece in pieces for symbol in piece.symbols))
        return Tokenization(text, pieces, self._alphabet, method=model.method, scores=scores)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens; bytes that form no whole character become �."""
        runs = groupby(ids, self._symbols.__contains__)
        return "".join(
            self._library.decode([*run])
            if known and self._library
            else "".join(map(text_of_id, run))
            for known, run in runs
        )

    def token(self, id: int) -> Token:
        """Return the token of an id.

        Raises:
            TracerError: there is none.
        """
        if id not in self._symbols:
            raise TracerError(Problem(f"no token has the id {id}"))
        symbol = self._symbols[id]
        return Token(id, symbol, self._content(symbol))

    def texts(self, words: int) -> list[str]:
        """Return the texts of all tokens with ids from 0 to before `words`."""
        return [
            as_text(self._content(self._symbols[id])) if id in self._symbols else text_of_id(id)
            for id in range(words)
        ]

    def _content(self, symbol: str) -> bytes:
        return symbol.encode() if symbol in self._added else self._alphabet.content(symbol)

    def _pieces(self, parts: Sequence[str], split: Iterator[list[str]]) -> Iterator[Piece]:
        for part in parts:
            if part in self._added:
                yield Piece(part, (part,), (), (self.token(self._added[part]),))
            else:
                yield from map(self._piece, next(split))

    def _piece(self, piece: str) -> Piece:
        """Return a piece, given as the library writes it, with its symbols, merges and tokens."""
        text = as_text(self._alphabet.content(piece))
        symbols, merges = self._model.split(piece)
        tokens = tuple(map(self._known, merged(symbols, merges)))
        return Piece(text, symbols, merges, tokens)

    def _known(self, symbol: str) -> Token:
        if symbol not in self._ids:
            raise TracerError(Problem(f"{symbol!r} is not in the vocabulary"))
        return self.token(self._ids[symbol])


def tokenizer_of_ids() -> Tokenizer:
    """Return the tokenizer of a model without one: it knows only ids."""
    return Tokenizer(None, {}, {}, Merging({}, Alphabet()), Alphabet())


def _put_in(token: Token) -> Piece:
    """Return the piece of a token that represents no part of the text."""
    return Piece("", (token.symbol,), (), (token,))


def text_of_id(id: int) -> str:
    """Return the text for an id without a token."""
    return f"[{id}]"


def _utf_8(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TracerError(Problem(f"{text!r} is not UTF-8")) from None
    return text
