"""A stranger's tokenizer in the tokenizers library, in a process of its own.

What stands in it can make the library panic, abort, search for ever or fill the memory. In a
process of its own each of them is a message, on every system.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.tokenization import library

# Threads of its own would each take a share of the memory that it may have.
ALONE = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
BROKE_DOWN = f"it crashed, ran out of memory, or took more than {library.MOST_SECONDS} seconds"


class IsolatedLibrary:
    """The same as `library.Library`; each answer may be a TracerError instead."""

    def __init__(self, file: str, address: str | None = None) -> None:
        """Start, with nothing to serve; problems are told of the file and the address."""
        self._file, self._address = file, address
        self._process = subprocess.Popen(
            [sys.executable, "-P", library.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ALONE},
        )
        weakref.finalize(self, _end, self._process)

    def serve(self, description: str) -> None:
        """Serve what a tokenizer.json says; whether it can be used, the first answer tells."""
        content = description.encode()
        self._send(b"%d\n%b" % (len(content), content))

    def added(self) -> dict[str, int]:
        """The tokens that a text may hold as a whole, and their numbers."""
        found: dict[str, int] = self._asked("added")
        return found

    def encode(self, text: str, parts: Sequence[str]) -> dict[str, list[Any]]:
        """Its tokens, which of them stand for none of it, and the pieces of each of its parts."""
        found: dict[str, list[Any]] = self._asked("encode", text, parts)
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens; bytes that are no whole character are �."""
        return str(self._asked("decode", ids))

    def _asked(self, *request: Any) -> Any:
        assert self._process.stdout
        try:
            self._send(json.dumps(request).encode() + b"\n")
            answer = json.loads(self._process.stdout.readline())
        except ValueError:  # it has ended, perhaps within a line
            answer = {"problem": BROKE_DOWN}
        if "problem" in answer:
            message = f"the tokenizers library cannot use it: {answer['problem']}"
            raise TracerError(Problem(message, self._file, address=self._address))
        return answer["found"]

    def _send(self, content: bytes) -> None:
        assert self._process.stdin
        with suppress(OSError):  # it has ended, as the answer will tell
            self._process.stdin.write(content)
            self._process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()
