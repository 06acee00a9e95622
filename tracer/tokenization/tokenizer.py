"""The tokenizer of a trained model: the tokenizers library says what, merges say why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from tracer.errors import Problem, TracerError
from tracer.tokenization.alphabets import Alphabet
from tracer.tokenization.bpe import bpe, ranks
from tracer.tokenization.tokenization import Piece, Token, Tokenization

if TYPE_CHECKING:
    import tokenizers


class Tokenizer:
    """Text → tokens and back."""

    def __init__(
        self,
        library: tokenizers.Tokenizer,
        merges: Sequence[tuple[str, str]],
        alphabet: Alphabet,
        *,
        whole_first: bool = False,
    ) -> None:
        """`whole_first`: a piece that is in the vocabulary as it is needs no merges."""
        self._library = library
        self._ranks = ranks(merges)
        self._alphabet = alphabet
        self._whole_first = whole_first
        added = library.get_added_tokens_decoder()
        self._added = {token.content: id for id, token in added.items()}
        # The longest first: of two that begin alike, a text holds the longer one.
        names = sorted(self._added, key=len, reverse=True)
        self._names = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None

    def encode(self, text: str) -> Tokenization:
        """The pieces of a text, with what the model wants before and behind it.

        Raises:
            TracerError: the text cannot be tokenized.
        """
        theirs = self._encoded(text)
        outside = [bool(mask) for mask in theirs.special_tokens_mask]
        before = len(list(takewhile(bool, outside)))
        behind = len(list(takewhile(bool, outside[before:][::-1])))
        pieces = (
            *(_put_in(self.token(id)) for id in theirs.ids[:before]),
            *self._pieces(text),
            *(_put_in(self.token(id)) for id in theirs.ids[len(theirs.ids) - behind :]),
        )
        tokenization = Tokenization(text, pieces)
        if list(tokenization.ids) != theirs.ids:
            message = f"the tokens of {text!r} come about in a way that is not known"
            raise TracerError(Problem(message))
        return tokenization

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens; bytes that are no whole character are �."""
        return self._library.decode(list(ids), skip_special_tokens=False)

    def token(self, id: int) -> Token:
        """The token of a number.

        Raises:
            TracerError: there is none.
        """
        symbol = self._library.id_to_token(id) if 0 <= id < 2**32 else None
        if symbol is None:
            raise TracerError(Problem(f"no token has the number {id}"))
        is_added = symbol in self._added
        return Token(id, symbol, symbol.encode() if is_added else self._alphabet.content(symbol))

    def _encoded(self, text: str) -> tokenizers.Encoding:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise TracerError(Problem(f"{text!r} is not UTF-8")) from None
        return self._library.encode(text)

    def _pieces(self, text: str) -> Iterator[Piece]:
        for part in self._names.split(text) if self._names else [text]:
            if part in self._added:
                yield Piece(part, (part,), (), (self.token(self._added[part]),))
            elif part:
                yield from map(self._piece, self._split(part))

    def _split(self, text: str) -> list[str]:
        if self._library.normalizer is not None:
            text = self._library.normalizer.normalize_str(text)
        if self._library.pre_tokenizer is None:
            return [text]
        return [piece for piece, _ in self._library.pre_tokenizer.pre_tokenize_str(text)]

    def _piece(self, piece: str) -> Piece:
        """A piece as the library writes it, in symbols."""
        text = self._alphabet.content(piece).decode(errors="backslashreplace")
        whole = self._library.model.token_to_id(piece) if self._whole_first else None
        if whole is not None:
            return Piece(text, (piece,), (), (self.token(whole),))
        symbols = tuple(self._alphabet.symbols(piece))
        merges = tuple(bpe(symbols, self._ranks))
        last = merges[-1].symbols if merges else symbols
        return Piece(text, symbols, merges, tuple(map(self._known, last)))

    def _known(self, symbol: str) -> Token:
        id = self._library.token_to_id(symbol)
        if id is None:
            raise TracerError(Problem(f"{symbol!r} is not in the vocabulary"))
        return self.token(id)


def _put_in(token: Token) -> Piece:
    """A token that stands for no part of the text."""
    return Piece("", (token.symbol,), (), (token,))
