"""Edits of a scenario's text: each returns another text; all other characters stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from tracer.errors import Problem, TracerError
from tracer.scenario.fields import HIDDEN, WRITTEN
from tracer.scenario.nodes import MappingNode, Node, Nodes, ScalarNode, child
from tracer.scenario.parts import address
from tracer.scenario.reader import YamlPath

MOST_CHARACTERS = 60
"""The longest number that is typed; a scenario allows 20 digits."""

PLAIN = re.compile(r"[^\W\d][\w-]*")
"""A word that YAML reads as it is wherever it stands."""

REST_OF_LINE = re.compile(r"\A[ \t]*(#[^\r\n]*)?(\r\n|\r|\n|\Z)")
"""Spaces, a comment and the line break behind a value, if nothing else follows it."""

OF_THE_TOKENS = ("targets", "token_ids")
"""Keys about the tokens as they were, which another text does not have."""

OF_THE_AUTHOR = ("intro", "notes", "summary")
"""Keys of the author's words, which may name what is there no longer."""


def with_number(text: str, path: YamlPath, number: str) -> str:
    """Return the text with another number at a place.

    Raises:
        TracerError: it is no number, or the place has no number of its own in the text.
    """
    nodes = Nodes(text)
    node = typed_number(nodes, path)
    if len(number) > MOST_CHARACTERS or not (WRITTEN.fullmatch(number) or number in HIDDEN):
        raise _problem(f"expected a number, got {number!r}", path, node)
    return nodes.replaced(node, number)


def typed_number(nodes: Nodes, path: YamlPath) -> Node:
    """Return the node of a number.

    Raises:
        TracerError: the number is not in the text, or it stands for several places; the message
            says what to type.
    """
    *_, last = way = nodes.way(path)
    if len(way) > 1 and isinstance(last, MappingNode) and child(last, "transposed"):
        row, column = path[-2:]
        path = (*path[:-2], "transposed", column, row)
        *_, last = way = nodes.way(path)
    if nodes.is_shared(path):
        raise _problem("an alias repeats this; write it out where numbers differ", path, last)
    if len(way) <= len(path):
        raise _problem(_not_typed(nodes, path, last, len(way) - 1), path, last)
    if not isinstance(last, ScalarNode):
        raise _problem("not a single number", path, last)
    return last


def _not_typed(nodes: Nodes, path: YamlPath, last: Node, depth: int) -> str:
    """Why no single number is typed at a place; `last` is the part around it, at a depth."""
    here, key = path[:depth], next((str(p) for p in reversed(path) if isinstance(p, str)), "")
    type_all = f"to edit single numbers, type all: {key}: [[…], …]"
    if not depth or (isinstance(last, MappingNode) and not child(last, "random")):
        return f"not in the scenario's text; {type_all}"
    form = " ".join(nodes.written(last).split())
    if form == "tied" or (here and here[-1] == "unembedding"):
        return "the embeddings of the words, because W_U is tied; edit these"
    return f"written as {form!r}; {type_all}"


def with_value(text: str, path: YamlPath, value: str) -> str:
    """Return the text with another value of a key; the key is added if it is missing.

    `value` is a number, a word or YAML between brackets.

    Raises:
        TracerError: the mapping around the key is not in the text, or several places share it.
    """
    nodes = Nodes(text)
    node = nodes.at(path)
    around = nodes.at(path[:-1])
    if nodes.is_shared(path):
        raise _problem("an alias repeats this; write it out where it differs", path, node)
    if node is not None:
        return nodes.replaced(node, value)
    if not isinstance(around, MappingNode):
        raise _problem(f"expected a mapping around {path[-1]}", path, around)
    return _with_key(nodes, around, f"{path[-1]}: {value}")


def _with_key(nodes: Nodes, around: MappingNode, entry: str) -> str:
    """Return the text with a new first entry in a mapping."""
    text, (start, _) = nodes.text, nodes.span(around)
    if around.flow_style:
        between = ", " if around.value else ""
        return f"{text[: start + 1]}{entry}{between}{text[start + 1 :]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    column = around.value[0][0].start_mark.column
    return f"{text[:start]}{entry}{newline}{' ' * column}{text[start:]}"


def with_tokens(text: str, tokens: Sequence[str]) -> str:
    """Return the text with other tokens, and without what is about the tokens before.

    Raises:
        TracerError: the text has no tokens of its own.
    """
    nodes = Nodes(text)
    if nodes.at(("tokens",)) is None:
        message = "no tokens are typed, so they cannot be changed one by one; type tokens: [a, b]"
        raise _problem(message, ("tokens",), nodes.root)
    text = with_value(text, ("tokens",), f"[{', '.join(map(quoted, tokens))}]")
    return without(text, OF_THE_TOKENS)


def quoted(word: str) -> str:
    """Return a word as YAML reads it inside brackets."""
    return word if PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=not word.isprintable())


def without(text: str, keys: Iterable[str]) -> str:
    """Return the text without some keys of the scenario; they may be missing."""
    for start, stop in sorted(entries_of(Nodes(text), tuple(keys)), reverse=True):
        text = text[:start] + text[stop:]
    return text


def entries_of(nodes: Nodes, keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where keys of the scenario are written, with their values and the rest of the line."""
    root, text = nodes.root, nodes.text
    if not isinstance(root, MappingNode) or root.flow_style:
        return
    for name, value in root.value:
        if name.value in keys:
            _, stop = nodes.span(value)
            rest = "" if text[stop - 1] in "\r\n" else text[stop:]
            behind = REST_OF_LINE.match(rest)
            yield name.start_mark.index, stop + (behind.end() if behind else 0)


def _problem(message: str, path: YamlPath, node: Node | None) -> TracerError:
    mark = node.start_mark if node is not None else None
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    return TracerError(Problem(message, None, line, column, address(path) if path else None))
