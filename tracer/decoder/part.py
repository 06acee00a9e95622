"""What a part of a model adds to the forward pass: its roles, and hooks into it.

Each hook is called for every head, sub-layer or tower of every model: it returns what it was given
if the scenario does not have the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from tracer.decoder import roles
from tracer.decoder.attention_inputs import AttentionInputs, OfTower
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.roles import NormRoles, Role, SoftmaxRoles
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts import declared
from tracer.scenario.layers import Attention, Head, Layer
from tracer.scenario.model import Scenario, Tower
from tracer.scenario.networks import Network, SubLayer, Weights


@dataclass(frozen=True)
class Sources:
    """What queries (n, d) and keys and values (m, d) are computed from.

    Typed queries need only their tokens, typed keys and values nothing. `has_rows_before` says that
    keys and values are computed anew for the tokens of an earlier pass.
    """

    queries: Value | Axis
    keys_and_values: Value | None
    has_rows_before: bool = False


@dataclass(frozen=True)
class AttentionContext:
    """An attention, what it attends to, and what the parts have recorded for all its heads."""

    parameters: Attention
    inputs: AttentionInputs
    recorded: dict[Role, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class HeadContext:
    """A head of an attention, counted from 1, and what the parts have recorded for it."""

    number: int
    parameters: Head
    attention: AttentionContext
    recorded: dict[Role, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Projected:
    """What a head projects: Q (n, d_k), K (m, d_k) and V (m, d_v); it may share K and V."""

    q: Value
    k: Value | None = None
    v: Value | None = None


@dataclass(frozen=True)
class SlopeRoles:
    """The roles of the slope of an activation: of any function, and of ReLU, where it is 0 or 1."""

    smooth: Role
    of_relu: Role


ComputeHead: TypeAlias = Callable[[Tape, HeadContext, Projected], Value]
ChangeOutput: TypeAlias = Callable[[Tape, HeadContext, Value | Axis, Value], Value]
ComputeAttention: TypeAlias = Callable[[Tape, Value, Attention], Value]
ComputeSoftmax: TypeAlias = Callable[[SoftmaxRoles, Value], Value]
ComputeFFN: TypeAlias = Callable[[Tape, Value, Any, ComputeSoftmax], Value]
ComputeGate: TypeAlias = Callable[[Tape, Network, Value, Callable[[], Value]], Value | None]

Projections: TypeAlias = Iterable[Projected]
EncodePositions: TypeAlias = Callable[
    [Tape, HeadContext, Sources, Value, Value | None], tuple[Value, Value | None] | None
]


@dataclass(frozen=True)
class Part:
    """The declaration of a part; `roles` are its roles, by the role that they are listed behind."""

    roles: Mapping[Role, tuple[Role, ...]]
    norms: tuple[NormRoles, ...] = ()
    """Those of its roles that belong to norms."""
    weights: Callable[[Tape, Role, Weights, Axes], Value | None] | None = None
    """Records a weight matrix of attention or the FFN if it has the part's keys."""
    tower: Callable[[Tape, Tower, Axis], OfTower] | None = None
    """Records what all layers of a tower share; the axis is that of the queries' tokens."""
    embedded: Callable[[Tape, Tower, Value], Value] | None = None
    """Changes the embeddings (n, d_model) of a tower before positions are added."""
    layer: Callable[[Tape, Value, Layer, ComputeAttention], Value | None] | None = None
    """Computes a layer in its own way, if it has one: (n, d_model) → (n, d_model)."""
    sources: Callable[[Tape, AttentionContext, Sources], Sources] | None = None
    """Replaces the vectors that queries, keys and values are computed from."""
    projected: Callable[[Tape, AttentionContext, Projections], Projections] | None = None
    """Changes what each head of an attention projects, or all of them, before positions."""
    of_all_heads: tuple[Role, ...] = ()
    """Those of its roles in a head that read what is computed from all heads' projections."""
    with_earlier: Mapping[Role, Role] = field(default_factory=dict)
    """By the role of new keys or values, the role of an earlier pass's and these."""
    positions: EncodePositions | None = None
    """Encodes positions in a head's queries (n, d_k) and keys (m, d_k), if it has its own way."""
    positioned: Callable[[Tape, AttentionContext, Projections], Projections] | None = None
    """Changes each head's queries and keys, or those of all heads, after positions."""
    head: Callable[[Attention], ComputeHead | None] | None = None
    """Returns what computes the output of a head, (n, d_v), in another way than a softmax.

    It gets the new rows only, and looks up what it has kept of an earlier pass.
    """
    head_output: ChangeOutput | None = None
    """Changes the output of a head (n, d_v), of an attention that reads x (n, d_model)."""
    head_outputs: tuple[Role, ...] = ()
    """Those of its roles that are the output of a head that it computes or changes."""
    scores: Callable[[Tape, Value, HeadContext], Value] | None = None
    """Changes the scores (n, m) before the mask."""
    softmax: Callable[[Tape, HeadContext, ComputeSoftmax, SoftmaxRoles, Value], Value] | None = None
    """Computes the softmax of scores (n, m), of which it is given the usual computation."""
    added: Callable[[Tape, SubLayer, Value], Value] | None = None
    """Changes the output of a sub-layer (n, d_model) before its input is added."""
    beside: Callable[[Tape, HeadContext, Value, Value], object] | None = None
    """Records what no later value reads, from the masked scores (n, m) and the values (m, d_v)."""
    gate: ComputeGate | None = None
    """Computes the gated units of a network from its hidden layer and what computes x W_3."""
    ffn: Mapping[type[SubLayer], ComputeFFN] = field(default_factory=dict)
    """By the form of an FFN, what computes it, x (n, d) → (n, d), with the usual softmax."""
    ffn_outputs: tuple[Role, ...] = ()
    """Those of its roles that are the output of an FFN, or of some of its networks."""
    words: Callable[[Tape, Value, Scenario], Value] | None = None
    """Changes what the unembedding reads, the output of the decoder or of the lens: (n, d)."""
    units: tuple[Role, ...] = ()
    """Those of its roles outside of layers that are hidden units, by which it can be split."""
    slopes: Mapping[Role, SlopeRoles] = field(default_factory=dict)
    """By the role of activations outside of the FFN, the roles of their slope."""
    labels: Mapping[Role, str] = field(default_factory=dict)
    """How an attribution labels those of its roles whose names are no words."""


@cache
def parts() -> tuple[Part, ...]:
    """The parts, in the order in which a pass meets them."""
    return declared("decoder", Part)


def own_way(attention: Attention) -> ComputeHead | None:
    """What computes the heads of an attention, if a part of the model has its own way."""
    ways = (part.head(attention) for part in parts() if part.head)
    return next(filter(None, ways), None)


@cache
def ffn_by_form() -> Mapping[type[SubLayer], ComputeFFN]:
    """What computes each form of the FFN besides one network."""
    return {form: compute for part in parts() for form, compute in part.ffn.items()}


@cache
def ffn_outputs() -> tuple[Role, ...]:
    """The roles of the output of an FFN, or of some of its networks."""
    return (roles.FFN_OUTPUT, *(role for part in parts() for role in part.ffn_outputs))


@cache
def hidden_units() -> tuple[Role, ...]:
    """The roles of hidden units, by which an attribution can be split."""
    return (*roles.HIDDEN_LAYERS, *(role for part in parts() for role in part.units))


@cache
def slopes() -> Mapping[Role, SlopeRoles]:
    """By the role of activations, the roles of their slope."""
    own = {role: slopes for part in parts() for role, slopes in part.slopes.items()}
    of_ffn = SlopeRoles(roles.SLOPE, roles.OPEN)
    return {roles.ACTIVATION: of_ffn, roles.FFN_OUTPUT: of_ffn, **own}


@cache
def all_roles() -> tuple[Role, ...]:
    """Every role that a pass can record, in the order of a pass."""
    ordered = list(roles.ROLES)
    for part in reversed(parts()):  # behind one role, the first part's come first
        for before, own in part.roles.items():
            at = ordered.index(before) + 1
            ordered[at:at] = own
    return tuple(ordered)


@cache
def all_norms() -> tuple[NormRoles, ...]:
    """The roles of every norm."""
    return (*roles.NORMS, *(norm for part in parts() for norm in part.norms))
