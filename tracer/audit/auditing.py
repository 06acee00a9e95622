"""Audit files: read each one, check its equations and collect what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tracer.audit.findings import audit
from tracer.audit.paths import files
from tracer.audit.results import Kind, Result, result
from tracer.audit.texts import ENDINGS, texts
from tracer.console import progress
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file, read_standard_input, reason

STANDARD_INPUT = "-"


def audited(
    names: Sequence[str], *, strict: bool = False, kinds: Sequence[Kind] = ()
) -> tuple[list[Result], list[Problem]]:
    """Return the result of each file that can be read, and a problem for each that cannot."""
    found: list[Result] = []
    problems: list[Problem] = []

    def unreadable(error: OSError) -> None:
        problems.append(Problem(f"cannot be read: {reason(error)}", str(error.filename)))

    done: set[Path] = set()
    for name in names:
        before = len(problems)
        paths = list(files(Path(name), unreadable))
        if not paths and len(problems) == before:
            message = f"a folder without texts, expected {', '.join(ENDINGS)}"
            problems.append(Problem(message, name))
        for path in paths:
            if path in done:
                continue
            done.add(path)
            progress.report(f"audit {path}")
            try:
                standard = name == STANDARD_INPUT
                content = read_standard_input(name) if standard else read_file(path)
                read = texts(str(path), content)
                audits = [(text, audit(text, strict=strict)) for text in read]
                found.append(result(str(path), content, audits, kinds))
            except TracerError as error:
                problems += error.problems
            except ArithmeticError as error:  # a number beyond what Decimal can compute
                message = f"cannot be computed with: {type(error).__name__}"
                problems.append(Problem(message, str(path)))
    return found, problems
