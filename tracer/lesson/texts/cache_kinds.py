"""What kinds of attention keep in a cache, with the dimensions of a decoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tracer.checkpoints.parameter import Parameter
from tracer.decoder import roles
from tracer.decoder.operations import Dot
from tracer.errors import Problem, TracerError
from tracer.formula.expression import Expression, Number, Product, Quotient, Sum, Symbol
from tracer.lesson.steps.part import is_cached_for_part
from tracer.lesson.texts import cache_numbers as numbers
from tracer.lesson.texts.cache_numbers import AttentionLayers, CachedNumbers, Widths
from tracer.lesson.texts.survey import Survey
from tracer.scenario.fields import Window
from tracer.scenario.model import Scenario

LENGTHS = (1_000, 100_000)
"""The numbers of tokens that caches are counted for."""

USUAL_BYTES = 2
"""Bytes of a number in most caches: float16 or bfloat16."""

STORED = (2, 4)
"""Bytes of a number of weights that a cache takes over: those of floats with 16 and 32 bits."""

USUAL_WINDOW = 4_096
"""The window of Mistral 7B (Jiang et al. 2023)."""


@dataclass(frozen=True)
class CacheKind:
    """A kind of attention: what it caches, and the formula of layers that are alike."""

    name: str
    formula: Expression | None
    parts: tuple[CachedNumbers, ...]
    assumed: bool = False
    """Whether a size is not the model's own."""

    @property
    def per_token(self) -> int:
        """Numbers for each token, while no window is full."""
        return sum(part.number for part in self.parts if not part.fixed)

    def of(self, tokens: int) -> int:
        """Return the numbers of a cache after so many tokens."""
        return sum(part.of(tokens) for part in self.parts)


L, H, G = Symbol("L"), Symbol("h"), Symbol("g")
D_K, D_V, D_C, D_R = (Symbol("d", below) for below in "kvcR")
LATENT_ROWS = Product((L, Sum((D_C, D_R))))

MULTI_HEAD, GROUPED, MULTI_QUERY = "multi-head", "grouped", "multi-query"
LATENT, WINDOWED, SHARED, STATE = "latent", "windowed", "shared layers", "state"
OWN = "this model"


@dataclass(frozen=True)
class Caches:
    """The caches of kinds of attention, in a decoder with some layers; `own` is its own kind's."""

    layers: tuple[AttentionLayers, ...]
    lengths: tuple[int, ...]
    bytes_of_number: int
    is_stored: bool
    """Whether the numbers have as many bytes as the weights in a file."""
    encoder: CachedNumbers | None
    """What cross-attention keeps of each of the encoder's tokens."""
    context: int | None
    """The most tokens that the decoder can read, if there is a table of positions."""

    @cached_property
    def kinds(self) -> tuple[CacheKind, ...]:
        """The kinds that these heads and layers allow, and the model's own if it mixes some."""
        found = tuple(self._kinds())
        if self.own != OWN:
            return found
        return (*found, CacheKind(OWN, None, _of(self.layers, numbers.own)))

    @cached_property
    def own(self) -> str:
        """The name of the kind that the model has, if it is one of these kinds."""
        names = {_kind_of(each) for each in self.layers}
        name = names.pop() if len(names) == 1 else OWN
        return name if any(kind.name == name for kind in self._kinds()) else OWN

    @property
    def own_kind(self) -> CacheKind:
        """The kind that the model has."""
        return self.kind(self.own)

    def kind(self, name: str) -> CacheKind:
        """Return the kind of a name."""
        return next(kind for kind in self.kinds if kind.name == name)

    @property
    def widths(self) -> Widths | None:
        """The widths of a key and a value, if they are equal in all heads and layers."""
        found = {each.alike for each in self.layers}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def window(self) -> int | None:
        """A window of the model."""
        return next((each.window for each in self.layers if each.window is not None), None)

    def _kinds(self) -> Iterator[CacheKind]:
        plain = tuple(replace(each, window=None) for each in self.layers)
        yield CacheKind(MULTI_HEAD, self._pairs(L, H), _of(plain, numbers.multi_head))
        if all(each.alike for each in plain):
            if all(numbers.groups_of(each) for each in plain):
                assumed = not all(numbers.has_groups(each) for each in plain)
                yield CacheKind(
                    GROUPED, self._pairs(L, G), _of(plain, numbers.grouped), assumed=assumed
                )
            yield CacheKind(MULTI_QUERY, self._pairs(L), _of(plain, numbers.multi_query))
            assumed = not all(each.in_place for each in plain)
            yield CacheKind(LATENT, LATENT_ROWS, _of(plain, numbers.latent), assumed=assumed)
        windowed = (
            replace(each, window=each.window or self.window or USUAL_WINDOW) for each in self.layers
        )
        assumed = self.window is None
        yield CacheKind(WINDOWED, self._base(L), _of(windowed, numbers.rows), assumed=assumed)
        if any(each.number > 1 for each in plain):
            half = Quotient(L, Number.of(numbers.SHARING_LAYERS))
            yield CacheKind(SHARED, self._base(half), _of(plain, numbers.shared_layers))
        yield CacheKind(STATE, self._state(), _of(plain, numbers.state))

    def _state(self) -> Expression | None:
        """L × h × d_k × d_v, or L × h × (d_k × d_v + d_k) with sums of keys; None if some have."""
        sums = {each.keeps_sums for each in self.layers}
        if len(sums) > 1:
            return None
        of_head = (Sum((Product((D_K, D_V)), D_K)),) if sums.pop() else (D_K, D_V)
        return Product((L, H, *of_head))

    def _base(self, layers: Expression) -> Expression | None:
        """The formula of what the model caches in some layers; None if they differ."""
        latent = {bool(each.in_place) for each in self.layers}
        if latent == {True}:
            return Product((layers, *LATENT_ROWS.factors[1:]))
        if latent == {True, False}:
            return None
        if all(len(each.owners) == len(each.heads) for each in self.layers):
            return self._pairs(layers, H)
        is_single = all(len(each.owners) == 1 for each in self.layers)
        return self._pairs(layers) if is_single else self._pairs(layers, G)

    def _pairs(self, *factors: Expression) -> Product:
        """2 × factors × d_k, or factors × (d_k + d_v)."""
        if self.widths and len({*self.widths}) == 1:
            return Product((Number.of(2), *factors, D_K))
        return Product((*factors, Sum((D_K, D_V))))


def _of(
    layers: Iterable[AttentionLayers],
    cached: Callable[[AttentionLayers], Iterable[CachedNumbers]],
) -> tuple[CachedNumbers, ...]:
    return tuple(part for each in layers for part in cached(each))


def _kind_of(each: AttentionLayers) -> str:
    """Return the name of the kind of attention in some layers."""
    if each.states:
        return STATE
    if each.window is not None:
        return WINDOWED
    if each.in_place:
        return LATENT
    if len(each.owners) == len(each.heads):
        return MULTI_HEAD
    return MULTI_QUERY if len(each.owners) == 1 else GROUPED


# --- from a decoder ------------------------------------------------------------------------------


def caches(found: Survey, scenario: Scenario, length: int | None = None) -> Caches:
    """Return the caches of kinds of attention, with the dimensions of a surveyed scenario.

    Raises:
        TracerError: the decoder has no self-attention, or a token attends to later ones.
    """
    layers = tuple(_attention_layers(found))
    if not layers:
        raise TracerError(Problem("expected self-attention", address="--caches"))
    if scenario.looks_ahead:
        message = "the mask shows later tokens, so what is cached would change"
        raise TracerError(Problem(message, address="--caches"))
    stored = _bytes_stored(scenario)
    crossed = found.cached[1]
    source = len(scenario.encoder.tokens) if scenario.encoder else 0
    per_token = crossed // source if source else 0
    positions = scenario.positions
    table = positions.table if positions else None
    return Caches(
        layers,
        tuple(sorted({length or LENGTHS[0], LENGTHS[1]})),
        stored or USUAL_BYTES,
        stored is not None,
        CachedNumbers(((f"{per_token:,}", per_token),)) if per_token else None,
        None if table is None else len(table),
    )


def _attention_layers(found: Survey) -> Iterator[AttentionLayers]:
    """Yield the layers of each structure, those that are alike together."""
    together = Counter[AttentionLayers]()
    outline = found.outline
    for i, (layer, alike) in enumerate(
        zip(outline.scenario.layers, outline.layers, strict=True), 1
    ):
        if layer.attention is None:
            continue
        mask = layer.attention.mask or outline.scenario.mask
        window = mask.window if isinstance(mask, Window) else None
        together[_of_layer(found, i, window)] += len(alike)
    for each, number in together.items():
        yield replace(each, number=number)


def _of_layer(found: Survey, layer: int, window: int | None) -> AttentionLayers:
    """Return the widths of a layer's heads, and of the rows that parts cache."""
    keys, values = dict[int, int](), dict[int, int]()
    owners, in_place = set[int](), list[int]()
    states: dict[int, dict[str, tuple[int, ...]]] = {}
    for record in found.trace.records:
        output, place = record.output, record.output.place
        if (place.layer, place.sub_layer, place.encoder) != (layer, "attention", False):
            continue
        head = place.head or 0
        if is_cached_for_part(output) and place.token is not None:
            states.setdefault(head, {})[output.role.name] = output.shape
        elif is_cached_for_part(output):
            in_place.append(output.shape[1])
        elif output.role is roles.VALUE:
            owners.add(head)
        elif output.role is roles.QUERY:
            keys.setdefault(head, output.shape[1])
        if isinstance(record.operation, Dot) and head:
            keys[head] = record.inputs[1].shape[1]
        if head and place.token is None and output.role.name == roles.HEAD_OUTPUT.name:
            values[head] = output.shape[1]
    heads = {head: (keys[head], width) for head, width in values.items()}
    own = tuple(heads[head] for head in sorted(owners))
    kept = tuple(
        (*sizes, *(columns for _, columns in sums))
        for sizes, *sums in (each.values() for each in states.values())
    )
    return AttentionLayers(1, tuple(heads.values()), own, tuple(in_place), window, kept)


def _bytes_stored(scenario: Scenario) -> int | None:
    """Return the bytes of each number of W_Q in a file of floats; None without one."""
    for layer in scenario.layers:
        for head in layer.attention.heads if layer.attention else ():
            weights: Any = head.W_Q
            if isinstance(weights, Parameter) and weights.tensor.is_floats:
                size = weights.tensor.stored.dtype.itemsize
                return size if size in STORED else None
    return None
