"""Format the results for a reader; `services.py` does it for programs and services."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from tracer.audit import Report
from tracer.audit.judging.finding import CODES, Finding
from tracer.audit.reports.results import UNROUNDED, Kind, Listed, Result, message
from tracer.audit.reports.services import as_json, commands, sarif
from tracer.errors import EXCERPT, excerpt, printable, strict_json
from tracer.names import count

Line: TypeAlias = tuple[str, str]
"""A line of a report, and its style on a terminal with color."""


def rendered(report: Report, results: Sequence[Result], kinds: Sequence[Kind], version: str) -> str:
    """Return the report as plain text, with lists of these kinds."""
    match report:
        case Report.TERMINAL:
            return "".join(f"{line}\n" for line, _ in lines(results, kinds))
        case Report.JSON:
            return strict_json(as_json(results, kinds), 2)
        case Report.SARIF:
            return strict_json(sarif(results, version), 2)
        case Report.GITHUB:
            return "".join(f"{command}\n" for command in commands(results))


def colored(results: Sequence[Result], kinds: Sequence[Kind]) -> str:
    """Return the report for standard output, with color if that is a terminal that supports it."""
    from rich.console import Console
    from rich.text import Text as Styled

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if console.color_system is None:
        return rendered(Report.TERMINAL, results, kinds, version="")
    with console.capture() as captured:
        for line in lines(results, kinds):
            console.print(Styled(*line))
    return captured.get()


_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def lines(results: Sequence[Result], kinds: Sequence[Kind]) -> Iterator[Line]:
    """Each finding with its equation, what follows from it folded under it, and the summary."""
    for result in results:
        following = defaultdict[Finding | None, list[Finding]](list)
        for finding in result.findings:
            following[finding.follows_from].append(finding)
        for root in following[None]:
            yield _headline(root), _STYLES[root.level]
            start, end = root.marks
            line, column = root.text.place(start)
            shown = excerpt(root.text.line(line), line, column, end - start)
            yield from zip(shown, ("", "bold"), strict=True)
            for other in following[root]:
                yield f"  follows from it: {_headline(other)}", ""
            yield "", ""
    for result in results:
        yield from ((_item(each), "") for each in result.listed)
    yield summary(results, kinds), "bold"


NOT_TO_ITS_END = "A09"


def summary(results: Sequence[Result], kinds: Sequence[Kind]) -> str:
    """`18 equations read: 17 hold, 1 false; 41 signs not read (--show-skipped)`."""
    found = [finding for result in results for finding in result.findings]
    unrounded = sum(result.hold_unrounded for result in results)
    only = f" ({unrounded} of them only with unrounded numbers)" if unrounded else ""
    parts = [f"{sum(result.hold for result in results)} hold{only}"]
    of_equations = [f for f in found if f.code not in (UNROUNDED, NOT_TO_ITS_END)]
    verdicts = Counter(finding.verdict for finding in of_equations)
    parts += [f"{verdicts[name]} {name}" for _, name, _ in CODES.values() if verdicts[name]]
    ignored, known = (sum(getattr(r, name) for r in results) for name in ("ignored", "known"))
    parts += [f"{ignored} ignored"] * bool(ignored) + [f"{known} in the baseline"] * bool(known)
    unread = sum(result.unread for result in results)
    doubtful = sum(result.doubtful for result in results)
    doubts = f"{doubtful} doubtful, " if doubtful else ""
    hint = "" if Kind.UNREAD in kinds or not (unread or doubtful) else " (--show-skipped)"
    read = count(sum(result.read for result in results), "equation")
    long = sum(finding.code == NOT_TO_ITS_END for finding in found)
    binary = sum(result.is_binary for result in results)
    ends = f"; {count(long, 'long passage')} not read to the end" * bool(long)
    ends += f"; {count(binary, 'binary file')} skipped" * bool(binary)
    return f"{read} read: {', '.join(parts)}; {doubts}{count(unread, 'sign')} not read{hint}{ends}"


def _headline(finding: Finding) -> str:
    return printable(f"{finding.place}: {finding.code} {message(finding)}")


def _item(listed: Listed) -> str:
    """`a.md:1:7: holds: 2 × 3 = 6`, or `a.md:2:3: doubtful: 1 + 1 = 10: may be binary numbers`."""
    shown = listed.shown if len(listed.shown) <= EXCERPT else f"{listed.shown[: EXCERPT - 1]}…"
    parts = {
        Kind.READ: (listed.why, shown),
        Kind.DOUBTFUL: (listed.kind, shown, listed.why),
        Kind.UNREAD: (listed.kind, shown),
    }
    return printable(": ".join((str(listed.place), *parts[listed.kind])))
