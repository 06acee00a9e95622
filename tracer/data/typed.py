"""The places where the numbers of a pass are typed in its scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Given, Pinned
from tracer.decoder.value import Entry, Index, Value
from tracer.errors import Problem, TracerError
from tracer.lesson.entries import index_of
from tracer.lesson.texts.lookup import suggestion
from tracer.scenario.edits import typed_number
from tracer.scenario.nodes import Nodes
from tracer.scenario.parts import numbers_of, with_own_norms
from tracer.scenario.reader import YamlPath

KEYS: Mapping[roles.Role, YamlPath] = {
    roles.POSITION: ("positions", "table"),
    roles.ENCODER_OUTPUT: ("vectors",),
    roles.MASK: ("mask",),
    roles.TOKEN_IDS: ("token_ids",),
    roles.QUERY: ("Q",),
    roles.KEY: ("K",),
    roles.VALUE: ("V",),
}
"""The keys of given values that are no parameters."""


@dataclass(frozen=True)
class TypedNumbers:
    """The typed numbers of a pass, by address and index."""

    trace: Trace
    nodes: Nodes

    @cached_property
    def parameters(self) -> dict[str, YamlPath]:
        """The path of each parameter and of other typed rows, by address."""
        return {
            each.address: each.place for each in numbers_of(with_own_norms(self.trace.scenario))
        }

    def path(self, entry: Entry) -> YamlPath:
        """Return the path to a number in the scenario.

        Raises:
            TracerError: the number is computed.
        """
        value, at = entry
        producer = self.trace.producers[value]
        if isinstance(producer.operation, Pinned):
            return ("given", value.address, *at)
        path = self._path(value, at) if isinstance(producer.operation, Given) else None
        if path is None:
            message = "computed, not typed; edit a number that it is computed from"
            raise TracerError(Problem(message, address=value.address))
        return path

    def source(self, value: Value, at: Index) -> YamlPath | None:
        """Return where a given number comes from, which may also be the source of others."""
        scenario, producer = self.trace.scenario, self.trace.producers[value]
        if isinstance(producer.operation, Pinned):
            return ("given", value.address, *at)
        if value.role is roles.W_U and scenario.is_tied:
            return ("embeddings", (scenario.vocabulary or ())[at[1]], at[0])
        return self._path(value, at)

    def _path(self, value: Value, at: Index) -> YamlPath | None:
        scenario = self.trace.scenario
        in_encoder = value.place.encoder
        tower: YamlPath = ("encoder",) if in_encoder else ()
        if value.role is roles.EMBEDDING:
            of = scenario.encoder if in_encoder and scenario.encoder else scenario
            if in_encoder and scenario.shares_embeddings:
                tower = ()
            by_word = isinstance(of.embeddings, Mapping)
            return (*tower, "embeddings", of.tokens[at[0]] if by_word else at[0], at[1])
        if value.address in self.parameters:
            return (*self._of_layer(self.parameters[value.address]), *at)
        if value.role is roles.ENCODER_OUTPUT:
            return ("encoder", "vectors", *at)
        if value.role is roles.MASK and scenario.tokens[at[1]] == scenario.padding:
            return None  # hidden, whatever is typed
        if value.role in KEYS:
            return (*value.place.yaml_path, *KEYS[value.role], *at)
        return None

    def _of_layer(self, path: YamlPath) -> YamlPath:
        """Return the path of a norm's parameter, which may be typed for the whole layer."""
        if len(path) > 3 and path[-2] in ("norm", "norm_after") and not self.nodes.at(path[:-1]):
            return (*path[:-3], *path[-2:])
        return path

    def entry(self, name: str, labels: tuple[str | int, ...]) -> Entry:
        """Return the number at an address; row and column by label, or by number from 1.

        Raises:
            TracerError: there is no such number.
        """
        value = self.trace.values.get(name)
        if value is None or value.role.words:
            message = f"no such value{suggestion(self.trace, name)}"
            raise TracerError(Problem(message, address=name))
        if len(labels) != len(value.axes):
            expected = " and ".join(axis.name for axis in value.axes) or "neither row nor column"
            raise TracerError(Problem(f"expected {expected}", address=name))
        axes = zip(value.axes, labels, strict=True)
        return Entry(value, tuple(_index(axis, label, name) for axis, label in axes))

    def typed(self) -> Iterator[str]:
        """Yield the address of each value whose first number is typed."""
        for record in self.trace.records:
            value = record.output
            given = isinstance(record.operation, Given | Pinned) and not value.role.words
            if given and 0 not in value.shape and self._is_typed(value):
                yield value.address

    def _is_typed(self, value: Value) -> bool:
        try:
            typed_number(self.nodes, self.path(Entry(value, (0,) * len(value.axes))))
        except TracerError:
            return False
        return True


def _index(axis: Axis, label: str | int, address: str) -> int:
    """Return the index of a label; an integer is a number from 1, whatever the labels are."""
    if isinstance(label, str):
        return index_of(axis, label, address)
    if not 1 <= label <= len(axis.labels):
        message = f"no {axis.name} {label}, expected 1 to {len(axis.labels)}"
        raise TracerError(Problem(message, address=address))
    return label - 1
