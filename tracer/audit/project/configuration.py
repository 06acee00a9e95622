"""The codes of findings, and the section `[tool.decoder-trace.audit]` of a configuration."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from tracer.audit.judging.finding import CODES
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.names import closest

ALL = tuple(sorted(code for code, _, _ in CODES.values()))

UNROUNDED = "A08"
"""Reported only with `strict`, or if this very code is selected."""


def unknown(prefix: str) -> str | None:
    """Return what is wrong with a prefix of codes; None if at least one code begins with it."""
    if prefix and any(code.startswith(prefix) for code in ALL):
        return None
    expected = f"{ALL[0]} to {ALL[-1]}, or a prefix such as {ALL[0][:2]}"
    return f"unknown code {prefix!r}, expected {expected}{closest(prefix, ALL)}"


def chosen(select: Collection[str], ignore: Collection[str], *, strict: bool) -> frozenset[str]:
    """Return the codes that are selected and not ignored; of two prefixes, the longer one counts.

    If nothing is selected, everything is.
    """
    usual = frozenset(code for code in ALL if strict or code != UNROUNDED or code in select)
    return frozenset(
        code for code in usual if _longest(select or ("A",), code) > _longest(ignore, code)
    )


def matching(prefixes: Collection[str]) -> frozenset[str]:
    """Return the codes that begin with any of the prefixes."""
    return frozenset(code for code in ALL if _longest(prefixes, code))


def _longest(prefixes: Collection[str], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


Kind = TypeVar("Kind")

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
    except RecursionError:
        raise TracerError(Problem("cannot be read: nested too deeply", name)) from None
    except ValueError:
        message = "cannot be read: a number with too many digits"
        raise TracerError(Problem(message, name)) from None
    if Path(name).name == NAMES[0] and "tool" not in data:
        message = f"expected [{'.'.join(SECTION)}]"
        raise TracerError(Problem(message, name, 1))
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
    ignores = reader.of_kind(
        table.get("per-file-ignores", {}), dict, "a table of patterns", "per-file-ignores"
    )
    found = Configuration(
        exclude=reader.texts(table.get("exclude", []), "exclude"),
        select=reader.prefixes(table.get("select", []), "select"),
        ignore=reader.prefixes(table.get("ignore", []), "ignore"),
        strict=reader.of_kind(table.get("strict", False), bool, "true or false", "strict"),
        per_file_ignores={
            pattern: reader.prefixes(codes, "per-file-ignores", pattern)
            for pattern, codes in ignores.items()
        },
    )
    if reader.problems:
        raise TracerError(*sorted(reader.problems, key=lambda problem: problem.line or 0))
    return found


class _Reader:
    """Reads values and collects what is wrong with them."""

    def __init__(self, content: str, name: str) -> None:
        self.content, self.name = content, name
        self.problems: list[Problem] = []

    def tell(self, message: str, *keys: str, value: object = None) -> None:
        """Add a problem at a key, or at its value."""
        path = (*SECTION, *keys)
        line = _line(self.content, path, value if isinstance(value, str) else None)
        self.problems.append(Problem(message, self.name, line, address=".".join(path)))

    def of_kind(self, value: Any, kind: type[Kind], expected: str, *keys: str) -> Kind:
        """Return a value of a kind, or an empty one."""
        if isinstance(value, kind):
            return value
        self.tell(f"expected {expected}, got {_came(value)}", *keys, value=value)
        return kind()

    def texts(self, value: Any, *keys: str) -> list[str]:
        """Return a list of texts."""
        found: list[Any] = self.of_kind(value, list, "a list of texts", *keys)
        return [self.of_kind(each, str, "text", *keys) for each in found]

    def prefixes(self, value: Any, *keys: str) -> list[str]:
        """Return a list of prefixes of codes."""
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
    at = 0
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
