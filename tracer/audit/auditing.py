"""Audit files: read each one, check its equations and collect what is wrong."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tracer.audit.judging.findings import audit
from tracer.audit.project import processes
from tracer.audit.project.codes import UNROUNDED
from tracer.audit.project.paths import files
from tracer.audit.project.remarks import Remarks
from tracer.audit.project.settings import Settings
from tracer.audit.reading.texts import ENDINGS, texts
from tracer.audit.reports.results import Kind, Result, result, without
from tracer.console import progress
from tracer.errors import Problem, TracerError
from tracer.files.inputs import register_input
from tracer.files.reading import read_document, read_standard_input
from tracer.names import count

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Job:
    """A file to audit."""

    file: str
    is_named: bool
    """Whether it is named on the command line, so that it must be a text."""
    codes: frozenset[str]
    """The codes to report."""
    kinds: tuple[Kind, ...]
    """What is listed besides the findings."""


def audited(names: Sequence[str], settings: Settings) -> Iterator[Result]:
    """Yield the result of each file, in order; a file that cannot be read has only problems.

    Raises:
        TracerError: a file is to be written by the same command.
    """
    jobs, problems, size = list[Job](), list[Problem](), 0
    done: set[str] = set()
    for path, is_named in _paths(names, settings, problems):
        if (real := os.path.realpath(path)) in done:
            continue
        done.add(real)
        jobs.append(Job(path.as_posix(), is_named, settings.codes_for(path), settings.kinds))
        size += _size(path)
    if STANDARD_INPUT in names:  # which only this process can read
        size = 0
    progress.report(f"audit {count(len(jobs), 'file')}")
    for number, each in enumerate(processes.in_order(audited_file, jobs, size), 1):
        progress.report(f"audit {each.file}", number, len(jobs))
        yield each
    yield from (Result(problem.file or "", problems=(problem,)) for problem in problems)


def _paths(
    names: Sequence[str], settings: Settings, problems: list[Problem]
) -> Iterator[tuple[Path, bool]]:
    """Yield the files to read, and whether each is named."""
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


def _size(path: Path) -> int:
    """Return the size of a file, 0 if it cannot be read; it must not be overwritten.

    Here, because the process that reads it does not know what this one is to write.
    """
    try:
        found = path.stat()
    except (OSError, ValueError):
        return 0
    register_input(found)
    return found.st_size


def audited_file(job: Job) -> Result:
    """Return the result of a file."""
    try:
        return _audited(job)
    except TracerError as error:
        return Result(job.file, problems=tuple(error.problems))
    except ArithmeticError as error:  # a number beyond what Decimal can compute
        message = f"cannot be computed with: {type(error).__name__}"
    except Exception as error:  # a mistake in this program must not hide what is in other files
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        message = f"internal error, please report it: {type(error).__name__} in {where}: {error}"
    return Result(job.file, problems=(Problem(message, job.file),))


def _audited(job: Job) -> Result:
    standard = job.file == STANDARD_INPUT
    content = read_standard_input(job.file) if standard else read_document(Path(job.file))
    if "\0" in content and not job.is_named:
        return Result(job.file, is_binary=True)
    read = texts(job.file, content)
    audits = [(text, audit(text, strict=UNROUNDED in job.codes)) for text in read]
    remarks = Remarks(read)
    found = result(job.file, content, audits, job.kinds)
    pairs = zip(
        (finding for _, each in audits for finding in each.findings), found.findings, strict=True
    )
    ignored = {
        reported
        for finding, reported in pairs
        if finding.code not in job.codes or remarks.silence(finding)
    }
    return replace(without(found, ignored), ignored=len(ignored), warnings=tuple(remarks.problems))
