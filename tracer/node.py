"""What expressions and documents are made of: frozen dataclasses, walked by their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

_Kind = TypeVar("_Kind")
_Node = TypeVar("_Node", bound="Node")


class Node:
    """The base of these dataclasses."""

    __match_args__: ClassVar[tuple[str, ...]]


def nodes_in(part: Node | tuple[Any, ...]) -> Iterator[Any]:
    """The nodes that a node or a tuple is directly made of, in the order of reading."""
    for each in part if isinstance(part, tuple) else _made_from(part):
        if isinstance(each, Node):
            yield each
        elif isinstance(each, tuple):
            yield from nodes_in(each)


def found(part: Any, kind: type[_Kind]) -> Iterator[_Kind]:
    """The nodes of a kind in a part of a document or an expression, in the order of reading."""
    if isinstance(part, kind):
        yield part
    elif isinstance(part, Node | tuple):
        for each in nodes_in(part):
            yield from found(each, kind)


def rewritten(part: Any, kind: type[_Kind], change: Callable[[_Kind], Any]) -> Any:
    """The same part with another in place of each node of a kind."""
    if isinstance(part, kind):
        return change(part)
    if isinstance(part, tuple):
        parts = [rewritten(each, kind, change) for each in part]
        return tuple(parts) if type(part) is tuple else type(part)(*parts)  # a named one
    return rewritten_within(part, kind, change) if isinstance(part, Node) else part


def rewritten_within(node: _Node, kind: type[Any], change: Callable[[Any], Any]) -> _Node:
    """The same node with another in place of each node of a kind that it is made of."""
    return type(node)(*(rewritten(each, kind, change) for each in _made_from(node)))


def _made_from(node: Node) -> Iterator[Any]:
    """All that it is made from; it may be compared by less."""
    return (getattr(node, name) for name in node.__match_args__)
