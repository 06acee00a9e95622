"""What a person can be told: where the problem is, what was expected and what came."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `alex.yaml:12:7: layer1.ffn.W_1: 5 rows, expected 6`."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    address: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        told = ": ".join(part for part in (place, self.address, self.message) if part)
        # A name in the message may hold anything; it does not act on the terminal.
        return "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in told
        )


class TracerError(Exception):
    """Bad input: every problem found, to be shown a line each; the exit code is 2."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
