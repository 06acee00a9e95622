"""Compare a text's figures or another program's arrays.

A figures file lists what a text prints: `figures:`, and under it for each number or row
`- {line: 77, address: layer1.attention.head1.scores, row: Alex, column: 2, printed: 7.956}`.
`_` is a number that the text leaves out. `part: products`, `sum`, `shape` or `parameters` names
a number of a line that is no entry of a matrix. `unknown: why` replaces the address of a number
that the scenario does not compute. `--draft` writes such a file for a text; `--figure` checks
single numbers. The exit code is 1 if a figure is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tracer.check import as_json
from tracer.check.checking import check_against, check_draft, check_figures, figures_beside
from tracer.check.report_text import report_text
from tracer.check.score import score_of
from tracer.check.single import check_single, single_text
from tracer.check.two_files import compare_files
from tracer.files.targets import FORCE, refused
from tracer.renderers import Format
from tracer.requests import options, values
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, check_author

_FILE = values.some("the name of a file", Path)
_TOLERANCE = values.number("a number from 0 to 1", lambda t: 0 <= t <= 1)
_FIGURES = values.Rule(
    "figures of a text, not --figure, --against, --score or two files",
    lambda r: r.is_of_figures and not r.figure,
)
_FIGURE = values.Rule("a pass, not --against, --score or two files", lambda r: r.is_of_figures)
_SCORE = values.Rule(
    "a pass, not --against or two files", lambda r: r.against is None and r.other is None
)
_SCENARIO = values.Rule("a scenario, not two files", lambda r: r.other is None)
_AGAINST = values.Rule(
    "--against or two files", lambda r: r.against is not None or r.is_of_two_files
)
_TWO_FILES = values.Rule("two files of arrays", lambda r: r.is_of_two_files)
_DRAFT = values.Rule(
    "a scenario and its text: check my.yaml text.md --draft my.figures.yaml",
    lambda r: r.other is not None,
)


@dataclass(kw_only=True)
class Check(options.Compared, Request):
    examples = ("check pizza", "check my.yaml --against dump.npz")
    is_woven = False

    scenario: str = options.SCENARIO
    other: Path | None = values.argument(
        "With two files of arrays, .npz or .safetensors: the second, compared with the first. With "
        "--draft: the text.",
        *("OTHER", _FILE),
        default=None,
    )
    figures_file: Path | None = values.option(
        "The figures that a text prints. Default: those beside the scenario, such as "
        "alex.figures.yaml for alex.yaml.",
        *("FILE", _FILE),
        rule=_FIGURES,
    )
    figure: tuple[str, ...] = values.option(
        'Check this number: "layer1.attention.head1.weights[Alex,Frank]=0.96". The report has its '
        "worked line, and the one that results in the number. Repeat the option for several.",
        *("ADDRESS=NUMBER", None, ()),
        rule=_FIGURE,
    )
    draft: Path | None = values.option(
        "Write a figures file for the text: its numbers with the addresses that fit them and the "
        "words around them. Check it at once.",
        *("FILE", values.file_name),
        rule=_DRAFT,
    )
    against: Path | None = values.option(
        "Compare with another program's arrays instead: .npz, .safetensors, or a trace written "
        "with --format json.",
        *("FILE", _FILE),
        rule=_SCENARIO,
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

    names: Path | None = values.option(
        "Which arrays of two files are compared, if their names differ: a YAML file with lines "
        "such as blocks.*.attn: layers.*.attention.",
        *("FILE", _FILE),
        rule=_TWO_FILES,
    )

    @property
    def is_of_two_files(self) -> bool:
        """Whether it compares two files of arrays."""
        return self.other is not None and self.draft is None

    @property
    def is_of_figures(self) -> bool:
        """Whether it checks figures of a text."""
        return self.against is None and self.score is None and self.other is None

    @property
    def files(self) -> list[Path | None]:
        """The report and the draft."""
        return [self.output, self.draft]

    def answer(self, engine: Engine) -> Answer:
        """Report what differs."""
        in_json = self.format is Format.JSON
        tolerance = None if self.tolerance is None else float(self.tolerance)
        if self.other is not None and self.draft is None:
            names = self.names and self.folder / self.names
            pair = self.folder / self.scenario, self.folder / self.other
            compared = compare_files(*pair, names, tolerance)
            text = as_json.of_two_files(compared) if in_json else compared.document()
            return Answer(text, compared.holds)
        loaded = engine.load(self.subject)
        engine.charge(self.subject, engine.text, len(loaded.scenario.tokens))
        check_author(loaded)
        if self.score is not None:
            score = score_of(self.score, engine.compute(self.subject).trace)
            return Answer(as_json.of_score(score) if in_json else score.report(), score.holds)
        if self.other is not None and self.draft is not None:
            if self.draft.exists() and not self.force:
                raise refused(self.draft, f"it is there already{FORCE}")
            content, report = check_draft(loaded, self.folder / self.other, self.draft)
            text = as_json.of_figures(report) if in_json else report_text(report)
            return Answer(text, report.holds, [(self.draft, content)])
        if self.figure:
            report, figures = check_single(loaded, self.figure)
            text = as_json.of_single(report, figures) if in_json else single_text(report, figures)
            return Answer(text, report.holds)
        if self.against is None:
            file = self.figures_file or figures_beside(self.scenario, self.folder)
            report = check_figures(loaded, self.folder / file)
            text = as_json.of_figures(report) if in_json else report_text(report)
            return Answer(text, report.holds)
        rounds = self.carry is not None or self.decimals is not None
        rounding = loaded.scenario.rounding if rounds else None
        found = check_against(loaded, self.folder / self.against, tolerance, rounding)
        return Answer(as_json.of_differences(found) if in_json else found.document(), found.holds)
