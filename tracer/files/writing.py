"""Write files completely, and several of them together or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tracer.console.interruption import defer_sigint
from tracer.files.attributes import carry_over
from tracer.files.drafts import Drafts
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
    with defer_sigint() as let_through, _made(make), ExitStack() as stack:
        drafts: dict[Path, Drafts] = {}
        replacements = []
        for target, text in files:
            beside = target.path.parent
            with writing_to(target.name):
                if beside not in drafts:
                    drafts[beside] = stack.enter_context(Drafts(beside))
                alone = len(files) == 1
                replacements.append(_prepared(target, text, drafts[beside], alone=alone))
        let_through()
        _put_all_in_place(replacements, held or {})


def create(path: Path, text: str) -> None:
    """Write a new file completely.

    Raises:
        TracerError: the name already exists, or the file cannot be written.
    """
    with defer_sigint() as let_through, writing_to(path), Drafts(path.parent) as drafts:
        draft = drafts.written(text)
        let_through()
        try:
            _put_where_nothing_is(draft, path)
        except FileExistsError:
            raise refused(path, "it is there already, expected a new file") from None


@dataclass(frozen=True)
class _Replacement:
    """A file, the draft that replaces it, and a copy of the old file to restore."""

    target: Target
    new: Path
    old: Path | None

    def put_in_place(self, held: str | None) -> None:
        path = self.target.path
        with writing_to(self.target.name):
            if held is not None and path.read_bytes() != held.encode():
                raise refused(self.target.name, "it has changed since it was read")
            self.new.replace(path)

    def put_back(self) -> None:
        with suppress(OSError):
            if self.old is not None:
                self.old.replace(self.target.path)
            else:
                self.target.path.unlink()


def _prepared(target: Target, text: str | bytes, drafts: Drafts, *, alone: bool) -> _Replacement:
    """Return the replacement of a file; a file written `alone` needs no copy to restore."""
    new = drafts.written(text)
    if target.found is None:
        return _Replacement(target, new, None)
    carry_over(target.path, new)
    if alone:
        return _Replacement(target, new, None)
    old = drafts.copied(target.path)
    carry_over(target.path, old)
    return _Replacement(target, new, old)


def _put_all_in_place(replacements: list[_Replacement], held: Mapping[Path, str]) -> None:
    done: list[_Replacement] = []
    try:
        for replacement in replacements:
            replacement.put_in_place(held.get(replacement.target.name))
            done.append(replacement)
    except BaseException:
        for replacement in reversed(done):
            replacement.put_back()
        raise


def _put_where_nothing_is(draft: Path, path: Path) -> None:
    """Rename a draft, but never over an existing file, even one that appears meanwhile."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        path.open("xb").close()
        draft.replace(path)


def _send(target: Target, text: str | bytes) -> None:
    """Write directly to a pipe, a device or the program's own output."""
    with writing_to(target.name):
        handle = os.open(target.name, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode() if isinstance(text, str) else text)


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
