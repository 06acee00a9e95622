"""Latent attention: C = X W_DKV, from which heads compute K = C W_K and V = C W_V.

With W_DQ, Q = (X W_DQ) W_Q. Positions are in a part of their own: R = X W_KR is rotated and joined
to the keys of all heads, and each head's rotated queries to its queries: q · k + q_R · k_R.
"""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.attention_inputs import with_rows_before
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.operations import Concat, MatMul
from tracer.decoder.parameters import columns, weights
from tracer.decoder.part import AttentionContext, HeadContext, Part, Sources
from tracer.decoder.roles import Role, norm_roles
from tracer.decoder.sub_layers import normalized
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.latent.scenario import AttentionKeys, HeadKeys, Latent
from tracer.parts.rotary import decoder as rotary
from tracer.scenario.fields import Matrix
from tracer.scenario.part import keys_of

W_DKV = Role("latent.W_DKV", parameter=True)
W_DQ = Role("latent.W_DQ", parameter=True)
W_KR = Role("latent.W_KR", parameter=True)
W_QR = Role("W_QR", parameter=True)
LATENT = Role("latent")
NORM = norm_roles("latent.norm")
LATENTS = Role("latent.rows")
NORMALIZED_LATENTS = Role("latent.normalized_rows")
LATENT_QUERY = Role("latent.query")
QUERY_NORM = norm_roles("latent.query_norm")
ROTARY_KEY = Role("latent.key")
UNROTATED_KEY = Role("latent.key")
"""In a layer without rotary positions; the heads, and a cache, read it as it is."""
ROTATED_KEY = Role("latent.rotated_key")
ROTATED_KEYS = Role("latent.rotated_keys")
ROTARY_QUERY = Role("rotary_query")
ROTATED_QUERY = Role("rotary_query.rotated")
JOINED_QUERY = Role("joined_query")
JOINED_KEY = Role("joined_key")


def sources(tape: Tape, at: AttentionContext, before: Sources) -> Sources:
    """The latent vectors (m, d_c) of keys and values, and (n, d_c') of queries, if there are any.

    With a cache, the rows of an earlier pass come first: keys and values are computed anew.
    """
    latent = keys_of(at.parameters, AttentionKeys).latent
    x, memory, earlier = before.queries, before.keys_and_values, at.inputs.earlier
    if latent is None or memory is None or isinstance(x, Axis):
        return before
    if earlier is None or at.inputs.new:
        c = latent_vectors(tape, at, memory, latent)
    else:  # keys and values are reused; W_K and W_V have a row for each column of W_DKV
        c = weights_of(tape, W_DKV, memory, latent.W_DKV, "c")
    if latent.W_DQ is not None:
        x = product(tape, LATENT_QUERY, W_DQ, x, latent.W_DQ, "c")
        if latent.query_norm:
            x = normalized(tape, x, latent.query_norm, QUERY_NORM)
    return Sources(x, c, has_rows_before=earlier is not None)


def latent_vectors(tape: Tape, at: AttentionContext, memory: Value, latent: Latent) -> Value:
    """C (m, d_c), and the rotated part of the keys; with a cache, below the rows before."""
    earlier = at.inputs.earlier
    c = product(tape, LATENT, W_DKV, memory, latent.W_DKV, "c")
    if latent.norm:
        c = normalized(tape, c, latent.norm, NORM)
    if latent.W_KR is not None:
        role = ROTARY_KEY if rotary.angles_of(at) else UNROTATED_KEY
        r = product(tape, role, W_KR, memory, latent.W_KR, "r")
        r = rotary.apply_rotary(tape, ROTATED_KEY, r, at)
        at.recorded[ROTATED_KEY] = r
    if earlier is not None:
        c = with_rows_before(tape, NORMALIZED_LATENTS if latent.norm else LATENTS, c, earlier)
        if latent.W_KR is not None:
            at.recorded[ROTATED_KEY] = with_rows_before(tape, ROTATED_KEYS, r, earlier)
    return c


def product(tape: Tape, role: Role, of: Role, x: Value, matrix: Matrix, letter: str) -> Value:
    """x W: (n, d), (d, k) → (n, k)."""
    return tape.record(role, MatMul(), x, weights_of(tape, of, x, matrix, letter))


def weights_of(tape: Tape, of: Role, x: Value, matrix: Matrix, letter: str) -> Value:
    """W (d, k), which x (n, d) is multiplied by; its columns are numbered."""
    return weights(tape, of, matrix, x, numbered(letter, 1, columns(matrix)))


def positions(
    tape: Tape, at: HeadContext, before: Sources, q: Value, k: Value | None
) -> tuple[Value, Value | None] | None:
    """[Q Q_R] (n, d_k + r) and [K R] (m, d_k + r), with Q_R and R rotated by their positions."""
    latent = keys_of(at.attention.parameters, AttentionKeys).latent
    if latent is None:
        return None
    matrix = keys_of(at.parameters, HeadKeys).W_QR
    if matrix is None or isinstance(before.queries, Axis) or k is None:
        return q, k
    q_r = product(tape, ROTARY_QUERY, W_QR, before.queries, matrix, "r")
    q_r = rotary.apply_rotary(tape, ROTATED_QUERY, q_r, at.attention)
    q = tape.record(JOINED_QUERY, Concat(), q, q_r)
    return q, tape.record(JOINED_KEY, Concat(), k, at.attention.recorded[ROTATED_KEY])


PART = Part(
    roles={
        roles.MASK: (
            *(W_DKV, W_DQ, W_KR, LATENT, LATENT_QUERY, ROTARY_KEY, UNROTATED_KEY),
            *(ROTATED_KEY, ROTATED_KEYS),
            *(LATENTS, *vars(NORM).values(), NORMALIZED_LATENTS, *vars(QUERY_NORM).values()),
        ),
        roles.W_V: (W_QR,),
        rotary.ROTATED_KEY: (ROTARY_QUERY, ROTATED_QUERY, JOINED_QUERY, JOINED_KEY),
    },
    norms=(NORM, QUERY_NORM),
    sources=sources,
    positions=positions,
)
