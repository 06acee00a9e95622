"""How the symbols of a vocabulary represent bytes."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain

SPACE = "▁"
BYTE = re.compile("<0x([0-9A-F]{2})>")

_PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))
_OTHERS = sorted({*range(256)} - {*_PRINTABLE})
LETTERS = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(256 + number) for number, byte in enumerate(_OTHERS)},
}
"""A visible letter for each byte (Radford et al. 2019): Ġ is a space."""
_NO_BYTE = 0xFFFF
_BYTES = {
    **dict.fromkeys(range(256), _NO_BYTE),
    **{ord(letter): byte for byte, letter in LETTERS.items()},
}
"""Maps the code point of a letter to its byte."""


BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""A token for each byte."""


class Alphabet:
    """The alphabet of a vocabulary; this one uses characters as they are."""

    for_any_text: Collection[str] = ()
    """Symbols with which a vocabulary can write any text, if it has them all."""

    def symbols(self, piece: str) -> list[str]:
        """Return the symbols of a piece of text before any merge."""
        return list(piece)

    def symbols_of_token(self, token: str) -> list[str]:
        """Return the symbols that were merged to a token."""
        return list(token)

    def written(self, text: str) -> str:
        """Return a text as the vocabulary writes it."""
        return text

    def content(self, symbol: str) -> bytes:
        """Return the bytes of a symbol."""
        return symbol.encode()

    def name(self, symbol: str) -> str:
        """Return what a token is called: ` the` for Ġthe."""
        return as_text(self.content(symbol))


class ByteLetters(Alphabet):
    """A letter for each byte: `Ġcafé` is ` caf` and the two bytes of é."""

    for_any_text = tuple(LETTERS.values())

    def written(self, text: str) -> str:
        """Return a text as the vocabulary writes it: `Ġa` for ` a`."""
        return "".join(LETTERS[byte] for byte in text.encode())

    def content(self, symbol: str) -> bytes:
        """Return the bytes of a symbol; a symbol with other characters is encoded in UTF-8."""
        try:
            return symbol.translate(_BYTES).encode("latin-1")
        except UnicodeEncodeError:
            return symbol.encode()


@dataclass(frozen=True)
class Characters(Alphabet):
    """Characters as they are, ▁ for a space, and <0xC3> for each byte of an unknown character."""

    known: Collection[str]
    """The vocabulary."""
    for_any_text = BYTES

    def symbols(self, piece: str) -> list[str]:
        """Return the symbols of a piece of text before any merge."""
        parts = (
            [character] if character in self.known else [BYTES[byte] for byte in character.encode()]
            for character in piece
        )
        return [*chain.from_iterable(parts)]

    def symbols_of_token(self, token: str) -> list[str]:
        """Return the symbols that were merged to a token; the token of a byte is one symbol."""
        return [token] if BYTE.fullmatch(token) else list(token)

    def written(self, text: str) -> str:
        """Return a text as the vocabulary writes it: `▁a` for ` a`."""
        return text.replace(" ", SPACE)

    def content(self, symbol: str) -> bytes:
        """Return the bytes of a symbol."""
        byte = BYTE.fullmatch(symbol)
        return bytes.fromhex(byte[1]) if byte else symbol.replace(SPACE, " ").encode()


def as_text(content: bytes) -> str:
    """Return bytes as text; a byte that belongs to no whole character is written as \\xe2."""
    return content.decode(errors="backslashreplace")
