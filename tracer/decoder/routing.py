"""Networks that read only the rows of some tokens: of which, and what depends on the choice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tracer.decoder.roles import Routing
from tracer.decoder.value import Value
from tracer.names import with_article


def routing_of(values: Iterable[Value]) -> Routing:
    """The networks of each token of a pass, by the address of the logits that they depend on."""
    found: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for value in values:
        network = value.place.network
        if network and network.number and network.choice and value.role is network.choice.rows:
            logits = replace(value.place, network=None).address(network.choice.logits)
            for position in value.axes[0].positions or ():
                found[logits][position].append(network.number - 1)
    return {
        address: tuple(tuple(networks) for _, networks in sorted(of_tokens.items()))
        for address, of_tokens in found.items()
    }


def columns_of_largest(rows: Iterable[Sequence[Any]], top: int) -> tuple[tuple[int, ...], ...]:
    """Return the columns of the `top` largest numbers of each row; of equal ones, the first."""
    return tuple(
        tuple(sorted(sorted(range(len(row)), key=lambda column: -row[column])[:top]))
        for row in rows
    )


def has_chosen_rows(value: Value) -> bool:
    """Whether a value has only the rows of the tokens that go to its network."""
    return bool(value.axes) and value.axes[0].positions is not None


def refusal(value: Value, verb: str) -> str | None:
    """Why other rows cannot take the place of a value's; None if every token has one in it."""
    network = value.place.network
    if not (network and network.choice and has_chosen_rows(value)):
        return None
    instead = f"{verb} {network.choice.weights.name} or output"
    return f"the tokens of {with_article(network.noun)} may differ; {instead}"
