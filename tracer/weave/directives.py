"""Run the command of a mark, as on the command line, within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tracer.decoder.training import TrainingOptions
from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.renderers import Format
from tracer.renderers.markdown import fenced
from tracer.requests.options import COMMANDS, parse
from tracer.requests.output import rendered
from tracer.requests.pipeline import Content, answer_about, compared, explain
from tracer.requests.request import Request, check
from tracer.requests.resolve import (
    Computed,
    Subject,
    overridden,
    run_pass,
    run_training,
    subject_of,
    training_of,
)
from tracer.scenario.loading import Loaded, load
from tracer.weave.limits import (
    Allowance,
    Cost,
    cost,
    passes,
    passes_of_comparison,
    passes_of_training,
    passes_of_variant,
)

NOT_WOVEN = ("check", "page")
"""A check's result is not part of the text; a page is a file of its own."""
WOVEN = [name for name in COMMANDS if name not in NOT_WOVEN]
WITHOUT_A_PASS = ("steps", "shapes", "generate", "train")
"""Commands that need no pass which other marks could share."""
QUOTE = "value"
"""The command whose output is placed inside a sentence."""

WIDTH = 80
"""The width of woven text, in terminal cells."""

Words = tuple[str, ...]
_Asked = TypeVar("_Asked")
_Made = TypeVar("_Made")


def renderer(path: Path) -> Callable[[Words], str]:
    """Return the function that renders the marks of a file; equal words are rendered only once.

    Paths are relative to the file's folder, links resolved. Marks about the same pass share it.
    """
    folder = path.resolve().parent
    allowed = Allowance()

    def charge(costs: Cost, computed: Iterable[tuple[int, int]]) -> None:
        for number, length in computed:
            allowed.compute(costs, number, length)

    @_once
    def opened(subject: Subject) -> tuple[Loaded, Cost]:
        allowed.read(folder, subject.scenario)
        original = load(subject.scenario, subject.folder)
        loaded = overridden(original, replace(subject, vary=None))
        with loaded.locating_problems():
            found = cost(loaded.scenario, lens=subject.options.lens)
        allowed.load(found)
        if subject.vary is None:
            return loaded, found
        charge(found, passes_of_variant(loaded.scenario))
        return overridden(original, subject), found

    @_once
    def shared(subject: Subject) -> tuple[Computed, Cost]:
        loaded, costs = opened(subject)
        if subject.options.gradients:
            charge(costs, passes_of_training(1, loaded.scenario))
            options = TrainingOptions(loaded.scenario.optimizer, example=subject.example)
            return Computed(loaded, run_training(loaded, options).steps[0]), costs
        passes_needed = 2 if loaded.overrides else 1  # what --given changes is shown, too
        allowed.compute(costs, passes_needed, len(loaded.scenario.tokens))
        return Computed(loaded, run_pass(loaded, subject.options)), costs

    def comparison(request: Request) -> Content:
        first, costs = opened(subject_of(request))
        second, costs_of_second = first, costs
        if request.other is not None:
            second, costs_of_second = opened(replace(subject_of(request), scenario=request.other))
        with first.locating_problems():
            own, others = passes_of_comparison(request, first.scenario, second.scenario)
        charge(costs, own)
        charge(costs_of_second, others)
        return compared(request, first, lambda subject: opened(subject)[0])

    def content(request: Request) -> Content:
        subject = subject_of(request)
        if request.command == "compare":
            return comparison(request)
        if request.command in WITHOUT_A_PASS:
            loaded, costs = opened(subject)
            charge(costs, passes(request, loaded.scenario))
            return answer_about(request, loaded).content
        computed, costs = shared(subject)
        charge(costs, passes(request, computed.trace.scenario))
        if request.trains:
            computed = replace(computed, training=training_of(request, computed.loaded))
        return explain(request, computed)

    @_once
    def render(words: Words) -> str:
        request = replace(_request(words), folder=folder)
        found = content(request)
        assert not isinstance(found, bytes)  # only a request that writes a file has bytes
        text = rendered(request, found, WIDTH).strip("\n")
        is_plain = request.format is Format.MARKDOWN or request.command == QUOTE
        return text if is_plain else fenced(text.split("\n"))

    def within_limits(words: Words) -> str:
        output = render(words)
        allowed.write(output)
        return output

    return within_limits


def _request(words: Words) -> Request:
    command = words[0]
    if command not in WOVEN:
        raise TracerError(Problem(f"no command {command!r} to weave{closest(command, WOVEN)}"))
    request = parse(words)
    if request.writes:
        raise TracerError(Problem("a woven command writes no files"))
    check(request)
    return request


def _once(make: Callable[[_Asked], _Made]) -> Callable[[_Asked], _Made]:
    """Cache the results of a function, and raise the error of a failed call again."""
    made: dict[_Asked, _Made | TracerError] = {}

    def known(asked: _Asked) -> _Made:
        if asked not in made:
            try:
                made[asked] = make(asked)
            except TracerError as error:
                made[asked] = error
        found = made[asked]
        if isinstance(found, TracerError):
            raise found.with_traceback(None)
        return found

    return known
