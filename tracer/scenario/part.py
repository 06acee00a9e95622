"""What a part of a model adds to a scenario: its keys, and checks of their shapes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeAlias, TypeVar

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

    def size(self, *place: str | int) -> Size:
        """Return the number of entries of a list, or of words of a sentence."""

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

    def network(self, place: YamlPath, width: Size, out: Known | None = None) -> Size:
        """Check a feed-forward network by the width of its input; return that of its output."""


Variants: TypeAlias = tuple[tuple[str, type[BaseModel], Callable[[Any], dict[str, Any]]], ...]
"""Changes by which texts and programs differ: a name, the changed model, its new settings."""

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
    variants: Variants = ()


@dataclass(frozen=True)
class FormOfFFN:
    """The declaration of an FFN in another form than one network, in the file `ffn.py` of a part.

    Its networks have the keys that parts add to them, so it is loaded after `scenario.py`.
    """

    form: type[BaseModel]
    key: str
    """The key by which it is recognized, which names what it consists of: `experts`."""
    words: str
    """What it is, for the description of the key `ffn`."""
    check: Callable[[ShapeChecker, YamlPath, Size], Size]
    """Checks it at a place by the width of its input; returns the width of its output."""
    trained: Callable[[Architecture, Mapping[str, Any]], Any]
    """Returns that of a checkpoint without its numbers, by the settings of all sub-layers.

    None if the checkpoint has another one.
    """
    by_dimensions: Callable[[Any, Mapping[str, Any]], Any]
    """The same of a scenario that has dimensions."""
    misfits: Callable[[Any], Iterable[tuple[str, str]]]
    """Returns the keys of dimensions that contradict others, each with a message."""
    variants: Variants = ()


@cache
def forms_of_ffn() -> tuple[FormOfFFN, ...]:
    """The forms of the FFN besides one network."""
    return declared("ffn", FormOfFFN)


def form_of_ffn(typed: Data | None) -> FormOfFFN | None:
    """Return the form of an FFN; None if it is one network, or missing."""
    keys = typed if isinstance(typed, dict) else {}
    return next((form for form in forms_of_ffn() if keys.get(form.key) is not None), None)


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
    widths = (part.rotated_width(attention) for part in scenario_parts() if part.rotated_width)
    return next(filter(None, widths), attention.heads[0].d_k)


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
