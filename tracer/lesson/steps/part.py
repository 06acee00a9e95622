"""What a part of a model adds to the texts: its steps, and the texts of its roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeAlias

from tracer.decoder.forward import Trace
from tracer.decoder.roles import Role
from tracer.decoder.value import Value
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import Instead, RoleText, StepKind, SymbolOf
from tracer.parts import declared
from tracer.scenario.model import Scenario

SizesOf: TypeAlias = Callable[[Value, int, int], Iterable[Sentence]]
"""A text from a value, the parameters beside it, and how many of these act on no token."""

KEYS_AND_VALUES = "keys and values"


class NamedSize(NamedTuple):
    """A size of the model, such as d_k: the axis of the values of a role, and what it means."""

    name: str
    role: Role
    axis: int
    meaning: str


@dataclass(frozen=True)
class LessonPart:
    """The declaration of a part.

    `kinds` are its kinds of steps, by the name of the kind that they are listed behind. `texts` are
    those of its roles that belong to another part's steps, by the name of the kind. `operands` are
    the symbols of its parameters and of other given numbers.
    """

    kinds: Mapping[str, tuple[StepKind, ...]] = field(default_factory=dict)
    texts: Mapping[str, Mapping[Role, RoleText]] = field(default_factory=dict)
    operands: Mapping[Role, SymbolOf] = field(default_factory=dict)
    instead: Instead = ()
    """Kinds whose words another part's steps of the same name have, and in which steps."""
    backward: Mapping[StepKind, StepKind] = field(default_factory=dict)
    """Steps of the backward pass without a forward step of their own; each goes with one."""
    shown_alone: tuple[Role, ...] = ()
    """Those of its given numbers that stand in no matrix before a line puts them in."""
    mixed: tuple[Role, ...] = ()
    """Those of its roles whose rows are queries with columns that are mixtures of the query's."""
    sizes: Mapping[Role, Sentence] = field(default_factory=dict)
    """What a text of shapes says where one of its roles is recorded."""
    computed_sizes: Mapping[Role, SizesOf] = field(default_factory=dict)
    """The same, where the sentences have numbers."""
    memory: Callable[[Scenario], Sentence | None] | None = None
    """Returns what a text of shapes says about the memory of a scenario."""
    not_in_caches: Callable[[Scenario], Sentence | None] | None = None
    """Returns what a comparison of caches leaves out of what a scenario's cache keeps."""
    sizes_at_a_glance: tuple[NamedSize, ...] = ()
    names: Mapping[Role, str] = field(default_factory=dict)
    """What texts of sizes call what has one of its roles, or what causes it."""
    cached: Mapping[Role, str] = field(default_factory=dict)
    """What self-attention caches in place of keys and values, in words, by the role of its rows."""


@cache
def lesson_parts() -> tuple[LessonPart, ...]:
    """The parts, in the order in which a pass meets them."""
    return declared("lesson", LessonPart)


def names_of(roles: Iterable[Role]) -> list[str]:
    """What texts of sizes call those of some roles that belong to parts, each name once."""
    names = {role: name for part in lesson_parts() for role, name in part.names.items()}
    return list(dict.fromkeys(names[role] for role in roles if role in names))


@cache
def cached_by_parts() -> Mapping[Role, str]:
    """What parts cache in place of keys and values, in words, by the role of its rows."""
    return {role: words for part in lesson_parts() for role, words in part.cached.items()}


def is_cached_for_part(value: Value) -> bool:
    """Whether a cache keeps the rows of a value in place of keys and values."""
    own, place = cached_by_parts(), value.place
    is_whole = not place.encoder and not place.block
    return value.role in own and place.sub_layer == "attention" and is_whole


def cached_words(trace: Trace, *, states: bool = True) -> list[str]:
    """What a cache keeps of the decoder's self-attention, in words; without `states`, per token."""
    attends = {i for i, layer in enumerate(trace.scenario.layers, 1) if layer.attention}
    kept = [value for value in trace.values.values() if is_cached_for_part(value)]
    others = attends - {value.place.layer for value in kept}
    shown = (value for value in kept if states or not value.place.token)
    own = dict.fromkeys(cached_by_parts()[value.role] for value in shown)
    return [KEYS_AND_VALUES] * bool(others) + list(own)


def state_words(trace: Trace) -> list[str]:
    """What a cache keeps of all tokens together, in words."""
    kept = (value for value in trace.values.values() if is_cached_for_part(value))
    return list(dict.fromkeys(cached_by_parts()[each.role] for each in kept if each.place.token))


def with_parts(kinds: tuple[StepKind, ...]) -> tuple[StepKind, ...]:
    """Return kinds of steps with those that the parts have behind them, and the parts' texts."""
    ordered = list(kinds)
    for part in reversed(lesson_parts()):  # behind one kind, the first part's come first
        ordered = [each for kind in ordered for each in (kind, *part.kinds.get(kind.name, ()))]
    for part in lesson_parts():
        for kind in ordered:
            kind.roles = {**kind.roles, **part.texts.get(kind.name, {})}
            kind.instead += tuple(each for each in part.instead if each[1].name == kind.name)
    return tuple(ordered)
