"""Compare a text's figures or another program's arrays.

A figures file lists what a text prints: `figures:`, and under it for each number or row
`- {line: 77, address: layer1.attention.head1.scores, row: Alex, column: 2, printed: 7.956}`.
`_` is a number that the text leaves out. `part: products`, `sum`, `shape` or `parameters` names
a number of a line that is no entry of a matrix. `unknown: why` replaces the address of a number
that the scenario does not compute. The exit code is 1 if a figure is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tracer.check import as_json
from tracer.check.checking import check_against, check_figures, figures_beside
from tracer.check.report_text import report_text
from tracer.check.score import score_of
from tracer.renderers import Format
from tracer.requests import options, values
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, check_author

_FILE = values.some("the name of a file", Path)
_TOLERANCE = values.number("a number from 0 to 1", lambda t: 0 <= t <= 1)
_FIGURES = values.Rule(
    "figures of a text, not --against or --score", lambda r: r.against is None and r.score is None
)
_SCORE = values.Rule("a pass, not --against", lambda r: r.against is None)
_AGAINST = values.Rule("--against", lambda r: r.against is not None)


@dataclass(kw_only=True)
class Check(options.Compared, Request):
    examples = ("check pizza", "check my.yaml --against dump.npz")
    is_woven = False

    scenario: str = options.SCENARIO
    figures_file: Path | None = values.option(
        "The figures that a text prints. Default: those beside the scenario, such as "
        "alex.figures.yaml for alex.yaml.",
        *("FILE", _FILE),
        rule=_FIGURES,
    )
    against: Path | None = values.option(
        "Compare with another program's arrays instead: .npz, .safetensors, or a trace written "
        "with --format json.",
        *("FILE", _FILE),
    )
    tolerance: Decimal | None = values.option(
        "The allowed difference, relative to the largest number of the array; outliers count only "
        "in their own row and column. Default: what fits the type of its numbers.",
        *("T", _TOLERANCE),
        rule=_AGAINST,
    )

    score: str | None = values.option(
        "Verify the code that a reader of the scenario's page hands in, and print its score.",
        *("CODE", str),
        rule=_SCORE,
    )

    def answer(self, engine: Engine) -> Answer:
        """Report what differs."""
        loaded, in_json = engine.load(self.subject), self.format is Format.JSON
        engine.charge(self.subject, engine.text, len(loaded.scenario.tokens))
        check_author(loaded)
        if self.score is not None:
            score = score_of(self.score, engine.compute(self.subject).trace)
            return Answer(as_json.of_score(score) if in_json else score.report(), score.holds)
        if self.against is None:
            file = self.figures_file or figures_beside(self.scenario, self.folder)
            report = check_figures(loaded, self.folder / file)
            text = as_json.of_figures(report) if in_json else report_text(report)
            return Answer(text, report.holds)
        tolerance = None if self.tolerance is None else float(self.tolerance)
        rounds = self.carry is not None or self.decimals is not None
        rounding = loaded.scenario.rounding if rounds else None
        found = check_against(loaded, self.folder / self.against, tolerance, rounding)
        return Answer(as_json.of_differences(found) if in_json else found.document(), found.holds)
