"""Single figures, `ADDRESS[ROW,COLUMN]=NUMBER`: the verdict on each, and both ways to compute it.

No other numbers of a text explain such a figure. So the inputs of its line are changed, too:
rounded to fewer digits, or kept with more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from tracer.check.figures import MissingValueError, NumberFigure, Passes
from tracer.check.listed import Listed
from tracer.check.passes import overrides
from tracer.check.printed import printed
from tracer.check.report import Report
from tracer.check.verdicts import ONE_UNIT, JudgedFigure, Verdict, comes_out, judged, operands_of
from tracer.decoder.forward import Trace
from tracer.decoder.tape import Overrides
from tracer.decoder.value import Entry
from tracer.errors import Problem, TracerError
from tracer.formula.numbers import as_decimal, exponent_of, round_half_away
from tracer.lesson import document as doc
from tracer.lesson.entries import name as name_of
from tracer.lesson.texts.lookup import find
from tracer.lesson.texts.origins import Origins
from tracer.names import count
from tracer.renderers.text import number_text
from tracer.scenario.loading import Loaded
from tracer.scenario.rounding import Digits

MOST_DECIMALS = 6
"""An input is tried rounded to at most so many decimals; lines show as many."""
MOST_KEPT = 3
"""An input is tried with at most so many more digits."""
MOST_ALONE = 12
"""So many inputs of a line are also changed one at a time; more only together."""

TITLES = {
    Verdict.WRONG: "Wrong",
    Verdict.VARIANT: "Matches a variant",
    Verdict.ROUNDING: "Rounding",
    Verdict.UNKNOWN: "Cannot be checked",
    Verdict.AGREES: "Right",
}
MEANINGS = {
    "with carry: line": " This mode continues with each printed number.",
    "with carry: step": " This mode rounds at the end of each step.",
    "with carry: never": " This mode rounds numbers only to print them.",
}
"""What the modes of rounding mean, for a reader who has set none."""
UNEXPLAINED = "No other rounding and no variant that the program tries results in {}."


@dataclass(frozen=True)
class SingleFigure:
    """The verdict on a figure, its line, and the line that results in the printed number."""

    finding: JudgedFigure
    line: doc.Line | None
    other: doc.Line | None


def check_single(loaded: Loaded, typed: Sequence[str]) -> tuple[Report, list[SingleFigure]]:
    """Return the verdict on each figure, and how it is computed.

    Raises:
        TracerError: some have another form, or name what does not exist.
    """
    found = [_explained(judged([figure])[0]) for figure in _figures(loaded, typed)]
    findings = tuple(each.finding for each in found)
    return Report(loaded.name, loaded.scenario.title, findings), found


def _figures(loaded: Loaded, typed: Sequence[str]) -> list[NumberFigure]:
    pairs = [text.rpartition("=")[::2] for text in typed]
    addresses = [asked.partition("[")[0].strip() for asked, _ in pairs]
    passes, problems = Passes(addresses, loaded), list[Problem]()
    found: list[NumberFigure] = []
    for text, (asked, number), address in zip(typed, pairs, addresses, strict=True):
        figure = printed(number.strip())
        if not address or figure is None:
            message = f"got {text!r}, expected ADDRESS=NUMBER, or ADDRESS[ROW,COLUMN]=NUMBER"
            if address and printed(number.strip().replace(",", ".")):
                message = f"got {number.strip()!r}, expected a decimal point instead of the comma"
            problems.append(Problem(message, address="--figure"))
            continue
        try:
            within = passes.of(address)
            entry = find(within.trace, asked.strip())
        except (TracerError, MissingValueError) as error:
            problems += error.problems
            continue
        if entry.value.role.words:
            problems.append(Problem("these are words; only numbers can be checked", address=asked))
        listed = Listed(address=address, printed=number.strip())
        found.append(NumberFigure(listed, within, figure, entry))
    if problems:
        raise TracerError(*problems)
    return found


# --- the way to the printed number ---------------------------------------------------------------


def _explained(finding: JudgedFigure) -> SingleFigure:
    figure = finding.figure
    assert isinstance(figure, NumberFigure)
    if finding.verdict is Verdict.UNKNOWN:
        return SingleFigure(finding, None, None)
    within, line = figure.within, figure.within.origins.worked(figure.entry)
    for name, trace in (*within.roundings, *within.variants):
        if name == finding.by:
            return SingleFigure(finding, line, _line_in(trace, figure))
    if finding.verdict is Verdict.WRONG or finding.by == ONE_UNIT:
        for name, instead, begins_line in _other_inputs(figure):
            other = within.worked_on(instead)
            if other and comes_out(figure, other):
                shown = _line_in(other, figure, instead) if begins_line else None
                return SingleFigure(replace(finding, by=name), line, shown)
    return SingleFigure(finding, line, None)


def _line_in(
    other: Trace, figure: NumberFigure, instead: Overrides | None = None
) -> doc.Line | None:
    """Return the figure's line in another pass, with its digits, if it ends in its number."""
    address, rounding = figure.entry.value.address, other.scenario.rounding
    places = min(figure.printed.places, MOST_DECIMALS)
    if places > rounding.decimals:
        digits = {**rounding.digits, address: Digits(decimals=places)}
        rounding = rounding.model_copy(update={"digits": digits})
        scenario = other.scenario.model_copy(update={"rounding": rounding})
        other = figure.within.traced(scenario, instead, figure.within.routing)
    entry, origins = Entry(other[address], figure.entry.at), Origins(other)
    ends_in_it = figure.printed.rounds(origins.number(entry).value)
    return origins.worked(entry) if ends_in_it else None


def _other_inputs(figure: NumberFigure) -> Iterator[tuple[str, Overrides, bool]]:
    """Yield inputs of the figure's line that are kept with more digits or rounded, with a name.

    Also yield whether the line begins with them: it computes others, which it cannot show changed.
    """
    within = figure.within
    followed = within.origins.followed(figure.entry)
    # Of a score: its dot product, then the numbers that are multiplied in the same line.
    of_line, of_products = operands_of(within, followed), within.origins.inputs_of(followed)
    for inputs in (of_line, of_products) if of_products != of_line else (of_line,):
        numbers = {each: as_decimal(each.value.numbers[each.at]) for each in inputs}
        changed = [entry for entry, number in numbers.items() if number.is_finite()]
        alone = [[entry] for entry in changed] if 1 < len(changed) <= MOST_ALONE else []
        for together in (*alone, changed):
            for how, other in _ways({entry: numbers[entry] for entry in together}):
                what = " and ".join(map(name_of, together))
                if len(together) > 2:
                    what = f"all {len(together)} inputs of its line"
                yield f"with {what} {how}", overrides(other), set(together) <= set(of_products)


def _ways(own: dict[Entry, Decimal]) -> Iterator[tuple[str, dict[Entry, Decimal]]]:
    """Yield other numbers of some inputs: kept with more digits, then rounded to fewer."""
    exact = {entry: as_decimal(entry.value.computed[entry.at]) for entry in own}
    places = max((0, *(-exponent_of(number) for number in own.values())))
    most = MOST_KEPT if places <= MOST_DECIMALS else 0
    ways = (
        *(("kept with", exact, places + more) for more in range(1, most + 1)),
        *(("rounded to", own, fewer) for fewer in range(min(places - 1, MOST_DECIMALS), 0, -1)),
    )
    tried = [own]
    for how, numbers, decimals in ways:
        other = {entry: round_half_away(number, decimals) for entry, number in numbers.items()}
        if other not in tried:
            tried.append(other)
            yield f"{how} {count(decimals, 'decimal')}", other


# --- as a text -----------------------------------------------------------------------------------


def single_text(report: Report, figures: Iterable[SingleFigure]) -> doc.Document:
    """Return a section for each figure: the verdict, the reason, and both worked lines."""
    sections = tuple(doc.Section(None, _title(each), tuple(_blocks(each))) for each in figures)
    return doc.Document(report.scenario, report.title, (), sections)


def _title(each: SingleFigure) -> str:
    of = each.finding.figure.title
    return f"{TITLES[each.finding.verdict]}{': ' if of else ''}{of}"


def _blocks(each: SingleFigure) -> Iterator[doc.Block]:
    finding, text = each.finding, each.finding.figure.text
    name = doc.Name(finding.figure.name)
    if finding.verdict is Verdict.UNKNOWN:
        yield doc.Paragraph((name, f" cannot be checked: {finding.by}."))
        return
    agrees = finding.verdict is Verdict.AGREES
    yield doc.Paragraph((name, f" is {_right(finding)}{'' if agrees else f', not {text}'}."))
    if not agrees and (each.line or finding.by):  # what is given has no reason
        yield doc.Paragraph((_reason(finding),))
    if each.line:
        yield from () if agrees else [doc.Paragraph(("Correct:",))]
        yield doc.Working((each.line,))
    if each.other:
        yield doc.Paragraph((f"{finding.by[0].upper()}{finding.by[1:]}:",))
        yield doc.Working((each.other,))


def _right(finding: JudgedFigure) -> str:
    """Return the right number with the figure's digits; as texts print it if those hide a part.

    So -0.273 instead of 0, where the figure is 2.
    """
    figure = finding.figure
    assert isinstance(figure, NumberFigure)
    own = figure.within.origins.number(figure.entry)
    is_near = finding.verdict in (Verdict.AGREES, Verdict.ROUNDING)
    if is_near or figure.printed.like(own.value) == own.value or "%" in figure.text:
        return finding.right
    return number_text(own)


def _reason(finding: JudgedFigure) -> str:
    figure, text = finding.figure, finding.figure.text
    assert isinstance(figure, NumberFigure)
    if finding.by == ONE_UNIT:
        return f"{text} is {ONE_UNIT} off."
    if finding.by:
        return f"{text} is the result {finding.by}.{MEANINGS.get(finding.by, '')}"
    share = as_decimal(figure.entry.value.computed[figure.entry.at])
    percent = printed(f"{text} %")
    if percent and abs(share) <= 1 and percent.rounds(share):
        return f"{text} % is right; without the percent sign, the number is 100 times as large."
    return UNEXPLAINED.format(text)
