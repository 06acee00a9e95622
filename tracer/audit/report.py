"""Format the findings for a reader, a program or a service."""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from tracer.audit import Report
from tracer.audit.findings import CODES, Audit, Doubtful, Finding
from tracer.audit.texts import Text
from tracer.audit.tokens import MOST
from tracer.errors import EXCERPT, excerpt, printable, strict_json
from tracer.names import count

Line: TypeAlias = tuple[str, str]
"""A line of a report, and its style on a terminal with color."""


def rendered(report: Report, audits: Sequence[Audit], *, skipped: bool, version: str) -> str:
    """Return the report as plain text."""
    match report:
        case Report.TERMINAL:
            return "".join(f"{line}\n" for line, _ in lines(audits, skipped=skipped))
        case Report.JSON:
            return strict_json(_as_json(audits, skipped=skipped), 2)
        case Report.SARIF:
            return strict_json(_sarif(audits, version), 2)
        case Report.GITHUB:
            return "".join(f"{_command(finding)}\n" for finding in _all(audits))


def colored(audits: Sequence[Audit], *, skipped: bool) -> str:
    """Return the report for standard output, with color if that is a terminal that supports it."""
    from rich.console import Console
    from rich.text import Text as Styled

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if console.color_system is None:
        return rendered(Report.TERMINAL, audits, skipped=skipped, version="")
    with console.capture() as captured:
        for line in lines(audits, skipped=skipped):
            console.print(Styled(*line))
    return captured.get()


# --- for a reader --------------------------------------------------------------------------------

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def lines(audits: Sequence[Audit], *, skipped: bool) -> Iterator[Line]:
    """Each finding with its equation, what follows from it folded under it, and the summary."""
    found = _all(audits)
    following = defaultdict[int, list[Finding]](list)
    for finding in found:
        following[id(finding.follows_from)].append(finding)
    for root in following[id(None)]:
        yield from _with_excerpt(root)
        for other in following[id(root)]:
            yield f"  follows from it: {_headline(other)}", ""
        yield "", ""
    if skipped:
        for audit in audits:
            yield from (_doubted(each) for each in audit.doubtful)
            yield from (_skipped(text, at) for text, at in audit.unread)
    yield summary(audits, skipped=skipped), "bold"


def summary(audits: Sequence[Audit], *, skipped: bool) -> str:
    """`18 equations read: 17 hold, 1 false; 41 signs not read (--show-skipped)`."""
    found = _all(audits)
    unrounded = sum(audit.hold_unrounded for audit in audits)
    only = f" ({unrounded} of them only with unrounded numbers)" if unrounded else ""
    parts = [f"{sum(audit.hold for audit in audits)} hold{only}"]
    of_equations = [f for f in found if f.code not in (ONLY_UNROUNDED, NOT_TO_ITS_END)]
    verdicts = Counter(finding.verdict for finding in of_equations)
    parts += [f"{verdicts[name]} {name}" for _, name, _ in CODES.values() if verdicts[name]]
    unread = sum(len(audit.unread) for audit in audits)
    doubtful = sum(len(audit.doubtful) for audit in audits)
    doubts = f"{doubtful} doubtful, " if doubtful else ""
    hint = "" if skipped or not (unread or doubtful) else " (--show-skipped)"
    read = count(sum(audit.read for audit in audits), "equation")
    long = sum(finding.code == NOT_TO_ITS_END for finding in found)
    rest = f"; {count(long, 'long passage')} not read to the end" if long else ""
    return f"{read} read: {', '.join(parts)}; {doubts}{count(unread, 'sign')} not read{hint}{rest}"


def _with_excerpt(finding: Finding) -> Iterator[Line]:
    yield _headline(finding), _STYLES[finding.level]
    number, column = finding.text.place(finding.marks[0])
    length = finding.marks[1] - finding.marks[0]
    line, carets = excerpt(finding.text.line(number), number, column, length)
    yield line, ""
    yield carets, "bold"


def _headline(finding: Finding) -> str:
    return printable(f"{_place(finding.text, finding.start)}: {finding.code} {message(finding)}")


MEANT = {
    "A05": "this value was {} before",
    "A06": "the probabilities sum to {}",
    "A07": "LayerNorm gives mean 0 and standard deviation 1; here the mean is {}",
    "A09": f"this passage has more than {MOST:,} tokens; the rest is not read",
}
"""The messages for rows of numbers and for text that was not read to its end."""


SEVERE = ("A01", "A03")
ONLY_UNROUNDED = "A08"
NOT_TO_ITS_END = "A09"


def message(finding: Finding) -> str:
    """Return what is wrong, in a sentence: `false: computed 7.06, printed 7.6; …`."""
    if finding.computed is not None and finding.printed is not None:
        difference = f"computed {_as_power(finding.computed)}, printed {finding.printed}"
    elif finding.code in MEANT:
        difference = MEANT[finding.code].format(finding.computed)
    elif finding.computed is not None:
        sides = _as_power(finding.computed), _as_power(finding.right or "")
        difference = f"the left side is {sides[0]}, the right side {sides[1]}"
    else:
        difference = "the two sides differ"
    why = finding.cause or (finding.certain if finding.code in SEVERE else None)
    if finding.code == ONLY_UNROUNDED:
        why = "holds only if the numbers in it were rounded before they were printed"
    return f"{finding.verdict}: {difference}" + (f"; {why}" if why else "")


def _as_power(number: str) -> str:
    """Write 1.97e+50 as ≈ 1.97×10⁵⁰."""
    digits, _, exponent = number.partition("e")
    return f"≈ {digits}×10{str(int(exponent)).translate(_RAISED)}" if exponent else number


_RAISED = {ord(plain): raised for raised, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}


def _doubted(doubtful: Doubtful) -> Line:
    shown = doubtful.equation
    shown = shown if len(shown) <= EXCERPT else f"{shown[: EXCERPT - 1]}…"
    place = _place(doubtful.text, doubtful.start)
    return printable(f"{place}: doubtful: {shown}: {doubtful.reason}"), ""


def _skipped(text: Text, at: int) -> Line:
    number, column = text.place(at)
    line = text.line(number)
    begin = max(0, column - 1 - EXCERPT // 2)
    shown = line[begin : begin + EXCERPT].replace("\t", " ").strip()
    return printable(f"{_place(text, at)}: not read: {shown}"), ""


def _place(text: Text, at: int) -> str:
    line, column = text.place(at)
    return f"{text.name}:{line}:{column}"


def _all(audits: Sequence[Audit]) -> list[Finding]:
    return [finding for audit in audits for finding in audit.findings]


# --- for programs --------------------------------------------------------------------------------


def _as_json(audits: Sequence[Audit], *, skipped: bool) -> dict[str, object]:
    unread = [place for audit in audits for place in audit.unread]
    doubtful = [each for audit in audits for each in audit.doubtful]
    found: dict[str, object] = {
        "read": sum(audit.read for audit in audits),
        "hold": sum(audit.hold for audit in audits),
        "doubtful": len(doubtful),
        "skipped": len(unread),
        "findings": [_plain(finding) for finding in _all(audits)],
    }
    if skipped:
        found["doubts"] = [
            {**_at(each.text, each.start), "equation": each.equation, "reason": each.reason}
            for each in doubtful
        ]
        found["unread"] = [_at(text, at) for text, at in unread]
    return found


def _at(text: Text, at: int) -> dict[str, object]:
    line, column = text.place(at)
    return {"file": text.name, "line": line, "column": column}


def _plain(finding: Finding) -> dict[str, object]:
    line, column, end_line, _ = finding.region
    root = finding.follows_from
    return {
        "file": finding.text.name,
        "line": line,
        "end_line": end_line,
        "column": column,
        "code": finding.code,
        "level": finding.level,
        "equation": finding.equation,
        "printed": finding.printed,
        "computed": finding.computed,
        "cause": finding.cause,
        "follows_from": None if root is None else _place(root.text, root.start),
    }


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _sarif(audits: Sequence[Audit], version: str) -> dict[str, object]:
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
    results = [_result(finding) for finding in _all(audits)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding) -> dict[str, object]:
    file, _, cell = finding.text.name.partition(":cell ")
    names = ("startLine", "startColumn", "endLine", "endColumn")
    region = dict(zip(names, finding.region, strict=True))
    location: dict[str, object] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": region}
    }
    if cell:
        location["logicalLocations"] = [{"name": f"cell {cell}"}]
    return {
        "ruleId": finding.code,
        "level": finding.level,
        "message": {"text": _sentence(finding)},
        "locations": [location],
    }


def _sentence(finding: Finding) -> str:
    return f"{message(finding)}: {finding.equation}"


def _uri(file: str) -> str:
    from urllib.parse import quote

    # As bytes: a name need not be UTF-8.
    return quote(os.fsencode(file.replace("\\", "/") if sys.platform == "win32" else file))


def _command(finding: Finding) -> str:
    """Return a workflow command; property values need more characters escaped than messages."""
    line, column, end_line, end_column = finding.region
    file, _, _ = finding.text.name.partition(":cell ")
    properties = {
        "file": file,
        "line": line,
        "endLine": end_line,
        "col": column,
        "endColumn": end_column,
        "title": f"{finding.code} {finding.verdict}",
    }
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    level = "notice" if finding.level == "note" else finding.level
    return f"::{level} {written}::{_escaped(_sentence(finding))}"


def _escaped(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
