"""One walker over the numbers of a scenario; and its parts by place and address.

Each key that holds rows of numbers declares their `Shape`. A key without one fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from operator import is_
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel

from tracer.scenario.fields import Shape, shape_of
from tracer.scenario.layers import Layer
from tracer.scenario.model import Scenario
from tracer.scenario.networks import Network
from tracer.scenario.part import forms_of_ffn
from tracer.scenario.reader import YamlPath

AnyPart = TypeVar("AnyPart", bound=BaseModel)

SUB_LAYERS = ("attention", "cross_attention", "ffn")


class Numbers(NamedTuple):
    """Declared numbers of a scenario: rows, rows by word, an array; None where there are none."""

    place: YamlPath
    declared: Shape
    value: Any

    @property
    def address(self) -> str:
        """The address of the numbers."""
        return address(self.place)

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns) or (entries,)."""
        return shape_of(self.value)


@cache
def declared(form: type[BaseModel]) -> Mapping[str, Shape]:
    """Return the declared shapes of a part's keys, and those of the biases of its matrices."""
    shapes = {
        name: each
        for name, field in form.model_fields.items()
        for each in field.metadata
        if isinstance(each, Shape)
    }
    biases = {
        bias_of(name): replace(shape, sizes=shape.sizes[1:], labels=())
        for name, shape in shapes.items()
        if bias_of(name) in form.model_fields
    }
    return {**shapes, **biases}


def bias_of(matrix: str) -> str:
    """Return the key of a matrix's bias: b_Q of W_Q; none for other names."""
    return matrix.replace("W_", "b_") if matrix.startswith("W_") else ""


def forms(form: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a part's class and those of the parts inside it."""
    yield form
    for field in form.model_fields.values():
        for each in forms_in(field.annotation):
            yield from forms(each)


def forms_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of the parts that a type holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from forms_in(each)


def parts_of(part: BaseModel, place: YamlPath = ()) -> Iterator[tuple[YamlPath, BaseModel]]:
    """Yield a part of a scenario and all parts inside it, with their places."""
    yield place, part
    for name in type(part).model_fields:
        match getattr(part, name, None):
            case BaseModel() as inner:
                yield from parts_of(inner, (*place, name))
            case (BaseModel(), *_) as several:
                for index, each in enumerate(several):
                    yield from parts_of(each, (*place, name, index))


def networks(layer: Layer) -> tuple[Network, ...]:
    """Return the networks of a layer's FFN."""
    inside = parts_of(layer.ffn) if layer.ffn else ()
    return tuple(part for _, part in inside if isinstance(part, Network))


def with_parts(
    part: AnyPart, change: Callable[[YamlPath, Any], Any], place: YamlPath = ()
) -> AnyPart:
    """Return a part after a change of each part inside it, then of itself.

    The same object if nothing changes.
    """
    new = dict[str, Any]()
    for name in type(part).model_fields:
        match getattr(part, name, None):
            case BaseModel() as inner:
                other: Any = with_parts(inner, change, (*place, name))
                same = other is inner
            case (BaseModel(), *_) as several:
                other = tuple(
                    with_parts(each, change, (*place, name, i)) for i, each in enumerate(several)
                )
                same = all(map(is_, other, several))
            case _:
                continue
        if not same:
            new[name] = other
    found: AnyPart = change(place, part.model_copy(update=new) if new else part)
    return found


def numbers_of(scenario: BaseModel) -> Iterator[Numbers]:
    """Yield all declared numbers of a scenario, those that training leaves alone too."""
    for place, part in parts_of(scenario):
        yield from (each for each in _own(place, part) if each.value is not None)


def _own(place: YamlPath, part: BaseModel) -> Iterator[Numbers]:
    """Yield the declared numbers of a part, but not of the parts inside it; also missing ones."""
    for name, shape in declared(type(part)).items():
        value = getattr(part, name, None)
        replaced = isinstance(value, BaseModel) or (shape.unless and getattr(part, shape.unless))
        if not replaced:
            yield Numbers((*place, name), shape, value)


def with_numbers(part: AnyPart, change: Callable[[Numbers], Any], place: YamlPath = ()) -> AnyPart:
    """Return a part with others in place of all declared numbers, also of missing ones."""

    def changed(at: YamlPath, inner: Any) -> Any:
        new = {each.place[-1]: (each.value, change(each)) for each in _own(at, inner)}
        update = {name: other for name, (value, other) in new.items() if other is not value}
        return inner.model_copy(update=update) if update else inner

    return with_parts(part, changed, place)


def learned(scenario: Scenario) -> dict[str, tuple[int, ...]]:
    """Return the shape of everything that training updates, by its address.

    A tied W_U is left out, and so are shared embeddings of an encoder: they are the embeddings. Of
    the same numbers in several heads of a checkpoint, only the first are there.
    """
    shared = [
        *([("unembedding", "W_U")] if scenario.is_tied else []),
        *([("encoder", "embeddings")] if scenario.shares_embeddings else []),
    ]
    again = repeated(scenario)
    return {
        each.address: each.shape
        for each in numbers_of(with_own_norms(scenario))
        if each.declared.learned and each.place not in shared and each.address not in again
    }


def repeated(scenario: Scenario) -> frozenset[str]:
    """Return the addresses of numbers of a checkpoint that an earlier head has, too."""
    found, first = set[str](), set[object]()
    for each in numbers_of(scenario):
        source = getattr(each.value, "source", None)
        if source is None or "heads" not in each.place:
            continue
        if source in first:
            found.add(each.address)
        first.add(source)
    return frozenset(found)


def frozen_weights(scenario: Scenario) -> dict[str, tuple[int, ...]]:
    """Return the shape of the parameters that training leaves as they are, by their address."""
    every = numbers_of(scenario)
    return {each.address: each.shape for each in every if each.declared.frozen}


def with_own_norms(scenario: Scenario) -> Scenario:
    """Return a scenario in which each sub-layer has its own copy of its layer's norms."""
    return with_parts(
        scenario, lambda _, part: _with_own_norms(part) if isinstance(part, Layer) else part
    )


def _with_own_norms(layer: Layer) -> Layer:
    own = {}
    for name in SUB_LAYERS:
        if part := getattr(layer, name):
            norms = {"norm": layer.norm_of(part), "norm_after": layer.norm_after_of(part)}
            if name == "ffn" and layer.shares_norm:
                del norms["norm"]
            own[name] = part.model_copy(update=norms)
    return layer.model_copy(update={**own, "norm": None, "norm_after": None})


def map_numbers(numbers: Any, change: Callable[[Any], Any]) -> Any:
    """Apply a function to each number of rows, or of rows by word."""
    if isinstance(numbers, Mapping):
        return {word: map_numbers(row, change) for word, row in numbers.items()}
    if isinstance(numbers, Decimal | float):
        return change(numbers)
    return tuple([map_numbers(each, change) for each in numbers])


def address(place: YamlPath) -> str:
    """Return the address of a YAML path: ("layers", 0, "ffn", "W_1", 2) → layer1.ffn.W_1 row 3."""
    parts: list[str] = []
    indices: list[int] = []
    for part in place:
        if isinstance(part, str):
            parts.append(part)
        elif parts[-1] in _NUMBERED and not indices:
            parts[-1] = f"{_NUMBERED[parts[-1]]}{part + 1}"
        else:
            indices.append(part + 1)
    words = [".".join(parts)]
    if indices:
        of_one_row = len(indices) == 1 and parts[-1] not in _keys_of_rows()
        names = ("entry",) if of_one_row else ("row", "column")
        words += [f"{name} {index}" for name, index in zip(names, indices, strict=False)]
    return " ".join(words)


_NUMBERED = {
    "layers": "layer",
    "heads": "head",
    **{form.key: form.key.removesuffix("s") for form in forms_of_ffn()},
    "training": "training",
    "batch": "batch",
    "figures": "figure",
}


@cache
def _keys_of_rows() -> frozenset[str]:
    """Return the keys of rows and columns; the others hold a single row."""
    shapes = (declared(form) for form in forms(Scenario))
    matrices = (name for each in shapes for name, shape in each.items() if shape.sizes[1:])
    return frozenset((*matrices, "mask", "transposed", "target"))
