"""The code that a reader of a page hands in: what was asked, and how it was answered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from tracer.data.quote import printed
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Given
from tracer.errors import Problem, TracerError
from tracer.lesson.document import Document, Sentence, paragraphs
from tracer.names import name_text

CODE = re.compile(r"([0-9a-f]{8})/(\d{1,6})/([\w.,-]*)/(\d{1,9}(?:\.\d{1,9}){4})/([0-9a-f]{8})")
OUTCOMES = ("first try", "later try", "with a hint", "shown")
"""How a number was answered, in the order of the code and in the words of the page."""


def checksum(words: str) -> str:
    """Return the CRC-32 of a text, as the script of a page computes it."""
    return f"{crc32(words.encode()):08x}"


def key_of(found: Trace) -> str:
    """Return the checksum of a pass: its tokens, its given numbers and its result, as printed.

    Of a trained model, only title and tokens count: the digits may depend on the machine.
    """
    given = [r.output for r in found.records if isinstance(r.operation, Given)]
    values = [] if found.scenario.on_demand else [*given, found.records[-1].output]
    numbers = (printed(found, value, at) for value in values for at in np.ndindex(value.shape))
    return checksum("\n".join([found.scenario.title, *found.tokens, *numbers]))


@dataclass(frozen=True)
class Score:
    """What a code says of a scenario's page; `problem` is why it cannot be right, if it cannot."""

    found: Trace
    token: int
    """The position of the followed token, from 1."""
    steps: str
    counts: tuple[int, ...]
    """How many numbers were answered in each of the ways OUTCOMES."""
    asked: int
    problem: str | None

    @property
    def holds(self) -> bool:
        """Whether the code is complete and of this scenario."""
        return self.problem is None

    def report(self) -> Document:
        """Return the score as a text."""
        answered = ", ".join(f"{n} {how}" for n, how in zip(self.counts, OUTCOMES, strict=True))
        said: list[Sentence] = [(self.problem,)] if self.problem else []
        if not self.problem:
            token = name_text(self.found.tokens[self.token - 1])
            said.append(("The code is complete and belongs to this scenario's page.",))
            said.append((f"Followed token: {token}. Asked in steps {self.steps}: {self.asked}.",))
            said.append((f"Answered: {answered}.",))
        title = self.found.scenario.title
        return Document(self.found.name, title, paragraphs(*said), ())


def score_of(code: str, found: Trace) -> Score:
    """Read a code that is about a pass.

    Raises:
        TracerError: it has not the form of a code.
    """
    read = CODE.fullmatch(code.strip())
    if read is None:
        message = "expected the code that a page shows under Hand in"
        raise TracerError(Problem(message, address="--score"))
    key, token, steps, numbers, sum_of_code = read.groups()
    *counts, asked = map(int, numbers.split("."))
    problem = None
    if checksum(code.strip().rpartition("/")[0]) != sum_of_code:
        problem = "The code was changed or is not complete: its checksum is wrong."
    elif key != key_of(found) or not 1 <= int(token) <= len(found.tokens):
        problem = "The code is of another page: the scenario, its numbers or its rounding differ."
    elif sum(counts) > asked:
        problem = "The code was changed: more is answered than was asked."
    return Score(found, int(token), steps, tuple(counts), asked, problem)
