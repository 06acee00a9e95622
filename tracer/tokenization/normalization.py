"""SentencePiece's normalization of a text (Kudo & Richardson 2018): replacements and spaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracer.tokenization.alphabets import SPACE

_SIZE = 4
_LABEL, _VALUE, _HAS_LEAF = 1 << 31 | 0xFF, (1 << 31) - 1, 1 << 8
"""The bits of a unit: the byte that leads to the node, a leaf's value, whether it has a leaf."""


@dataclass(frozen=True)
class TextNormalization:
    """How a text is normalized before it is split into tokens."""

    replacements: bytes
    """The length of a trie, the trie, and the replacements that it points to; or nothing.

    The trie is a double array as in Darts-clone: a unit of four bytes per node.
    """
    adds_space: bool
    """Whether a space is added before the text."""
    removes_spaces: bool
    """Whether spaces are removed at both ends, and all but one of several spaces."""

    def __call__(self, text: str) -> str:
        """Return the normalized text; each space is `▁`."""
        content, at, parts = text.encode(), 0, list[str]()
        ends_with_space = self.removes_spaces
        while at < len(content):
            part, at = self._next(content, at)
            part = part.lstrip(" ") if ends_with_space else part
            if part:
                parts.append(part)
                ends_with_space = part.endswith(" ") and self.removes_spaces
        found = "".join(parts).replace(" ", SPACE)
        found = SPACE + found if text and self.adds_space else found
        return found.rstrip(SPACE) if self.removes_spaces else found

    def _next(self, content: bytes, begin: int) -> tuple[str, int]:
        """Return the replacement of the longest part that has one, and where that part ends.

        Without any, return the next character.
        """
        units, found = self._units, None
        node = _offset(int(units[0])) if len(units) else 0
        for end in range(begin + 1, len(content) + 1):
            byte = content[end - 1]
            node ^= byte
            unit = int(units[node]) if node < len(units) else 0
            if unit & _LABEL != byte or not byte:
                break
            node ^= _offset(unit)
            if unit & _HAS_LEAF and node < len(units) and _ends_a_character(content, end):
                found = self._replacement(int(units[node]) & _VALUE), end
        if found:
            return found
        ends = range(begin + 1, len(content) + 1)
        end = next(end for end in ends if _ends_a_character(content, end))
        return content[begin:end].decode(), end

    def _replacement(self, at: int) -> str:
        begin = _SIZE + _SIZE * len(self._units) + at
        end = self.replacements.find(b"\0", begin)
        return self.replacements[begin : max(begin, end)].decode(errors="replace")

    @cached_property
    def _units(self) -> NDArray[np.uint32]:
        length = int.from_bytes(self.replacements[:_SIZE], "little")
        stored = self.replacements[_SIZE : _SIZE + length]
        return np.frombuffer(stored, "<u4", len(stored) // _SIZE)


def _ends_a_character(text: bytes, at: int) -> bool:
    """Return whether a character of UTF-8 ends before this byte."""
    return at == len(text) or text[at] >> 6 != 0b10


def _offset(unit: int) -> int:
    """Return what leads from a node to its children."""
    return unit >> 10 << ((unit & 1 << 9) >> 6)
