"""An answer → what is handed over: its text, and the files that are written beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tracer.errors import Problem, TracerError
from tracer.lesson.document import Document
from tracer.renderers import Heading, render
from tracer.request import Request

if TYPE_CHECKING:
    pass

from tracer.asked import trained
from tracer.pipeline import Answer


def rendered(request: Request, answered: Document | str, width: int | None = None) -> str:
    """The answer as text without colour; `width` is that of a terminal."""
    if isinstance(answered, str):
        return answered
    return render(
        answered,
        request.format,
        math=request.math,
        heading=request.heading or Heading.TWO,
        standalone=request.standalone,
        figures=_way_to_figures(request),
        width=width,
    )


def pictures(request: Request, answered: Answer) -> dict[Path, str]:
    """The pictures of a document, if they are asked for: each file, and what it holds."""
    if request.figures is None or not isinstance(answered, Document):
        return {}
    from tracer.renderers.figures import figures

    found = figures(answered)
    if not found:
        message = "there are no pictures of this; attention weights, of the step softmax, have some"
        raise TracerError(Problem(message, address="--figures"))
    return {request.figures / name: text for name, text in found.items()}


def keyed(request: Request, answered: Answer) -> dict[Path, str]:
    """The key to a worksheet, if it is asked for: its file, and what it holds."""
    if request.key is None or not isinstance(answered, Document):
        return {}
    from tracer.lesson.key import key

    return {request.key: rendered(request, key(answered))}


def saved(request: Request) -> dict[Path, str]:
    """The trained scenario, if it is to be kept: its file, and its YAML."""
    if request.save is None:
        return {}
    from tracer.scenario.writer import written

    return {request.save: written(trained(request).trained)}


def _way_to_figures(request: Request) -> str | None:
    """The folder of the pictures, as seen from the file that links them."""
    if request.figures is None:
        return None
    here = request.output.absolute().parent if request.output else Path.cwd()
    return Path(os.path.relpath(request.figures, here)).as_posix()
