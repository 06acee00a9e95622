"""The unigram language model (Kudo 2018): a token's score is the logarithm of its probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import takewhile

from tracer.tokenization.bpe import Merge, Method

PENALTY = 10
"""The score of an unknown character is so much lower than the lowest score of a token."""


class Unigram:
    """The tokens with the largest sum of scores, as the tokenizers library computes them."""

    method: Method = "unigram"

    def __init__(
        self, score_of: Mapping[str, float], unknown: str | None, *, with_bytes: bool
    ) -> None:
        """Create the model from the scores of all tokens.

        `unknown`: the token for a run of unknown characters, None for the run itself; with bytes,
        tokens such as <0xC3> represent the run instead.
        """
        self._score_of, self._unknown, self._with_bytes = score_of, unknown, with_bytes
        self._lengths = sorted({1, *map(len, score_of)})
        self._lowest = min(score_of.values(), default=0.0) - PENALTY

    def split(self, piece: str) -> tuple[tuple[str, ...], tuple[Merge, ...]]:
        """Return the tokens of a piece, and no merges; of equal sums, the first found counts."""
        # The best way to each position follows from the best ways to the positions before it.
        best = [0.0] + [-math.inf] * len(piece)
        begin_of, is_known = [0] * (len(piece) + 1), [True] * (len(piece) + 1)
        for begin in range(len(piece)):
            for end in takewhile(lambda end: end <= len(piece), map(begin.__add__, self._lengths)):
                score = self._score_of.get(piece[begin:end])
                if score is None and end > begin + 1:
                    continue
                total = best[begin] + (self._lowest if score is None else score)
                if total > best[end]:
                    best[end], begin_of[end], is_known[end] = total, begin, score is not None
        tokens, end = list[str](), len(piece)
        while end:
            begin, known = begin_of[end], is_known[end]
            while not known and begin and not is_known[begin]:
                begin = begin_of[begin]
            part = piece[begin:end]
            tokens[:0] = [part] if known else self._of_unknown(part)
            end = begin
        return tuple(tokens), ()

    def scores(self, tokens: tuple[str, ...]) -> dict[str, float]:
        """Return the scores of some tokens; those without a score are left out."""
        return {token: float(self._score_of[token]) for token in tokens if token in self._score_of}

    def _of_unknown(self, part: str) -> list[str]:
        """Return the tokens of a run of unknown characters."""
        found = [f"<0x{byte:02X}>" for byte in part.encode()]
        has_all = self._with_bytes and all(map(self._score_of.__contains__, found))
        if has_all:
            return found
        return [part if self._unknown is None else self._unknown]
