"""An answer → its text and the files to write with it."""

from __future__ import annotations

import os
from pathlib import Path

from tracer.errors import Problem, TracerError
from tracer.files.reading import reading_from
from tracer.lesson.document import Document
from tracer.renderers import HeadingLevel, render
from tracer.requests.pipeline import Answer
from tracer.requests.request import Request


def rendered(request: Request, content: Document | str, width: int | None = None) -> str:
    """Return the content as text without color; `width` is the terminal's."""
    if isinstance(content, str):
        return content
    return render(
        content,
        request.format,
        math=request.math,
        heading=request.heading or HeadingLevel.TWO,
        standalone=request.standalone,
        figures=_path_to_figures(request),
        width=width,
    )


def files_beside(request: Request, answer: Answer) -> list[tuple[Path, str | bytes]]:
    """Return the files to write with the text: pictures, the trained scenario, a worksheet's key.

    Raises:
        TracerError: pictures are requested, but there are none.
    """
    written: list[tuple[Path, str | bytes]] = []
    if request.figures is not None:
        from tracer.renderers.figures import figures

        found = figures(answer.content) if isinstance(answer.content, Document) else {}
        if not found:
            message = (
                "this output has no pictures; the step softmax has some, of the attention weights"
            )
            raise TracerError(Problem(message, address="--figures"))
        written += [(request.figures / name, text) for name, text in found.items()]
    if request.save is not None and answer.trained is not None:
        from tracer.scenario import writer

        written.append((request.save, writer.written(answer.trained)))
    if request.key is not None and isinstance(answer.content, Document):
        from tracer.lesson.texts.worksheet import key

        written.append((request.key, rendered(request, key(answer.content))))
    return written


def _path_to_figures(request: Request) -> str | None:
    """Return the folder of the pictures, relative to the file that links them."""
    if request.figures is None:
        return None
    with reading_from("the current folder"):  # it may be gone
        here = request.output.absolute().parent if request.output else Path.cwd()
        return Path(os.path.relpath(request.figures, here)).as_posix()
