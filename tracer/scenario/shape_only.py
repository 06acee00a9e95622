"""A decoder without numbers, only shapes; equal layers are represented once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import BaseModel

from tracer.errors import Problem, TracerError
from tracer.scenario.cycles import cycles
from tracer.scenario.fields import Names, shape_of
from tracer.scenario.layers import Layer
from tracer.scenario.model import Encoder, Scenario, Tower
from tracer.scenario.part import tower_keys
from tracer.scenario.parts import AnyPart, declared, with_numbers, with_parts
from tracer.scenario.reader import YamlPath


@dataclass(frozen=True)
class ShapeOnlyArray:
    """A matrix or a row that has a shape but no numbers."""

    shape: tuple[int, ...]
    source: object = field(default=None, compare=False)
    """What is equal for the same numbers of a checkpoint; None if nothing else has these."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | int) -> ShapeOnlyArray:
        if isinstance(rows, int):
            return ShapeOnlyArray(self.shape[1:])
        return ShapeOnlyArray((len(range(len(self))[rows]), *self.shape[1:]))


class _TowerWithoutNumbers(Tower):
    @property
    def embedding(self) -> Any:
        """The embeddings of the tokens, one row per position."""
        _, width = shape_of(self.embeddings)
        return ShapeOnlyArray((len(self.tokens), width))


class WithoutNumbers(_TowerWithoutNumbers, Scenario):
    """A scenario with shapes instead of numbers."""

    has_numbers: ClassVar[bool] = False


class EncoderWithoutNumbers(_TowerWithoutNumbers, Encoder):
    """An encoder with shapes instead of numbers."""


@dataclass(frozen=True)
class ScenarioOutline:
    """A scenario without numbers, and the layers that each of its layers represents."""

    scenario: Scenario
    layers: tuple[tuple[int, ...], ...]
    encoder_layers: tuple[tuple[int, ...], ...]


def outline(scenario: Scenario, length: int | None = None) -> ScenarioOutline:
    """Return the scenario without its numbers, for a given number of tokens.

    Given values of a scenario apply only to its own tokens and layers.

    Raises:
        TracerError: there are fewer positions than tokens, or more or fewer typed queries.
    """
    tokens = _tokens(scenario.tokens, length)
    table = scenario.positions.table if scenario.positions else None
    if table is not None and len(table) < len(tokens):
        message = f"{len(tokens)}, expected at most {len(table)} (one for each position)"
        raise TracerError(Problem(message, address="--length"))
    same = tokens == scenario.tokens
    if scenario.has_typed_heads and not same:
        message = f"{len(tokens)}, expected {len(scenario.tokens)} (one for each typed query)"
        raise TracerError(Problem(message, address="--length"))
    given = scenario.given if same else {}
    encoder = scenario.encoder
    layers, numbers = _once(scenario, apart=bool(given))
    encoder_layers, encoder_numbers = _once(encoder, apart=bool(given))
    kept = {name: getattr(scenario, name) for name in Scenario.model_fields if name not in UNREAD}
    changed = {
        **_tower(scenario, layers),
        "tokens": tokens,
        "token_ids": scenario.token_ids if same else None,
        "encoder": encoder and _encoder(encoder, encoder_layers),
        "mask": _mask(scenario, tokens),
        "unembedding": scenario.unembedding and _blank(scenario.unembedding),
        "given": given,
    }
    without = WithoutNumbers.model_construct(**{**kept, **changed})
    return ScenarioOutline(without, numbers, encoder_numbers)


UNREAD = ("features", "text", "merges", "corpus", "targets", "batch", "training")
"""Keys that do not affect the shapes of a pass."""


def _tokens(tokens: Names, length: int | None) -> Names:
    """Return the first tokens, followed by numbered ones."""
    if length is None:
        return tokens
    return (*tokens[:length], *(f"t{number}" for number in range(len(tokens) + 1, length + 1)))


def _mask(scenario: Scenario, tokens: Names) -> Any:
    if scenario.mask == "none" and scenario.padding not in tokens:
        return "none"
    return ShapeOnlyArray((len(tokens), len(tokens)))


def _encoder(encoder: Encoder, layers: tuple[Layer, ...]) -> Encoder:
    shared = _tower(encoder, layers)
    vectors = _shape(encoder.vectors)
    return EncoderWithoutNumbers.model_construct(tokens=encoder.tokens, vectors=vectors, **shared)


def _tower(tower: Tower, layers: tuple[Layer, ...]) -> dict[str, Any]:
    """Return the embeddings, positions, layers and norm of a tower as shapes."""
    own = {key: getattr(tower, key) for key in tower_keys()}
    return {
        "embeddings": _shape(tower.embeddings),
        "positions": tower.positions and _blank(tower.positions),
        "embedding_scale": tower.embedding_scale,
        "embedding_norm": tower.embedding_norm and _blank(tower.embedding_norm),
        "layers": layers,
        "final_norm": tower.final_norm and _blank(tower.final_norm),
        **{key: _shape(value) if key in declared(Tower) else value for key, value in own.items()},
    }


def _once(
    tower: Tower | None, *, apart: bool
) -> tuple[tuple[Layer, ...], tuple[tuple[int, ...], ...]]:
    """Group equal layers that repeat: return the first of each group and the group's numbers."""
    layers = tower.layers if tower else ()
    once = {id(layer): layer for layer in layers}  # those of a large model are often the same
    blank = {key: _blank(layer) for key, layer in once.items()}
    kinds = range(len(layers)) if apart else [blank[id(layer)] for layer in layers]
    found = [(run.start, cycle.all_of(run)) for cycle in cycles(kinds) for run in cycle.runs]
    firsts = tuple(blank[id(layers[first])] for first, _ in found)
    return firsts, tuple(tuple(layer + 1 for layer in group) for _, group in found)


def _blank(part: AnyPart) -> AnyPart:
    """Replace the numbers of a part by shapes and remove its labels; settings stay."""
    return with_numbers(with_parts(part, _without_labels), lambda numbers: _shape(numbers.value))


def _shape(numbers: Any) -> ShapeOnlyArray | None:
    if numbers is None:
        return None
    return ShapeOnlyArray(shape_of(numbers), getattr(numbers, "source", None))


def _without_labels(_: YamlPath, part: Any) -> Any:
    form: type[BaseModel] = type(part)
    labels = {shape.labels[0] for shape in declared(form).values() if shape.labels}
    default = {name: form.model_fields[name].default for name in labels}
    return part.model_copy(update=default) if default else part
