"""How symbols of a vocabulary stand for bytes."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain

from tracer.frozen import frozen

SPACE = "▁"
BYTE = re.compile("<0x([0-9A-F]{2})>")

_PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))
_OTHERS = sorted({*range(256)} - {*_PRINTABLE})
LETTERS = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(256 + number) for number, byte in enumerate(_OTHERS)},
}
"""A letter that can be seen for each byte (Radford et al. 2019): Ġ is a space."""
_NO_BYTE = 0xFFFF
_BYTES = {
    **dict.fromkeys(range(256), _NO_BYTE),
    **{ord(letter): byte for byte, letter in LETTERS.items()},
}
"""Which byte a letter is, by their numbers."""


class Alphabet:
    """What the symbols of a vocabulary are made of: characters as they are."""

    def symbols(self, piece: str) -> list[str]:
        """The symbols of a piece of text before any are joined."""
        return list(piece)

    def content(self, symbol: str) -> bytes:
        """What a symbol stands for."""
        return symbol.encode()


class ByteLetters(Alphabet):
    """A letter for each byte: `Ġcafé` is ` caf` and the two bytes of é."""

    def content(self, symbol: str) -> bytes:
        """What a symbol stands for; what is written in no such letters stands for itself."""
        try:
            return symbol.translate(_BYTES).encode("latin-1")
        except UnicodeEncodeError:
            return symbol.encode()


@frozen
class Characters(Alphabet):
    """Characters as they are, ▁ for a space, and <0xC3> for a byte of those that are not known."""

    known: Collection[str]
    """The vocabulary."""

    def symbols(self, piece: str) -> list[str]:
        """The symbols of a piece of text before any are joined."""
        parts = (
            [character]
            if character in self.known
            else [f"<0x{byte:02X}>" for byte in character.encode()]
            for character in piece
        )
        return [*chain.from_iterable(parts)]

    def content(self, symbol: str) -> bytes:
        """What a symbol stands for."""
        byte = BYTE.fullmatch(symbol)
        return bytes.fromhex(byte[1]) if byte else symbol.replace(SPACE, " ").encode()


def as_text(content: bytes) -> str:
    """Bytes as they are read; what is no whole character as \\xe2."""
    return content.decode(errors="backslashreplace")
