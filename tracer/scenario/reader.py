"""YAML text → plain data in which every scalar is the text that was typed.

Tokens therefore stay as written (`no`, `null`, `1.0` are tokens) and numbers keep their digits;
which of the two a scalar is, the model decides. Each place in the data knows its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from tracer.errors import Problem, TracerError

Data: TypeAlias = str | list["Data"] | dict[str, "Data"]
Place: TypeAlias = tuple[int | str, ...]
"""The way to a part of the data: ("layers", 0, "attention", "W_O", 2)."""

MAX_DEPTH = 100

MAX_NODES = 1_000_000
"""Aliases let a short text stand for an endless one; past this it is no scenario."""


@dataclass(frozen=True)
class Source:
    """A scenario as read: its data, and the line and column of each part."""

    file: str
    data: Data
    root: yaml.Node

    def problem(self, place: Place, message: str, address: str | None = None) -> Problem:
        """A problem at a place, or at the nearest place around it that exists."""
        mark = _mark(self.root, place)
        return Problem(message, self.file, mark.line + 1, mark.column + 1, address)


def read(text: str, file: str) -> Source:
    """Read YAML text.

    Raises:
        TracerError: not YAML, empty, more than one document, duplicate keys, endless aliases.
    """
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        message = ", ".join(part for part in (error.context, error.problem) if part)
        raise TracerError(Problem(f"not YAML: {message}", file, line, column)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"not YAML: the character U+{int(error.character):04X} is not allowed"
        raise TracerError(Problem(message, file, line)) from None
    except RecursionError:
        raise TracerError(Problem("nested too deeply", file)) from None
    except (ValueError, OverflowError) as error:
        # Escapes and directives with numbers that PyYAML does not expect.
        raise TracerError(Problem(f"not YAML: {error}", file)) from None
    if root is None:
        raise TracerError(Problem("empty, expected a scenario", file))
    problems = set(_structural_problems(root, file))
    if problems:
        raise TracerError(*sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    return Source(file, _plain(root), root)


def _structural_problems(root: yaml.Node, file: str) -> Iterator[Problem]:
    """Duplicate keys, keys that are no text, aliases of aliases without end."""
    # A stack rather than recursion: an alias may point at its own parent.
    stack: list[tuple[yaml.Node, tuple[int, ...]]] = [(root, ())]
    visited = 0
    while stack:
        node, parents = stack.pop()
        line, column = node.start_mark.line + 1, node.start_mark.column + 1
        visited += 1
        if visited > MAX_NODES:
            yield Problem("too large once its aliases are written out", file)
            return
        if id(node) in parents:
            yield Problem("an alias that contains itself", file, line, column)
            return
        if len(parents) > MAX_DEPTH:
            yield Problem("nested too deeply", file, line, column)
            return
        if isinstance(node, yaml.ScalarNode) and _has_surrogate(node.value):
            yield Problem("half of a surrogate pair, which is no character", file, line, column)
        here = (*parents, id(node))
        if isinstance(node, yaml.SequenceNode):
            stack += [(child, here) for child in node.value]
        elif isinstance(node, yaml.MappingNode):
            seen: dict[str, int] = {}
            for key, value in node.value:
                mark = key.start_mark
                if not isinstance(key, yaml.ScalarNode):
                    yield Problem(
                        "a key that is a list or a mapping, expected text",
                        file,
                        mark.line + 1,
                        mark.column + 1,
                    )
                    continue
                if _has_surrogate(key.value):
                    message = "half of a surrogate pair, which is no character"
                    yield Problem(message, file, mark.line + 1, mark.column + 1)
                if key.value in seen:
                    message = f"the key {key.value!r} again, first given on line {seen[key.value]}"
                    yield Problem(message, file, mark.line + 1, mark.column + 1)
                seen.setdefault(key.value, mark.line + 1)
                stack.append((value, here))


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)


def _plain(node: yaml.Node) -> Data:
    match node:
        case yaml.MappingNode():
            return {key.value: _plain(value) for key, value in node.value}
        case yaml.SequenceNode():
            return [_plain(child) for child in node.value]
        case _:
            return str(node.value)


def _mark(node: yaml.Node, place: Place) -> yaml.Mark:
    """Where the innermost existing node on the way to `place` starts."""
    for depth, part in enumerate(place, 1):
        match node:
            case yaml.MappingNode():
                pair = next(((k, v) for k, v in node.value if k.value == part), None)
                if pair is None:
                    break
                key, node = pair
                # Of a block below its key the key is what a person looks for.
                if depth == len(place):
                    return key.start_mark  # type: ignore[no-any-return]  # of a bare node.value
            case yaml.SequenceNode() if isinstance(part, int) and part < len(node.value):
                node = node.value[part]
            case _:
                break
    return node.start_mark
