"""Frozen and mutable classes behave like the standard library's dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, ClassVar

import pytest

from tracer.dataclass import FEW, fields_of, frozen, mutable


@frozen
class Point:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    names: list[str] = dataclasses.field(default_factory=list)
    note: str | None = dataclasses.field(default=None, compare=False)
    scale: int = dataclasses.field(default=1, kw_only=True)


@frozen
class Solid(Point):
    z: int = 3


@mutable
class Counter:
    count: int = 0

    def __post_init__(self) -> None:
        self.count += 1


def test_the_fields_are_taken_by_position_and_by_name() -> None:
    point = Point(1, names=["a"], scale=4)
    assert (point.x, point.y, point.names, point.note, point.scale) == (1, 2, ["a"], None, 4)
    assert Point(1).names is not Point(1).names
    assert Point.kind == "point"


@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {}), ((1, 2, [], None, 5), {}), ((1,), {"x": 1}), ((1,), {"kind": "line"})],
    ids=["a field without a value", "a field that needs its name", "twice", "no field"],
)
def test_what_does_not_fit_is_refused(positional: tuple[Any, ...], named: dict[str, Any]) -> None:
    for _ in range(2):  # before and after the first instance
        with pytest.raises(TypeError):
            Point(*positional, **named)


def test_a_frozen_class_is_compared_by_its_fields() -> None:
    assert Point(1, note="here") == Point(1, note="there")
    assert Point(1) != Point(2)
    assert Solid(1) != Point(1)
    assert hash(Point(1, names=())) == hash(Point(1, 2, (), "there"))  # type: ignore[arg-type]
    assert repr(Point(1)) == "Point(x=1, y=2, names=[], note=None, scale=1)"


def test_a_mutable_class_is_compared_by_identity() -> None:
    counter = Counter(4)
    counter.count += 1
    assert counter.count == 6
    assert counter == counter != Counter(4)


def test_a_derived_class_has_the_fields_of_its_base_first() -> None:
    assert [each.name for each in fields_of(Solid)] == ["x", "y", "names", "note", "scale", "z"]
    match Solid(1, 5):
        case Solid(x, y, z=z):
            assert (x, y, z) == (1, 5, 3)


def test_replace_works_as_in_the_standard_library() -> None:
    replaced = dataclasses.replace(Solid(1, names=["a"]), y=7)
    assert replaced == Solid(1, 7, ["a"])


def test_the_first_instances_and_later_ones_are_made_alike() -> None:
    @mutable
    class Fresh:
        x: int
        y: int = 2
        names: list[str] = dataclasses.field(default_factory=list)
        scale: int = dataclasses.field(default=1, kw_only=True)
        z: int = 3

        def __post_init__(self) -> None:
            self.z += 1

    at_first = Fresh.__init__
    for number in range(2 * FEW):
        made = Fresh(number, scale=5)
        expected = {"x": number, "y": 2, "names": [], "scale": 5, "z": 4}
        assert [*vars(made).items()] == [*expected.items()]
    assert Fresh.__init__ is not at_first
    assert [*inspect.signature(Fresh).parameters] == ["x", "y", "names", "z", "scale"]
