"""Experts: feed-forward networks of which a router chooses some for each token.

Shazeer et al. 2017; Mixtral (Jiang et al. 2024); shared experts as in DeepSeekMoE (Dai et al.
2024). n counts the tokens, k_e those that go to expert e. An expert computes only these.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from tracer.decoder import operations as op, roles
from tracer.decoder.elementwise import Add, Sigmoid
from tracer.decoder.parameters import bias, weights
from tracer.decoder.part import ComputeSoftmax, Part
from tracer.decoder.roles import ChoiceRoles, Network, Role, RoundingRule, SoftmaxRoles
from tracer.decoder.routing import columns_of_largest
from tracer.decoder.sub_layers import feed_forward
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.formula.arithmetic import SHAPES
from tracer.parts.experts.ffn import MixtureOfExperts
from tracer.scenario.fields import Matrix

NOT_CHOSEN = Decimal("-Infinity")

ROUTER = Role("router", parameter=True)
ROUTER_BIAS = Role("router_bias", parameter=True)
ROUTER_LOGITS = Role("router.logits")
CHOSEN_LOGITS = Role("router.chosen", hides=True)
ROUTER_MAX = Role("router.max")
ROUTER_SHIFTED = Role("router.shifted", hides=True)
ROUTER_EXP = Role("router.exp", RoundingRule.SHARED)
ROUTER_EXP_SUM = Role("router.exp_sum", RoundingRule.SHARED)
ROUTER_PROBABILITIES = Role("router.probabilities")
ROUTER_WEIGHTS = Role("router.weights")
CHOSEN_PROBABILITIES = Role("router.weights")
EXPERT_INPUT = Role("input")
ROUTED = Role("routed")
SHARED_GATE = Role("shared_gate", parameter=True)
GATE_LOGIT = Role("shared_gate.logit")
GATE_WEIGHT = Role("shared_gate.weight")
GATED_OUTPUT = Role("shared_gate.output")
MIXTURE_OUTPUT = Role("output")

CHOSEN_SOFTMAX = SoftmaxRoles(
    ROUTER_MAX, ROUTER_SHIFTED, ROUTER_EXP, ROUTER_EXP_SUM, ROUTER_WEIGHTS
)
ROUTER_SOFTMAX = SoftmaxRoles(
    ROUTER_MAX, ROUTER_SHIFTED, ROUTER_EXP, ROUTER_EXP_SUM, ROUTER_PROBABILITIES
)

CHOICE = ChoiceRoles(ROUTER_LOGITS, ROUTER_WEIGHTS, EXPERT_INPUT)
SHARED = Network("expert", "shared")


def expert(number: int) -> Network:
    """The place of an expert, counted from 1."""
    return Network("expert", "experts", number, CHOICE)


def mixture_of_experts(
    tape: Tape, x: Value, parameters: MixtureOfExperts, softmax: ComputeSoftmax
) -> Value:
    """Σ w_e FFN_e(x) over each token's experts, plus the shared expert: x (n, d) → (n, d).

    Each expert reads the rows of its tokens: (k_e, d) → (k_e, d).
    """
    gates, chosen = routed(tape, x, parameters, softmax)
    logits = tape.address(ROUTER_LOGITS)
    rows = tokens_of_experts(gates, chosen, is_decided=logits in tape.routing)
    outputs = []
    for number, (own, network) in enumerate(zip(rows, parameters.experts, strict=True), start=1):
        with tape.at(network=expert(number)):
            read = tape.record(EXPERT_INPUT, op.Rows(own), x, gates)
            outputs.append(feed_forward(tape, read, network))
    mix = op.MixExperts(rows)
    if parameters.shared is None:
        return tape.record(MIXTURE_OUTPUT, mix, gates, *outputs)
    with tape.at(network=SHARED):
        shared = feed_forward(tape, x, parameters.shared)
    if parameters.shared_gate is not None:
        shared = gated(tape, x, shared, parameters.shared_gate)
    mixed = tape.record(ROUTED, mix, gates, *outputs)
    return tape.record(MIXTURE_OUTPUT, Add(), mixed, shared)


def gated(tape: Tape, x: Value, y: Value, gate: Matrix) -> Value:
    """σ(x w) y, one number for each token times its row: x (n, d), w (d, 1), y (n, d) → (n, d)."""
    w = weights(tape, SHARED_GATE, gate, x, ("gate",), "gate")
    share = tape.record(GATE_WEIGHT, Sigmoid(), tape.record(GATE_LOGIT, op.MatMul(), x, w))
    return tape.record(GATED_OUTPUT, op.MixExperts((tuple(range(x.shape[0])),)), share, y)


def routed(
    tape: Tape, x: Value, parameters: MixtureOfExperts, softmax: ComputeSoftmax
) -> tuple[Value, tuple[tuple[int, ...], ...]]:
    """The weights of each token's experts, 0 for the others: x (n, d), W_r (d, m) → (n, m).

    softmax(KeepTop(R)), or without `normalize` KeepTop(softmax(R)), with the logits R = x W_r, or
    x W_r + b_r. The second result has the columns of each token's experts.
    """
    experts = tuple(f"expert {number}" for number in range(1, len(parameters.experts) + 1))
    w_r = weights(tape, ROUTER, parameters.router, x, experts, "expert")
    b_r = bias(tape, ROUTER_BIAS, parameters.router_bias, w_r)
    logits = tape.record(ROUTER_LOGITS, op.MatMul(), x, w_r, *b_r)
    columns = chosen_columns(tape, logits, parameters.top)
    if parameters.normalize:
        kept = tape.record(CHOSEN_LOGITS, op.Keep(columns, NOT_CHOSEN), logits)
        return softmax(CHOSEN_SOFTMAX, kept), columns
    shares = softmax(ROUTER_SOFTMAX, logits)
    return tape.record(CHOSEN_PROBABILITIES, op.Keep(columns, Decimal(0)), shares), columns


def chosen_columns(tape: Tape, logits: Value, top: int) -> tuple[tuple[int, ...], ...]:
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
    return columns_of_largest(logits.computed, top)


def tokens_of_experts(
    gates: Value, chosen: tuple[tuple[int, ...], ...], *, is_decided: bool
) -> tuple[tuple[int, ...], ...]:
    """The rows of x that go to each expert, by the experts that each token has chosen.

    Where given weights are for other experts than the chosen ones, these compute, unless it
    `is_decided`: then the weights are not looked at.
    """
    experts = chosen
    if not is_decided:
        weighted = [tuple(np.flatnonzero(row).tolist()) for row in gates.numbers]
        pairs = zip(weighted, chosen, strict=True)
        experts = tuple(other if {*other} - {*own} else own for other, own in pairs)
    return tuple(
        tuple(row for row, own in enumerate(experts) if expert in own)
        for expert in range(gates.shape[1])
    )


PART = Part(
    roles={
        roles.RMS_NORM: (
            *(ROUTER, ROUTER_BIAS, ROUTER_LOGITS, CHOSEN_LOGITS, ROUTER_MAX, ROUTER_SHIFTED),
            ROUTER_EXP,
            *(ROUTER_EXP_SUM, ROUTER_PROBABILITIES, ROUTER_WEIGHTS, CHOSEN_PROBABILITIES),
            *(EXPERT_INPUT, SHARED_GATE, GATE_LOGIT, GATE_WEIGHT),
        ),
        roles.FFN_OUTPUT: (GATED_OUTPUT, ROUTED, MIXTURE_OUTPUT),
    },
    ffn={MixtureOfExperts: mixture_of_experts},
    ffn_outputs=(GATED_OUTPUT, ROUTED, MIXTURE_OUTPUT),
)
