"""The report on the figures of a text, as a text: what to fix first comes first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from tracer.check.figures import CheckedFigure
from tracer.check.report import Mistake, Report
from tracer.check.verdicts import AGAIN, JudgedFigure, Verdict
from tracer.lesson import document as doc
from tracer.names import count

NONE = "–"
MOST_LINES = 8
"""The most worked lines for one place in a text."""

LINES_TOGETHER = 4
"""The most line numbers in one row of a table."""

SAID = {
    Verdict.WRONG: ("is wrong", "are wrong"),
    Verdict.FOLLOWS: ("follows from a wrong one", "follow from wrong ones"),
    Verdict.ROUNDING: ("differs by rounding", "differ by rounding"),
    Verdict.VARIANT: ("matches a variant", "match a variant"),
    Verdict.UNKNOWN: ("cannot be checked", "cannot be checked"),
}
"""The words for one figure that does not agree and for several, the worst first."""

COLUMNS = {
    "agree": (Verdict.AGREES,),
    "near": (Verdict.ROUNDING, Verdict.VARIANT),
    "wrong": (Verdict.WRONG,),
    "follow": (Verdict.FOLLOWS,),
}
"""The columns of the summary by step; figures that cannot be checked are in none."""

VARIANT = "These match the scenario with one setting changed."
FOLLOW_VARIANT = "These follow from numbers that match a variant."
ROUNDING = "These differ from the scenario's numbers only by rounding."
UNKNOWN = "The scenario computes no value for these."


def report_text(report: Report) -> doc.Document:
    """Return the report: counts, wrong figures and what follows, other differences, each step."""
    mistakes = (doc.Section(None, _heading(m), tuple(_mistake(m))) for m in report.mistakes)
    sections = (
        *mistakes,
        *_otherwise("Variants", *_variants(report)),
        *_otherwise("Rounding", (ROUNDING, report.of(Verdict.ROUNDING))),
        *_otherwise("Not recomputable", (UNKNOWN, report.of(Verdict.UNKNOWN))),
        *_by_step(report),
    )
    introduction: tuple[doc.Block, ...] = (
        *map(doc.Paragraph, _introduction(report)),
        *_wrong(report),
    )
    return doc.Document(report.scenario, report.title, introduction, sections)


def _introduction(report: Report) -> Iterator[doc.Sentence]:
    counts = report.counts
    parts = [
        f"{number} {one if number == 1 else several}"
        for verdict, (one, several) in SAID.items()
        if (number := counts[verdict])
    ]
    agree, figures = counts[Verdict.AGREES], count(len(report.findings), "figure")
    others = f"; {', '.join(parts)}" if parts else ""
    yield (f"{agree} of {figures} {'agrees' if agree == 1 else 'agree'}{others}.",)
    if report.first:
        figure, right = report.first.figure, report.first.right
        places = [f"step {figure.step.number}, {figure.title}"] if figure.step else []
        places += [f"line {figure.listed.line}"] if figure.listed.line else []
        where = f" ({', '.join(places)})" if places else ""
        yield (
            "The first wrong figure in the order of computation is ",
            *(doc.Name(figure.name), f"{where}: the text prints {figure.text} instead of {right}."),
        )


def _wrong(report: Report) -> Iterator[doc.Table]:
    """Yield a table of the places with wrong figures, those with most consequences first."""
    rows = [
        (
            str(mistake.roots[0].figure.listed.line or NONE),
            *(str(len(mistake.roots)), str(len(mistake.following) or NONE), _what(mistake.roots)),
        )
        for mistake in report.mistakes
    ]
    if len(rows) > 1:
        yield doc.Table.of(("line", "wrong", "follow", "figures"), rows)


def _by_step(report: Report) -> Iterator[doc.Section]:
    rows = []
    for step, title, counted in report.by_step:
        counts = (sum(counted[v] for v in verdicts) for verdicts in COLUMNS.values())
        rows.append((str(step.number), *(str(number or NONE) for number in counts), title))
    if rows:
        table = doc.Table.of(("step", *COLUMNS, "title"), rows)
        yield doc.Section(None, "By step", (table,))


# --- what is wrong -------------------------------------------------------------------------------


def _heading(mistake: Mistake) -> str:
    """`Wrong in line 83: Head 1 · Softmax`."""
    figure = mistake.roots[0].figure
    line = f" in line {figure.listed.line}" if figure.listed.line else ""
    return f"Wrong{line}{': ' if figure.title else ''}{figure.title}"


def _mistake(mistake: Mistake) -> Iterator[doc.Block]:
    """Yield the printed and the correct numbers, the worked line, and what follows from it."""
    for where in dict.fromkeys(finding.figure.listed.where for finding in mistake.roots):
        if where:
            yield doc.Paragraph(("Where: ", doc.Name(where), "."))
    rows = [(f.figure.text, f.right, f.figure.name) for f in mistake.roots]
    yield doc.Table.of(("printed", "right", "figure"), rows)
    if pencils := [finding.pencil for finding in mistake.roots if finding.pencil]:
        yield doc.Paragraph((f"The numbers printed before it give {', '.join(pencils)}.",))
    lines = [line for finding in mistake.roots for line in _worked(finding.figure)]
    if lines:
        yield doc.Paragraph(("Correct:",))
        yield doc.Working(tuple(lines[:MOST_LINES]))
    if mistake.following:
        one = len(mistake.following) == 1
        follow = f"{count(len(mistake.following), 'figure')} {'follows' if one else 'follow'}"
        yield doc.Paragraph((f"{follow} from this:",))
        yield _table(("figures",), mistake.following, _following)


def _worked(figure: CheckedFigure) -> Iterable[doc.Line]:
    """Return the correct line of a number."""
    if figure.within is None or figure.entry is None or figure.listed.part == "shape":
        return []
    line = figure.within.origins.worked(figure.entry)
    return [line] if line else []


def _following(findings: Sequence[JudgedFigure]) -> tuple[str]:
    """Return the printed and the correct numbers of one place in the file."""
    # All of them have the same reason.
    right = "again" if findings[0].by == AGAIN else f"right {_rights(findings)}"
    return (f"{_what(findings)}: {_texts(findings)}, {right}",)


# --- what else does not agree --------------------------------------------------------------------


def _variants(report: Report) -> Iterator[tuple[str, list[JudgedFigure]]]:
    """Yield the figures that match a variant, and those that follow from such figures."""
    variants = report.of(Verdict.VARIANT)
    yield VARIANT, [finding for finding in variants if not finding.sources]
    yield FOLLOW_VARIANT, [finding for finding in variants if finding.sources]


def _otherwise(title: str, *groups: tuple[str, list[JudgedFigure]]) -> Iterator[doc.Section]:
    """Yield the section of figures that match a variant or rounding, or cannot be checked."""
    blocks: list[doc.Block] = []
    for why, findings in groups:
        if why is UNKNOWN:
            table = _table(("printed", "why"), findings, lambda those: (_texts(those), those[0].by))
        else:
            table = _table(("figures",), findings, _here)
        blocks += (doc.Paragraph((why,)), table) if findings else ()
    if blocks:
        yield doc.Section(None, title, tuple(blocks))


def _here(findings: Sequence[JudgedFigure]) -> tuple[str]:
    """Return the printed numbers of one place, the cause, and the computed numbers."""
    computed = f"computed {_rights(findings)}"
    return (f"{_what(findings)}: {_texts(findings)} ({findings[0].by}), {computed}",)


def _table(
    header: tuple[str, ...],
    findings: Sequence[JudgedFigure],
    cells_of: Callable[[Sequence[JudgedFigure]], tuple[str, ...]],
) -> doc.Table:
    """Return one row for each place in the file and reason, with the lines of the text."""
    together = defaultdict[tuple[int, str], list[JudgedFigure]](list)
    for finding in findings:
        together[id(finding.figure.listed), finding.by].append(finding)
    lines = defaultdict[tuple[str, ...], list[int | None]](list)
    for those in together.values():
        lines[cells_of(those)].append(those[0].figure.listed.line)
    rows = [
        (", ".join(str(line or NONE) for line in once[i : i + LINES_TOGETHER]), *cells)
        for cells, every in lines.items()
        for once in [list(dict.fromkeys(every))]
        for i in range(0, len(once), LINES_TOGETHER)
    ]
    return doc.Table.of(("line", *header), rows)


def _what(findings: Sequence[JudgedFigure]) -> str:
    """`layer1.ffn.output, row Frank`; one number with its place."""
    figure, listed = findings[0].figure, findings[0].figure.listed
    if len(findings) == 1:
        return figure.name
    row = f", row {listed.row}" if listed.row else ""
    column = f", column {listed.column}" if listed.column else ""
    return f"{listed.address}{row}{column}"


def _texts(findings: Sequence[JudgedFigure]) -> str:
    return " ".join(finding.figure.text for finding in findings)


def _rights(findings: Sequence[JudgedFigure]) -> str:
    return " ".join(finding.right for finding in findings)
