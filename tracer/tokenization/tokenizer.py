"""The tokenizer of a trained model: the library computes the tokens, merges explain them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import groupby

from tracer.errors import Problem, TracerError
from tracer.tokenization.alphabets import Alphabet, as_text
from tracer.tokenization.bpe import Merging, merged
from tracer.tokenization.isolated import IsolatedLibrary
from tracer.tokenization.library import Library
from tracer.tokenization.marian import MarianPieces
from tracer.tokenization.sentence_piece import SentencePiece
from tracer.tokenization.tokenization import Piece, Token, Tokenization
from tracer.tokenization.word_pieces import WordPieces


class Tokenizer:
    """Text → tokens, and back.

    An id without a token, such as a padding row of the embeddings, is written `[304]`.
    """

    def __init__(
        self,
        library: Library | IsolatedLibrary | SentencePiece | MarianPieces | None,
        vocabulary: Mapping[str, int],
        added: Mapping[str, int],
        model: Merging | Mapping[str, float] | WordPieces,
        alphabet: Alphabet,
        unknown: str | None = None,
        missing: str = "",
    ) -> None:
        """Create a tokenizer; without a library, it knows only ids.

        `added`: the tokens that are matched as a whole. `model`: the merges
        of a piece, or the scores of tokens that the library's unigram language model chooses, or
        what marks tokens of which the library takes the longest.
        `unknown`: the token for characters that the vocabulary does not have. `missing`: why there
        is no library.
        """
        self._library, self._model = library, model
        self._added, self._alphabet, self._unknown = added, alphabet, unknown
        self._missing = missing
        self._ids = {**vocabulary, **self._added}
        needed = alphabet.for_any_text
        self._writes_any_text = unknown is not None or (
            bool(needed) and all(symbol in self._ids for symbol in needed)
        )
        self._symbols = {id: symbol for symbol, id in self._ids.items()}
        self._template: Callable[[str], str] | None = None

    def with_template(self, template: Callable[[str], str]) -> Tokenizer:
        """Return the tokenizer of messages in a chat; `template` returns what the model reads."""
        found = copy(self)
        found._template = template
        return found

    def encode(self, text: str) -> Tokenization:
        """Return the pieces of a text, with the tokens that the model adds before and after it.

        A chat template adds these tokens itself.

        Raises:
            TracerError: the text cannot be tokenized.
        """
        if not self._library:
            message = f"{self._missing}, which a text needs: use token_ids instead"
            raise TracerError(Problem(message))
        text = self._template(text) if self._template else text
        theirs = self._library.encode(_utf_8(text))
        self._check_known(theirs["skipped"])
        if self._template:
            before, after = len(theirs["before"]), len(theirs["after"])
            ids = theirs["ids"] and theirs["ids"][before : len(theirs["ids"]) - after]
            theirs = {**theirs, "before": [], "after": [], "ids": ids}
        pieces = (
            *(_put_in(self.token(id)) for id in theirs["before"]),
            *map(self._piece, theirs["pieces"]),
            *(_put_in(self.token(id)) for id in theirs["after"]),
        )
        tokenization = self._tokenization(text, pieces)
        if theirs["ids"] not in (None, list(tokenization.ids)):
            raise _not_supported(text)
        return tokenization

    def _tokenization(self, text: str, pieces: tuple[Piece, ...]) -> Tokenization:
        model = self._model
        if isinstance(model, Merging):
            return Tokenization(text, pieces, self._alphabet, method=model.method)
        if isinstance(model, WordPieces):
            prefix = model.prefix
            return Tokenization(text, pieces, self._alphabet, method="longest", prefix=prefix)
        symbols = (symbol for piece in pieces for symbol in piece.symbols)
        scores = {symbol: float(model[symbol]) for symbol in symbols if symbol in model}
        return Tokenization(text, pieces, self._alphabet, method="unigram", scores=scores)

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

    def _piece(self, found: Sequence[tuple[str, str]]) -> Piece:
        """Return a piece with its symbols and merges.

        `found`: its tokens, each with the part of the text that it covers.
        """
        tokens = tuple(self._known(symbol) for symbol, _ in found)
        text = as_text(b"".join(map(self._covered, found)))
        [(first, part), *others] = found
        is_added = first in self._added and not others
        if is_added and part.strip() == first:
            return Piece(part, (first,), (), tokens)
        self._check_known("".join(part for _, part in found))
        names = tuple(symbol for symbol, _ in found)
        if isinstance(self._model, WordPieces):
            return Piece("".join(part for _, part in found), names, (), tokens)
        if not isinstance(self._model, Merging):
            return Piece(text, names, (), tokens)
        symbols, merges = self._model.explained(names, self._unknown)
        if merged(symbols, merges) == names:
            return Piece(text, symbols, merges, tokens)
        if is_added:  # matched after the text was normalized
            return Piece(first, (first,), (), tokens)
        raise _not_supported(text)

    def _covered(self, found: tuple[str, str]) -> bytes:
        """Return the bytes of a token: of an unknown one, those that it covers."""
        symbol, part = found
        return self._alphabet.content(part if symbol == self._unknown else symbol)

    def _check_known(self, characters: str) -> None:
        """Raise for a character that the library has left out, because it has no symbols.

        Raises:
            TracerError: there is such a character.
        """
        if self._writes_any_text:
            return
        for character in characters:
            symbols = self._alphabet.symbols(self._alphabet.written(character))
            if not all(symbol in self._ids for symbol in symbols):
                raise _unknown(character)

    def _known(self, symbol: str) -> Token:
        if symbol not in self._ids:
            raise _unknown(symbol)
        return self.token(self._ids[symbol])


def tokenizer_of_ids(missing: str) -> Tokenizer:
    """Return the tokenizer of a model without one: it knows only ids; `missing` says why."""
    return Tokenizer(None, {}, {}, Merging({}, Alphabet()), Alphabet(), missing=missing)


def _put_in(token: Token) -> Piece:
    """Return the piece of a token that represents no part of the text."""
    return Piece("", (token.symbol,), (), (token,))


def _unknown(symbol: str) -> TracerError:
    return TracerError(Problem(f"{symbol!r} is not in the vocabulary"))


def _not_supported(text: str) -> TracerError:
    return TracerError(Problem(f"{text!r} is split into tokens by a method that is not supported"))


def text_of_id(id: int) -> str:
    """Return the text for an id without a token."""
    return f"[{id}]"


def _utf_8(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TracerError(Problem(f"{text!r} is not UTF-8")) from None
    return text
