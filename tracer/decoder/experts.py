"""Experts: feed-forward networks of which a router chooses some for each token.

Shazeer et al. 2017; Mixtral (Jiang et al. 2024); shared experts as in DeepSeekMoE (Dai et al.
2024). n counts the tokens, k_e those that go to expert e. An expert computes only these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.elementwise import Add
from tracer.decoder.parameters import weights
from tracer.decoder.softmax import softmax
from tracer.decoder.sub_layers import feed_forward
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.formula.arithmetic import SHAPES
from tracer.scenario.layers import MixtureOfExperts

NOT_CHOSEN = Decimal("-Infinity")


def mixture_of_experts(
    tape: Tape, x: Value, parameters: MixtureOfExperts, *, shifted: bool
) -> Value:
    """Σ w_e FFN_e(x) over each token's experts, plus the shared expert: x (n, d) → (n, d).

    Each expert reads the rows of its tokens: (k_e, d) → (k_e, d).
    """
    gates, chosen = routed(tape, x, parameters, shifted=shifted)
    rows, outputs = tokens_of_experts(gates, chosen), []
    for number, (own, expert) in enumerate(zip(rows, parameters.experts, strict=True), start=1):
        with tape.at(expert=number):
            read = tape.record(roles.EXPERT_INPUT, op.Rows(own), x, gates)
            outputs.append(feed_forward(tape, read, expert))
    mix = op.MixExperts(rows)
    if parameters.shared is None:
        return tape.record(roles.MIXTURE_OUTPUT, mix, gates, *outputs)
    with tape.at(expert="shared"):
        shared = feed_forward(tape, x, parameters.shared)
    mixed = tape.record(roles.ROUTED, mix, gates, *outputs)
    return tape.record(roles.MIXTURE_OUTPUT, Add(), mixed, shared)


def routed(
    tape: Tape, x: Value, parameters: MixtureOfExperts, *, shifted: bool
) -> tuple[Value, tuple[tuple[int, ...], ...]]:
    """The weights of each token's experts, 0 for the others: x (n, d), W_r (d, m) → (n, m).

    softmax(KeepTop(x W_r)), or without `normalize` KeepTop(softmax(x W_r)). The second result has
    the columns of each token's experts.
    """
    experts = tuple(f"expert {number}" for number in range(1, len(parameters.experts) + 1))
    w_r = weights(tape, roles.ROUTER, parameters.router, x, experts, "expert")
    logits = tape.record(roles.ROUTER_LOGITS, op.MatMul(), x, w_r)
    columns = columns_of_largest(tape, logits, parameters.top)
    if parameters.normalize:
        kept = tape.record(roles.CHOSEN_LOGITS, op.Keep(columns, NOT_CHOSEN), logits)
        return softmax(tape, roles.CHOSEN_SOFTMAX, kept, shifted=shifted), columns
    shares = softmax(tape, roles.ROUTER_SOFTMAX, logits, shifted=shifted)
    return tape.record(roles.CHOSEN_PROBABILITIES, op.Keep(columns, Decimal(0)), shares), columns


def columns_of_largest(tape: Tape, logits: Value, top: int) -> tuple[tuple[int, ...], ...]:
    """The columns of the `top` largest logits of each row; of equal ones, the first.

    If `tape.routing` has other columns, those. Without numbers the tokens are spread evenly.
    """
    tokens, experts = logits.shape
    if logits.address in tape.routing:
        return tape.routing[logits.address]
    if tape.arithmetic is SHAPES:
        return tuple(
            tuple(sorted((top * token + each) % experts for each in range(top)))
            for token in range(tokens)
        )
    return tuple(
        tuple(sorted(sorted(range(experts), key=lambda column: -row[column])[:top]))
        for row in logits.computed
    )


def tokens_of_experts(
    gates: Value, chosen: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    """The rows of x that go to each expert, by the experts that each token has chosen.

    Where given weights are for other experts than the chosen ones, these compute.
    """
    weighted = [tuple(np.flatnonzero(row)) for row in gates.numbers]
    experts = [w if {*w} - {*c} else c for w, c in zip(weighted, chosen, strict=True)]
    return tuple(
        tuple(row for row, own in enumerate(experts) if expert in own)
        for expert in range(gates.shape[1])
    )


def routing_of(values: Iterable[Value]) -> roles.Routing:
    """The experts of each token of a pass, by the address of the router's logits."""
    found: dict[str, list[list[int]]] = {}
    for value in values:
        if value.role is roles.ROUTER_LOGITS:
            found[value.address] = [[] for _ in range(value.shape[0])]
        elif value.role is roles.EXPERT_INPUT and isinstance(value.place.expert, int):
            logits = replace(value.place, expert=None).address(roles.ROUTER_LOGITS)
            for position in value.axes[0].positions or ():
                found[logits][position].append(value.place.expert - 1)
    return {address: tuple(map(tuple, experts)) for address, experts in found.items()}
