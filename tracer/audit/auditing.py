"""Audit files: read each one, check its equations and collect what is wrong."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tracer.audit.judging.findings import audit
from tracer.audit.project.configuration import Settings
from tracer.audit.project.paths import files
from tracer.audit.project.remarks import Remarks
from tracer.audit.reading.texts import ENDINGS, texts
from tracer.audit.reports.results import UNROUNDED, Result, result, without
from tracer.console import progress
from tracer.errors import Problem, TracerError
from tracer.files.inputs import register_input
from tracer.files.reading import read_document, read_standard_input
from tracer.names import count

STANDARD_INPUT = "-"


def audited(names: Sequence[str], settings: Settings) -> Iterator[Result]:
    """Yield the result of each file, in order; a file that cannot be read has only problems.

    Raises:
        TracerError: a file is to be written by the same command.
    """
    problems = list[Problem]()
    found = dict[str, tuple[Path, bool]]()
    for path, is_named in _paths(names, settings, problems):
        found.setdefault(os.path.realpath(path), (path, is_named))
        with suppress(OSError, ValueError):  # reported when the file is read
            register_input(path.stat())  # not to be overwritten
    progress.report(f"audit {count(len(found), 'file')}")
    for number, (path, is_named) in enumerate(found.values(), 1):
        progress.report(f"audit {path}", number, len(found))
        yield audited_file(path.as_posix(), settings, is_named=is_named)
    yield from (Result(problem.file or "", problems=(problem,)) for problem in problems)


def _paths(
    names: Sequence[str], settings: Settings, problems: list[Problem]
) -> Iterator[tuple[Path, bool]]:
    for name in names:
        path = Path(name)
        if not os.path.isdir(path):  # noqa: PTH112  # Path.is_dir() raises for a name that is too long
            is_excluded = settings.excludes_named and settings.excluded.match(path)
            if name == STANDARD_INPUT or not is_excluded:
                yield path, True
            continue
        before = len(problems)
        found = list(files(path, settings.excluded, problems.append))
        if not found and len(problems) == before:
            left = " that are not excluded" if settings.excluded else ""
            message = f"a folder without texts{left}, expected {', '.join(ENDINGS)}"
            problems.append(Problem(message, name))
        yield from ((each, False) for each in found)


def audited_file(name: str, settings: Settings, *, is_named: bool) -> Result:
    """Return the result of a file; one that is not named on the command line may be binary."""
    try:
        return _audited(name, settings, is_named=is_named)
    except TracerError as error:
        return Result(name, problems=tuple(error.problems))
    except ArithmeticError as error:  # a number beyond what Decimal can compute
        message = f"cannot be computed with: {type(error).__name__}"
    except Exception as error:  # a mistake in this program must not hide what is in other files
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        message = f"internal error, please report it: {type(error).__name__} in {where}: {error}"
    return Result(name, problems=(Problem(message, name),))


def _audited(name: str, settings: Settings, *, is_named: bool) -> Result:
    standard = name == STANDARD_INPUT
    content = read_standard_input(name) if standard else read_document(Path(name))
    if "\0" in content and not is_named:
        return Result(name, is_binary=True)
    codes = settings.codes_for(Path(name))
    read = texts(name, content)
    options = {"strict": UNROUNDED in codes, "weak": settings.weak}
    audits = [(text, audit(text, **options)) for text in read]
    remarks = Remarks(read)
    found = result(name, audits, settings.kinds)
    ignored = {f for f in found.findings if f.code not in codes or remarks.silence(f)}
    return replace(without(found, ignored), ignored=len(ignored), warnings=tuple(remarks.problems))
