"""What a mark asks for, and what it becomes: as on the command line, within limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, get_args

from tracer.asked import basis, scenario_for, trace_for
from tracer.decoder.forward import Trace
from tracer.decoder.variant import TRIES
from tracer.delivery import rendered
from tracer.errors import Problem, TracerError
from tracer.lesson.tutorial import MOST_TURNS
from tracer.names import closest
from tracer.pipeline import answer
from tracer.renderers import Format
from tracer.renderers.markdown import fenced
from tracer.request import Command, Request, check
from tracer.weave.limits import Allowance

NOT_WOVEN = ("check", "page")
"""A text is checked, and the check is no part of it; a page is a file of its own."""
COMMANDS: tuple[str, ...] = tuple(name for name in get_args(Command) if name not in NOT_WOVEN)
QUOTES = ("value",)
"""Commands whose text stands inside a sentence."""

WIDTH = 80
"""Of the terminal that woven text is made for, in cells."""

Words = tuple[str, ...]
_Asked = TypeVar("_Asked")
_Made = TypeVar("_Made")


def renderer(path: Path, asked: Callable[[Sequence[str]], Request]) -> Callable[[Words], str]:
    """How the marks of a file are rendered, the same words only once.

    `asked` reads the words of a mark. Paths are relative to the file, where it really lies. Marks
    that look at the same trace share it.
    """
    folder = path.resolve().parent
    allowed = Allowance()

    @_once
    def shared(basis: Request) -> Trace:
        allowed.read(folder, basis.scenario)
        form = scenario_for(replace(basis, vary=None)).scenario
        allowed.compute(form, passes=1 if basis.vary is None else 1 + TRIES)
        return trace_for(basis)

    @_once
    def render(words: Words) -> str:
        request = replace(_request(words, asked), folder=folder)
        if request.command in ("steps", "shapes"):
            allowed.read(folder, request.scenario)  # only its shapes are looked at
        elif request.command == "generate":
            allowed.read(folder, request.scenario)
            scenario = scenario_for(request).scenario
            turns = request.max_tokens or scenario.generation.max_tokens
            allowed.compute(scenario, turns=turns, first=len(request.start) or 1)
        elif request.command == "train":
            allowed.read(folder, request.scenario)
            allowed.train(scenario_for(request).scenario, request.steps or 1)
        elif request.command == "tutorial":
            scenario = shared(basis(request)).scenario
            # It also tells the pass without the mask, the loss and a generated text.
            allowed.compute(scenario, turns=MOST_TURNS + 3, first=len(scenario.tokens))
            if request.train:
                allowed.train(scenario, 1)
        elif request.command not in QUOTES:
            allowed.compute(shared(basis(request)).scenario)
        answered = answer(request, lambda request: shared(basis(request)))
        assert not isinstance(answered, bytes)  # which only a file gets
        text = rendered(request, answered, WIDTH).strip("\n")
        return text if _is_plain(request) else fenced(text.split("\n"))

    def within_limits(words: Words) -> str:
        output = render(words)
        allowed.write(output)
        return output

    return within_limits


def _request(words: Words, asked: Callable[[Sequence[str]], Request]) -> Request:
    command = words[0]
    if command not in COMMANDS:
        raise TracerError(Problem(f"no command {command!r} to weave{closest(command, COMMANDS)}"))
    request = asked(words)
    if request.writes:
        raise TracerError(Problem("a woven command writes no files"))
    check(request)
    return request


def _is_plain(request: Request) -> bool:
    return request.format is Format.MARKDOWN or request.command in QUOTES


def _once(make: Callable[[_Asked], _Made]) -> Callable[[_Asked], _Made]:
    """What makes a thing only once, and tells every time what is wrong with it."""
    made: dict[_Asked, _Made | TracerError] = {}

    def known(asked: _Asked) -> _Made:
        if asked not in made:
            try:
                made[asked] = make(asked)
            except TracerError as error:
                made[asked] = error
        found = made[asked]
        if isinstance(found, TracerError):
            raise TracerError(*found.problems)
        return found

    return known
