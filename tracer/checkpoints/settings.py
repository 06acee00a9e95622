"""The values in a model's file, by their keys; all problems are reported together."""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from tracer.errors import Problem, TracerError
from tracer.names import count

MOST = 2**31
MOST_LAYERS = 10_000

KINDS: Mapping[type, str] = {str: "texts", int: "whole numbers", float: "numbers", list: "lists"}

Meaning = TypeVar("Meaning")


class CheckpointSettings:
    """Values of any type, each read as the type that is needed; one without a default is required.

    For a wrong value, a problem is recorded for `check` to raise, and a substitute is returned.
    A key that is never read is a problem, too, unless it is known to have no effect.
    """

    def __init__(self, file: str, values: Mapping[str, Any], prefix: str = "") -> None:
        self._file, self._values, self._prefix = file, dict(values), prefix
        self._problems: list[Problem] = []
        self._asked = set[str]()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value, which may be null; the default if the key is missing."""
        self._asked.add(key)
        return self._values.get(self._prefix + key, default)

    def says(self, key: str) -> bool:
        """Return whether the key is present, even with null."""
        self._asked.add(key)
        return self._prefix + key in self._values

    def also_called(self, key: str, other: str) -> None:
        """Read a key by another name if only that one is there; both must have the same value."""
        if self.says(other):
            if self.says(key):
                self.only(other, self.get(key), f"it is another name of {key}")
            self._values.setdefault(self._prefix + key, self.get(other))

    def assume(self, key: str, value: object) -> None:
        """Read a missing key as a value."""
        self._values.setdefault(self._prefix + key, value)

    def repeats(self, key: str, number: float) -> None:
        """Pass a key that nothing else reads, if it repeats a number."""
        if key not in self._asked and self._values.get(self._prefix + key) == number:
            self._asked.add(key)

    def within(self, key: str, missing: Mapping[str, Any] | None = None) -> CheckpointSettings:
        """Return the mapping at a key; `self` records its problems.

        `missing` takes the place of a missing or null one. Default: an empty mapping.
        """
        values = self.get(key)
        values = dict(missing or {}) if values is None else values
        if not isinstance(values, dict):
            self.wrong(key, "expected a mapping")
            values = {}
        prefix = f"{self._prefix}{key}."
        inner = CheckpointSettings(self._file, {prefix + k: v for k, v in values.items()}, prefix)
        inner._problems = self._problems
        return inner

    def whole(
        self, key: str, default: int | None = None, *, least: int = 1, most: int = MOST
    ) -> int:
        """Return an integer within bounds; null gives the default."""
        value = self.get(key)
        value = default if value is None else value
        if type(value) is int and least <= value <= most:
            return value
        self.wrong(key, f"expected a whole number from {least} to {most}")
        return 1

    def number(self, key: str, default: float | None = None, *, or_zero: bool = False) -> float:
        """Return a positive number, or 0 where it is allowed."""
        value = self.get(key, default)
        if type(value) in (int, float) and 0 <= value <= sys.float_info.max and (value or or_zero):
            return float(value)
        self.wrong(key, "expected a positive number" + " or 0" * or_zero)
        return 1.0

    def number_or_none(self, key: str, default: float | None) -> float | None:
        """Return a positive number; None for null, or if there is neither a value nor a default."""
        return None if self.get(key, default) is None else self.number(key, default)

    def numbers(self, key: str) -> list[float]:
        """Return a list of positive numbers."""
        value = self.get(key)
        if isinstance(value, list) and all(
            type(each) in (int, float) and 0 < each <= sys.float_info.max for each in value
        ):
            return [float(each) for each in value]
        self.refuse(key, "expected a list of positive numbers")
        return []

    def one_of(self, key: str, known: Mapping[str, Meaning], default: str | None = None) -> Meaning:
        """Return the meaning of a word that must be among the known ones."""
        value = self.get(key, default)
        if isinstance(value, str) and value in known:
            return known[value]
        # No suggestion: programs write these files, so a similar word is not a typing error.
        self.wrong(key, f"supported are {', '.join(known)}")
        return next(iter(known.values()))

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "expected true or false")
        return bool(value)

    def entries(self, key: str, kind: type[Meaning], length: int | None = None) -> list[Meaning]:
        """Return a list whose entries all have one type; it may have to have a length."""
        value = self.get(key)
        if not isinstance(value, list) or not all(type(entry) is kind for entry in value):
            self.wrong(key, f"expected a list of {KINDS[kind]}")
        elif length not in (None, len(value)):
            self.refuse(key, f"{count(len(value), 'entry')}, expected {length}")
        else:
            return value
        return []

    def only(self, key: str, known: Any, otherwise: str = "") -> None:
        """Record a problem if a key has another value than the known one; the key may be missing.

        `otherwise` says what another value means. Null and false differ, and so do 0 and false.
        """
        value = self.get(key, known)
        if value != known or isinstance(value, bool) != isinstance(known, bool):
            self.wrong(key, f"supported is {_written(known)}{otherwise and f': {otherwise}'}")

    def nothing_else(
        self,
        harmless: Iterable[str] = (),
        meanings: Mapping[str, str] | None = None,
        ones: Container[str] = (),
    ) -> None:
        """Record a problem for each key that has not been read, unless it changes nothing.

        A key changes nothing if it is null or matches a harmless pattern. `meanings`: the parts of
        models that some keys belong to; with false, 0 or nothing, the model does not have the part.
        `ones`: keys of factors, which change nothing if they are 1.
        """
        harmless = tuple(harmless)
        for address, value in self._values.items():
            key = address.removeprefix(self._prefix)
            if not address.startswith(self._prefix) or key in self._asked or value is None:
                continue
            if any(fnmatchcase(key, pattern) for pattern in harmless):
                continue
            meaning = (meanings or {}).get(key)
            if meaning is None:
                self.wrong(key, "this key is unknown and may change the result")
            elif value and not (key in ones and value == 1 and value is not True):
                self.wrong(key, f"not supported: {meaning}")

    def wrong(self, key: str, expected: str) -> None:
        """Record a problem."""
        value = self.get(key)
        came = f"got {_written(value)}" if self.says(key) else "missing"
        self.refuse(key, f"{came}, {expected}")

    def refuse(self, key: str, message: str) -> None:
        """Record a problem whose message does not show the value, such as a long list."""
        self._asked.add(key)
        self._problems.append(Problem(message, self._file, address=self._prefix + key))

    def check(self) -> None:
        """Raise the recorded problems.

        Raises:
            TracerError: a value is missing, or not what is needed.
        """
        if self._problems:
            raise TracerError(*self._problems)


def _written(value: Any) -> str:
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
