"""The steps of a pass as a reader meets them, and how the command line names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from tracer.decoder.roles import Place
from tracer.decoder.tape import Record
from tracer.errors import Problem, TracerError
from tracer.lesson.steps.declared import KINDS, OPERANDS, kind_of
from tracer.lesson.steps.inputs import ENCODER_STEP
from tracer.lesson.steps.kind import Step, StepKind
from tracer.lesson.wiring import in_order
from tracer.names import closest
from tracer.scenario.model import Scenario

SUB_LAYERS = ("attention", "cross_attention", "ffn")
ENCODER = ENCODER_STEP.name
"""The group of all encoder steps, and the prefix of the encoder's addresses."""
_NAMES = [name for kind in KINDS for name in (kind.name, *kind.groups)]
"""The names of steps and of groups of them."""


def steps(records: tuple[Record, ...]) -> list[Step]:
    """Group the tape's records to steps, each after the steps that it reads, numbered from 1.

    Parameters and the mask belong to the step that uses them. The other examples of a batch have
    no steps.
    """
    own = _grouped(record for record in in_order(records) if not record.output.place.example)
    return [Step(number, *step) for number, step in enumerate(own, 1)]


def steps_of_batch(records: tuple[Record, ...]) -> list[Step]:
    """Return the same steps, and those of the other examples before them, without numbers."""
    in_batch = sorted(
        in_order(records),
        key=lambda r: (r.output.place.phase != "forward", not r.output.place.example),
    )
    numbers = count(1)
    return [
        Step(0 if place.example else next(numbers), kind, place, found)
        for kind, place, found in _grouped(in_batch)
    ]


def _grouped(records: Iterable[Record]) -> Iterator[tuple[StepKind, Place, tuple[Record, ...]]]:
    together: dict[tuple[StepKind, Place], list[Record]] = {}
    for record in records:
        role, place = record.output.role, record.output.place
        if role not in OPERANDS:
            kind = kind_of(role)
            where = Place(phase=place.phase) if kind.everywhere else place
            if place.block and place.token:
                where = replace(place, token=None)
            together.setdefault((kind, where), []).append(record)
    return ((kind, place, tuple(found)) for (kind, place), found in together.items())


def select(
    every: Sequence[Step],
    name: str | None,
    layer: int | None,
    head: int | None,
    scenario: Scenario | None = None,
) -> list[Step]:
    """The steps of a kind, a group or an address, in one layer and head where these are given.

    Layers and heads are the decoder's, unless the name begins with `encoder`. With the `scenario`,
    the name can be that of another program for some of its values.

    Raises:
        TracerError: there is no such step, layer or head, or the step is not in the layer or head.
    """
    addresses = [] if name is None else _addresses(name, scenario)
    asked = {what: of for what, of in (("layer", layer), ("head", head)) if of is not None}
    if asked:
        encodes = bool(addresses) and _first(addresses[0]) == ENCODER
        every = [step for step in every if step.place.encoder == encodes]
    chosen = list(every)
    for what, wanted in asked.items():
        there = {getattr(step.place, what) for step in chosen}
        if wanted not in there:
            most = max((number for number in there if number), default=0)
            message = f"no {what} {wanted}, the last is {most}" if most else f"there is no {what}"
            raise TracerError(Problem(message))
        chosen = [step for step in chosen if getattr(step.place, what) in (None, wanted)]
    if name is None:
        return chosen
    if found := _named(chosen, addresses):
        for what in asked:
            if not any(getattr(step.place, what) for step in found):
                raise TracerError(Problem(f"the step {name!r} does not belong to a {what}"))
        return found
    if elsewhere := _named(every, addresses):
        places = dict.fromkeys(step.place.prefix.rstrip(".") for step in elsewhere)
        where = f"{next(iter(places))}{' and others' * (len(places) > 1)}"
        message = f"the step {name!r} is not in this layer or head, only in {where}"
        raise TracerError(Problem(message))
    raise TracerError(Problem(_not_there(every, name, scenario)))


def _addresses(name: str, scenario: Scenario | None) -> list[str]:
    """Return the addresses of another program's name; another name as it is."""
    if scenario is None or name in (*SUB_LAYERS, *_NAMES):
        return [name]
    from tracer.scenario.other_names import names_of, own_addresses

    return own_addresses(name, names_of(scenario))


def names(every: Sequence[Step]) -> list[str]:
    """Return the names of these steps and of their groups."""
    return list(dict.fromkeys(name for step in every for name in _groups(step)))


def _not_there(every: Sequence[Step], name: str, scenario: Scenario | None) -> str:
    """Return the message for a step that does not exist, with a hint."""
    for kind in KINDS:
        if kind.name == name and kind.only_with:
            return f"the step {name!r} is shown with {kind.only_with}"
    known = (*_NAMES, *SUB_LAYERS)
    if name in known:
        return f"this scenario has no step {name!r}; decoder-trace steps lists those it has"
    from tracer.scenario.other_names import names_of

    addresses = [record.output.address for step in every for record in step.records]
    others = names_of(scenario) if scenario else ()
    return f"no step {name!r}{closest(name, [*known, *addresses, *others])}"


def of_encoder(chosen: Sequence[Step]) -> bool:
    """Return whether all steps belong to a computed encoder."""
    of_it = [step.place.encoder or step.kind is ENCODER_STEP for step in chosen]
    return all(of_it) and any(step.place.encoder for step in chosen)


def _named(every: Sequence[Step], names: Sequence[str]) -> list[Step]:
    """The steps of a kind or a group; of addresses, what of each step lies under one of them.

    A place may stand before a kind: encoder.softmax, layer2.attention.
    """
    if found := [step for step in every if names[0] in _groups(step)]:
        return found
    parts = [
        replace(step, records=records)
        for step in every
        if (records := tuple(r for r in step.records if any(_lies_under(r, n) for n in names)))
    ]
    place, _, last = names[0].rpartition(".")
    there = [s for s in every if place and _is_part(place, s.place.prefix.rstrip("."))]
    return parts or [step for step in there if last in _groups(step)]


def _lies_under(record: Record, name: str) -> bool:
    """Return whether a name is the address of a record or its parameters, or a prefix of one."""
    own = [value.address for value in record.inputs if value.role in OPERANDS]
    return any(_is_part(name, address) for address in (record.output.address, *own))


def _is_part(name: str, address: str) -> bool:
    """Return whether an address contains a name; a layer is by default the decoder's."""
    whole = _first(name).startswith("layer") and _first(address) == ENCODER
    return not whole and f".{name}." in f".{address}."


def _first(address: str) -> str:
    return address.split(".")[0]


def _groups(step: Step) -> tuple[str, ...]:
    sub_layer = (step.place.sub_layer,) if step.kind.inner and step.place.sub_layer else ()
    tower = (ENCODER,) if step.place.encoder else ()
    return (step.kind.name, *step.kind.groups, *sub_layer, *tower)
