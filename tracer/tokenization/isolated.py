"""An untrusted tokenizer in the tokenizers or sentencepiece library, in a separate process.

A tokenizer file can make a library panic, abort, search without end or fill the memory. In a
separate process, each of these becomes a message, on every system.
"""

from __future__ import annotations

import json
import os
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.tokenization import library

# The library's own threads would each take a share of the memory limit.
ALONE = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
BROKE_DOWN = f"it crashed, ran out of memory, or took more than {library.MOST_SECONDS} seconds"


class IsolatedLibrary:
    """A tokenizer of `library.py` in a separate process; each answer may be a TracerError instead.

    Of the sentencepiece library, it has only `tokens`.
    """

    def __init__(self, name: str, file: str, address: str | None = None) -> None:
        """Start a library by its name, without a tokenizer; problems name the file and address."""
        import subprocess  # which is not everywhere that a page is computed

        self._name, self._file, self._address = name, file, address
        self._process = subprocess.Popen(
            [sys.executable, "-P", library.__file__, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ALONE},
        )
        weakref.finalize(self, _end, self._process)

    def serve(self, content: bytes) -> None:
        """Load a tokenizer.json or a .spm file; the first answer reports errors."""
        self._send(b"%d\n%b" % (len(content), content))

    def added(self) -> dict[str, int]:
        """Return the tokens that are matched as a whole, with their ids."""
        found: dict[str, int] = self._asked("added")
        return found

    def encode(self, text: str) -> dict[str, Any]:
        """Return the ids, and the tokens of each piece with the part of the text that each covers.

        `skipped`: the characters that no token covers.
        """
        found: dict[str, Any] = self._asked("encode", text)
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens; bytes that form no whole character become �."""
        return str(self._asked("decode", ids))

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text; a run of unknown characters is one of them."""
        found: list[str] = self._asked("tokens", text)
        return found

    def _asked(self, *request: Any) -> Any:
        assert self._process.stdout
        try:
            self._send(json.dumps(request).encode() + b"\n")
            answer = json.loads(self._process.stdout.readline())
        except ValueError:  # the process has ended, perhaps within a line
            answer = {"problem": BROKE_DOWN}
        if "problem" in answer:
            message = f"the {self._name} library cannot use it: {answer['problem']}"
            raise TracerError(Problem(message, self._file, address=self._address))
        return answer["found"]

    def _send(self, content: bytes) -> None:
        assert self._process.stdin
        with suppress(OSError):  # the process has ended, which reading the answer reports
            self._process.stdin.write(content)
            self._process.stdin.flush()


def _end(process: Any) -> None:
    process.kill()
    process.communicate()
