"""A baseline: an earlier report, whose findings are known and not reported again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from tracer.audit.project.paths import absolute
from tracer.audit.reports.results import Reported, Result, without
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file

Known: TypeAlias = tuple[Path, str, str]
"""The file, the code and the equation of a finding; its line may change."""


def known(path: Path) -> Counter[Known]:
    """Return the findings of a report in JSON, counted.

    Raises:
        TracerError: it cannot be read, or is no such report.
    """
    try:
        found = json.loads(read_file(path))["findings"]
        return Counter(_known(each["file"], each["code"], each["equation"]) for each in found)
    except (ValueError, TypeError, KeyError, RecursionError):
        message = "no report of audit, expected one that --format json wrote"
        raise TracerError(Problem(message, str(path))) from None


def _known(file: str, code: str, equation: str) -> Known:
    return absolute(Path(re.sub(r":cell [0-9]+\Z", "", file))), code, equation


def new(results: Iterable[Result], found: Counter[Known]) -> Iterator[Result]:
    """Yield the results without as many findings of each kind as are known."""
    left = Counter(found)

    def is_known(finding: Reported) -> bool:
        key = _known(finding.place.file, finding.code, finding.equation)
        left[key] -= 1
        return left[key] >= 0

    for result in results:
        old = {finding for finding in result.findings if is_known(finding)}
        yield replace(without(result, old), known=len(old))
