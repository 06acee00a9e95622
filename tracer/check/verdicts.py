"""The verdict on each figure: whether it agrees, and if not, what explains it.

The numbers of the text replace those of the trace, as when a reader continues the calculation by
hand. The result shows whether a figure follows from a wrong one or is wrong itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import cached_property, partial
from itertools import groupby

from tracer.check.counts import count_of
from tracer.check.figures import CheckedFigure, NumberFigure
from tracer.check.passes import Pass, overrides
from tracer.check.printed import Printed
from tracer.decoder.elementwise import Divide
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Dot
from tracer.decoder.value import Entry
from tracer.formula.arithmetic import NOISE
from tracer.formula.expression import Number as Shown
from tracer.formula.numbers import as_decimal
from tracer.renderers.text import number_text


class Verdict(StrEnum):
    """The verdict on a figure, the worst first."""

    WRONG = "wrong"
    FOLLOWS = "follows"
    """Wrong, but computed correctly from wrong figures."""
    VARIANT = "variant"
    ROUNDING = "rounding"
    UNKNOWN = "not recomputable"
    AGREES = "agrees"


@dataclass(frozen=True, eq=False)
class JudgedFigure:
    """A figure and the verdict on it.

    `right` is the correct number with as many digits; `by` what explains it, or why it cannot be
    checked; `pencil` the result of the text's own numbers, if it is yet another number;
    `units` the difference in units of its last place; `sources` the findings that it follows from,
    which are wrong or, for a variant, match it.
    """

    figure: CheckedFigure
    verdict: Verdict
    right: str = ""
    by: str = ""
    pencil: str = ""
    units: int | None = None
    sources: tuple[JudgedFigure, ...] = ()


BY_PENCIL = "computed from the numbers printed before"
AGAIN = "printed before"
CUT = "truncated instead of rounded"
ONE_UNIT = "one unit in the last place"
ONLY_SHAPES = "the scenario has shapes but no numbers"

MOST_VERSIONS = 3
"""The most different numbers of one entry in a text that are tried."""


def judged(figures: Sequence[CheckedFigure]) -> list[JudgedFigure]:
    """Return a finding for each figure, in the order of the file."""
    found: dict[CheckedFigure, JudgedFigure] = {}
    together = defaultdict[Pass, list[NumberFigure]](list)
    for figure in figures:
        if figure.within is None:
            found[figure] = JudgedFigure(figure, Verdict.UNKNOWN, by=str(figure.listed.unknown))
        elif not isinstance(figure, NumberFigure):
            continue
        elif not figure.within.loaded.scenario.has_numbers:
            found[figure] = JudgedFigure(figure, Verdict.UNKNOWN, by=ONLY_SHAPES)
        else:
            together[figure.within].append(figure)
    for within, those in together.items():
        found |= {finding.figure: finding for finding in _Judge(within, those).findings()}
    counted = [f for f in figures if f.within and not isinstance(f, NumberFigure)]
    found |= {finding.figure: finding for finding in _counted(counted)}
    return [found[figure] for figure in figures]


def _counted(figures: Sequence[CheckedFigure]) -> Iterator[JudgedFigure]:
    """Judge shapes and parameters; other shapes follow from the number of tokens."""
    wrong: JudgedFigure | None = None
    tokens = [f for f in figures if f.listed.part == "shape" and f.listed.address == "tokens"]
    for figure in (*tokens, *(f for f in figures if f not in tokens)):
        counted = count_of(figure)
        if counted.agrees:
            yield JudgedFigure(figure, Verdict.AGREES, counted.right)
        elif counted.tokens is None or figure in tokens:
            finding = JudgedFigure(figure, Verdict.WRONG, counted.right)
            if figure in tokens and wrong:
                finding = JudgedFigure(
                    figure, Verdict.FOLLOWS, counted.right, AGAIN, sources=(wrong,)
                )
            wrong = wrong or (finding if figure in tokens else None)
            yield finding
        elif wrong and str(counted.tokens) in wrong.figure.listed.text.split():
            yield JudgedFigure(figure, Verdict.FOLLOWS, counted.right, sources=(wrong,))
        else:
            by = f"with {counted.tokens} tokens"
            yield JudgedFigure(figure, Verdict.VARIANT, counted.right, by)


@dataclass(frozen=True)
class _Pencil:
    """The result of the text's own numbers for a figure, the wrong ones among them, those of a
    variant, and whether all operands are printed and right, so that no other result is possible."""

    number: Decimal
    wrong: tuple[JudgedFigure, ...]
    varied: tuple[JudgedFigure, ...]
    decides: bool


class _Judge:
    """Judges the figures of one pass, in the order of computation."""

    def __init__(self, within: Pass, figures: Sequence[NumberFigure]) -> None:
        self.within, self.trace = within, within.trace
        self.figures = sorted(figures, key=lambda f: within.order[f.entry.value.address])
        self.at: dict[Entry, list[NumberFigure]] = {}
        for figure in figures:
            if figure.listed.part == "value":
                self.at.setdefault(self._origin(figure), []).append(figure)
        self.found: dict[NumberFigure, JudgedFigure] = {}
        self.judged: dict[tuple[Entry, str, int | None, Decimal], JudgedFigure] = {}

    def findings(self) -> list[JudgedFigure]:
        """One for each figure."""
        for _, those in groupby(self.figures, lambda figure: id(figure.listed)):
            together = list(those)
            row = [self._again(figure) or self._judged(figure) for figure in together]
            for figure, finding in zip(together, _as_a_row(row), strict=True):
                self.found[figure] = finding
                self.judged.setdefault(self._key(figure), finding)
        return list(self.found.values())

    def _key(self, figure: NumberFigure) -> tuple[Entry, str, int | None, Decimal]:
        """Return a key that is equal for figures with the same number of the same entry."""
        return self._origin(figure), figure.listed.part, figure.term, figure.printed.value

    def _origin(self, figure: NumberFigure) -> Entry:
        """Return the entry where its number was computed; the figure may show a copy."""
        return self.within.origins.followed(figure.entry)

    def _again(self, figure: NumberFigure) -> JudgedFigure | None:
        """Return the finding of a number that was printed before: that of the first."""
        before = self.judged.get(self._key(figure))
        if before is None or before.verdict is Verdict.AGREES:
            return None
        if before.verdict is Verdict.WRONG:
            return JudgedFigure(figure, Verdict.FOLLOWS, before.right, AGAIN, sources=(before,))
        return replace(before, figure=figure)

    def _judged(self, figure: NumberFigure) -> JudgedFigure:
        printed, truth = figure.printed, figure.comes_to(self.trace)
        right = shown(printed, truth[0])
        if any(map(printed.rounds, truth)):
            return JudgedFigure(figure, Verdict.AGREES, right)
        found = partial(JudgedFigure, figure, right=right, units=printed.units_from(truth[0]))
        pencils = list(self._pencils(figure))
        for pencil in pencils:
            if pencil.wrong and self._is_near(figure, pencil.number):
                return found(Verdict.FOLLOWS, sources=pencil.wrong)
        if any(printed.rounds(p.number) and not (p.wrong or p.varied) for p in pencils):
            return found(Verdict.ROUNDING, by=BY_PENCIL)
        for pencil in pencils:
            if pencil.varied and self._is_near(figure, pencil.number):
                return found(Verdict.VARIANT, by=pencil.varied[0].by, sources=pencil.varied)
        decisive = [pencil.number for pencil in pencils if pencil.decides]
        if self._is_cut(figure):
            return found(Verdict.ROUNDING, by=CUT)
        if not decisive and (by := self._rounding(figure)):
            return found(Verdict.ROUNDING, by=by)
        if by := self._variant(figure):
            return found(Verdict.VARIANT, by=by)
        if any(self._is_near(figure, number) for number in decisive or truth[:1]):
            return found(Verdict.ROUNDING, by=ONE_UNIT)
        other = shown(printed, decisive[0]) if decisive else ""
        return found(Verdict.WRONG, pencil=other if other != right else "")

    def _is_cut(self, figure: NumberFigure) -> bool:
        """Return whether it and all numbers of its row are truncated."""
        return all(f.printed.cuts(f.comes_to(self.trace)[0]) for f in self._beside(figure))

    def _rounding(self, figure: NumberFigure) -> str | None:
        """Return the rounding of intermediate numbers that gives it, if any."""
        places = figure.printed.places  # more than are carried on cannot be printed
        for name, trace in self.within.roundings:
            is_printed = not trace.pencil.rounds or places <= trace.scenario.rounding.decimals
            if is_printed and comes_out(figure, trace):
                return name
        return None

    def _is_near(self, figure: NumberFigure, number: Decimal) -> bool:
        """Return whether it differs by at most one unit in its last place.

        A number that needs no rounding cannot differ by rounding.
        """
        printed, exact = figure.printed, figure.comes_to(self.within.unrounded)[0]
        rounded = printed.like(exact)
        if exact == rounded or abs(exact - rounded) <= abs(exact) * NOISE:
            return printed.rounds(number)
        return printed.is_near(number)

    def _variant(self, figure: NumberFigure) -> str | None:
        """Return the variant that gives it and all numbers of its row, if any."""
        beside, variants = self._beside(figure), self.within.variants
        return next((name for name, t in variants if all(comes_out(f, t) for f in beside)), None)

    def _beside(self, figure: NumberFigure) -> list[NumberFigure]:
        return [f for f in self.figures if f.listed is figure.listed]

    # --- with the text's own numbers -------------------------------------------------------------

    @cached_property
    def _versions(self) -> list[dict[Entry, Decimal]]:
        """The numbers of all printed entries: the first printed ones, the second, and so on."""
        numbers = {
            entry: list(dict.fromkeys(f.printed.value for f in those))
            for entry, those in self.at.items()
        }
        most = min(MOST_VERSIONS, max(map(len, numbers.values()), default=0))
        return [
            {entry: each[min(k, len(each) - 1)] for entry, each in numbers.items()}
            for k in range(most)
        ]

    @cached_property
    def _worked_on(self) -> list[tuple[dict[Entry, Decimal], Trace]]:
        """Each version with its trace."""
        found = []
        for version in self._versions:
            finite = {entry: number for entry, number in version.items() if number.is_finite()}
            if trace := self.within.worked_on(overrides(finite)):
                found.append((version, trace))
        return found

    def _pencils(self, figure: NumberFigure) -> Iterator[_Pencil]:
        if not self._worked_on:
            return
        operands = self._operands(figure)
        behind = self._printed_inputs(operands)
        if not behind:
            return
        all_printed = all(operand in self.at for operand in operands)
        for version, trace in self._worked_on:
            wrong = tuple(dict.fromkeys(f for e in behind for f in self._wrong(e, version[e])))
            varied = tuple(f for e in behind for f in self._varied(e, version[e]))
            decides = all_printed and not wrong
            yield _Pencil(self._computed(figure, trace), wrong, varied, decides)

    def _computed(self, figure: NumberFigure, trace: Trace) -> Decimal:
        """Return its computed number, before the text's number replaces it."""
        if figure.listed.part != "value":
            return figure.comes_to(trace)[0]
        value, at = self._origin(figure)
        return as_decimal(trace[value.address].computed[at])

    def _operands(self, figure: NumberFigure) -> list[Entry]:
        """Return the operands of the number, each where it was computed."""
        entry = figure.entry
        if figure.term is None:
            return operands_of(self.within, self._origin(figure))
        record = self.trace.producers[entry.value]
        (row, column), k = entry.at, figure.term
        place = (column, k) if isinstance(record.operation, Dot) else (k, column)
        factors = (Entry(record.inputs[0], (row, k)), Entry(record.inputs[1], place))
        return [self.within.origins.followed(factor) for factor in factors]

    def _printed_inputs(self, operands: Sequence[Entry]) -> list[Entry]:
        """Return the nearest printed entries among the operands and their operands."""
        found: dict[Entry, None] = {}
        seen = set[Entry]()
        level = list(operands)
        while level:
            new = [entry for entry in dict.fromkeys(level) if entry not in seen]
            seen.update(new)
            found |= dict.fromkeys(entry for entry in new if entry in self.at)
            unprinted = [entry for entry in new if entry not in self.at]
            level = [e for entry in unprinted for e in operands_of(self.within, entry)]
        return list(found)

    def _varied(self, entry: Entry, number: Decimal) -> Iterator[JudgedFigure]:
        """Yield the findings of a number of the text that a variant explains."""
        for figure in self.at[entry]:
            finding = self.found.get(figure)
            if finding and finding.verdict is Verdict.VARIANT and figure.printed.value == number:
                yield finding

    def _wrong(self, entry: Entry, number: Decimal) -> Iterator[JudgedFigure]:
        """Yield the first finding of a number of the text if it is wrong, or its sources."""
        for figure in self.at[entry]:
            finding = self.found.get(figure)
            if finding and figure.printed.value == number:
                if finding.verdict is Verdict.WRONG:
                    yield finding
                elif finding.verdict is Verdict.FOLLOWS:
                    yield from finding.sources
                return


def operands_of(within: Pass, entry: Entry) -> list[Entry]:
    """Return the operands of an entry; for a score its dot product, of the same line."""
    record = within.trace.producers[entry.value]
    if isinstance(record.operation, Divide):
        over, under = record.inputs
        return [Entry(over, entry.at), Entry(under, ())]
    return within.origins.inputs_of(entry)


def _as_a_row(row: list[JudgedFigure]) -> list[JudgedFigure]:
    """Revise the findings of a row: a variant that the whole row matches explains all; a near
    number counts as wrong if most of its row is wrong."""
    variants = [f.by for f in row if f.verdict is Verdict.VARIANT and not f.sources]
    wrong = sum(finding.verdict is Verdict.WRONG for finding in row)

    def beside_others(found: JudgedFigure) -> JudgedFigure:
        if found.verdict is not Verdict.ROUNDING:
            return found
        if variants:
            return replace(found, verdict=Verdict.VARIANT, by=variants[0])
        if 2 * wrong > len(row) and found.by != BY_PENCIL:
            return replace(found, verdict=Verdict.WRONG, by="")
        return found

    return [beside_others(finding) for finding in row]


def comes_out(figure: NumberFigure, trace: Trace) -> bool:
    """Return whether it is right in another trace, which may lack its value."""
    if figure.entry.value.address not in trace.values:
        return False
    return any(map(figure.printed.rounds, figure.comes_to(trace)))


def shown(like: Printed, number: Decimal) -> str:
    """Return a number with the digits of a printed one, as a percentage if that is one."""
    rounded = like.like(number)
    if like.text.rstrip().endswith("%"):
        return f"{number_text(Shown(rounded.scaleb(2)))} %"
    return number_text(Shown(rounded))
