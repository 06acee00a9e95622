"""Sizes, parameters, multiply-adds and bytes of a decoder, from its shapes alone.

Equal layers are computed once, and so are the heads of a layer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import prod

from tracer.decoder import roles
from tracer.decoder.cost import degree, multiply_adds
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.operations import Dot, Keep
from tracer.decoder.part import all_norms
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.arithmetic import SHAPES
from tracer.formula.expression import Brackets, Expression, Symbol
from tracer.lesson.steps.declared import OPERANDS
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.part import cached_by_parts, is_cached_for_part
from tracer.lesson.texts.picture import NAMES
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.sentences import AT_THE_END
from tracer.lesson.texts.symbols import of_encoder, symbols, symbols_of_the_end
from tracer.lesson.wiring import in_order
from tracer.scenario.model import Scenario
from tracer.scenario.parts import frozen_weights, learned, repeated
from tracer.scenario.shape_only import ScenarioOutline, outline

NUMBER_TYPES = {"float32": 4, "float16": 2}
"""Bytes of a number: what weights and caches are mostly kept in."""

LAYER_PARTS = ("attention", "cross-attention", "FFN", "norms")
OTHER_PARTS = ("relative positions", "encoder", "embedding norm", "final norm", "unembedding")


@dataclass(frozen=True)
class SurveyedMatrix:
    """A matrix of the decoder, once for all heads, networks and layers that have one like it."""

    records: tuple[Record, ...]
    """The record of each head or network, or the only one."""
    step: str
    symbol: Expression
    layers: tuple[int, ...]
    of_heads: int
    """The heads or networks that have such a matrix of some shape."""
    counted: int
    """The records whose numbers count as parameters; a tied W_U counts only as the embeddings."""

    @property
    def value(self) -> Value:
        """The value of the first head and layer."""
        return self.records[0].output

    @property
    def role(self) -> roles.Role:
        """The role of the value."""
        return self.value.role

    @property
    def place(self) -> roles.Place:
        """The place of the first value."""
        return replace(self.value.place, layer=self.layers[0] if self.layers else None)

    @property
    def heads(self) -> tuple[int, ...]:
        """The heads that have it; none outside of heads."""
        return tuple(head for each in self.records if (head := each.output.place.head))

    @property
    def networks(self) -> tuple[roles.Network, ...]:
        """The networks with a number that have it; none outside of them."""
        found = (each.output.place.network for each in self.records)
        return tuple(network for network in found if network and network.number)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape with a batch of one: [1, heads, tokens, numbers]; for a parameter its own."""
        beside = (len(self.records),) if self.heads or self.networks else ()
        shape = (*beside, *self.value.shape)
        of_the_model = self.role.parameter or self.role.of_parameters
        return shape if of_the_model else (1, *shape)

    @property
    def times(self) -> int:
        """The number of layers with it; 1 outside of layers."""
        return len(self.layers) or 1

    @property
    def parameters(self) -> int:
        """Learned and frozen numbers in one layer."""
        return prod(self.value.shape) * self.counted

    @property
    def multiply_adds(self) -> int:
        """The multiply-adds in one layer."""
        return multiply_adds(self.records[0]) * len(self.records)

    @property
    def part(self) -> str:
        """The part of the decoder that it belongs to."""
        place = self.value.place
        if place.encoder:
            return "encoder"
        if place.tower_norm:
            return place.tower_norm.replace("_", " ")
        if place.sub_layer is None:
            return "unembedding" if self.step in AT_THE_END else "relative positions"
        if any(self.role in (norm.gain, norm.shift) for norm in all_norms()):
            return "norms"
        return NAMES[place.sub_layer]


@dataclass(frozen=True)
class Survey:
    """The matrices of a decoder in the order of computation, and what they come to."""

    trace: Trace
    outline: ScenarioOutline

    @property
    def length(self) -> int:
        """The number of tokens."""
        return len(self.trace.tokens)

    @cached_property
    def steps(self) -> list[Step]:
        """The steps with their numbers in the whole pass, where each layer has its own."""
        return self._numbered[0]

    def layer_steps(self, place: roles.Place) -> dict[int, range]:
        """Return the layers that the one at a place represents, each with its steps' numbers."""
        return {layer: self._numbered[1][place.encoder, layer] for layer in self.layers(place)}

    @cached_property
    def _numbered(self) -> tuple[list[Step], dict[tuple[bool, int], range]]:
        """The numbered steps, and the numbers of each layer of a tower."""
        found: list[Step] = []
        numbers: dict[tuple[bool, int], range] = {}
        begin = 1
        every = steps(self.trace.records)
        for (encodes, _), together in groupby(every, _tower_and_whether_in_a_layer):
            groups = [list(own) for _, own in groupby(together, lambda step: step.place.layer)]
            layers_of = [self.layers(own[0].place) or (0,) for own in groups]
            order = sorted((layer, i) for i, layers in enumerate(layers_of) for layer in layers)
            for layer, i in order:
                if layer == layers_of[i][0]:
                    found += [replace(step, number=n) for n, step in enumerate(groups[i], begin)]
                numbers[encodes, layer] = range(begin, begin + len(groups[i]))
                begin += len(groups[i])
        return found, numbers

    def layers(self, place: roles.Place) -> tuple[int, ...]:
        """Return the layers that one of the trace represents; none outside of layers."""
        return self.stands_for(place)[place.layer - 1] if place.layer else ()

    def stands_for(self, place: roles.Place) -> tuple[tuple[int, ...], ...]:
        """Return the layers that each layer of a tower represents."""
        return self.outline.encoder_layers if place.encoder else self.outline.layers

    @cached_property
    def names(self) -> dict[str, Expression]:
        """The symbol of each value by its address, one for all heads."""
        return {**symbols(self.trace.records, apart=False), **dict(self._concatenated())}

    @cached_property
    def names_of_the_end(self) -> dict[str, Expression]:
        """The symbols behind the layers, if one of these stands for several."""
        layers = self.outline.layers
        several = any(len(each) > 1 for each in layers)
        number = sum(map(len, layers)) if several else 0
        return symbols_of_the_end(self.trace.records, self.names, number)

    @cached_property
    def matrices(self) -> tuple[SurveyedMatrix, ...]:
        """Every matrix, those of a step's parameters before what it gives."""
        names = self.names
        counted = {*learned(self.trace.scenario), *frozen_weights(self.trace.scenario)}
        found: dict[object, dict[object, list[Record]]] = defaultdict(lambda: defaultdict(list))
        for record in in_order(self.trace.records):
            value = record.output
            place = replace(value.place, head=None)
            if place.network and place.network.number:
                place = replace(place, network=None)
            found[place, value.role][value.shape, multiply_adds(record)].append(record)
        return tuple(
            SurveyedMatrix(
                tuple(alike),
                self._step_of.get(value.address, ""),
                names[value.address],
                self.layers(value.place),
                sum(map(len, of_all_heads.values())),
                sum(record.output.address in counted for record in alike),
            )
            for of_all_heads in found.values()
            for alike in of_all_heads.values()
            for value in [alike[0].output]
        )

    def _concatenated(self) -> Iterator[tuple[str, Expression]]:
        """Return the concatenated heads: [O¹ O²], or [O¹ … O¹²]."""
        for address, symbol in symbols(self.trace.records).items():
            match symbol:
                case Brackets((first, _, _, *_, last)):
                    yield address, Brackets((first, Symbol("…"), last))
                case Brackets():
                    yield address, symbol

    @cached_property
    def _step_of(self) -> dict[str, str]:
        """Return the name of each address's step; a parameter belongs to the step that uses it."""
        found: dict[str, str] = {}
        for step in self.steps:
            for record in step.records:
                for value in record.inputs:
                    if value.role in OPERANDS:
                        found.setdefault(value.address, step.kind.name)
                found[record.output.address] = step.kind.name
        return found

    @cached_property
    def tables(self) -> dict[str, tuple[int, ...]]:
        """The learned tables of which a pass reads only some rows: their shapes."""
        places = (roles.Place(), roles.Place(encoder=True))
        addresses = [place.address(role) for place in places for role in roles.TABLES.values()]
        shapes = learned(self.trace.scenario)
        return {each: shapes[each] for each in addresses if each in shapes}

    @cached_property
    def parts(self) -> dict[str, tuple[int, int]]:
        """Parameters and multiply-adds of each part, of all layers together."""
        found = {table_name(table): (prod(shape), 0) for table, shape in self.tables.items()}
        for part in (*LAYER_PARTS, *OTHER_PARTS):
            own = [each for each in self.matrices if each.part == part]
            numbers = sum(each.parameters * each.times for each in own)
            cost = sum(each.multiply_adds * each.times for each in own)
            if numbers or cost:
                found[part] = (numbers, cost)
        return found

    @property
    def parameters(self) -> int:
        """The number of parameters; a shared one counts once."""
        return sum(learned for learned, _ in self.parts.values())

    @property
    def frozen(self) -> int:
        """The number of parameters that training leaves as they are."""
        every = (each for each in self.matrices if each.role.frozen)
        return sum(each.parameters * each.times for each in every)

    @property
    def multiply_adds(self) -> int:
        """The multiply-adds of a pass over all tokens."""
        return sum(cost for _, cost in self.parts.values())

    @cached_property
    def active(self) -> int:
        """The most parameters that act on one token: of the networks, those that it goes to."""
        stages: dict[tuple[bool, int], list[SurveyedMatrix]] = defaultdict(list)
        for each in self.matrices:
            if each.value.place.sub_layer == "ffn":
                stages[each.value.place.encoder, each.layers[0]].append(each)
        unused = (unused_parameters(stage) * stage[0].times for stage in stages.values())
        return self.parameters - sum(unused)

    @cached_property
    def by_degree(self) -> Mapping[int, int]:
        """The multiply-adds by the power of the number of tokens with which they grow."""
        found = {0: 0, 1: 0, 2: 0}
        for each in self.matrices:
            found[degree(each.records[0])] += each.multiply_adds * each.times
        found[0] -= self.not_for_first
        found[1] += self.not_for_first
        return found

    @cached_property
    def not_for_first(self) -> int:
        """Multiply-adds that the first token does not take, as there is no state to read yet."""
        found = {1: 0, 2: 0}
        for each in self.matrices:
            if each.place.token in found and not each.place.encoder:
                found[each.place.token] += each.multiply_adds * each.times
        return max(0, found[2] - found[1])

    @property
    def cached(self) -> tuple[int, int]:
        """Numbers that a cache keeps: for each token, and for all of the encoder's tokens."""
        own = crossed = 0
        for each in self.matrices:
            in_layer = self._caches_for_parts(each.place)
            kept = cached_by_parts() if in_layer else (roles.KEY, roles.VALUE)
            place = each.place
            if each.role in kept and not (place.encoder or place.token or place.block):
                rows, columns = each.value.shape
                numbers = columns * len(each.records) * each.times
                if place.sub_layer == "cross_attention":
                    crossed += rows * numbers
                else:
                    own += numbers
        return own, crossed

    @cached_property
    def states(self) -> int:
        """Numbers that a cache keeps of all tokens together: what heads have after the last one."""
        last = (m for m in self.matrices if is_cached_for_part(m.value))
        own = (m for m in last if m.place.token == self.length)
        return sum(prod(m.value.shape) * len(m.records) * m.times for m in own)

    def replaced(self, *, by_states: bool) -> int:
        """Numbers of the keys and values, for each token, that parts cache other values for."""
        found = 0
        states = {each.place.layer for each in self.matrices if each.place.token}
        for each in self.matrices:
            operation, width = each.records[0].operation, 0
            if each.role is roles.VALUE or (each.role is roles.KEY and by_states):
                width = each.value.shape[1]
            elif isinstance(operation, Dot) and not by_states:
                width = each.records[0].inputs[1].shape[1]
            is_asked = (each.place.layer in states) == by_states
            if is_asked and self._caches_for_parts(each.place) and not each.place.block:
                records = [
                    r
                    for r in each.records
                    if self._repeated.isdisjoint(v.address for v in r.inputs)
                ]
                found += width * len(records) * each.times
        return found

    @cached_property
    def _repeated(self) -> frozenset[str]:
        return repeated(self.trace.scenario)

    @cached_property
    def _layers_of_parts(self) -> set[int | None]:
        return {each.place.layer for each in self.matrices if is_cached_for_part(each.value)}

    def _caches_for_parts(self, place: roles.Place) -> bool:
        """Whether a part keeps other values in a cache than the keys and values of an attention."""
        of_decoder = place.sub_layer == "attention" and not place.encoder
        return of_decoder and place.layer in self._layers_of_parts

    @property
    def cache(self) -> int:
        """Numbers that a cache keeps of the whole pass."""
        own, crossed = self.cached
        return self.length * own + crossed + self.states


def survey(name: str, scenario: Scenario, length: int | None = None) -> Survey:
    """Look at a decoder that reads its tokens, or as many as are asked for.

    Raises:
        TracerError: there are fewer positions than tokens, or what is pinned does not fit.
    """
    outlined = outline(scenario, length)
    return Survey(trace(name, outlined.scenario, PassOptions(arithmetic=SHAPES)), outlined)


def unused_parameters(ffn: Sequence[SurveyedMatrix]) -> int:
    """The fewest parameters of a layer's networks that do not act on a token."""
    of_network = Counter[roles.Network]()
    for each in ffn:
        for network in each.networks:
            of_network[network] += each.parameters // len(each.records)
    operations = [record.operation for each in ffn for record in each.records]
    top = next((len(o.columns[0]) for o in operations if isinstance(o, Keep)), 0)
    return sum(sorted(of_network.values())[: len(of_network) - top])


def _tower_and_whether_in_a_layer(step: Step) -> tuple[bool, bool]:
    return step.place.encoder, step.place.layer is not None


def table_name(address: str) -> str:
    """The part of the decoder that a table is: `embeddings`, `encoder.positions`."""
    return address.removesuffix(".table")


def table_symbol(address: str) -> Expression:
    """W_E, W_P: the tables of embeddings and of positions."""
    symbol = Symbol("W", "E" if address.endswith(roles.EMBEDDINGS.name) else "P")
    return of_encoder(symbol) if address.startswith("encoder.") else symbol
