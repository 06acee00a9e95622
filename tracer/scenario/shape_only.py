"""A decoder without numbers, only shapes; equal layers are represented once."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, ClassVar

from pydantic import BaseModel

from tracer.errors import Problem, TracerError
from tracer.scenario.fields import Names
from tracer.scenario.layers import Layer
from tracer.scenario.model import Encoder, Scenario, Tower
from tracer.scenario.parts import shape_of
from tracer.scenario.rotary import Rotary, RotaryOfLayer


@dataclass(frozen=True)
class ShapeOnlyArray:
    """A matrix or a row that has a shape but no numbers."""

    shape: tuple[int, ...]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> ShapeOnlyArray:
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
    layers: tuple[range, ...]
    encoder_layers: tuple[range, ...]


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
        "encoder": _encoder(encoder, encoder_layers) if encoder else None,
        "mask": _mask(scenario, tokens),
        "unembedding": _blank(scenario.unembedding),
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
    if encoder.vectors is None and not encoder.is_computed:
        return encoder
    if not encoder.is_computed:
        vectors: Any = ShapeOnlyArray(shape_of(encoder.vectors))
        return Encoder.model_construct(tokens=encoder.tokens, vectors=vectors)
    return EncoderWithoutNumbers.model_construct(tokens=encoder.tokens, **_tower(encoder, layers))


def _tower(tower: Tower, layers: tuple[Layer, ...]) -> dict[str, Any]:
    """Return the embeddings and positions of a tower as shapes."""
    table = tower.embeddings
    return {
        "embeddings": None if table is None else ShapeOnlyArray(shape_of(table)),
        "positions": _blank(tower.positions),
        "embedding_scale": tower.embedding_scale,
        "layers": layers,
        "final_norm": _blank(tower.final_norm),
    }


def _once(tower: Tower | None, *, apart: bool) -> tuple[tuple[Layer, ...], tuple[range, ...]]:
    """Group consecutive equal layers: return the first of each group and the group's numbers."""
    layers = enumerate(_blank(tower.layers) if tower else (), 1)
    runs = [list(run) for _, run in groupby(layers, lambda e: e[0] if apart else e[1])]
    firsts = tuple(run[0][1] for run in runs)
    return firsts, tuple(range(run[0][0], run[-1][0] + 1) for run in runs)


def _blank(part: Any) -> Any:
    """Replace the numbers of a part by shapes and remove its labels; settings stay."""
    match part:
        case Rotary() | RotaryOfLayer():
            return part
        case BaseModel():
            said = {name: _blank(getattr(part, name)) for name in part.model_fields_set}
            return part.model_copy(update=said)
        case (BaseModel(), *_):
            # Layers and heads of a large model are often the same object.
            once = {id(each): each for each in part}
            blank = {key: _blank(each) for key, each in once.items()}
            return tuple(blank[id(each)] for each in part)
        case (str(), *_):
            return None
        case (Decimal() | tuple(), *_):
            return ShapeOnlyArray(shape_of(part))
        case _:
            return ShapeOnlyArray(part.shape) if hasattr(part, "shape") else part
