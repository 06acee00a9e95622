"""What a part of a model adds to a scenario: its keys, and checks of their shapes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from tracer.checkpoints.architecture import Architecture
from tracer.parts import declared
from tracer.scenario.expected import Known, Size
from tracer.scenario.fields import Frozen
from tracer.scenario.reader import Data, YamlPath


class ShapeChecker(Protocol):
    """What checks the shapes of a scenario, as far as parts use it."""

    widths: dict[YamlPath, Size]
    """The number of columns of the weights of queries, keys and values, or of these, if typed."""

    def part(self, *place: str | int) -> Data | None:
        """Return what is typed at a place; None if nothing is."""

    def has(self, *place: str | int) -> bool:
        """Return whether something is typed at a place."""

    def entries(self, *place: str | int) -> Collection[Any]:
        """Return the entries of a list."""

    def report(self, place: YamlPath, message: str) -> None:
        """Report a problem."""

    def sample(self, at: YamlPath, width: Size) -> None:
        """Report the deviation of a sample of one number."""

    def matrices(
        self,
        form: type[BaseModel],
        place: YamlPath,
        known: dict[str, Known],
        guesses: Mapping[str, Size],
    ) -> None:
        """Check the matrices of a part by the known sizes; others become known by them."""

    def norm(self, place: YamlPath, name: str, width: Size, why: str = ...) -> None:
        """Check γ and β of a norm."""


Model = TypeVar("Model", bound=type[BaseModel])
Keys = TypeVar("Keys", bound=Frozen)


@dataclass(frozen=True)
class ScenarioPart:
    """The declaration of a part; `keys` are those that it adds, by the name of their model."""

    keys: Mapping[str, type[Frozen]] = field(default_factory=dict)
    attention: Callable[[ShapeChecker, YamlPath, dict[str, Known]], None] | None = None
    """Checks an attention at a place, and changes the sizes by name that its heads know."""
    heads: Callable[[ShapeChecker, YamlPath, Mapping[str, str]], None] | None = None
    """Checks an attention whose heads are known, by the names of what is projected as Q, K, V."""
    trained: Callable[[Architecture, Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Returns the keys of an attention of a checkpoint, whose norms have these settings."""
    rotated: tuple[str, ...] = ()
    """Matrices of a head whose columns are rotated in place of those of W_Q."""
    rotated_width: Callable[[Any], int | None] | None = None
    """Returns how many columns of queries and keys an attention rotates, if not all."""
    weights: Mapping[str, type[Frozen]] = field(default_factory=dict)
    """Models of keys that can take the place of a weight matrix, by the key of its rows.

    Their shapes call the sizes of the whole `rows` and `columns`.
    """
    variants: tuple[tuple[str, type[BaseModel], Callable[[Any], dict[str, Any]]], ...] = ()
    """Changes by which texts and programs differ: a name, the changed model, its new settings."""


@cache
def scenario_parts() -> tuple[ScenarioPart, ...]:
    """The parts, in the order in which a pass meets them."""
    return declared("scenario", ScenarioPart)


@cache
def keys_of_weights() -> Mapping[str, type[Frozen]]:
    """Return the models of keys in place of a weight matrix, by the key of its rows."""
    return {key: form for part in scenario_parts() for key, form in part.weights.items()}


def rotated_width(attention: Any) -> int:
    """Return how many columns of queries and keys an attention rotates, if it rotates all."""
    return _rotated_apart(attention) or int(attention.heads[0].d_k)


def rotates_all(attention: Any) -> bool:
    """Return whether it can rotate whole queries and keys: no part rotates columns of its own."""
    return _rotated_apart(attention) is None


def _rotated_apart(attention: Any) -> int | None:
    widths = (part.rotated_width(attention) for part in scenario_parts() if part.rotated_width)
    return next(filter(None, widths), None)


def with_keys_of_parts(model: Model) -> Model:
    """Return a model with the keys that the parts add to it."""
    own = [part.keys[model.__name__] for part in scenario_parts() if model.__name__ in part.keys]
    if not own:
        return model
    words = {"__module__": model.__module__, "__doc__": model.__doc__}
    bases: tuple[type, ...] = (*reversed(own), model)  # the fields of the last base come first
    return type(model.__name__, bases, words)  # type: ignore[return-value]


def keys_of(model: BaseModel, keys: type[Keys]) -> Keys:
    """Return a model as what a part has added to it."""
    assert isinstance(model, keys)
    return model
