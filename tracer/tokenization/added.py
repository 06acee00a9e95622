"""Tokens that are matched as a whole, wherever they occur in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable


class WholeTokens:
    """The tokens that are matched before anything else, such as `</s>`."""

    def __init__(self, names: Iterable[str]) -> None:
        # The longest first: if one name begins with another, the longer one is matched.
        ordered = sorted(names, key=len, reverse=True)
        self._names = {*ordered}
        self._pattern = re.compile(f"({'|'.join(map(re.escape, ordered))})") if ordered else None

    def split(self, text: str) -> list[tuple[str, bool]]:
        """Return the parts of a text, and whether each is such a token."""
        parts = self._pattern.split(text) if self._pattern else [text]
        return [(part, part in self._names) for part in parts if part]
