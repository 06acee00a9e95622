"""The tokenizers library: text → token ids, and back; the sentencepiece library: text → tokens.

As a program, it serves one tokenizer of the library that its argument names, over its standard
streams. Its input is the length of a tokenizer.json or a .spm file in a line, then its content,
then a line for each request; it answers with a line. It then imports nothing of this project, so
that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sentencepiece
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

    def encode(self, text: str) -> dict[str, Any]:
        """Return the ids, and the tokens of each piece with the part of the text that each covers.

        `skipped`: the characters that no token covers.
        """
        found = self._tokenizer.encode(text)
        added = [word is None for word in found.word_ids]  # by the post-processor
        before = len([*takewhile(bool, added)])
        after = len([*takewhile(bool, added[before:][::-1])])
        tokens = zip(found.word_ids, found.ids, found.offsets, strict=True)
        covered = {at for start, end in found.offsets for at in range(start, end)}
        return {
            "ids": found.ids,
            "before": found.ids[:before],
            "after": found.ids[len(found.ids) - after :],
            "pieces": [
                [
                    [self._tokenizer.id_to_token(id), text[start:end]]
                    for _, id, (start, end) in piece
                ]
                for word, piece in groupby(tokens, key=itemgetter(0))
                if word is not None
            ],
            "skipped": "".join(letter for at, letter in enumerate(text) if at not in covered),
        }

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens; bytes that form no whole character become �."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)


class SentencePieceLibrary:
    """A model of the sentencepiece library."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self._processor = processor

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text; a run of unknown characters is one of them."""
        found: list[str] = self._processor.encode(text, out_type=str)
        return found


def _sentence_piece(model: bytes) -> SentencePieceLibrary:
    import sentencepiece

    return SentencePieceLibrary(sentencepiece.SentencePieceProcessor(model_proto=model))


def _library(description: bytes) -> Library:
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


def _serve(opened: Callable[[bytes], Library | SentencePieceLibrary]) -> None:
    _limit()
    source, library = sys.stdin.buffer, None
    description = source.read(int(source.readline()))
    for line in source:
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        name, *arguments = json.loads(line)
        try:
            library = library or opened(description)
            answer = {"found": getattr(library, name)(*arguments)}
        except BaseException as error:  # a panic of the library is not an Exception
            answer = {"problem": str(error)}
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(_sentence_piece if sys.argv[1] == "sentencepiece" else _library)
