"""Every key and every choice that the JSON Schema of a scenario has, and those that one makes.

A choice is a key (`Norm.gain`), a word of a list (`Norm.kind = rms_norm`), yes or no, or one of the
forms that a value may have (`Matrix: identity`). What an encoder has as the decoder has it is a
choice of its own: `encoder Norm.gain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

FORMS = {"Number", "Word", "Row", "Rows", "Words", "Matrix", "Embeddings", "Pinned", "Pair"}
"""Definitions of how a value is written, alike wherever it stands."""


class Choices:
    """The choices of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.definitions: Mapping[str, Schema] = schema["$defs"]

    def roots(self) -> Iterator[tuple[Schema, Schema]]:
        """Each whole scenario that may be written, and what must hold for it: `if` and `then`."""
        node = self.schema
        while "if" in node:
            yield node["if"], node["then"]
            node = node["else"]
        yield {}, node

    def all(self) -> set[str]:
        """Every choice."""
        seen: set[str] = set()
        return {choice for _, root in self.roots() for choice in self._of(root, "", "", seen)}

    def made_by(self, scenario: Any) -> set[str]:
        """The choices that a scenario makes."""
        root = next(root for needed, root in self.roots() if self._fits(needed, scenario))
        return set(self._in(root, "", "", scenario))

    def _of(self, node: Schema, name: str, prefix: str, seen: set[str]) -> Iterator[str]:
        defined = "$ref" in node
        node, name, prefix = self._resolved(node, name, prefix)
        if defined and name in seen:
            return
        seen.add(name)
        yield from _words(node, name)
        for key, inner in node.get("properties", {}).items():
            yield f"{name}.{key}"
            yield from self._of(inner, f"{name}.{key}", prefix, seen)
        for inner, ending in self._inner(node):
            yield from self._of(inner, name + ending, prefix, seen)
        for form in _forms(node):
            yield self._form(name, form)
            yield from self._of(form, name, prefix, seen)

    def _in(self, node: Schema, name: str, prefix: str, data: Any) -> Iterator[str]:
        node, name, prefix = self._resolved(node, name, prefix)
        yield from (choice for choice in _words(node, name) if choice == _word(node, name, data))
        if isinstance(data, dict):
            properties = node.get("properties", {})
            for key, value in data.items():
                if key in properties:
                    yield f"{name}.{key}"
                    yield from self._in(properties[key], f"{name}.{key}", prefix, value)
        for inner, ending in self._inner(node):
            for value in _parts(data, ending):
                yield from self._in(inner, name + ending, prefix, value)
        for form in _forms(node):
            if self._fits(form, data):
                yield self._form(name, form)
                yield from self._in(form, name, prefix, data)

    def _resolved(self, node: Schema, name: str, prefix: str) -> tuple[Schema, str, str]:
        """What a reference means, under the name of its definition."""
        while "$ref" in node:
            defined = node["$ref"].rpartition("/")[2]
            name = defined if defined in FORMS else f"{prefix}{defined}"
            prefix = "encoder " if defined == "Encoder" else prefix
            node = self.definitions[defined]
        return node, name, prefix

    @staticmethod
    def _inner(node: Schema) -> Iterator[tuple[Schema, str]]:
        """What all entries of a list are, and all values of a mapping whose keys are free."""
        if "items" in node:
            yield node["items"], "[]"
        if isinstance(node.get("additionalProperties"), dict):
            yield node["additionalProperties"], ".*"

    @staticmethod
    def _form(name: str, form: Schema) -> str:
        if "$ref" in form:
            return f"{name}: {form['$ref'].rpartition('/')[2]}"
        keys = "/".join(form.get("required", form.get("properties", ())))
        words = form.get("const", "") or "|".join(map(str, form.get("enum", ())))
        entries = f" of {_entries(form['items'])}" if "items" in form else ""
        kind = str(form.get("type", ""))
        return f"{name}: {words or keys or kind + entries}"

    def _fits(self, node: Schema, data: Any) -> bool:
        """Whether data is built as the schema says; sizes of numbers do not matter here."""
        node, _, _ = self._resolved(node, "", "")
        forms = _forms(node)
        return (
            ("const" not in node or data == node["const"])
            and ("enum" not in node or data in node["enum"])
            and (not forms or any(self._fits(form, data) for form in forms))
            and ("type" not in node or _is(data, node["type"]))
            and all(key in data for key in node.get("required", ()))
            and (not isinstance(data, dict) or self._keys_fit(node, data))
            and all(
                self._fits(inner, value)
                for inner, ending in self._inner(node)
                if ending == "[]"
                for value in _parts(data, ending)
            )
        )

    def _keys_fit(self, node: Schema, data: Mapping[str, Any]) -> bool:
        known = node.get("properties", {})
        others = node.get("additionalProperties", True)
        return all(
            self._fits(known.get(key, others), value)
            if key in known or isinstance(others, dict)
            else bool(others)
            for key, value in data.items()
        )


def _entries(node: Schema) -> str:
    if "$ref" in node:
        return str(node["$ref"].rpartition("/")[2])
    if "items" in node:
        return f"{node.get('type')} of {_entries(node['items'])}"
    return "/".join(_entries(form) for form in _forms(node)) or str(node.get("enum", [""])[0])


def _forms(node: Schema) -> list[Schema]:
    return [*node.get("anyOf", ()), *node.get("oneOf", ())]


def _words(node: Schema, name: str) -> Iterator[str]:
    """The choices that a value has by itself."""
    yield from (f"{name} = {word}" for word in node.get("enum", ()))
    kind = node.get("type")
    if kind == "boolean":
        yield from (f"{name} = {word}" for word in ("true", "false"))
    if isinstance(kind, list):
        yield from (f"{name} is {each}" for each in kind)


def _word(node: Schema, name: str, data: Any) -> str:
    """Which of them it is."""
    if "enum" in node:
        return f"{name} = {data}"
    if node.get("type") == "boolean":
        return f"{name} = {str(data).lower()}"
    kinds = ("null", "boolean", "number", "string")
    return f"{name} is {next((each for each in kinds if _is(data, each)), '')}"


def _is(data: Any, kind: str | list[str]) -> bool:
    """Whether data is of a type of JSON; a Decimal is a number."""
    if isinstance(kind, list):
        return any(_is(data, each) for each in kind)
    match kind:
        case "object":
            return isinstance(data, dict)
        case "array":
            return isinstance(data, list)
        case "string":
            return isinstance(data, str)
        case "boolean":
            return isinstance(data, bool)
        case "null":
            return data is None
        case "integer":
            return isinstance(data, int) and not isinstance(data, bool)
    return not isinstance(data, bool | str | list | dict) and data is not None


def _parts(data: Any, ending: str) -> list[Any]:
    if ending == "[]":
        return data if isinstance(data, list) else []
    return list(data.values()) if isinstance(data, dict) else []
