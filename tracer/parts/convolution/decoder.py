"""Depthwise causal convolution: y_t = f(Σ_j w_j ⊙ x_(t-k+j)), with zeros before the first token.

k rows w_j are the filter, j from 1 to k; f is SiLU or nothing. A cache keeps the last k - 1 rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axis
from tracer.decoder.part import AttentionContext, Part, Projected, Projections
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.convolution.scenario import AttentionKeys, HeadKeys
from tracer.scenario.fields import Matrix, shape_of
from tracer.scenario.part import keys_of


@dataclass(frozen=True)
class ConvolutionRoles:
    """The roles of a convolution of queries, keys or values."""

    filter: Role
    before: Role
    rows: Role
    sums: Role
    result: Role


QUERIES, KEYS, VALUES = (
    ConvolutionRoles(
        Role(f"conv_{letter}", parameter=True),
        Role(f"conv_{name}.before"),
        Role(f"conv_{name}.rows"),
        Role(f"conv_{name}.sums"),
        Role(f"conv_{name}"),
    )
    for letter, name in (("Q", "query"), ("K", "key"), ("V", "value"))
)
ALL_KEYS, ALL_VALUES = Role("keys"), Role("values")


def convolved_heads(tape: Tape, at: AttentionContext, heads: Projections) -> Projections:
    """The queries, keys and values of each head, convolved along the tokens where it says so."""
    function = keys_of(at.parameters, AttentionKeys).conv_activation
    earlier = at.inputs.earlier
    for number, own in enumerate(heads, start=1):
        keys = keys_of(at.parameters.heads[number - 1], HeadKeys)
        with tape.at(head=number):
            q = convolved(tape, QUERIES, own.q, keys.conv_Q, function, earlier)
            k = own.k and convolved(tape, KEYS, own.k, keys.conv_K, function, earlier)
            v = own.v and convolved(tape, VALUES, own.v, keys.conv_V, function, earlier)
        yield Projected(q, k, v)


def convolved(
    tape: Tape,
    of: ConvolutionRoles,
    x: Value,
    matrix: Matrix | None,
    function: str,
    earlier: Mapping[str, Value] | None,
) -> Value:
    """f(Σ_j w_j ⊙ x_(t-k+j)): x (n, d), the filter (k, d) → (n, d); x without a filter."""
    if matrix is None:
        return x
    window = shape_of(matrix)[0]
    places = tuple(f"{window - 1 - i} before" for i in range(window - 1))
    w = tape.given(of.filter, matrix, (Axis("window", (*places, "the token")), x.axes[1]))
    rows = with_rows_above(tape, of, x, places, earlier)
    if function == "none":
        return tape.record(of.result, op.Convolve(window), rows, w)
    sums = tape.record(of.sums, op.Convolve(window), rows, w)
    return tape.record(of.result, el.ScaledSilu(Decimal(1)), sums)


def with_rows_above(
    tape: Tape,
    of: ConvolutionRoles,
    x: Value,
    places: tuple[str, ...],
    earlier: Mapping[str, Value] | None,
) -> Value:
    """x (n, d) below k - 1 rows: those of an earlier pass, or of zeros; x if k is 1."""
    above = len(places)
    if not above:
        return x
    if earlier is not None:
        found = earlier[tape.address(of.rows)]
        last = tuple(range(found.shape[0] - above, found.shape[0]))
        places = tuple(found.axes[0].labels[row] for row in last)
        before = tape.record_as(of.before, op.Rows(last), (Axis("row", places), x.axes[1]), found)
    tokens = Axis(x.axes[0].name, (*places, *x.axes[0].labels))
    if earlier is not None:
        return tape.record_as(of.rows, op.Append(), (tokens, x.axes[1]), before, x)
    return tape.record_as(of.rows, op.BelowZeros(above), (tokens, x.axes[1]), x)


PART = Part(
    roles={
        roles.VALUE: tuple(role for of in (QUERIES, KEYS, VALUES) for role in vars(of).values()),
        roles.KEYS: (ALL_KEYS,),
        roles.VALUES: (ALL_VALUES,),
    },
    projected=convolved_heads,
    with_earlier={KEYS.result: ALL_KEYS, VALUES.result: ALL_VALUES},
)
