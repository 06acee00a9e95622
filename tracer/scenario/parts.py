"""The parts of a model and the parameters of each, declared once.

Shapes are checked, parameters are counted, drawn, read from a checkpoint and replaced by this
table. A parameter of the schema that is missing from it fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from tracer.scenario.layers import (
    Attention,
    Expert,
    Head,
    Layer,
    Lora,
    MixtureOfExperts,
    Normalization,
)
from tracer.scenario.model import FixedPositions, Positions, Scenario, Tower, Unembedding
from tracer.scenario.reader import YamlPath

Sizes: TypeAlias = tuple[str, ...]
"""The names of the sizes of a parameter: rows and columns, or the entries of a row."""

AnyTower = TypeVar("AnyTower", bound=Tower)

PARAMETERS: Mapping[type[BaseModel], Mapping[str, Sizes]] = {
    Tower: {"embeddings": ("words", "width")},
    Positions: {"table": ("positions", "width")},
    FixedPositions: {},
    Head: {
        "W_Q": ("width", "d_k"), "b_Q": ("d_k",),
        "W_K": ("source", "d_k"), "b_K": ("d_k",),
        "W_V": ("source", "d_v"), "b_V": ("d_v",),
        "sink": ("one",),
    },
    Attention: {"W_O": ("concat", "out"), "b_O": ("out",)},
    Expert: {
        "W_1": ("width", "hidden"), "b_1": ("hidden",),
        "W_3": ("width", "hidden"), "b_3": ("hidden",),
        "W_2": ("hidden", "out"), "b_2": ("out",),
    },
    Lora: {"A": ("rows", "rank"), "B": ("rank", "columns")},
    MixtureOfExperts: {"router": ("width", "experts")},
    Normalization: {"gain": ("width",), "shift": ("width",)},
    Unembedding: {"W_U": ("width", "words"), "b_U": ("words",)},
}  # fmt: skip
"""What training updates, by the part that it belongs to; a bias follows its matrix.

`source` is the width of the vectors that keys and values are computed from, `out` the width that a
sub-layer returns.
"""

FROZEN = "frozen"
"""The key of the weights that LoRA leaves as they are."""

SUB_LAYERS = ("attention", "cross_attention", "ffn")

MATRICES = frozenset(
    name for declared in PARAMETERS.values() for name, sizes in declared.items() if len(sizes) == 2
)


def declared_parameters(form: type[BaseModel]) -> Mapping[str, Sizes]:
    """Return the declared parameters of a part's class."""
    return next((PARAMETERS[base] for base in form.__mro__ if base in PARAMETERS), {})


def parameters(
    part: BaseModel, place: YamlPath = (), also: Collection[str] = ()
) -> Iterator[tuple[YamlPath, Any]]:
    """Yield the parameters of a part of a scenario, and other named keys, with their places."""
    own = {*declared_parameters(type(part)), *also}
    for name in type(part).model_fields:
        value, at = getattr(part, name), (*place, name)
        match value:
            case _ if value is None or name not in part.model_fields_set:
                continue
            case BaseModel():
                yield from parameters(value, at, also)
            case _ if name in own:
                yield at, value
            case (BaseModel(), *_):
                for index, each in enumerate(value):
                    yield from parameters(each, (*at, index), also)


def learned(scenario: Scenario) -> dict[str, tuple[int, ...]]:
    """Return the shape of everything that training updates, by its address.

    A tied W_U is left out, and so are shared embeddings of an encoder: they are the embeddings.
    """
    shared = [
        *([("unembedding", "W_U")] if scenario.is_tied else []),
        *([("encoder", "embeddings")] if scenario.shares_embeddings else []),
    ]
    found = parameters(with_own_norms(scenario))
    return {address(place): shape_of(numbers) for place, numbers in found if place not in shared}


def frozen_weights(scenario: Scenario) -> dict[str, tuple[int, ...]]:
    """Return the shape of the weights that LoRA freezes, by their address."""
    every = parameters(scenario, also=(FROZEN,))
    return {address(place): shape_of(numbers) for place, numbers in every if place[-1] == FROZEN}


def has_experts(scenario: Scenario) -> bool:
    """Return whether a layer of the decoder or the encoder chooses among experts."""
    towers = (scenario, scenario.encoder) if scenario.encoder else (scenario,)
    layers = (layer for tower in towers for layer in tower.layers)
    return any(isinstance(layer.ffn, MixtureOfExperts) for layer in layers)


def with_own_norms(tower: AnyTower) -> AnyTower:
    """Return a tower in which each sub-layer has its own copy of its layer's norms."""
    changed: dict[str, Any] = {"layers": tuple(map(_with_own_norms, tower.layers))}
    if isinstance(tower, Scenario) and tower.encoder:
        changed["encoder"] = with_own_norms(tower.encoder)
    return tower.model_copy(update=changed)


def _with_own_norms(layer: Layer) -> Layer:
    own = {}
    for name in SUB_LAYERS:
        if part := getattr(layer, name):
            norms = {"norm": layer.norm_of(part), "norm_after": layer.norm_after_of(part)}
            if name == "ffn" and layer.shares_norm:
                del norms["norm"]
            own[name] = part.model_copy(update=norms)
    return layer.model_copy(update={**own, "norm": None, "norm_after": None})


def shape_of(numbers: Any) -> tuple[int, ...]:
    """Return (rows, columns) or (entries,) of typed numbers, of a table by word or of an array."""
    if isinstance(numbers, Mapping):
        table = getattr(numbers, "rows", None)
        return table.shape if table is not None else shape_of(tuple(numbers.values()))
    if hasattr(numbers, "shape"):
        return tuple(numbers.shape)
    first = numbers[0]
    return (len(numbers), len(first)) if isinstance(first, tuple) else (len(numbers),)


def with_part(whole: Any, place: YamlPath, new: Any) -> Any:
    """Return plain data or a scenario with another part at a place; the rest is shared."""
    if not place:
        return new
    step, rest = place[0], place[1:]
    match whole, step:
        case Mapping(), _:
            return {**whole, step: with_part(whole.get(step, {}), rest, new)}
        case ((list() | tuple()), int()):
            part = with_part(whole[step], rest, new)
            return type(whole)([*whole[:step], part, *whole[step + 1 :]])
        case BaseModel(), str():
            return whole.model_copy(update={step: with_part(getattr(whole, step), rest, new)})
        case _:
            return whole


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
        of_one_row = len(indices) == 1 and parts[-1] not in _OF_ROWS
        names = ("entry",) if of_one_row else ("row", "column")
        words += [f"{name} {index}" for name, index in zip(names, indices, strict=False)]
    return " ".join(words)


_NUMBERED = {
    "layers": "layer",
    "heads": "head",
    "experts": "expert",
    "training": "training",
    "batch": "batch",
    "figures": "figure",
}
_OF_ROWS = {*MATRICES, FROZEN, "mask", "vectors", "Q", "K", "V", "transposed", "target"}
