"""Classes of named fields, declared at little cost.

The standard library compiles the methods of each dataclass whenever the program starts: for 150
classes that takes a sixth of tracing a small decoder. Here all classes share their methods, and an
`__init__` is compiled when its class has made a few instances, which most never do.
`dataclasses.field` and `replace` work as they do there; `fields_of` takes the place of `fields`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, field
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class")

FEW = 8
"""Instances that are made before compiling an `__init__` takes less time than it saves."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Class]) -> type[_Class]:
    """Give a class fields that cannot be assigned, which the type checker enforces.

    It is compared by its fields, unless it says how itself.
    """
    declare(cls)
    compared = (each.name for each in fields_of(cls) if each.compare)
    cls._identity = attrgetter("__class__", *compared)  # type: ignore[attr-defined]
    for method in (_Frozen.__eq__, _Frozen.__hash__, _Frozen.__repr__):
        if getattr(cls, method.__name__) is getattr(object, method.__name__):
            setattr(cls, method.__name__, method)
    return cls


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[_Class]) -> type[_Class]:
    """Give a class fields that can be assigned; each instance is equal to itself alone."""
    declare(cls)
    return cls


def fields_of(record: Any) -> Iterator[Field[Any]]:
    """The fields of a class or an instance, those of its base first."""
    return iter(record.__dataclass_fields__.values())


def declare(cls: Any) -> None:
    """Read the fields that a class names with their types; those of its base come first."""
    declared: dict[str, Field[Any]] = dict(getattr(cls, "__dataclass_fields__", {}))
    for name, kind in cls.__annotations__.items():
        if str(kind).startswith("ClassVar"):
            continue
        default = cls.__dict__.get(name, MISSING)
        if isinstance(default, Field):
            declared[name] = default
            if default.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
        else:
            declared[name] = field(default=default)
        declared[name].name, declared[name].type = name, kind
    cls.__dataclass_fields__ = declared
    positional = tuple(n for n, each in declared.items() if each.kw_only is not True)
    type.__setattr__(cls, "__match_args__", positional)
    cls.__init__, cls._instances = _initialize, 0


def _initialize(self: Any, *positional: Any, **named: Any) -> None:
    """Stand for the `__init__` of a class until it has made a few instances."""
    cls: Any = next(each for each in type(self).__mro__ if "__init__" in vars(each))
    cls._instances += 1
    given = dict(zip(cls.__match_args__, positional, strict=False)) | named
    values = {f.name: given[f.name] if f.name in given else _default(f) for f in fields_of(cls)}
    fits = len(given) == len(positional) + len(named) and given.keys() <= values.keys()
    if cls._instances > FEW or not fits or any(value is MISSING for value in values.values()):
        cls.__init__ = _initializer(cls)
        cls.__init__(self, *positional, **named)  # or raises the usual TypeError
        return
    for name, value in values.items():
        setattr(self, name, value)
    if hasattr(cls, "__post_init__"):
        self.__post_init__()


def _default(of: Field[Any]) -> Any:
    return of.default if of.default_factory is MISSING else of.default_factory()


_ABSENT: Any = object()


def _initializer(cls: Any) -> Any:
    """The function that takes a value for each field, checks nothing, and assigns them."""
    known: dict[str, Any] = {"_ABSENT": _ABSENT}
    parameters, named_only, body = ["self"], list[str](), list[str]()
    for each in fields_of(cls):
        name, value = each.name, each.name
        parameter = name
        if each.default is not MISSING:
            known[f"_default_{name}"] = each.default
            parameter = f"{name}=_default_{name}"
        elif each.default_factory is not MISSING:
            known[f"_make_{name}"] = each.default_factory
            parameter = f"{name}=_ABSENT"
            value = f"_make_{name}() if {name} is _ABSENT else {name}"
        (named_only if each.kw_only is True else parameters).append(parameter)
        body.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    if named_only:
        parameters += ["*", *named_only]
    exec(f"def __init__({', '.join(parameters)}):\n {'; '.join(body) or 'pass'}", known)
    return known["__init__"]


class _Frozen:
    """How frozen classes are compared and shown."""

    _identity: Any
    """Returns the class of an instance and the fields that it is compared by."""

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and bool(self._identity(self) == other._identity(other))

    def __hash__(self) -> int:
        return hash(self._identity(self))

    def __repr__(self) -> str:
        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields_of(self) if f.repr)
        return f"{type(self).__name__}({', '.join(shown)})"
