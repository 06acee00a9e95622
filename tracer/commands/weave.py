"""Refresh the marked parts of your Markdown and LaTeX files."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from tracer.console import progress
from tracer.errors import Problem, printable
from tracer.files.writing import write
from tracer.requests import values
from tracer.requests.command import Command
from tracer.weave.files import woven
from tracer.weave.latex import ENDINGS


@dataclass(kw_only=True)
class Weave(Command):
    examples = ("weave text.md", "weave text.md --check")

    files: tuple[str, ...] = values.argument(
        "A Markdown or LaTeX file with marks.", "FILE", is_several=True
    )
    check: bool = values.flag("Change nothing; print a diff and exit 1 if a mark is stale.")

    def run(self) -> int:
        """Write the files with stale marks, or print what would change."""
        with progress.show_activity("weave"):
            found = woven(list(map(Path, self.files)))
        for file in found:
            if not file.marks:
                in_latex = file.path.suffix.lower() in ENDINGS
                sign = "% decoder-trace: …" if in_latex else "<!-- decoder-trace: … -->"
                message = f"no marks to weave, expected {sign}"
                typer.echo(str(Problem(message, str(file.path))), err=True)
        stale = {
            file.path: file for file in found if file.is_stale
        }  # one that is named twice, once
        if self.check:
            difference = "".join(file.difference for file in stale.values())
            # A patch is applied as it is; on a terminal, it is only looked at.
            shown = printable(difference, "\n\t") if sys.stdout.isatty() else difference
            sys.stdout.write(shown)
            return 1 if stale else 0
        texts = {path: file.text for path, file in stale.items()}
        write(texts.items(), held={path: file.old for path, file in stale.items()})
        return 0
