"""Names and patterns → the files to audit.

In a folder of a git repository, git lists the files, so that every form of .gitignore, in each
folder, in .git/info/exclude and in the user's own configuration, works as there.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tracer.audit.reading.texts import ENDINGS
from tracer.errors import Problem, TracerError
from tracer.files.reading import reason


class Patterns:
    """Patterns; one that matches a folder matches everything in it."""

    def __init__(self, patterns: Sequence[str] = (), root: Path | None = None) -> None:
        """Create patterns; one with a slash begins at the root, and may begin with `./`.

        Raises:
            TracerError: a pattern is wrong.
        """
        self._root = absolute(root or Path())
        self._spec = None
        if patterns:
            from pathspec import GitIgnoreSpec

            lines = [re.sub(r"^\./", "/", pattern) for pattern in patterns]
            try:
                with warnings.catch_warnings(action="ignore"):  # of Python's re, for `[[]`
                    self._spec = GitIgnoreSpec.from_lines(lines)
            except (ValueError, re.error) as error:
                raise TracerError(Problem(f"not a pattern as in .gitignore: {error}")) from None

    def __bool__(self) -> bool:
        return self._spec is not None

    def match(self, path: Path) -> bool:
        """Return whether the patterns match the path, or a folder that it lies in."""
        if self._spec is None:
            return False
        return self._spec.match_file(os.path.relpath(path, self._root))


def absolute(path: Path) -> Path:
    """Return the absolute path, without `..`; links stay."""
    return Path(os.path.normpath(path.absolute()))


def files(path: Path, excluded: Patterns, tell: Callable[[Problem], None]) -> Iterator[Path]:
    """Yield the supported files of a folder, sorted, without hidden, ignored and excluded ones.

    `tell` is called for each folder that cannot be listed. If git ignores the whole folder, it is
    read nevertheless, because somebody has named it.
    """
    listed = _listed_by_git(path, tell) or _walked(path, excluded, tell)
    for name in sorted(listed):
        inner = path / name
        if any(part.startswith(".") for part in name.parts) or excluded.match(inner):
            continue
        if inner.suffix.lower() in ENDINGS:
            if os.path.lexists(inner):  # git also lists deleted files
                yield inner
        elif not inner.is_symlink() and (inner / ".git").exists():  # another repository
            yield from files(inner, excluded, tell)


_LIST = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]


def _listed_by_git(path: Path, tell: Callable[[Problem], None]) -> set[Path]:
    """Return what git lists of a folder; nothing without git or outside of a repository."""
    import subprocess  # which is not everywhere that a page is computed

    outer = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}  # those of a hook
    try:
        ran = subprocess.run(
            # A repository's own settings name programs that git would start.
            ["git", "-c", "core.fsmonitor=false", "-C", path, *_LIST],
            env={**outer, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:
        return set()
    if ran.returncode:
        return set()
    for line in ran.stderr.decode(errors="replace").splitlines():
        tell(Problem(f"git: {line}", str(path)))
    return {Path(os.fsdecode(name)) for name in ran.stdout.split(b"\0") if name}


def _walked(path: Path, excluded: Patterns, tell: Callable[[Problem], None]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        tell(Problem(f"cannot be read: {reason(error)}", str(Path(error.filename))))

    for folder, inner, names in os.walk(path, onerror=unreadable):
        here = Path(folder)
        inner[:] = (n for n in inner if not n.startswith(".") and not excluded.match(here / n))
        yield from ((here / name).relative_to(path) for name in names)
