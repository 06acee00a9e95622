"""A decoder of which only the shapes are known: its layers once, where several are built alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from typing import Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict

from tracer.errors import Problem, TracerError
from tracer.frozen import frozen
from tracer.scenario.fields import Names
from tracer.scenario.layers import Layer
from tracer.scenario.model import Encoder, Scenario, Tower

EMBEDDINGS, POSITIONS = "embeddings", "positions"
"""Tables of which a pass reads only some rows, by the address of their parameters."""

Runs: TypeAlias = list[list[tuple[int, Layer]]]
"""Layers with their numbers, those together that are built alike."""


@frozen
class Blank:
    """A matrix or a row without numbers: nothing but its shape."""

    shape: tuple[int, ...]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Blank:
        return Blank((len(range(len(self))[rows]), *self.shape[1:]))


class WithoutNumbers(Scenario):
    """A scenario that holds shapes where another holds numbers: nothing can be computed."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    has_numbers: ClassVar[bool] = False
    tied: bool = False
    """Whether the embeddings are the unembedding, too."""

    @property
    def embedding(self) -> Any:
        """The embeddings of the tokens, one row per position."""
        _, width = _shape(self.embeddings)
        return Blank((len(self.tokens), width))


@frozen
class Outline:
    """A scenario without its numbers, and which layers each of its layers stands for.
    `tables` are those of which a pass reads only some rows, where there are any, by address; with
    `tied` the embeddings are the unembedding, too.
    """

    scenario: Scenario
    layers: tuple[range, ...]
    encoder_layers: tuple[range, ...]
    tables: dict[str, tuple[int, int] | None]
    tied: bool


def outline(scenario: Scenario, length: int | None = None) -> Outline:
    """The scenario without its numbers, reading as many tokens as are asked for.

    What a scenario pins is pinned for its own tokens only, layer by layer.

    Raises:
        TracerError: there are fewer positions than tokens.
    """
    tokens = _tokens(scenario.tokens, length)
    positions = _positions(scenario)
    if positions and positions[0] < len(tokens):
        message = f"{len(tokens)}, expected at most {positions[0]} (one for each position)"
        raise TracerError(Problem(message, address="--length"))
    given = scenario.given if tokens == scenario.tokens else {}
    embeddings = _shape(scenario.embeddings)
    encoder = scenario.encoder
    runs, encoder_runs = (_runs(tower, apart=bool(given)) for tower in (scenario, encoder))
    without = WithoutNumbers.model_construct(
        title=scenario.title,
        tokens=tokens,
        token_ids=scenario.token_ids if tokens == scenario.tokens else None,
        embeddings=Blank(embeddings),
        positions=_blank(scenario.positions),
        encoder=_encoder(encoder, encoder_runs),
        padding=scenario.padding,
        mask=_mask(scenario, tokens),
        softmax=scenario.softmax,
        layers=tuple(run[0][1] for run in runs),
        final_norm=_blank(scenario.final_norm),
        vocabulary=scenario.vocabulary,
        unembedding=_blank(scenario.unembedding),
        given=given,
        rounding=scenario.rounding,
        arithmetic=scenario.arithmetic,
    )
    tables = {
        EMBEDDINGS: _table(scenario),
        POSITIONS: positions,
        f"encoder.{EMBEDDINGS}": _table(encoder),
        f"encoder.{POSITIONS}": _positions(encoder),
    }
    return Outline(without, _stand_for(runs), _stand_for(encoder_runs), tables, _is_tied(scenario))


def _tokens(tokens: Names, length: int | None) -> Names:
    """The first of the tokens, and numbered ones behind them."""
    if length is None:
        return tokens
    return (*tokens[:length], *(f"t{number}" for number in range(len(tokens) + 1, length + 1)))


def _mask(scenario: Scenario, tokens: Names) -> Any:
    if scenario.mask == "none" and scenario.padding not in tokens:
        return "none"
    return Blank((len(tokens), len(tokens)))


def _encoder(encoder: Encoder | None, layers: Runs) -> Encoder | None:
    if encoder is None:
        return None
    if not encoder.is_computed:
        vectors: Any = Blank(_shape(encoder.vectors))
        return Encoder.model_construct(tokens=encoder.tokens, vectors=vectors)
    embeddings: Any = Blank((len(encoder.tokens), _shape(encoder.embeddings)[1]))
    return Encoder.model_construct(
        tokens=encoder.tokens,
        embeddings=embeddings,
        positions=_blank(encoder.positions),
        layers=tuple(run[0][1] for run in layers),
        final_norm=_blank(encoder.final_norm),
    )


def _runs(tower: Tower | None, *, apart: bool) -> Runs:
    """The layers of a tower with their numbers, those together that are built alike."""
    layers = enumerate(_blank(tower.layers) if tower else (), 1)
    return [list(run) for _, run in groupby(layers, lambda e: e[0] if apart else e[1])]


def _stand_for(runs: Runs) -> tuple[range, ...]:
    return tuple(range(run[0][0], run[-1][0] + 1) for run in runs)


def _table(tower: Tower | None) -> tuple[int, int] | None:
    """The shape of the embeddings that are looked up by word."""
    table: Any = tower and tower.embeddings
    return _shape(table) if isinstance(table, Mapping | Blank) else None


def _positions(tower: Tower | None) -> tuple[int, int] | None:
    table = tower.positions.table if tower and tower.positions else None
    return None if table is None else _shape(table)


def _blank(part: Any) -> Any:
    """A part of a scenario with shapes for numbers, and without labels; settings stay."""
    match part:
        case BaseModel():
            said = {name: _blank(getattr(part, name)) for name in part.model_fields_set}
            return part.model_copy(update=said)
        case (BaseModel(), *_):
            # Layers and heads of a large model are often one and the same.
            once = {id(each): each for each in part}
            blank = {key: _blank(each) for key, each in once.items()}
            return tuple(blank[id(each)] for each in part)
        case (str(), *_):
            return None
        case (Decimal() | tuple(), *_):
            return Blank(_shape(part))
        case _:
            return Blank(part.shape) if hasattr(part, "shape") else part


def _shape(numbers: Any) -> Any:
    """(rows, columns) or (entries,): of typed numbers, of a table by word, of an array."""
    if isinstance(numbers, Mapping):
        if hasattr(numbers, "rows"):
            return numbers.rows.shape
        return (len(numbers), len(next(iter(numbers.values()))))
    if hasattr(numbers, "shape"):
        return numbers.shape
    first = numbers[0]
    return (len(numbers), len(first)) if isinstance(first, tuple) else (len(numbers),)


def _is_tied(scenario: Scenario) -> bool:
    """Whether the columns of W_U are the embeddings of its words."""
    table, unembedding = scenario.embeddings, scenario.unembedding
    if isinstance(scenario, WithoutNumbers):
        return scenario.tied
    if unembedding is None or not isinstance(table, Mapping):
        return False
    if hasattr(table, "rows"):
        turned: Any = unembedding.W_U
        return bool(replace(turned, transposed=not turned.transposed) == table.rows)
    columns = zip(*unembedding.W_U, strict=True)
    words = scenario.vocabulary or ()
    return all(table.get(word) == column for word, column in zip(words, columns, strict=True))
