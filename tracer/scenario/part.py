"""What a part of a model adds to a scenario: its keys, and checks of their shapes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
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
    """The number of columns of the weights of queries, keys and values, or of these, if typed.

    Also that of the embeddings of a tower.
    """

    @property
    def fills_in(self) -> bool:
        """Whether the model predicts the words that masks hide."""

    def part(self, *place: str | int) -> Data | None:
        """Return what is typed at a place; None if nothing is."""

    def has(self, *place: str | int) -> bool:
        """Return whether something is typed at a place."""

    def positive(self, *place: str | int) -> Decimal | None:
        """Return a typed positive number; None for anything else."""

    def entries(self, *place: str | int) -> Collection[Any]:
        """Return the entries of a list."""

    def is_typed(self, *attention: str | int) -> bool:
        """Return whether a head of an attention has typed queries, keys or values."""

    def size(self, *place: str | int) -> Size:
        """Return the number of entries of a list, or of words of a sentence."""

    def tokens_of(self, tower: YamlPath) -> Size:
        """Return the number of tokens that a tower at a place reads."""

    def report(self, place: YamlPath, message: str) -> None:
        """Report a problem."""

    def length(self, place: YamlPath, expected: Size, meaning: str, noun: str = ...) -> None:
        """Report a list that does not have the expected length."""

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

ChangesOfParts: TypeAlias = tuple[tuple[str, Callable[[Any], Any]], ...]

Model = TypeVar("Model", bound=type[BaseModel])
Keys = TypeVar("Keys", bound=Frozen)

KeysOfCheckpoint: TypeAlias = Callable[[Architecture, Mapping[str, Any]], Mapping[str, Any]]
"""Returns keys of a checkpoint, whose norms have the given settings."""


@dataclass(frozen=True)
class NamedPositions:
    """A way to encode positions: the keys of `positions`, and whether it needs pairs of columns."""

    keys: Mapping[str, Any]
    of_pairs: bool = False


@dataclass(frozen=True)
class ScenarioPart:
    """The declaration of a part; `keys` are those that it adds, by the name of their model."""

    keys: Mapping[str, type[Frozen]] = field(default_factory=dict)
    tower: Callable[[ShapeChecker, YamlPath], None] | None = None
    """Checks a tower at a place, whose layers are checked."""
    layer: Callable[[ShapeChecker, YamlPath], None] | None = None
    """Checks a layer at a place."""
    joins: Callable[[Any], bool] | None = None
    """Returns whether the sub-layers of a layer read the same vectors and leave one together."""
    sub_layer: Callable[[ShapeChecker, YamlPath], None] | None = None
    """Checks a sub-layer at a place."""
    unembedding: Callable[[ShapeChecker, YamlPath, Known], Known] | None = None
    """Checks the unembedding at a place by the width of the output; returns what W_U reads."""
    reads: Callable[[Any], str | None] | None = None
    """Returns the address of what an unembedding reads in place of the output, if it does."""
    network: Callable[[ShapeChecker, YamlPath], None] | None = None
    """Checks a feed-forward network at a place."""
    activations: tuple[str, ...] = ()
    """Names of what it computes in place of an activation function."""
    attention: Callable[[ShapeChecker, YamlPath, dict[str, Known]], None] | None = None
    """Checks an attention at a place, and changes the sizes by name that its heads know."""
    heads: Callable[[ShapeChecker, YamlPath, Mapping[str, str]], None] | None = None
    """Checks an attention whose heads are known, by the names of what is projected as Q, K, V."""
    trained: Mapping[str, KeysOfCheckpoint] = field(default_factory=dict)
    """What returns its keys in a checkpoint, by the name of their model."""
    trained_layer: Callable[[Architecture, int], Mapping[str, Any]] | None = None
    """Returns the keys of the self-attention of a checkpoint's layer, counted from 1."""
    trained_positions: Callable[[Architecture], Mapping[str, Any]] | None = None
    """Returns the keys of the positions of a checkpoint."""
    position_weights: tuple[str, ...] = ()
    """Matrices of a head whose columns encode positions in place of those of W_Q."""
    position_width: Callable[[Any], int | None] | None = None
    """Returns how many columns of an attention's queries and keys encode positions, if not all."""
    weights: Mapping[str, type[Frozen]] = field(default_factory=dict)
    """Models of keys that can take the place of a weight matrix, by the key of its rows.

    Their shapes call the sizes of the whole `rows` and `columns`.
    """
    positions: Mapping[str, NamedPositions] = field(default_factory=dict)
    """Positions that a model by its dimensions can have, by their name."""
    controls: Mapping[str, str] = field(default_factory=dict)
    """Numbers of a head that a reader of a live page can change: their keys, and their labels."""
    variants: Variants = ()
    changes: ChangesOfParts = ()
    """The same of models of several kinds: a name, and what returns the changed model."""
    quantized: Callable[[Mapping[str, Any]], Callable[[Any], Any]] | None = None
    """By settings, returns what returns a model with its weight matrices quantized."""


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
def activations_of_parts() -> tuple[str, ...]:
    """Return the names of what parts compute in place of an activation function."""
    return tuple(name for part in scenario_parts() for name in part.activations)


def trained_keys(model: str, architecture: Architecture, norm: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that the parts add to a model of this name in a checkpoint."""
    found = (part.trained[model] for part in scenario_parts() if model in part.trained)
    return {key: value for keys in found for key, value in keys(architecture, norm).items()}


@cache
def keys_of_weights() -> Mapping[str, type[Frozen]]:
    """Return the models of keys in place of a weight matrix, by the key of its rows."""
    return {key: form for part in scenario_parts() for key, form in part.weights.items()}


@cache
def tower_keys() -> tuple[str, ...]:
    """Return the keys that the parts add to a tower."""
    own = (part.keys["Tower"] for part in scenario_parts() if "Tower" in part.keys)
    return tuple(key for keys in own for key in keys.model_fields)


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
