"""The reports as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from tracer.check.against import ComparedValue
from tracer.check.causes import Cause
from tracer.check.differences import Differences
from tracer.check.report import Report
from tracer.check.score import OUTCOMES, Score
from tracer.check.single import SingleFigure
from tracer.check.two_files import ComparedArrays, TwoFiles
from tracer.check.verdicts import JudgedFigure, Verdict
from tracer.data.as_json import SCHEMA
from tracer.errors import strict_json
from tracer.lesson.document import Line
from tracer.renderers.text import one_line


def of_single(report: Report, figures: Sequence[SingleFigure]) -> str:
    """Return the findings, each with its worked line, and the one that has the printed number."""
    return _of_findings(
        report,
        ({"worked": _line(each.line), "worked_as_printed": _line(each.other)} for each in figures),
    )


def _line(line: Line | None) -> str | None:
    return one_line(line.chain) if line else None


def of_figures(report: Report) -> str:
    """Return the findings in the order of the file; `follows_from` has indices of findings."""
    return _of_findings(report, repeat({}))


def _of_findings(report: Report, more: Iterable[dict[str, str | None]]) -> str:
    """Return the findings, each with `more` fields."""
    places = {finding: i for i, finding in enumerate(report.findings)}
    steps = [
        {"number": step.number, "name": step.kind.name, "title": title, "verdicts": _verdicts(each)}
        for step, title, each in report.by_step
    ]
    return strict_json(
        {
            "schema": SCHEMA,
            "scenario": report.scenario,
            "text": report.title,
            "holds": report.holds,
            "verdicts": _verdicts(report.counts),
            "first": places[report.first] if report.first else None,
            "steps": steps,
            "findings": [
                _finding(finding, places) | fields
                for finding, fields in zip(report.findings, more, strict=False)
            ],
        }
    )


def _verdicts(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {str(verdict): counts[verdict] for verdict in Verdict}


def _finding(finding: JudgedFigure, places: dict[JudgedFigure, int]) -> dict[str, Any]:
    figure, listed = finding.figure, finding.figure.listed
    return {
        "verdict": str(finding.verdict),
        "line": listed.line,
        "where": listed.where or None,
        "figure": figure.name or None,
        "part": listed.part,
        "step": figure.step.number if figure.step else None,
        "printed": figure.text,
        "right": finding.right or None,
        "by": finding.by or None,
        "pencil": finding.pencil or None,
        "units": finding.units,
        "follows_from": [places[source] for source in finding.sources],
    }


def of_differences(found: Differences) -> str:
    """Return the values in the order of computation; `first` is the first different address."""
    first = found.first
    return strict_json(
        {
            "schema": SCHEMA,
            "scenario": found.trace.name,
            "against": found.file,
            "holds": found.holds,
            "first": first.value.address if first else None,
            "differs_in": _differs_in(first) if first else None,
            "cause": _cause(found.cause, found) if found.cause else None,
            "causes": [_cause(each, found) for each in found.causes],
            "also_agrees": found.hidden,
            "hides_tokens": found.hiding,
            "values": [_compared(each, found) for each in found.compared],
            "compared": len(found.compared),
            "not_compared": found.not_compared,
            "unknown": found.not_compared,
        }
    )


def of_two_files(found: TwoFiles) -> str:
    """Return the arrays in the order of the first file; `first` is the first that differs."""
    first = found.first
    return strict_json(
        {
            "schema": SCHEMA,
            "file": found.files[0],
            "against": found.files[1],
            "holds": found.holds,
            "first": first.first.name if first else None,
            "values": [_pair(each) for each in found.compared],
            "compared": len(found.compared),
            "not_compared": found.alone[0],
            "unknown": found.alone[1],
        }
    )


def of_score(score: Score) -> str:
    """Return how many answers were given in each way; a code that does not hold has a problem."""
    answers = {how.replace(" ", "_"): n for how, n in zip(OUTCOMES, score.counts, strict=True)}
    return strict_json(
        {
            "schema": SCHEMA,
            "scenario": score.found.name,
            "holds": score.holds,
            "problem": score.problem,
            "token": score.token,
            "steps": score.steps,
            "asked": score.asked,
            "answers": answers,
        }
    )


def _compared(each: ComparedValue, found: Differences) -> dict[str, Any]:
    step = found.step_of(each)
    fields: dict[str, Any] = {
        "address": each.value.address,
        "name": each.theirs.name,
        "step": step.number if step else None,
        "type": each.theirs.kind,
        "tolerance": each.allowed,
        "differs": each.differs,
        "wrong": each.is_wrong,
        "shape": each.value.shape,
        "their_shape": each.theirs.numbers.shape,
        **_largest_difference(each),
    }
    if (alone := each.step) is not None:
        own, there = float(alone.own[alone.at]), float(alone.theirs[alone.at])
        fields["from_file"] = {
            "at": alone.at,
            "here": _plain(own),
            "there": _plain(there),
            "difference": _plain(abs(own - there)),
            "allowed": _plain(float(alone.allowed[alone.at])),
        }
    if each.is_wrong:
        fields["differs_in"] = _differs_in(each)
    return fields


def _cause(cause: Cause, found: Differences) -> dict[str, Any]:
    """Return a change that makes a wrong value agree, and how many wrong values it does not."""
    numbers = cause.value.theirs.numbers.size
    return {
        "address": cause.value.value.address,
        "variant": cause.name,
        "text": f"{cause.value.value.address} agrees in all {numbers} numbers {cause.name}",
        "still_differ": found.still_differ(cause),
        "explains": sorted(cause.explained),
        "same_here": cause.others,
    }


def _differs_in(each: ComparedValue) -> dict[str, Sequence[str] | None]:
    """Return the rows and columns that differ; None for all of them."""
    return dict(zip(("rows", "columns"), each.differs_in, strict=True))


def _pair(each: ComparedArrays) -> dict[str, Any]:
    return {
        "name": each.first.name,
        "their_name": each.second.name,
        "type": each.first.kind,
        "their_type": each.second.kind,
        "tolerance": each.allowed,
        "differs": each.differs,
        "jumps": each.jumps,
        "shape": each.first.numbers.shape,
        "their_shape": each.second.numbers.shape,
        "last_rows": each.last,
        **_largest_difference(each),
    }


def _largest_difference(each: ComparedValue | ComparedArrays) -> dict[str, Any]:
    """Return where two arrays differ most, and by how much; nothing if their shapes differ."""
    if each.at is None:
        return {}
    return {
        "at": each.at,
        "here": _plain(each.here),
        "there": _plain(each.there),
        "difference": _plain(each.difference),
        "relative": _plain(each.relative),
    }


def _plain(number: float) -> float | str:
    """Return a float for JSON; NaN and infinity as text."""
    return number if math.isfinite(number) else str(number)
