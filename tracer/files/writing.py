"""Write files completely, and several of them together or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from tracer.console.interruption import defer_sigint
from tracer.files.targets import Target, check, refused, writing_to


def write(
    texts: Iterable[tuple[Path, str | bytes]],
    *,
    make: Path | None = None,
    held: Mapping[Path, str] | None = None,
    force: bool | None = None,
) -> None:
    """Write each text to its file; if one file cannot be written, all files stay as they are.

    The folder `make` is created if it is missing. `held` is the expected old text by name: a file
    with another text has been changed meanwhile, and is refused. `force` is as in `targets.check`.

    Raises:
        TracerError: a file cannot be written, or must not be.
    """
    texts = list(texts)
    targets = check((name for name, _ in texts), make, force=force)
    pairs = [(target, text) for target, (_, text) in zip(targets, texts, strict=True)]
    # Text sent to a pipe cannot be taken back, so it is sent before any file is replaced.
    for target, text in pairs:
        if target.is_stream:
            _send(target, text)
    files = [(target, text) for target, text in pairs if not target.is_stream]
    with defer_sigint() as let_through, _made(make), ExitStack() as drafts, ExitStack() as undo:
        replacements = [(target, _draft(target, text, drafts)) for target, text in files]
        let_through()
        for target, draft in replacements:
            with writing_to(target.name):
                _check_unchanged(target, (held or {}).get(target.name))
                old = draft.with_name("old")
                if target.found and len(files) > 1:  # a single file is never restored
                    shutil.copy(target.path, old)
                draft.replace(target.path)
            undo.callback(_put_back, target, old)
        undo.pop_all()


def create(path: Path, text: str) -> None:
    """Write a new file completely.

    Raises:
        TracerError: the name already exists, or the file cannot be written.
    """
    with defer_sigint() as let_through, writing_to(path):
        try:
            file = path.open("xb")
        except FileExistsError:
            raise refused(path, "it is there already, expected a new file") from None
        try:
            _fill(file, text)
            let_through()
        except BaseException:
            path.unlink()
            raise


def _draft(target: Target, text: str | bytes, stack: ExitStack) -> Path:
    """Return a new file in a hidden folder beside the target, which the stack removes.

    It has the permissions of the file that it replaces.
    """
    with writing_to(target.name):
        folder = TemporaryDirectory(
            prefix=".decoder-trace-", dir=target.path.parent, ignore_cleanup_errors=True
        )
        draft = Path(stack.enter_context(folder)) / "new"
        _fill(draft.open("xb"), text)
        if target.found:
            draft.chmod(target.found.st_mode & 0o777)
        return draft


def _fill(file: BinaryIO, text: str | bytes) -> None:
    """Write a text to a file, flush it to the disk, and close the file."""
    with file:
        file.write(_encoded(text))
        file.flush()
        os.fsync(file.fileno())


def _check_unchanged(target: Target, held: str | None) -> None:
    if held is not None and target.path.read_bytes() != held.encode():
        raise refused(target.name, "it has changed since it was read")


def _put_back(target: Target, old: Path) -> None:
    """Restore a file from its copy; remove it if it is new."""
    with suppress(OSError):
        if target.found:
            old.replace(target.path)
        else:
            target.path.unlink()


def _send(target: Target, text: str | bytes) -> None:
    """Write directly to a pipe, a device or the program's own output."""
    with writing_to(target.name):
        # Without O_BINARY, Windows would write each line feed as two characters.
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        handle = os.open(target.name, flags)
        with os.fdopen(handle, "wb") as stream:
            stream.write(_encoded(text))


def _encoded(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@contextmanager
def _made(folder: Path | None) -> Iterator[None]:
    """Create a folder and its parents; remove those that were created if the block fails."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()] if folder else []
    try:
        for each in reversed(missing):
            with writing_to(each):
                each.mkdir(exist_ok=True)
        yield
    except BaseException:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
        raise
