"""Run the command of a mark, as on the command line, within limits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.renderers import Format
from tracer.renderers.markdown import fenced
from tracer.requests.loader import FILES, load, parse
from tracer.requests.request import Request
from tracer.requests.resolve import once
from tracer.weave.below import MATH
from tracer.weave.latex import LATEX
from tracer.weave.limits import LimitedEngine
from tracer.weave.woven import Renderer

FORMATS: dict[str | None, Format] = {
    None: Format.MARKDOWN,
    **dict.fromkeys(("markdown", "md"), Format.MARKDOWN),
    **dict.fromkeys(("latex", "tex", MATH), Format.LATEX),
    "json": Format.JSON,
}
"""The default formats in text and in these languages; in others, it is that of a terminal."""
PACKAGES = re.compile(r"\A(?:% .*\n)+\n*")
"""The comment of a fragment about the packages that it needs."""

WIDTH = 80
"""The width of woven text, in terminal cells."""

Words = tuple[str, ...]


def renderer(path: Path) -> Renderer:
    """Return the function that renders the marks of a file; equal ones are rendered only once.

    Paths are relative to the file's folder, links resolved. Marks about the same pass share it.
    """
    folder = path.resolve().parent
    engine = LimitedEngine(folder)

    @once
    def render(words: Words, language: str | None) -> str:
        request = _request(words, FORMATS.get(language, Format.TERMINAL))
        request.folder = folder
        if language == MATH:
            if words[0] != "value":
                raise TracerError(Problem("in a formula, only the command value is woven"))
            request.math = True
        try:
            text = request.rendered(request.answer(engine).content, WIDTH)
        except TracerError as error:
            if type(error) is not TracerError or request.scenario in " ".join(words):
                raise
            about = f"; the mark names no scenario, so it is about {request.scenario}"
            problems = (replace(each, message=each.message + about) for each in error.problems)
            raise TracerError(*problems) from None
        assert isinstance(text, str)  # only a request that writes a file has bytes
        text = text.strip("\n")
        if language is None and request.format is not Format.MARKDOWN:
            return fenced(text.split("\n"))
        return PACKAGES.sub("", text) if language == LATEX else text

    def within_limits(words: Words, language: str | None = None) -> str:
        output = render(words, language)
        engine.write(output)
        return output

    return within_limits


def _request(words: Words, default: Format) -> Request:
    command = words[0]
    if command not in FILES or not load(command).is_woven:
        known = [name for name in FILES if load(name).is_woven]
        raise TracerError(Problem(f"no command {command!r} to weave{closest(command, known)}"))
    request = parse(words, default)
    assert isinstance(request, Request)
    if request.writes:
        raise TracerError(Problem("a woven command writes no files"))
    request.check()
    if all(each.name != "format" for each in request.options()):
        request.format = Format.TERMINAL if default.is_data else default
    return request
