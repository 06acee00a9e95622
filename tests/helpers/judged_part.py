"""What the tests know of a part of a model: how it is drawn, and how its texts are judged.

Each folder of `tests/parts` can have a file `judged.py` with one declaration, PART. The judges look
the declarations up when they read a text, so that these files can import the judges.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import tests.parts

if TYPE_CHECKING:
    from tests.helpers.judge import Check, Judge

Words = Mapping[str, str]


@dataclass(frozen=True)
class JudgedPart:
    """The declaration of a part; titles and sentences are as texts print them."""

    draw: Callable[[dict[str, Any], random.Random], None] | None = None
    """Adds the part to a random scenario, or not."""
    weights: Mapping[str, Callable[[Mapping[str, Any]], NDArray[np.float64]]] = field(
        default_factory=dict
    )
    """By a key that has the place of a weight matrix, what computes the matrix from all keys."""
    projected: Callable[..., tuple[dict[str, Any], list[list[NDArray[np.float64]]]]] | None = None
    """Changes what all heads project: returns what it computes, and the new rows.

    It gets the attention, and the queries, keys and values of each head.
    """
    heads: Callable[..., dict[str, NDArray[np.float64]] | None] | None = None
    """Computes the values of all heads in another way than a softmax, or returns None.

    It gets the attention, what queries read, and the queries, keys and values of each head.
    """
    outputs: Callable[..., tuple[dict[str, Any], list[NDArray[np.float64]]]] | None = None
    """Changes the outputs of all heads: returns what it computes, and the new outputs.

    It gets the attention, what it reads, and the output of each head.
    """
    titles_of_heads: Words = field(default_factory=dict)
    """The titles of steps of a head: the end of the address of what each computes."""
    titles_of_attention: Words = field(default_factory=dict)
    """The same of steps of all heads."""
    titles_of_ffn: Words = field(default_factory=dict)
    titles_outside: Words = field(default_factory=dict)
    """The same of steps outside of layers, with whole addresses."""
    backward_titles: Words = field(default_factory=dict)
    """What a title names behind `Gradient at`: the title of the forward step, if it differs."""
    inside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By a pattern of the end of a section's address, what else is worked in it, at its place."""
    goals: Words = field(default_factory=dict)
    """What a step does, with a pattern of the end of the address of what it computes."""
    phrases: Words = field(default_factory=dict)
    """The same where something of the step is given."""
    backward: Words = field(default_factory=dict)
    """What a step of the backward pass does, with such a pattern."""
    captions: Words = field(default_factory=dict)
    """Words before lines, with such patterns of the values that they are of."""
    reasons: Mapping[str, Callable[[Judge], bool]] = field(default_factory=dict)
    """Sentences that are true under a condition."""
    claims: Mapping[str, Check] = field(default_factory=dict)
    """Forms of sentences, each with its check."""
    learned: Words = field(default_factory=dict)
    """By a pattern of the end of a step's address, the parameters that it learns, with spaces."""
    symbols: Words = field(default_factory=dict)
    """By the symbol of a parameter, the end of its address, if it says something else."""


@cache
def judged_parts() -> tuple[JudgedPart, ...]:
    """What the folders of `tests/parts` declare, in the order of their names."""
    return tuple(part for _, part in named_parts())


@cache
def named_parts() -> tuple[tuple[str, JudgedPart], ...]:
    """The same with the names of the folders."""
    folders = sorted(each.name for each in iter_modules(tests.parts.__path__) if each.ispkg)
    modules = {name: f"tests.parts.{name}.judged" for name in folders}
    found = ((n, import_module(module).PART) for n, module in modules.items() if find_spec(module))
    return tuple(found)


@cache
def words_of_parts(table: str) -> dict[str, str]:
    """One of the tables, of all parts together."""
    return {key: value for part in judged_parts() for key, value in getattr(part, table).items()}
