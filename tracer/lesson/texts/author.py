"""The author's own words: Markdown paragraphs in which numbers of the pass are woven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tracer import node as nodes
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.loss import has_loss
from tracer.decoder.routing import routing_of
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.lesson import document as doc, entries
from tracer.lesson.steps.declared import KINDS
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.author_text import AuthorNumber, pieces_of
from tracer.lesson.texts.lookup import find_quoted
from tracer.lesson.texts.selection import select, steps
from tracer.scenario.model import Scenario

YamlPath: TypeAlias = tuple[str, ...]


class Author:
    """The words of a scenario's author, each note once, in the first section that it belongs to."""

    def __init__(self, found: Trace, every: Sequence[Step]) -> None:
        """`every` are the steps of the pass."""
        self.trace = found
        self.unsaid = {key: _steps_of(every, key, found.scenario) for key in found.scenario.notes}

    def intro(self) -> tuple[doc.Paragraph, ...]:
        """The opening of the text."""
        return self._paragraphs(self.trace.scenario.intro, ("intro",))

    def summary(self) -> tuple[doc.Paragraph, ...]:
        """The end of the text."""
        return self._paragraphs(self.trace.scenario.summary, ("summary",))

    def note(self, key: str) -> tuple[doc.Paragraph, ...]:
        """What is to be said at a step."""
        return self._paragraphs(self.trace.scenario.notes[key], ("notes", key))

    def notes(self, step: Step) -> Iterator[doc.Paragraph]:
        """What was not said before, and belongs to a step."""
        for key in [key for key, numbers in self.unsaid.items() if step.number in numbers]:
            del self.unsaid[key]
            yield from self.note(key)

    def _paragraphs(self, text: str | None, path: YamlPath) -> tuple[doc.Paragraph, ...]:
        try:
            return paragraphs(text or "", self.trace)
        except TracerError as error:
            raise TracerError(*(replace(p, yaml_path=path) for p in error.problems)) from None


def paragraphs(text: str, found: Trace) -> tuple[doc.Paragraph, ...]:
    """Markdown text as paragraphs, with the numbers of a pass in place of `{value …}`.

    A number that the pass does not hold, such as the loss, is computed in another one.

    Raises:
        TracerError: no such address, row or column; the number cannot be computed.
    """
    pieces = pieces_of(text)
    holds = _holding(found, [asked.words for asked in nodes.found(pieces, AuthorNumber)])
    woven = nodes.rewritten(pieces, AuthorNumber, lambda asked: _number(asked.words, holds))
    return tuple(map(doc.Paragraph, woven))


def _number(asked: str, found: Trace) -> doc.Inline:
    (value, at), as_percent = find_quoted(found, asked)
    if value.role.words:
        return doc.Name(str(value.numbers[at]))
    number = entries.number(found.pencil, value, at)
    return doc.Percent(number) if as_percent else number


def _holding(found: Trace, asked: Sequence[str]) -> Trace:
    """The pass, or another one of the same scenario that holds what is asked for, too."""
    addresses = [words.partition("[")[0].strip() for words in asked]
    if all(address in found.values for address in addresses):
        return found
    options = PassOptions.recording(addresses)
    return trace(found.name, found.scenario, options)


# --- whether everything is there -----------------------------------------------------------------


def check_names(found: Trace) -> None:
    """Look up all steps and numbers that the author names.

    Raises:
        TracerError: some are not there; it names all of these.
    """
    scenario = found.scenario
    named = [*scenario.notes]
    texts: dict[YamlPath, str | None] = {
        **{("intro",): scenario.intro, ("summary",): scenario.summary},
        **{("notes", key): text for key, text in scenario.notes.items()},
    }
    asked = [
        (path, each.words)
        for path, text in texts.items()
        for each in nodes.found(pieces_of(text or ""), AuthorNumber)
    ]
    if not named and not asked:
        return
    # Numbers that are computed on demand are computed only for the texts that show them.
    if scenario.on_demand or any(_missing(found, named, asked)):
        problems = [*_missing(_with_everything(found), named, asked)]
        if problems:
            raise TracerError(*problems)


def _missing(
    found: Trace, named: Sequence[str], asked: Sequence[tuple[YamlPath, str]]
) -> Iterator[Problem]:
    every = steps(found.records)
    for key in named:
        if not any(key == kind.name and kind.only_with for kind in KINDS):
            try:
                select(every, key, None, None, found.scenario)
            except TracerError as error:
                yield from (replace(p, yaml_path=("notes", key)) for p in error.problems)
    for path, words in asked:
        try:
            find_quoted(found, words)
        except TracerError as error:
            for problem in error.problems:
                message = f"{{value {words}}}: {problem.message}"
                yield Problem(message, address=".".join(path), yaml_path=path)


def _with_everything(found: Trace) -> Trace:
    """The shapes of a pass with all that can be recorded of the scenario."""
    scenario = found.scenario
    has_words = scenario.vocabulary is not None
    learns = has_loss(scenario)
    options = PassOptions(
        unmasked=True,
        loss=learns,
        gradients=(learns or bool(scenario.upstream)) and not scenario.on_demand,
        lens=has_words,
        standardized=True,
        arithmetic=SHAPES,
        routing=routing_of(found.values.values()),
    )
    return trace(found.name, scenario, options)


def _steps_of(every: Sequence[Step], key: str, scenario: Scenario) -> frozenset[int]:
    """The numbers of the steps that a note belongs to; none where another text has them.

    They are those of the forward pass if other phases have such steps, too, and the decoder's if
    both towers do.
    """
    try:
        chosen = select(every, key, None, None, scenario)
    except TracerError:
        return frozenset()
    chosen = [step for step in chosen if step.place.phase == "forward"] or chosen
    of_decoder = [step for step in chosen if not step.place.encoder]
    return frozenset(step.number for step in of_decoder or chosen)
