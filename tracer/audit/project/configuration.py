"""What is audited and reported: the command line over the project's configuration."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from tracer.audit.judging.finding import CODES
from tracer.audit.project.paths import Patterns
from tracer.audit.reports.results import UNROUNDED, Kind
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.names import closest

ALL = tuple(sorted(code for code, _, _ in CODES.values()))


def unknown(prefix: str) -> str | None:
    """Return what is wrong with a prefix of codes; None if at least one code begins with it."""
    if prefix and any(code.startswith(prefix) for code in ALL):
        return None
    expected = f"{ALL[0]} to {ALL[-1]}, or a prefix such as {ALL[0][:2]}"
    return f"unknown code {prefix!r}, expected {expected}{closest(prefix, ALL)}"


def chosen(select: Collection[str], ignore: Collection[str], *, strict: bool) -> frozenset[str]:
    """Return the selected codes that are not ignored; of two prefixes, the longer one counts."""
    usual = frozenset(code for code in ALL if strict or code != UNROUNDED or code in select)
    first = select or ("A",)
    return frozenset(code for code in usual if _longest(first, code) > _longest(ignore, code))


def matching(prefixes: Collection[str]) -> frozenset[str]:
    """Return the codes that begin with any of the prefixes."""
    return frozenset(code for code in ALL if _longest(prefixes, code))


def _longest(prefixes: Collection[str], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


ValueKind = TypeVar("ValueKind")

NAMES = (".decoder-trace.toml", "pyproject.toml")
"""The files that may have the section; of two in a folder, the first counts."""

SECTION = ("tool", "decoder-trace", "audit")


@dataclass(frozen=True)
class Configuration:
    """The keys of the section; `per_file_ignores` is called per-file-ignores there."""

    exclude: list[str] = field(default_factory=list)
    select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    strict: bool = False
    per_file_ignores: dict[str, list[str]] = field(default_factory=dict)


KEYS = tuple(each.name.replace("_", "-") for each in fields(Configuration))


def configured(folder: Path) -> tuple[Configuration, Path]:
    """Return the nearest section in a folder or above it, and the folder of its file.

    Without one, it is an empty one.

    Raises:
        TracerError: a configuration on the way is no TOML, or the section is wrong.
    """
    for place in (folder, *folder.parents):
        for name in NAMES:
            path = place / name
            if path.is_file():
                shown = os.path.relpath(path, folder)
                content = read_file(path, shown)
                if (data := _section(content, shown)) is not None:
                    return _validated(data, content, shown), place
    return Configuration(), folder


def _section(content: str, name: str) -> Any:
    """Return the section as plain data; None if the file has none.

    Raises:
        TracerError: it is no TOML, or has another section of this program.
    """
    try:
        data: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).partition(" (at ")
        line, column = map(int, re.findall("[0-9]+", where) or (content.count("\n") + 1, 0))
        raise TracerError(Problem(f"not TOML: {message}", name, line, column)) from None
    except (RecursionError, ValueError) as error:
        is_deep = isinstance(error, RecursionError)
        why = "nested too deeply" if is_deep else "a number with too many digits"
        raise TracerError(Problem(f"cannot be read: {why}", name)) from None
    if Path(name).name == NAMES[0] and "tool" not in data:
        raise TracerError(Problem(f"expected [{'.'.join(SECTION)}]", name, 1))
    for depth, key in enumerate(SECTION):
        path = SECTION[:depth]
        if not isinstance(data, dict):
            raise _wrong("expected a table", path, content, name)
        if depth == len(SECTION) - 1 and (others := data.keys() - {key}):
            raise _wrong(f"unknown table, expected {key}", (*path, min(others)), content, name)
        if key not in data:
            return None
        data = data[key]
    return data


def _wrong(message: str, keys: Sequence[str], content: str, name: str) -> TracerError:
    return TracerError(Problem(message, name, _line(content, keys), address=".".join(keys)))


def _validated(data: Any, content: str, name: str) -> Configuration:
    reader = _Reader(content, name)
    table = reader.of_kind(data, dict, "a table")
    for key in table.keys() - set(KEYS):
        nearest = closest(key, KEYS) or f", expected {', '.join(KEYS)}"
        reader.tell(f"unknown key{nearest}", key)
    key = "per-file-ignores"
    ignores = reader.of_kind(table.get(key, {}), dict, "a table of patterns", key)
    found = Configuration(
        exclude=reader.texts(table.get("exclude", []), "exclude"),
        select=reader.prefixes(table.get("select", []), "select"),
        ignore=reader.prefixes(table.get("ignore", []), "ignore"),
        strict=reader.of_kind(table.get("strict", False), bool, "true or false", "strict"),
        per_file_ignores={of: reader.prefixes(codes, key, of) for of, codes in ignores.items()},
    )
    if reader.problems:
        raise TracerError(*sorted(reader.problems, key=lambda problem: problem.line or 0))
    return found


class _Reader:
    def __init__(self, content: str, name: str) -> None:
        self.content, self.name = content, name
        self.problems: list[Problem] = []

    def tell(self, message: str, *keys: str, value: object = None) -> None:
        """Add a problem at a key, or at its value."""
        path = (*SECTION, *keys)
        line = _line(self.content, path, value if isinstance(value, str) else None)
        self.problems.append(Problem(message, self.name, line, address=".".join(path)))

    def of_kind(self, value: Any, kind: type[ValueKind], expected: str, *keys: str) -> ValueKind:
        """Return a value of a kind, or an empty one."""
        if isinstance(value, kind):
            return value
        self.tell(f"expected {expected}, got {_came(value)}", *keys, value=value)
        return kind()

    def texts(self, value: Any, *keys: str) -> list[str]:
        found: list[Any] = self.of_kind(value, list, "a list of texts", *keys)
        return [self.of_kind(each, str, "text", *keys) for each in found]

    def prefixes(self, value: Any, *keys: str) -> list[str]:
        found = self.texts(value, *keys)
        for prefix in found:
            if prefix in value and (message := unknown(prefix)):  # or it was no text
                self.tell(message, *keys, value=prefix)
        return found


def _came(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and value.bit_length() > 64:  # the most that TOML promises to keep
        return "a large number"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _line(content: str, keys: Sequence[str], value: str | None = None) -> int | None:
    """Return the line of a key, or of a value behind it; None if it is written in a rare form."""
    section = re.search(r"^\s*\[\s*tool\s*\.\s*[\"']?decoder-trace", content, re.MULTILINE)
    at = section.start() if section else 0
    for key in keys:
        found = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])").search(content, at)
        if found is None:
            return None
        at = found.start()
    if value is not None and (place := content.find(value, at)) >= 0:
        at = place
    return content.count("\n", 0, at) + 1


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    codes: frozenset[str]
    """The codes that are reported."""
    strict: bool
    """Whether warnings count as errors, too."""
    excluded: Patterns
    """The files that are not read."""
    excludes_named: bool
    """Whether even a file that is named on the command line may be excluded."""
    ignores: tuple[tuple[Patterns, frozenset[str]], ...]
    """The codes that are not reported for some files."""
    weak: bool = False
    """Whether to report what only weak evidence confirms, too."""
    kinds: tuple[Kind, ...] = ()
    """What is listed besides the findings."""

    def codes_for(self, path: Path) -> frozenset[str]:
        """Return the codes that are reported for a file."""
        ignored = (codes for patterns, codes in self.ignores if patterns.match(path))
        return self.codes.difference(*ignored)


def settings(
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    force_exclude: bool = False,
    strict: bool = False,
    weak: bool = False,
    kinds: Sequence[Kind] = (),
) -> Settings:
    """Return the settings for the working directory, and options that go before them.

    As in ruff, `select` and `exclude` replace those of the configuration, `select` also its
    `ignore`; else `ignore` adds to it.

    Raises:
        TracerError: the configuration is wrong.
    """
    section, folder = configured(Path.cwd())
    strict = strict or section.strict
    patterns = Patterns(exclude) if exclude else Patterns(section.exclude, folder)
    ignored = ignore if select else [*section.ignore, *ignore]
    codes = chosen(select or section.select, ignored, strict=strict)
    of_files = section.per_file_ignores.items()
    ignores = tuple((Patterns([pattern], folder), matching(of)) for pattern, of in of_files)
    is_forced = bool(exclude) or force_exclude
    return Settings(codes, strict, patterns, is_forced, ignores, weak, tuple(kinds))
