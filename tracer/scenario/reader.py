"""YAML text → plain data in which every scalar is the text that was typed.

Tokens therefore stay as written (`no`, `null`, `1.0` are tokens), and numbers keep their digits.
The model decides which of the two a scalar is. Each place in the data knows its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import yaml

from tracer.errors import Problem, TracerError

Data: TypeAlias = str | list["Data"] | dict[str, "Data"]
YamlPath: TypeAlias = tuple[int | str, ...]
"""The path to a part of the data: ("layers", 0, "attention", "W_O", 2)."""

MAX_DEPTH = 100

MAX_NODES = 1_000_000
"""The most nodes of a scenario; aliases could expand a short text without end."""

LIBYAML = yaml.CBaseLoader if yaml.__with_libyaml__ else None

LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
SURROGATE = re.compile("[\ud800-\udfff]")
UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.1 forbids in a text (5.1, the character set)."""

At: TypeAlias = tuple[int, int]
"""A line and a column, both counted from 1."""


def is_on(data: Data | None) -> bool:
    """Return whether a setting is typed as true."""
    return str(data).lower() in ("true", "yes", "on", "t", "y", "1")


def is_off(data: Data | None) -> bool:
    """Return whether a setting is typed as false."""
    return str(data).lower() in ("false", "no", "off", "f", "n", "0")


@dataclass(eq=False, slots=True)
class _List:
    """A list, its start, and the starts of its entries."""

    at: At
    data: list[Data] = field(default_factory=list)
    parts: list[Where] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Mapping:
    """A mapping, its start, and the starts of its keys and values."""

    at: At
    data: dict[str, Data] = field(default_factory=dict)
    parts: dict[str, tuple[At, Where]] = field(default_factory=dict)


Where: TypeAlias = _List | _Mapping | At


@dataclass(frozen=True)
class ScenarioSource:
    """A scenario as read: its data, and the line and column of each part."""

    file: str
    data: Data
    where: Where

    def problem(self, place: YamlPath, message: str, address: str | None = None) -> Problem:
        """Return a problem at a place, or at the nearest existing place around it."""
        return Problem(message, self.file, *_at(self.where, place), address)

    def at(self, key: str, made: str, data: Data) -> ScenarioSource:
        """Return the source with another key that replaces the first one and has its place."""
        assert isinstance(self.data, dict) and isinstance(self.where, _Mapping)
        parts = {**self.where.parts, made: self.where.parts[key]}
        return replace(self, data={**self.data, made: data}, where=replace(self.where, parts=parts))


def with_excerpts(problems: Sequence[Problem], text: str) -> Iterator[Problem]:
    """Return the problems of a text with their lines."""
    lines = LINE_BREAK.split(text)
    for problem in problems:
        line = lines[problem.line - 1] if problem.line and problem.line <= len(lines) else None
        yield replace(problem, excerpt=line)


def read(text: str, file: str, expected: str = "a scenario") -> ScenarioSource:
    """Read YAML text; `expected` names its content if it is empty.

    Raises:
        TracerError: not YAML, empty, more than one document, duplicate keys, endless aliases.
    """
    text = text.removeprefix("\ufeff")
    # Checked here because neither PyYAML nor libyaml reports the line of such a character.
    if unreadable := UNREADABLE.search(text):
        lines = LINE_BREAK.split(text[: unreadable.start()])
        message = f"not YAML: the character U+{ord(unreadable[0]):04X} is not allowed"
        raise TracerError(Problem(message, file, len(lines), len(lines[-1]) + 1))
    # libyaml is much faster, but it has other messages and skips U+FEFF. A text that it refuses
    # is read again with PyYAML, so the messages are the same with and without libyaml.
    if LIBYAML and "\ufeff" not in text:
        with suppress(yaml.YAMLError, ValueError):
            return _Reading(file, text, LIBYAML).source(expected)
    try:
        return _Reading(file, text, yaml.BaseLoader).source(expected)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        message = _reason(error, text)
        if line and (tight := _without_space(error, LINE_BREAK.split(text)[:line])):
            message, line, column = tight
        raise TracerError(Problem(f"not YAML: {message}", file, line, column)) from None
    except (ValueError, OverflowError) as error:
        # Escapes and directives with numbers that PyYAML does not expect.
        raise TracerError(Problem(f"not YAML: {error}", file)) from None


IN_OUR_WORDS = (
    ("'\\t'", "a tab, expected spaces"),
    ("parsing a flow sequence", "the list that begins on line {} lacks a comma or ]"),
    ("parsing a flow mapping", "the mapping that begins on line {} lacks a comma or }}"),
    ("quoted scalar", "the quotation mark on line {} is not closed"),
    ("mapping values", "two colons; put quotes around a text that contains a colon"),
    ("could not find expected ':'", "a key without a colon"),
    ("cannot start any token", "a text that begins with this character needs quotes"),
    ("found '-'", "a list item where a key is expected"),
    ("found '?'", "a key where a list item is expected"),
    ("expected <block end>", "this does not continue the lines above; is a ] too many?"),
)
"""PyYAML's messages for common mistakes, and ours."""

KEY = re.compile(r"\s*[^\s#].*:(\s|$)")
INDENTED = ("mapping values", "<block mapping start>")
"""PyYAML's messages for a key that is indented differently from its siblings."""


TIGHT = re.compile(r"[ \t]*(?:- )?([A-Za-z_][A-Za-z_0-9]*):(?=[^\s:/])")
"""The beginning of a line such as `title:Who`, which is no key and its value."""


def _without_space(error: yaml.MarkedYAMLError, lines: list[str]) -> tuple[str, int, int] | None:
    """Return that a colon lacks its space, with its place: the message is about what follows."""
    said = f"{error.problem}"
    if "mapping values" not in said and "expected ':'" not in said:
        return None
    for number in range(max(1, len(lines) - 1), len(lines) + 1):
        if found := TIGHT.match(lines[number - 1]):
            key, value = found[1], found.string[found.end() :].strip()
            message = f"a colon without a space after it, expected {key}: {value}"
            return message, number, found.end()
    return None


def _reason(error: yaml.MarkedYAMLError, text: str) -> str:
    said = ", ".join(part for part in (error.context, error.problem) if part)
    if error.problem_mark and any(words in said for words in INDENTED):
        *before, line = LINE_BREAK.split(text)[: error.problem_mark.line + 1]
        above = [number for number, other in enumerate(before, 1) if KEY.match(other)]
        if above and not KEY.match(line[: error.problem_mark.column]):
            return f"indented differently from line {above[-1]}"
    begin = error.context_mark or error.problem_mark
    number = begin.line + 1 if begin else 1
    ours = (words.format(number) for part, words in IN_OUR_WORDS if part in said)
    return next(ours, said)


class _Reading:
    """Builds the data of one text from its events."""

    def __init__(
        self, file: str, text: str, loader: type[yaml.BaseLoader | yaml.CBaseLoader]
    ) -> None:
        self.file = file
        self.events: Iterator[yaml.Event] = iter(loader(text).get_event, None)
        self.open: list[Where] = []
        self.anchors: dict[str, tuple[Data, Where]] = {}
        self.nodes = 0
        self.problems: set[Problem] = set()

    def source(self, expected: str) -> ScenarioSource:
        """Read the text.

        Raises:
            TracerError: everything that is wrong with its structure.
            YAMLError, ValueError, OverflowError: the loader cannot read it.
        """
        root: tuple[Data, Where] | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent) and root:
                message = "expected a single document in the stream, but found another document"
                raise self._refusal(f"not YAML: {message}", _begin(event))
            if isinstance(event, yaml.NodeEvent):
                root = self._part(event)
        if root is None:
            raise TracerError(Problem(f"empty, expected {expected}", self.file))
        if self.problems:
            raise self._all_problems()
        return ScenarioSource(self.file, *root)

    def _part(self, event: yaml.Event, *, is_key: bool = False) -> tuple[Data, Where]:
        """Read the node that starts with an event; return its data and place."""
        at = _begin(event)
        if isinstance(event, yaml.ScalarEvent):  # as most are: the numbers of a matrix
            text: str = event.value
            if not text.isascii() and SURROGATE.search(text):
                self._problem("half of a surrogate pair, expected a whole character", at)
            if event.anchor is not None:
                self._anchor(event.anchor, text, at)
            if not is_key:
                self._count(len(self.open), at)
            return text, at
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), at, is_key=is_key)
        assert isinstance(event, yaml.CollectionStartEvent)
        self._count(len(self.open), at)
        part = _List(at) if isinstance(event, yaml.SequenceStartEvent) else _Mapping(at)
        self._anchor(event.anchor, part.data, part)
        self.open.append(part)
        while not isinstance(inner := next(self.events), yaml.CollectionEndEvent):
            if isinstance(part, _List):
                data, where = self._part(inner)
                part.data.append(data)
                part.parts.append(where)
            else:
                self._put(inner, part)
        self.open.pop()
        return part.data, part

    def _put(self, event: yaml.Event, part: _Mapping) -> None:
        """Read a key, which starts with an event, and its value into a mapping."""
        key, key_where = self._part(event, is_key=True)
        at, name = _start(key_where), key if isinstance(key, str) else None
        if name is None:
            self._problem("the key is a list or a mapping, expected text", at)
        elif name in part.parts:
            (line, _), _ = part.parts[name]
            self._problem(f"the key {name!r} again, first given on line {line}", at)
        data, where = self._part(next(self.events))
        if name is not None and name not in part.parts:
            part.data[name] = data
            part.parts[name] = at, where

    def _anchor(self, name: str | None, data: Data, where: Where) -> None:
        if name in self.anchors:
            line, _ = _start(self.anchors[name][1])
            message = f"not YAML: found duplicate anchor {name!r}, first given on line {line}"
            raise self._refusal(message, _start(where))
        if name is not None:
            self.anchors[name] = data, where

    def _alias(self, name: str, at: At, *, is_key: bool) -> tuple[Data, Where]:
        """Return the data of an alias; a problem in it is reported where it was typed."""
        if name not in self.anchors:
            raise self._refusal(f"not YAML: found undefined alias {name!r}", at)
        data, where = self.anchors[name]
        if any(part is where for part in self.open):
            self._problem("an alias that contains itself", _start(where))
            return [], where
        return (data if is_key else self._copy(data, len(self.open), at)), where

    def _copy(self, data: Data, depth: int, at: At) -> Data:
        """Copy the data of an alias; the recursion is as deep as the allowed nesting."""
        self._count(depth, at)
        match data:
            case list():
                return [self._copy(entry, depth + 1, at) for entry in data]
            case dict():
                return {key: self._copy(value, depth + 1, at) for key, value in data.items()}
        return data

    def _count(self, depth: int, at: At) -> None:
        """Count one more entry or value at a depth of nesting."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self._refusal("too large once its aliases are written out")
        if depth > MAX_DEPTH:
            raise self._refusal("nested too deeply", at)

    def _problem(self, message: str, at: At) -> None:
        self.problems.add(Problem(message, self.file, *at))

    def _refusal(self, message: str, at: At | None = None) -> TracerError:
        """Return the error with all problems, after one that ends the reading."""
        self.problems.add(Problem(message, self.file, *(at or ())))
        return self._all_problems()

    def _all_problems(self) -> TracerError:
        return TracerError(
            *sorted(self.problems, key=lambda p: (p.line or 0, p.column or 0, p.message))
        )


def _begin(event: yaml.Event) -> At:
    mark = event.start_mark
    assert mark is not None  # as of every event that was parsed
    return mark.line + 1, mark.column + 1


def _start(where: Where) -> At:
    return where if isinstance(where, tuple) else where.at


def _at(where: Where, place: YamlPath) -> At:
    """Return the start of the innermost existing part on the path to `place`."""
    for depth, part in enumerate(place, 1):
        match where:
            case _Mapping() if part in where.parts:
                key, where = where.parts[part]
                # For a block below its key, report the place of the key.
                if depth == len(place):
                    return key
            case _List() if isinstance(part, int) and part < len(where.parts):
                where = where.parts[part]
            case _:
                break
    return _start(where)
