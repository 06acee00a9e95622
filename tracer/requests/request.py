"""Commands that answer with a text or with data about a scenario."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, TypeAlias

from tracer.decoder.forward import FORWARD, PassOptions
from tracer.errors import Problem, TracerError
from tracer.files.reading import reading_from
from tracer.files.targets import FORCE
from tracer.lesson.code.library import Library
from tracer.lesson.document import Document, without_numbers
from tracer.renderers import Format, HeadingLevel, render
from tracer.requests.command import Command
from tracer.requests.resolve import Engine, Subject
from tracer.scenario.loading import refuse_to_replace

Content: TypeAlias = Document | str | bytes
"""A document to render, a complete text, or the bytes of an archive."""


@dataclass(frozen=True)
class Answer:
    """The content; whether a check holds; other files to write, such as a worksheet's key."""

    content: Content
    holds: bool = True
    beside: Sequence[tuple[Path, Content]] = ()


class Request(Command):
    """A command that answers with a text or with data about a scenario.

    Without one of the options that are named here, a command does what is their default.
    """

    is_woven = True
    prints_arrays: ClassVar[bool] = False
    """Whether it prints the numbers of a pass, which an archive of arrays can hold, too."""
    folder: Path = Path()
    """The folder where a relative path of the scenario starts."""

    scenario: str
    code: Library | None = None
    layer: int | None = None
    head: int | None = None
    format: Format = Format.TERMINAL
    brief: bool = False
    math: bool = False
    heading: HeadingLevel | None = None
    no_numbers: bool = False
    standalone: bool = False
    figures: Path | None = None
    output: Path | None = None
    force: bool = False
    no_pager: bool = False

    @property
    def is_of_loss(self) -> bool:
        """Whether it is about the loss, gradients or updates."""
        return False

    @property
    def records(self) -> PassOptions:
        """What a pass records for it."""
        return FORWARD

    @property
    def subject(self) -> Subject:
        """What it computes; no file is read."""
        options = {"folder": self.folder, "options": self.records, **vars(self)}
        return Subject(**{f.name: options[f.name] for f in fields(Subject) if f.name in options})

    @property
    def files(self) -> list[Path | None]:
        """The files that it writes, besides pictures; None for one that is not requested."""
        return [self.output]

    @property
    def writes(self) -> bool:
        """Whether it writes a file."""
        return any((*self.files, self.figures))

    def check(self) -> None:
        """Refuse options that would change nothing.

        Raises:
            TracerError: one problem for each, with what it works with.
        """
        changed = (each for each in self.options() if getattr(self, each.name) != each.default)
        ruled = ((option.name, option.metadata["option"].rule) for option in changed)
        problems = [
            Problem(
                f"works only with {rule.works_with.format(format=self.format)}",
                address=f"--{name}".replace("_", "-"),
            )
            for name, rule in ruled
            if rule and not rule.holds(self)
        ]
        if self.format is Format.CODE and self.code is None:
            expected = "works only with --code numpy or --code pytorch, where it is code"
            problems.append(Problem(expected, address="--format"))
        if problems := [*problems, *self.problems()]:
            raise TracerError(*problems)

    def problems(self) -> Iterable[Problem]:
        """Return what else is wrong with the options."""
        return ()

    def answer(self, engine: Engine) -> Answer:
        """Compute the answer; what it costs is charged first.

        Raises:
            TracerError: something in the scenario, in another file or in the request is wrong.
        """
        raise NotImplementedError

    def run(self) -> int:
        """Print the answer, or write it without color to a file; write the other files.

        The exit code is 1 if a check finds something wrong.
        """
        # A page in a browser has none of what these need of the operating system.
        from tracer.console import pager, progress

        if self.writes:
            from tracer.files import targets

            # Nothing has been computed yet; an input among them is refused as soon as it is opened.
            targets.check(filter(None, self.files), force=self.force)
        with progress.show_activity(f"{type(self).__name__.lower()} {self.scenario}"):
            self.check()
            answer = self.answer(Engine())
            for path in filter(None, () if self.force else self.files):
                refuse_to_replace(path, FORCE)
            beside = [*self._pictures(answer.content), *answer.beside]
            files = [(path, self.rendered(content)) for path, content in beside]
            text = self._shown(answer.content)
        if self.output is not None:
            files.append((self.output, text))
        elif isinstance(text, str) and (self.no_pager or not pager.page(text)):
            sys.stdout.write(text)
        if files:
            from tracer.files.writing import write

            sys.stdout.flush()  # nothing is written where not all can be
            write(files, make=self.figures, force=self.force)
        return 0 if answer.holds else 1

    def rendered(self, content: Content, width: int | None = None) -> str | bytes:
        """Return the content as it is written, without color; `width` is the terminal's."""
        if not isinstance(content, Document):
            return content
        return render(
            without_numbers(content) if self.no_numbers else content,
            self.format,
            math=self.math,
            heading=self.heading or HeadingLevel.TWO,
            standalone=self.standalone,
            figures=self._path_to_figures(),
            width=width,
        )

    def _shown(self, content: Content) -> str | bytes:
        """Return the content as it is printed or written: on a terminal, in color."""
        on_screen = self.output is None and self.format is Format.TERMINAL
        if not on_screen or not isinstance(content, Document):
            return self.rendered(content)
        from tracer.renderers import terminal

        document = without_numbers(content) if self.no_numbers else content
        titles = self.heading is not HeadingLevel.NONE
        return terminal.shown(terminal.laid_out(document, titles=titles))

    def _pictures(self, content: Content) -> list[tuple[Path, Content]]:
        """Return the pictures of a text as files, if they are requested.

        Raises:
            TracerError: there are none.
        """
        if self.figures is None:
            return []
        from tracer.renderers.figures import figures

        found = figures(content) if isinstance(content, Document) else {}
        if not found:
            message = (
                "this output has no pictures; the step softmax has some, of the attention weights"
            )
            raise TracerError(Problem(message, address="--figures"))
        return [(self.figures / name, text) for name, text in found.items()]

    def _path_to_figures(self) -> str | None:
        """Return the folder of the pictures, relative to the file that links them."""
        if self.figures is None:
            return None
        with reading_from("the current folder"):  # it may be gone
            here = self.output.absolute().parent if self.output else Path.cwd()
            try:
                return Path(os.path.relpath(self.figures, here)).as_posix()
            except ValueError:  # on Windows, they are on different drives
                return self.figures.absolute().as_posix()
