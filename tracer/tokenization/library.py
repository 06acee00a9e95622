"""The tokenizers library: text → token ids, and back.

As a program, it serves one tokenizer over its standard streams. Its input is the length of a
tokenizer.json's text in a line, then that text, then a line for each request; it answers with a
line. It then imports nothing of this project, so that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tokenizers

MOST_SECONDS, MOST_BYTES = 20, 3 * 2**30
"""Limits for one answer, and for the whole program."""


class Library:
    """A tokenizer of the library, with arguments and results that can be written as JSON."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer

    def added(self) -> dict[str, int]:
        """Return the tokens that are matched as a whole, with their ids."""
        added = self._tokenizer.get_added_tokens_decoder()
        return {token.content: id for id, token in added.items()}

    def encode(self, text: str, parts: Sequence[str]) -> dict[str, list[Any]]:
        """Return the ids, those that are added before and after a text, and each part's pieces."""
        found = self._tokenizer.encode(text)
        added = found.special_tokens_mask
        before = len(list(takewhile(bool, added)))
        after = len(list(takewhile(bool, added[before:][::-1])))
        return {
            "ids": found.ids,
            "before": found.ids[:before],
            "after": found.ids[len(found.ids) - after :],
            "pieces": [
                self._pieces(part, begins=i == 0 and text.startswith(part))
                for i, part in enumerate(parts)
            ],
        }

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens; bytes that form no whole character become �."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)

    def _pieces(self, part: str, *, begins: bool) -> list[str]:
        """Return the pieces of a part; `begins`: whether it is the beginning of the text."""
        if self._tokenizer.normalizer is not None:
            part = self._tokenizer.normalizer.normalize_str(part)
        splitter: Any = self._tokenizer.pre_tokenizer
        if splitter is None:
            return [part]
        # The library itself would take each part for the beginning, and put a space before it.
        adds_space = not begins and getattr(splitter, "prepend_scheme", None) == "first"
        if adds_space:
            splitter.prepend_scheme = "never"
        pieces = [piece for piece, _ in splitter.pre_tokenize_str(part)]
        if adds_space:
            splitter.prepend_scheme = "first"
        return pieces


def _opened(description: bytes) -> Library:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_buffer(description)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Library(tokenizer)


def _limit() -> None:
    """Limit the memory, if the system can; ignore Ctrl-C, since the parent handles it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def _serve() -> None:
    _limit()
    source, library = sys.stdin.buffer, None
    description = source.read(int(source.readline()))
    for line in source:
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        name, *arguments = json.loads(line)
        try:
            library = library or _opened(description)
            answer = {"found": getattr(library, name)(*arguments)}
        except BaseException as error:  # a panic of the library is not an Exception
            answer = {"problem": str(error)}
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
