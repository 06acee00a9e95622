"""The page follows its file."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch

from tracer.errors import InternalError, TracerError
from tracer.files.reading import read_file
from tracer.serve.application import Application
from tracer.serve.session import Session

MILLISECONDS = 100
"""How long a file must be left alone before it is read; editors write in several steps."""
SECONDS = 1
"""How long to wait before a folder is watched again that could not be."""


async def watch(application: Application, file: Path) -> None:
    """Go on with the text of a file whenever it changes, whatever goes wrong meanwhile.

    The folder is watched, because editors put a new file in place of the old one. It may be gone
    for a while.
    """
    while True:
        with suppress(Exception):
            await _watch(application, file)
        await asyncio.sleep(SECONDS)
        with suppress(Exception):
            await _follow(application, file)  # it may have changed meanwhile


async def _watch(application: Application, file: Path) -> None:
    target = file.resolve()
    watched = awatch(
        target.parent,
        watch_filter=lambda _, path: Path(path).name == target.name,
        step=MILLISECONDS,
        recursive=False,
    )
    async for _ in watched:
        await _follow(application, file)


async def _follow(application: Application, file: Path) -> None:
    async with application.one_at_a_time:
        await asyncio.to_thread(_read, application.session, file)
    await application.tell()


def _read(session: Session, file: Path) -> None:
    try:
        session.follow(read_file(file, session.origin.file))
    except TracerError as error:
        session.refuse(error)
    except Exception as error:  # a mistake of the program: the next text may be without it
        session.refuse(InternalError(f"{type(error).__name__}: {error}", session.origin.file))
