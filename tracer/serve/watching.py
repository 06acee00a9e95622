"""The page follows its file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from watchfiles import awatch

from tracer.errors import TracerError
from tracer.files.reading import read_file
from tracer.serve.application import Application
from tracer.serve.session import Session

MILLISECONDS = 100
"""How long a file must be left alone before it is read; editors write in several steps."""


async def watch(application: Application, file: Path) -> None:
    """Go on with the text of a file whenever it changes.

    The folder is watched, because editors put a new file in place of the old one.
    """
    session, target = application.session, file.resolve()
    watched = awatch(
        target.parent,
        watch_filter=lambda _, path: Path(path).name == target.name,
        step=MILLISECONDS,
        recursive=False,
    )
    async for _ in watched:
        async with application.one_at_a_time:
            await asyncio.to_thread(_follow, session, file)
        await application.tell()


def _follow(session: Session, file: Path) -> None:
    try:
        text = read_file(file, session.origin.file)
    except TracerError as error:
        session.refuse(error)
    else:
        session.follow(text)
