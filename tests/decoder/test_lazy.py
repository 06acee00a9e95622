"""Values that are computed when they are asked for, as a tape records them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from tracer.decoder import memory, roles
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.elementwise import Add, Square
from tracer.decoder.lazy import LazyValue
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.formula.arithmetic import ON_DEMAND
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import Rounding

AXES: Axes = (Axis("token", ("a",)), Axis("feature", ("x", "y")))


class Counted:
    """Numbers of a file; it is counted how often they are read."""

    shape = (1, 2)

    def __init__(self) -> None:
        self.reads = 0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self.reads += 1
        return np.array([[3.0, 4.0]])


def recorded(place: int | None = None) -> tuple[Counted, Value, list[Value]]:
    """What is stored, how it is recorded, and a square and a sum of it that wait for it."""
    tape = Tape(ON_DEMAND, Pencil(Rounding(carry=Carry.NEVER), decimal=False))
    stored = Counted()
    with tape.at(layer=place):
        w = tape.given(roles.W_1, stored, AXES)
        squared = tape.record(roles.SQUARED, Square(), w)
        return stored, w, [squared, tape.record(roles.RESIDUAL, Add(), squared, w)]


def are_there(value: Value) -> bool:
    """Whether its numbers have been read or computed."""
    assert isinstance(value, LazyValue)
    return value.is_ready


def test_what_is_asked_for_is_computed_once_with_all_that_it_needs() -> None:
    stored, w, (squared, total) = recorded()
    assert (are_there(w), are_there(squared), are_there(total)) == (False, False, False)
    assert total.numbers.tolist() == [[12, 20]]
    assert total.computed is total.numbers
    assert (are_there(w), are_there(squared), are_there(total)) == (True, True, True)
    assert stored.reads == 1


def test_what_is_not_asked_for_is_not_computed() -> None:
    _, _, (squared, total) = recorded()
    assert squared.numbers.tolist() == [[9, 16]]
    assert are_there(squared) and not are_there(total)


def test_a_weight_of_a_layer_is_kept_only_where_somebody_looks_at_it() -> None:
    stored, w, (_, total) = recorded(place=1)
    assert total.numbers.tolist() == [[12, 20]]
    assert stored.reads == 2  # once for each operation
    assert w.numbers is w.numbers
    assert stored.reads == 3


def test_what_nobody_holds_goes_at_once() -> None:
    """A model's numbers are many: they do not wait until somebody looks for garbage."""
    gc.disable()
    try:
        _, w, later = recorded()
        assert later[-1].numbers.size
        held = [weakref.ref(value.numbers) for value in (w, *later)]
        del w, later
        assert all(each() is None for each in held)
    finally:
        gc.enable()


def of_rows(rows: int) -> Value:
    """Squares of as many rows of two numbers, which are still to be computed."""
    tape = Tape(ON_DEMAND, Pencil(Rounding(carry=Carry.NEVER), decimal=False))
    axes: Axes = (Axis("token", tuple(map(str, range(rows)))), AXES[1])
    w = tape.given(roles.W_1, np.ones((rows, 2)), axes)
    return tape.record(roles.SQUARED, Square(), tape.record(roles.SQUARED, Square(), w))


def test_what_does_not_fit_into_memory_is_refused_before_it_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two = 2 * 100 * 2 * 8
    monkeypatch.setattr(memory, "free_bytes", lambda: two)
    assert of_rows(100).numbers.sum() == 200
    monkeypatch.setattr(memory, "free_bytes", lambda: two - 1)
    value = of_rows(100)
    with pytest.raises(TracerError, match=r"about 0\.0 GB of memory, and only 0\.0 GB are free"):
        assert value.numbers is None
    assert not are_there(value)
    assert of_rows(10).numbers.sum() == 20  # asked only of many rows
