"""The nodes of a scenario's text: the characters with which each part is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import yaml

from tracer.scenario.reader import LIBYAML, YamlPath

Node: TypeAlias = yaml.Node
MappingNode: TypeAlias = yaml.MappingNode
ScalarNode: TypeAlias = yaml.ScalarNode
Collection: TypeAlias = yaml.MappingNode | yaml.SequenceNode

PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
"""An anchor and a tag before a value."""


@dataclass(frozen=True)
class Nodes:
    """A scenario's text that was read without a problem, and its nodes."""

    text: str

    @cached_property
    def root(self) -> Node:
        """The node of the whole text."""
        root: Node | None = None
        if LIBYAML and "\ufeff" not in self.text:
            with suppress(yaml.YAMLError, ValueError):
                root = yaml.compose(self.text, Loader=LIBYAML)
        root = root or yaml.compose(self.text, Loader=yaml.BaseLoader)
        assert root is not None
        return root

    @cached_property
    def shared(self) -> set[int]:
        """The ids of the nodes that an alias repeats."""
        seen, repeated = set[int](), set[int]()
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                repeated.add(id(node))
                continue
            seen.add(id(node))
            waiting += children(node)
        return repeated

    def way(self, path: YamlPath) -> list[Node]:
        """Return the nodes on the path to a part, the root first; fewer if it does not exist."""
        found = [self.root]
        for step in path:
            inner = child(found[-1], step)
            if inner is None:
                break
            found.append(inner)
        return found

    def at(self, path: YamlPath) -> Node | None:
        """Return the node of a part; None if the part is not in the text."""
        way = self.way(path)
        return way[-1] if len(way) == len(path) + 1 else None

    def is_shared(self, path: YamlPath) -> bool:
        """Return whether the node of a part, or one around it, is used in several places."""
        return any(id(node) in self.shared for node in self.way(path))

    def span(self, node: Node) -> tuple[int, int]:
        """Return where a node's characters begin and end, without anchor, tag and comments."""
        properties = PROPERTIES.match(self.text, node.start_mark.index)
        assert properties
        return properties.end(), end_of_node(node)

    def written(self, node: Node) -> str:
        """Return the characters of a node."""
        return self.text[slice(*self.span(node))]

    def replaced(self, node: Node, new: str) -> str:
        """Return the text with other characters for a node."""
        start, stop = self.span(node)
        return self.text[:start] + new + self.text[stop:]


def children(node: Node) -> Iterator[Node]:
    """Yield the values of a list or a mapping."""
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        yield from (value for _, value in node.value)


def child(node: Node, step: int | str) -> Node | None:
    """Return an entry of a list, or the value of a key; None if there is none."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


def end_of_node(node: Node) -> int:
    """Return where a node ends; a block ends with its last value, before the next comment."""
    *_, last = [None, *children(node)]
    if isinstance(node, Collection) and not node.flow_style and last is not None:
        return end_of_node(last)
    return int(node.end_mark.index)
