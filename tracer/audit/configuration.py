"""The section `[tool.decoder-trace.audit]` of a project's configuration."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tracer.audit.codes import unknown
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.names import closest

NAMES = (".decoder-trace.toml", "pyproject.toml")
"""The files that may have the section; of two in a folder, the first counts."""

SECTION = ("tool", "decoder-trace", "audit")


def _known(prefix: str) -> str:
    if message := unknown(prefix):
        raise ValueError(message)
    return prefix


Prefixes = list[Annotated[str, AfterValidator(_known)]]


class Section(BaseModel):
    """The keys of the section."""

    model_config = ConfigDict(extra="forbid", strict=True)

    exclude: list[str] = []
    select: Prefixes = []
    ignore: Prefixes = []
    strict: bool = False
    per_file_ignores: dict[str, Prefixes] = Field(default={}, alias="per-file-ignores")


def configured(folder: Path) -> tuple[Section, Path]:
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
    return Section(), folder


def _section(content: str, name: str) -> Any:
    """Return the section as plain data; None if the file has none.

    Raises:
        TracerError: it is no TOML, or has another section of this program.
    """
    try:
        data: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        line, column = map(int, re.findall("[0-9]+", place) or ("0", "0"))  # none at its end
        raise TracerError(Problem(f"not TOML: {message}", name, line, column)) from None
    if Path(name).name == NAMES[0] and "tool" not in data:
        message = f"expected [{'.'.join(SECTION)}]"
        raise TracerError(Problem(message, name, 1))
    for depth, key in enumerate(SECTION):
        if not isinstance(data, dict):
            raise TracerError(Problem("expected a table", name, address=_dotted(depth)))
        others = [other for other in data if depth == len(SECTION) - 1 and other != key]
        if others:
            path = (*SECTION[:depth], others[0])
            message, at = f"unknown table, expected {key}", _line(content, path)
            raise TracerError(Problem(message, name, at, address=".".join(path)))
        if key not in data:
            return None
        data = data[key]
    return data


def _dotted(depth: int) -> str:
    return ".".join(SECTION[:depth])


def _validated(data: Any, content: str, name: str) -> Section:
    try:
        return Section.model_validate(data)
    except ValidationError as error:
        raise TracerError(*_problems(error, content, name)) from None


_EXPECTED = {
    "list_type": "a list of texts",
    "string_type": "text",
    "bool_type": "true or false",
    "dict_type": "a table",
    "model_type": "a table",
}
"""What was expected, by pydantic's type of error."""


def _problems(error: ValidationError, content: str, name: str) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        place = (*SECTION, *detail["loc"])
        keys = [str(step) for step in place if isinstance(step, str)]
        came = detail["input"]
        match detail["type"]:
            case "extra_forbidden":
                known = [field.alias or name for name, field in Section.model_fields.items()]
                nearest = closest(keys[-1], known) or f", expected {', '.join(known)}"
                message = f"unknown key{nearest}"
            case "value_error":
                message = str(detail["ctx"]["error"])
            case kind:
                message = f"expected {_EXPECTED[kind]}, got {_shown(came)}"
        line = _line(content, keys, came if isinstance(came, str) else None)
        yield Problem(message, name, line, address=".".join(keys))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    kinds: dict[type, str] = {dict: "a table", list: "a list"}
    return kinds.get(type(value), repr(value))


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
