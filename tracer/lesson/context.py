"""A pass as the texts see it: names, printed numbers, the followed token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tracer.decoder.forward import Trace
from tracer.decoder.gather import Gather
from tracer.decoder.inputs import only_hides
from tracer.decoder.roles import MASK, Place, Role
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Expression, Number
from tracer.lesson import document as doc, entries
from tracer.lesson.wiring import sources
from tracer.names import count, distinct
from tracer.scenario.layers import Attention
from tracer.scenario.model import Scenario, Tower

MOST_COLUMNS, COLUMNS_SHOWN = 24, 8
"""Longer rows of a trained model are cut: the longest whole row, the columns of a cut one."""


@dataclass(frozen=True)
class LessonContext:
    """A trace, the token that is followed (counted from 0), and the symbol of each value.

    Tokens and layers are the decoder's, unless it is `in_encoder`.
    """

    trace: Trace
    token: int
    symbols: Mapping[str, Expression]
    encoder_token: int | None = None
    """The token that is followed in the encoder; None for its last."""
    in_encoder: bool = False
    alone: bool = False
    """Whether matrices have only the followed token's row."""
    chosen_columns: Mapping[Value, Sequence[int]] = field(default_factory=dict)
    """The columns to show of some values, in place of their largest."""
    chosen_rows: Mapping[Value, Sequence[int]] = field(default_factory=dict)
    """The rows to show of some values, in place of all."""

    @cached_property
    def sources(self) -> Mapping[Value, Value]:
        """For each value inside a sub-layer, the vectors that its first operation reads."""
        return sources(self.trace.records)

    def at(self, place: Place) -> LessonContext:
        """Return the context of the tower at a place."""
        return self if place.encoder == self.in_encoder else self.of_encoder

    @cached_property
    def of_encoder(self) -> LessonContext:
        """Return the context of the encoder."""
        encoder = self.trace.scenario.encoder
        assert encoder is not None
        last = len(encoder.tokens) - 1
        token = last if self.encoder_token is None else self.encoder_token
        return replace(self, token=token, in_encoder=True)

    @property
    def fills_in(self) -> bool:
        """Whether the model predicts the words that masks hide, not the next ones."""
        return self.trace.scenario.fills_in

    @property
    def after(self) -> str:
        """Where the model predicts a word: `after` a token, or `for` it."""
        return after(self.trace.scenario)

    @property
    def after_it(self) -> doc.Sentence:
        """`After “cat”`; of a masked word `For “[MASK]”`."""
        return (f"{self.after.capitalize()} ", self.name)

    @property
    def model(self) -> str:
        """`decoder`; a model without masked scores is none."""
        return "model" if self.fills_in else "decoder"

    @property
    def tower(self) -> Tower:
        """The decoder, or the encoder."""
        scenario = self.trace.scenario
        return scenario.encoder if self.in_encoder and scenario.encoder else scenario

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tokens, numbered where a text occurs twice."""
        return distinct(self.tower.tokens)

    @property
    def name(self) -> doc.Name:
        """The token that is followed."""
        return doc.Name(self.names[self.token])

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.tower.layers)

    @cached_property
    def heads(self) -> int:
        """The most heads that an attention has."""
        layers = self.tower.layers
        parts = [part for layer in layers for part in (layer.attention, layer.cross_attention)]
        return max((len(part.heads) if part else 0 for part in parts), default=0)

    def attention_at(self, place: Place) -> Attention | None:
        """The attention at a place, as the scenario has it."""
        layer = self.tower.layers[(place.layer or 1) - 1]
        return layer.cross_attention if place.sub_layer == "cross_attention" else layer.attention

    def is_typed_at(self, place: Place) -> bool:
        """Return whether queries, keys and values of the attention at a place are typed."""
        part = self.attention_at(place)
        return part is not None and part.heads[0].Q is not None

    def heads_of(self, place: Place) -> int:
        """Return the number of heads of the attention at a place."""
        part = self.attention_at(place)
        return len(part.heads) if part else 0

    @property
    def visible_tokens(self) -> str:
        """The other tokens that a token may attend to, in words; empty if there are none.

        Empty, too, where the mask adds numbers: a token may then be as good as hidden.
        """
        return self._visible(self.masks)

    def visible_tokens_at(self, place: Place) -> str:
        """The same of the self-attention at a place alone."""
        return self._visible([self.mask_at(place)])

    def _visible(self, masks: Sequence[Value | None]) -> str:
        n = len(self.names)
        if n < 2 or not masks or not all(map(only_hides, masks)):
            return ""
        every = [np.isfinite(mask.array) if mask else np.full((n, n), True) for mask in masks]
        seen = np.logical_or.reduce(every)
        if np.triu(seen, 1).any():
            return "the other tokens"
        return "the tokens before it" if np.tril(seen, -1).any() else ""

    @property
    def attends(self) -> bool:
        """Whether a layer of the tower has attention."""
        return any(layer.attention or layer.cross_attention for layer in self.tower.layers)

    @property
    def gathers(self) -> bool:
        """Whether tokens can attend to others, or to the encoder's."""
        crosses = self.attends_to_the_encoder and not self.in_encoder
        return crosses or bool(self.visible_tokens)

    @property
    def attends_to_the_encoder(self) -> bool:
        """Whether a layer of the decoder has cross-attention."""
        return any(layer.cross_attention for layer in self.trace.scenario.layers)

    @property
    def crosses(self) -> bool:
        """Whether there is an encoder to attend to."""
        return self.trace.scenario.encoder is not None and not self.in_encoder

    @property
    def has_two_towers(self) -> bool:
        """Whether there are an encoder's layers beside the decoder's."""
        return self.trace.scenario.encodes

    @property
    def padding(self) -> str | None:
        """The padding token, if one of the tokens is it."""
        padding = None if self.in_encoder else self.trace.scenario.padding
        return padding if padding in self.tower.tokens else None

    @property
    def is_padding(self) -> bool:
        """Whether the followed token is padding."""
        return self.tower.tokens[self.token] == self.padding

    @property
    def masks(self) -> list[Value | None]:
        """The mask of each layer with self-attention, None where it has none."""
        layers = [n for n, layer in enumerate(self.tower.layers, 1) if layer.attention]
        return [self.mask_at(Place(layer, "attention")) for layer in layers]

    def mask_at(self, place: Place) -> Value | None:
        """The mask of the self-attention at a place, if there is one: its own, or the tower's.

        The first layer with a mask of its own records it for all that have an equal one.
        """
        part = self.attention_at(place)
        own = part.mask if part else None
        if own is None:
            return self.value(Place(encoder=self.in_encoder), MASK)
        masks = [layer.attention and layer.attention.mask for layer in self.tower.layers]
        return self.value(Place(masks.index(own) + 1, "attention"), MASK)

    def value(self, place: Place, role: Role) -> Value | None:
        """The value of a role at a place, if there is one."""
        return self.trace.values.get(place.address(role))

    def operation(self, place: Place, role: Role) -> object:
        """The operation that gives the value of a role at a place, if there is one."""
        value = self.value(place, role)
        return value and self.trace.producers[value].operation

    def row(self, value: Value) -> int:
        """The followed token's row in a value."""
        return value.row(self.token, len(self.names))

    def follows(self, value: Value) -> bool:
        """Whether the followed token has a row in a value with a row per token."""
        return not value.per_token or value.has_row(self.token, len(self.names))

    def number(self, value: Value, *index: int) -> Number:
        """Return an entry as it is printed."""
        return entries.number(self.trace.pencil, value, index)

    def keeps_digits(self, record: Record) -> bool:
        """Return whether moved numbers print the same digits as before."""
        operation, moved = record.operation, record.output
        if not self.trace.pencil.rounds_copies or not isinstance(operation, Gather):
            return True
        shapes = [value.shape for value in record.inputs]
        for at in np.ndindex(moved.shape):
            if origin := operation.origin(at, moved.shape, shapes):
                operand, place = origin
                before = self.number(record.inputs[operand], *place)
                if str(self.number(moved, *at).value) != str(before.value):
                    return False
        return True

    def passed_on(self, record: Record) -> str:
        """Return how a value is copied, behind `passed on`; another sentence names new digits."""
        return " unchanged" * self.keeps_digits(record)

    def columns(self, value: Value) -> Sequence[int]:
        """The columns to show: all, or of too many the followed token's largest.

        Of numbers for words, these are the largest, in that order; of others the largest in size.
        """
        if value in self.chosen_columns:
            return self.chosen_columns[value]
        width = value.shape[-1] if value.axes else 0
        if not self.trace.scenario.on_demand or width <= MOST_COLUMNS:
            return range(width)
        if not value.per_token or len(value.axes) < 2 or not self.follows(value):
            return range(width) if value.per_token else range(COLUMNS_SHOWN)
        row = value.read((self.row(value),))
        of_words = value.axes[1].labels is self.trace.scenario.vocabulary
        order = np.argsort(-row if of_words else -abs(row), kind="stable")[:COLUMNS_SHOWN]
        return [int(column) for column in (order if of_words else sorted(order))]

    def rows(self, value: Value) -> Sequence[int]:
        """The rows to show: all, or of too many the followed token's."""
        if self.alone and value.per_token and self.follows(value):
            return [self.row(value)]
        if value in self.chosen_rows:
            return self.chosen_rows[value]
        if not self.trace.scenario.on_demand or value.shape[0] <= MOST_COLUMNS:
            return range(value.shape[0])
        follows = value.per_token and self.follows(value)
        return [self.row(value)] if follows else range(COLUMNS_SHOWN)

    def is_shown(self, value: Value) -> bool:
        """Whether to print a parameter; most of a trained model are too large."""
        return not self.trace.scenario.on_demand or max(value.shape, default=0) <= MOST_COLUMNS

    def matrix(self, value: Value, figure: doc.Figure | None = None) -> doc.Matrix:
        """A value of one or two axes: a bias as a row, a number for each token as a column."""
        marked = self.row(value) if value.per_token and self.follows(value) else None
        symbol = self.symbols[value.address]
        labels, *of_columns = (distinct(axis.labels) for axis in value.axes)
        if not of_columns:
            numbers = tuple(self.number(value, i) for i in range(len(labels)))
            if value.per_token:
                return doc.Matrix(symbol, labels, ("",), tuple((each,) for each in numbers), marked)
            return doc.Matrix(symbol, ("",), labels, (numbers,))
        rows, columns = self.rows(value), self.columns(value)
        return doc.Matrix(
            symbol,
            tuple(labels[i] for i in rows),
            tuple(of_columns[0][j] for j in columns),
            entries.rows(self.trace.pencil, value, rows, columns),
            None if marked is None else rows.index(marked),
            figure,
        )


def after(scenario: Scenario) -> str:
    """A next word is predicted `after` a token; the word that a mask hides, `for` it."""
    return "for" if scenario.fills_in else "after"


def listed(names: Sequence[str], last: str = "and") -> doc.Sentence:
    """“a”, “b” and “c”, with `last` before the last of them."""
    return joined([(doc.Name(name),) for name in names], last)


def counted(number: int, noun: str) -> doc.Sentence:
    """`4 scores`: the number apart, as what differs between sentences of the same words."""
    return (Number.of(number), count(number, noun).removeprefix(str(number)))


def the_counted(number: int, noun: str) -> doc.Sentence:
    """`the 4 scores`, `the score`."""
    return ("the ", *counted(number, noun)) if number > 1 else (f"the {noun}",)


def joined(items: Sequence[doc.Sentence], last: str = "and") -> doc.Sentence:
    """The items with commas between them, and `last` before the last of them."""
    parts: list[doc.Inline] = []
    for i, item in enumerate(items):
        if i:
            parts.append(f" {last} " if i == len(items) - 1 else ", ")
        parts += item
    return tuple(parts)
