"""Dataclasses that nobody changes, declared at little cost."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Class]) -> type[_Class]:
    """Make a class a dataclass whose fields cannot be assigned, which the type checker enforces.

    `dataclass(frozen=True)` compiles six methods for each class, every time the program starts.
    Here only `__init__` is compiled, and all classes share the methods of `_Shared`.
    """
    made: Any = dataclass(eq=False, repr=False)(cls)
    made._identity = attrgetter("__class__", *(each.name for each in fields(made) if each.compare))
    for name in ("__eq__", "__hash__", "__repr__"):
        if getattr(made, name) is getattr(object, name):
            setattr(made, name, getattr(_Shared, name))
    return cls


class _Shared:
    """How frozen dataclasses are compared and shown."""

    _identity: Any
    """Returns the class of an instance and the fields that it is compared by."""

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and bool(self._identity(self) == other._identity(other))

    def __hash__(self) -> int:
        return hash(self._identity(self))

    def __repr__(self: Any) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__name__}({', '.join(shown)})"
