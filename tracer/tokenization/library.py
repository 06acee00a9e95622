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
from itertools import takewhile
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

    def encode(self, text: str, parts: Sequence[str]) -> dict[str, list[Any]]:
        """Return the ids, those that are added before and after a text, and each part's pieces.

        A piece has its tokens if a unigram model chooses them; merges are computed elsewhere.
        """
        found = self._tokenizer.encode(text)
        added = found.special_tokens_mask
        before = len(list(takewhile(bool, added)))
        after = len(list(takewhile(bool, added[before:][::-1])))
        return {
            "ids": found.ids,
            "before": found.ids[:before],
            "after": found.ids[len(found.ids) - after :],
            "pieces": [
                [
                    [piece, self._tokens(piece)]
                    for piece in self._pieces(part, begins=i == 0 and text.startswith(part))
                ]
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

    def _tokens(self, piece: str) -> list[str] | None:
        """Return the tokens that a unigram model chooses; None if there is no such model."""
        model: Any = self._tokenizer.model
        if type(model).__name__ != "Unigram":
            return None
        return [model.id_to_token(token.id) for token in model.tokenize(piece)]


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
