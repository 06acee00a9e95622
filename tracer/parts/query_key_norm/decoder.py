"""Norms of queries and keys: of each head's rows, or of all heads' rows side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from tracer.decoder import operations as op, roles
from tracer.decoder.part import AttentionContext, Part, Projected, Projections
from tracer.decoder.roles import NormRoles, Role, RoundingRule, norm_roles
from tracer.decoder.sub_layers import NormParameters, learned, normalize, normalized
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.query_key_norm.scenario import AttentionKeys, Placement, QueryKeyNorm
from tracer.scenario.part import keys_of

NORMALIZED_KEYS = Role("keys")
OWN_KEYS = Role("keys")


@dataclass(frozen=True)
class HeadNormRoles:
    """The roles of a norm of queries or keys: all heads' rows, the norm, and a head's columns."""

    together: Role
    norm: NormRoles
    own: Role


QUERIES = HeadNormRoles(
    Role("queries", RoundingRule.EXACT), norm_roles("query_norm"), Role("query_norm")
)
KEYS = HeadNormRoles(Role("keys", RoundingRule.EXACT), norm_roles("key_norm"), Role("key_norm"))


@dataclass(eq=False)
class HeadNorm:
    """The norm of the heads' queries or keys (Henry et al. 2020); its γ and β are recorded once.

    Each head's rows by themselves (Qwen 3, Yang et al. 2025), or all heads' rows side by side
    (OLMo 2, OLMo et al. 2024).
    """

    of: HeadNormRoles
    norm: QueryKeyNorm | None
    learned: NormParameters | None = None
    together: Value | None = None
    """The normalized rows of all heads, side by side."""
    given_out: int = 0
    """How many of its columns heads have got."""

    @property
    def spans_heads(self) -> bool:
        """Whether the norm reads the rows of several heads."""
        return self.norm is not None and self.norm.over == "heads"

    def read(self, tape: Tape, heads: Sequence[Value]) -> None:
        """Normalize the rows of several heads side by side, h times (n, d_k), if it spans them."""
        if self.norm and self.spans_heads and len(heads) > 1:
            rows = tape.record(self.of.together, op.Concat(), *heads)
            self.together = normalized(tape, rows, self.norm, self.of.norm)

    def apply(self, tape: Tape, rows: Value) -> Value:
        """A head's queries or keys, normalized: (n, d_k) → (n, d_k); the same without a norm."""
        if self.norm is None:
            return rows
        if self.together is not None:
            start, self.given_out = self.given_out, self.given_out + rows.shape[1]
            own = op.Columns(start, self.given_out)
            return tape.record_as(self.of.own, own, rows.axes, self.together)
        if self.learned is None:
            with tape.within(replace(tape.place, head=None)):
                self.learned = learned(tape, self.norm, self.of.norm, rows)
        return normalize(tape, rows, self.norm, self.learned, self.of.norm)


def normalized_heads(
    placement: Placement, tape: Tape, at: AttentionContext, heads: Projections
) -> Projections:
    """The queries and keys of each head, normalized by the norms of this placement.

    A norm over all heads waits for all of them.
    """
    norms = keys_of(at.parameters, AttentionKeys)
    own = (
        norm if norm and norm.placement == placement else None
        for norm in (norms.query_norm, norms.key_norm)
    )
    queries, keys = map(HeadNorm, (QUERIES, KEYS), own)
    if queries.spans_heads or keys.spans_heads:
        heads = tuple(heads)
        queries.read(tape, [head.q for head in heads])
        keys.read(tape, [head.k for head in heads if head.k])
    for number, head in enumerate(heads, start=1):
        with tape.at(head=number):
            q = queries.apply(tape, head.q)
            k = keys.apply(tape, head.k) if head.k else None
        yield Projected(q, k, head.v)


PART = Part(
    roles={
        roles.VALUE: (
            *(QUERIES.together, KEYS.together),
            *(*vars(QUERIES.norm).values(), *vars(KEYS.norm).values(), QUERIES.own, KEYS.own),
        ),
        roles.KEYS: (NORMALIZED_KEYS, OWN_KEYS),
    },
    norms=(QUERIES.norm, KEYS.norm),
    of_all_heads=(QUERIES.own, KEYS.own),
    projected=partial(normalized_heads, "before_rotary"),
    positioned=partial(normalized_heads, "after_rotary"),
    with_earlier={
        KEYS.norm.layer_norm: NORMALIZED_KEYS,
        KEYS.norm.rms_norm: NORMALIZED_KEYS,
        KEYS.own: OWN_KEYS,
    },
)
