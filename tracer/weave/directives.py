"""Run the command of a mark, as on the command line, within limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.renderers import Format
from tracer.renderers.markdown import fenced
from tracer.requests.loader import FILES, load, parse
from tracer.requests.request import Request
from tracer.requests.resolve import once
from tracer.weave.limits import LimitedEngine

WIDTH = 80
"""The width of woven text, in terminal cells."""

Words = tuple[str, ...]


def renderer(path: Path) -> Callable[[Words], str]:
    """Return the function that renders the marks of a file; equal words are rendered only once.

    Paths are relative to the file's folder, links resolved. Marks about the same pass share it.
    """
    folder = path.resolve().parent
    engine = LimitedEngine(folder)

    @once
    def render(words: Words) -> str:
        request = _request(words)
        request.folder = folder
        text = request.rendered(request.answer(engine).content, WIDTH)
        assert isinstance(text, str)  # only a request that writes a file has bytes
        text = text.strip("\n")
        return text if request.format is Format.MARKDOWN else fenced(text.split("\n"))

    def within_limits(words: Words) -> str:
        output = render(words)
        engine.write(output)
        return output

    return within_limits


def _request(words: Words) -> Request:
    command = words[0]
    if command not in FILES or not load(command).is_woven:
        known = [name for name in FILES if load(name).is_woven]
        raise TracerError(Problem(f"no command {command!r} to weave{closest(command, known)}"))
    request = parse(words)
    assert isinstance(request, Request)
    if request.writes:
        raise TracerError(Problem("a woven command writes no files"))
    request.check()
    return request
