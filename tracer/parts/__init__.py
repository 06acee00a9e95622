"""The parts of a model: a folder each, with a file on each floor that the part concerns.

`scenario.py` declares its keys and shapes, `decoder.py` its roles and what it records, `lesson.py`
its steps and texts. Each of these files stands on the floor of the folder of the same name and has
one declaration, PART. The floors iterate over the declarations and name no part. A part that is an
FFN of another form than one network declares the form in `ffn.py`, on the floor of the scenario.
"""

from __future__ import annotations

from graphlib import TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TypeVar

Declaration = TypeVar("Declaration")


def declared(floor: str, kind: type[Declaration]) -> tuple[Declaration, ...]:
    """What the parts declare on a floor: those that a pass meets first come first.

    A part names the parts that it comes AFTER; others are in the order of their names.

    Raises:
        TypeError: a file of this floor has no declaration of this kind.
    """
    graph = {
        name: getattr(import_module(f"{__name__}.{name}"), "AFTER", ())
        for name in sorted(each.name for each in iter_modules(__path__))
    }
    found: list[Declaration] = []
    for name in TopologicalSorter(graph).static_order():
        if find_spec(module := f"{__name__}.{name}.{floor}"):
            part = getattr(import_module(module), "PART", None)
            if not isinstance(part, kind):
                raise TypeError(f"{module}: expected a declaration PART of {kind.__name__}")
            found.append(part)
    return tuple(found)
