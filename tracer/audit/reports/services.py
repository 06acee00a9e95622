"""Format the results for programs and services: JSON, SARIF, and the commands of GitHub Actions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from tracer.audit.judging.finding import CODES, Finding
from tracer.audit.reading.texts import Place
from tracer.audit.reports.results import Kind, Result, message
from tracer.errors import printable


def as_json(results: Sequence[Result], kinds: Sequence[Kind]) -> dict[str, object]:
    """Return counts, findings, and the lists of these kinds."""
    listed = [each for result in results for each in result.listed]
    found: dict[str, object] = {
        "read": sum(result.read for result in results),
        "hold": sum(result.hold for result in results),
        "doubtful": sum(result.doubtful for result in results),
        "skipped": sum(result.unread for result in results),
        "ignored": sum(result.ignored for result in results),
        "known": sum(result.known for result in results),
        "findings": [_plain(finding) for finding in _all(results)],
    }
    for kind, name, why in _LISTS:
        of_kind = [each for each in listed if each.kind is kind]
        plain = [{**_at(each.place), "equation": each.shown, why: each.why} for each in of_kind]
        found |= {name: plain} if kind in kinds else {}
    if Kind.UNREAD in kinds:
        found["unread"] = [_at(each.place) for each in listed if each.kind is Kind.UNREAD]
    return found


_LISTS = ((Kind.READ, "equations", "verdict"), (Kind.DOUBTFUL, "doubts", "reason"))


def _all(results: Sequence[Result]) -> Iterator[Finding]:
    return (finding for result in results for finding in result.findings)


def _at(place: Place) -> dict[str, object]:
    return {"file": place.text, "line": place.line, "column": place.column}


_FIELDS = ("code", "level", "equation", "printed", "computed", "cause")


def _plain(finding: Finding) -> dict[str, object]:
    place, root = finding.place, finding.follows_from
    return {
        "file": place.text,
        "line": place.line,
        "end_line": place.end_line,
        "column": place.column,
        **{name: getattr(finding, name) for name in _FIELDS},
        "follows_from": None if root is None else str(root.place),
    }


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(results: Sequence[Result], version: str) -> dict[str, object]:
    """Return the findings as SARIF 2.1.0."""
    rules = [
        {
            "id": code,
            "name": "".join(word.capitalize() for word in verdict.split()),
            "shortDescription": {"text": verdict},
            "defaultConfiguration": {"level": level},
        }
        for code, verdict, level in CODES.values()
    ]
    driver = {"name": "decoder-trace", "version": version, "rules": rules}
    found = [_result(finding) for finding in _all(results)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding) -> dict[str, object]:
    from urllib.parse import quote

    place = finding.place
    file = place.file.replace("\\", "/") if sys.platform == "win32" else place.file
    location: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(os.fsencode(file))},  # a name need not be UTF-8
            "region": _region(place, "startLine", "startColumn", "endLine", "endColumn"),
        }
    }
    if place.cell is not None:
        location["logicalLocations"] = [{"name": f"cell {place.cell}"}]
    return {
        "ruleId": finding.code,
        "level": finding.level,
        "message": {"text": _sentence(finding)},
        "locations": [location],
    }


def _region(place: Place, line: str, column: str, end_line: str, end: str) -> dict[str, int]:
    """Return lines and columns by these names; in a notebook, where text is escaped, lines only."""
    lines = {line: place.lines_in_file[0], end_line: place.lines_in_file[1]}
    columns = {column: place.column, end: place.end_column}
    return lines if place.cell is not None else {**lines, **columns}


def _sentence(finding: Finding) -> str:
    cell = "" if finding.place.cell is None else f"cell {finding.place.cell}: "
    return f"{cell}{message(finding)}: {finding.equation}"


def commands(results: Sequence[Result]) -> Iterator[str]:
    """Yield a workflow command for each finding."""
    for finding in _all(results):
        properties = {
            "file": finding.place.file,
            **_region(finding.place, "line", "col", "endLine", "endColumn"),
            "title": f"{finding.code} {finding.verdict}",
        }
        # More characters are escaped in the values of properties than in messages.
        written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        level = "notice" if finding.level == "note" else finding.level
        yield f"::{level} {written}::{_escaped(_sentence(finding))}"


def _escaped(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
