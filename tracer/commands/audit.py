"""Find false arithmetic in a text; exit 1 if there is any.

It is made for texts that explain or document neural networks: their training, cost and memory.
Equations that it cannot read, or that could mean something else, are skipped, so a clean report
proves nothing. The comments “audit: ignore A01”, for a line, and “audit: off” to “audit: on”
switch findings off. A project configures it under [tool.decoder-trace.audit] in its
pyproject.toml.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import typer

import tracer
from tracer.audit import Report
from tracer.audit.auditing import audited
from tracer.audit.project.configuration import settings, unknown
from tracer.audit.project.remarks import known, new
from tracer.audit.reports.report import colored, rendered
from tracer.audit.reports.results import Kind
from tracer.console import progress
from tracer.errors import TracerError
from tracer.files.targets import check
from tracer.files.writing import write
from tracer.requests import options, values
from tracer.requests.command import Command
from tracer.scenario.loading import refuse_to_replace


def _codes(typed: str) -> list[str]:
    """Parse codes of findings, or prefixes of them, with commas between."""
    found = [each.strip() for each in typed.split(",")]
    wrong = [message for each in found if (message := unknown(each))]
    if wrong:
        raise typer.BadParameter("; ".join(wrong))
    return found


def _patterns(typed: str) -> list[str]:
    """Parse patterns of files, with commas between."""
    found = [each.strip() for each in typed.split(",")]
    if "" in found:
        values.refuse(typed, "patterns such as drafts,*.tex")
    return found


@dataclass(kw_only=True)
class Audit(Command):
    examples = ("audit text.md", "audit text.md --strict --format json")

    files: tuple[str, ...] = values.argument(
        "A text: Markdown, LaTeX, reStructuredText, HTML, a notebook or plain text; a folder of "
        "texts; or - for standard input.",
        *("FILE", values.some("a file, a folder or -")),
        is_several=True,
    )
    show_skipped: bool = values.flag(
        "Also list the signs that were not read, and what is doubtful, with the reason."
    )
    list_read: bool = values.flag("Also list the equations that were read.")
    all: bool = values.flag("Also report what only weaker evidence confirms.")
    select: tuple[list[str], ...] = values.option(
        "Report only these codes, such as A01,A03; A0 stands for all that begin so.",
        *("CODES", _codes, ()),
    )
    ignore: tuple[list[str], ...] = values.option(
        "Do not report these codes; A08 is reported with --strict only.", "CODES", _codes, ()
    )
    exclude: tuple[list[str], ...] = values.option(
        "Do not read these files: drafts, docs/old, *.tex. In a folder, files that git ignores "
        "are not read either.",
        *("PATTERNS", _patterns, ()),
    )
    force_exclude: bool = values.flag(
        "Also exclude files given as FILE that the configuration excludes; for hooks."
    )
    baseline: Path | None = values.option(
        "Do not report what is in an earlier report, written by -f json -o FILE.", "FILE", Path
    )
    strict: bool = values.flag(
        "Also exit 1 for warnings, and note results that hold only for numbers that were not "
        "rounded."
    )
    form: Report = values.choice(
        "The format: terminal, json, sarif or github.",
        *("FORMAT", Report),
        default=Report.TERMINAL,
        name="--format",
        short="-f",
    )
    output: Path | None = options.OUTPUT

    def run(self) -> int:
        """Report what is false."""
        check([] if self.output is None else [self.output])
        kinds = [Kind.READ] * self.list_read + [Kind.DOUBTFUL, Kind.UNREAD] * self.show_skipped
        chosen = settings(
            select=list(chain(*self.select)),
            ignore=list(chain(*self.ignore)),
            exclude=list(chain(*self.exclude)),
            force_exclude=self.force_exclude,
            strict=self.strict,
            weak=self.all,
            kinds=kinds,
        )
        # The version comes from the distribution's metadata, which take their time to read.
        version = tracer.__version__ if self.form is Report.SARIF else ""
        old = None if self.baseline is None else known(self.baseline)
        with progress.show_activity("audit"):
            found = audited(self.files, chosen)
            results = list(found if old is None else new(found, old))
        if self.output is not None:
            refuse_to_replace(self.output)
            write([(self.output, rendered(self.form, results, kinds, version))])
        elif self.form is Report.TERMINAL:
            sys.stdout.write(colored(results, kinds))
        else:
            sys.stdout.write(rendered(self.form, results, kinds, version))
        for warning in (each for result in results for each in result.warnings):
            typer.echo(str(warning), err=True)
        if problems := [problem for result in results for problem in result.problems]:
            raise TracerError(*problems)
        counting = ("error", "warning") if chosen.strict else ("error",)
        wrong = any(finding.level in counting for each in results for finding in each.findings)
        return 1 if wrong else 0
