"""The same outputs computed in chunks (Yang et al. 2024): matrices in a chunk, a state between.

With γ_t, the product of the gates from the first token of the chunk to t, the state before the
chunk S and rows Q, K, V of its tokens, K̂ = γ K, K̃ = K / γ and Q̂ = γ Q:

    U = β (V - K̂ S - tril(K̂ K̃ᵀ, -1) U)        by the delta rule; U = V in linear attention
    O = Q̂ S + tril(Q̂ K̃ᵀ) U
    S ← γ_last (S + K̃ᵀ U)

No later value reads the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.axes import Axis
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value

CHUNK_KEY, CHUNK_VALUE, CHUNK_QUERY = Role("key"), Role("value"), Role("query")
DECAY = Role("decay")
DECAYS = Role("decays")
READING_KEY = Role("reading_key")
WRITING_KEY = Role("writing_key")
KEY_PRODUCTS = Role("key_products")
EARLIER_PRODUCTS = Role("earlier_products")
PREDICTED = Role("predicted")
ERROR = Role("error")
PRODUCTS_OF_ROW = Role("products")
EARLIER = Role("earlier_corrections")
CORRECTED = Role("corrected")
OWN_ERROR = Role("own_error")
REST = Role("rest")
CORRECTION = Role("correction")
CORRECTIONS = Role("corrections")
READING_QUERY = Role("reading_query")
SCORES = Role("scores")
MASKED = Role("masked")
INSIDE = Role("inside")
FROM_STATE = Role("from_state")
CHUNK_READ = Role("read")
WRITTEN = Role("written")
WITH_WRITTEN = Role("with_written")
CHUNK_STATE = Role("state")
CHUNKS_OUTPUT = Role("chunks.output")

OF_CHUNK = (
    *(CHUNK_KEY, CHUNK_VALUE, CHUNK_QUERY, DECAY, DECAYS, READING_KEY, WRITING_KEY, KEY_PRODUCTS),
    *(PREDICTED, ERROR, OWN_ERROR, PRODUCTS_OF_ROW, EARLIER_PRODUCTS, EARLIER, CORRECTED, REST),
    *(CORRECTION, CORRECTIONS, READING_QUERY, SCORES, MASKED, INSIDE, FROM_STATE, CHUNK_READ),
    *(WRITTEN, WITH_WRITTEN, CHUNK_STATE),
)
"""What is recorded for a chunk, in this order."""


@dataclass(frozen=True)
class Rows:
    """The rows Q, K (n, d_k) and V (n, d_v) of a head, and each token's gate and β, if any."""

    q: Value
    k: Value
    v: Value
    gates: Sequence[Value]
    strengths: Sequence[Value]
    first: int
    """How many tokens earlier passes have read."""
    corrects: bool
    """Whether tokens write what they correct: the delta rule."""


def in_chunks(tape: Tape, rows: Rows, size: int, state: Value | None) -> Value:
    """The outputs of all tokens (n, d_v), from the state (d_k, d_v) before them, if any."""
    n = rows.q.shape[0]
    read: list[Value] = []
    for number, start in enumerate(range(0, n, size), start=1):
        with tape.at(block=number):
            output, state = chunk(tape, rows, range(start, min(start + size, n)), state)
        read.append(output)
    axes = (rows.q.axes[0], rows.v.axes[1])
    return tape.record_as(CHUNKS_OUTPUT, op.Append(), axes, *read)


def chunk(tape: Tape, rows: Rows, own: range, state: Value | None) -> tuple[Value, Value]:
    """The outputs (c, d_v) of the tokens of a chunk, and the state after them."""
    k, v, q = (
        part(tape, role, x, own)
        for role, x in ((CHUNK_KEY, rows.k), (CHUNK_VALUE, rows.v), (CHUNK_QUERY, rows.q))
    )
    decays = products_of_gates(tape, rows, own, k.axes[0])
    reading, writing = k, k
    if decays and rows.corrects:
        reading = tape.record(READING_KEY, el.ScaleRows(), k, decays[0])
    if decays:
        writing = tape.record(WRITING_KEY, el.DivideRows(), k, decays[0])
        q = tape.record(READING_QUERY, el.ScaleRows(), q, decays[0])
    u = corrections(tape, rows, own, (reading, writing, v), state) if rows.corrects else v
    scores = tape.record(SCORES, op.Dot(), q, writing)
    masked = tape.record(MASKED, op.Lower(), scores)
    output = tape.record(INSIDE if state else CHUNK_READ, op.MatMul(), masked, u)
    if state:
        from_state = tape.record(FROM_STATE, op.MatMul(), q, state)
        output = tape.record(CHUNK_READ, el.Add(), from_state, output)
    bare = not state and not decays
    after = tape.record(CHUNK_STATE if bare else WRITTEN, op.TransposedMatMul(), writing, u)
    if state:
        after = tape.record(WITH_WRITTEN if decays else CHUNK_STATE, el.Add(), state, after)
    if decays:
        after = tape.record(CHUNK_STATE, el.Times(), after, decays[1])
    return output, after


def part(tape: Tape, role: Role, x: Value, own: range) -> Value:
    """The rows of a chunk: (n, d) → (c, d)."""
    tokens, columns = x.axes
    positions = tuple(row - x.shape[0] for row in own)
    axis = Axis("key", tokens.labels[own.start : own.stop], positions)
    return tape.record_as(role, op.Rows(tuple(own)), (axis, columns), x)


def products_of_gates(tape: Tape, rows: Rows, own: range, axis: Axis) -> tuple[Value, Value] | None:
    """γ (c,), the product of the gates from the first token of the chunk on, and the last one."""
    if not rows.gates:
        return None
    found: list[Value] = []
    for row in own:
        with tape.at(block=tape.place.block, token=rows.first + row + 1):
            gate = rows.gates[row]
            own_decay = (
                tape.record(DECAY, el.Times(), found[-1], gate)
                if found
                else tape.record(DECAY, op.Copy(), gate)
            )
        found.append(own_decay)
    return tape.record_as(DECAYS, op.Collect(), (axis,), *found), found[-1]


def corrections(
    tape: Tape, rows: Rows, own: range, k_v: tuple[Value, Value, Value], state: Value | None
) -> Value:
    """U (c, d_v): what each token writes, from the first row to the last."""
    reading, writing, v = k_v
    products = tape.record(KEY_PRODUCTS, op.Dot(), reading, writing)
    error = v
    if state:
        predicted = tape.record(PREDICTED, op.MatMul(), reading, state)
        error = tape.record(ERROR, el.Difference(), v, predicted)
    found: list[Value] = []
    for at, row in enumerate(own):
        with tape.at(block=tape.place.block, token=rows.first + row + 1):
            axis = Axis("key", error.axes[0].labels[at : at + 1], (row - rows.q.shape[0],))
            rest = tape.record_as(OWN_ERROR, op.Rows((at,)), (axis, error.axes[1]), error)
            if found:
                earlier = Axis("key", error.axes[0].labels[:at])
                others = products.axes[1]
                row_of = tape.record_as(PRODUCTS_OF_ROW, op.Rows((at,)), (axis, others), products)
                dots = tape.record_as(EARLIER_PRODUCTS, op.Columns(0, at), (axis, earlier), row_of)
                before = tape.record_as(EARLIER, op.Append(), (earlier, v.axes[1]), *found)
                corrected = tape.record(CORRECTED, op.MatMul(), dots, before)
                rest = tape.record(REST, el.Difference(), rest, corrected)
            if rows.strengths:
                rest = tape.record(CORRECTION, el.Times(), rest, rows.strengths[row])
        found.append(rest)
    return tape.record_as(CORRECTIONS, op.Append(), v.axes, *found)
