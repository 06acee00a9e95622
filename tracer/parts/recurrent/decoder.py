"""Linear attention and the gated delta rule: a head's state, token after token.

Linear (Katharopoulos et al. 2020): S_t = α_t S_(t-1) + k_tᵀ v_t. Delta (Schlag et al. 2021, with
the gate of Yang et al. 2024): S_t = α_t S_(t-1) + k_tᵀ β_t (v_t - k_t α_t S_(t-1)). The output is
o_t = q_t S_t, with q_t divided as scores are. Rows are tokens, S is (d_k, d_v).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axis
from tracer.decoder.parameters import bias
from tracer.decoder.part import AttentionContext, ComputeHead, HeadContext, Part, Projected, Sources
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import ON_DEMAND, SHAPES
from tracer.names import count
from tracer.parts.recurrent import decoder_chunks as chunks
from tracer.parts.recurrent.scenario import AttentionKeys, Gate, Strength, is_recurrent
from tracer.scenario.layers import Attention
from tracer.scenario.part import keys_of

W_A, B_A = Role("gate.W_A", parameter=True), Role("gate.b_A", parameter=True)
A_LOG = Role("gate.A_log", parameter=True)
GATE_LOGITS = Role("gate.logits")
GATE_RATE = Role("gate.rate", RoundingRule.WORKING)
GATE = Role("gate")
W_B, B_B = Role("beta.W_B", parameter=True), Role("beta.b_B", parameter=True)
STRENGTH_LOGITS = Role("beta.logits")
STRENGTH = Role("beta")


@dataclass(frozen=True)
class VectorRoles:
    """The roles of queries, or of keys, on their way to the state."""

    mapped: Role
    squares: Role
    length: Role
    unit: Role


QUERIES, KEYS = (
    VectorRoles(
        Role(f"mapped_{name}"),
        Role(f"unit_{name}.squares", RoundingRule.WORKING),
        Role(f"unit_{name}.length", RoundingRule.WORKING),
        Role(f"unit_{name}"),
    )
    for name in ("query", "key")
)
WIDTH, SCALE = Role("scaled_query.d_k"), Role("scaled_query.divisor", RoundingRule.WORKING)
SCALED_QUERY = Role("scaled_query")

OWN_QUERY, OWN_KEY, OWN_VALUE = Role("query"), Role("key"), Role("value")
OWN_GATE, OWN_STRENGTH = Role("gate"), Role("beta")
KEPT = Role("kept")
PREDICTED = Role("predicted")
ERROR = Role("error")
CORRECTION = Role("correction")
WRITTEN = Role("written")
STATE = Role("state")
KEPT_SUM = Role("kept_key_sum")
KEY_SUM = Role("key_sum")
NUMERATOR = Role("numerator")
DIVISOR = Role("divisor")
READ = Role("read")
OUTPUT = Role("output")

NUMBERS = {GATE: OWN_GATE, STRENGTH: OWN_STRENGTH}
"""By the role of the numbers of all tokens, the role of one of them."""


# --- gate and β ----------------------------------------------------------------------------------


def gates(tape: Tape, at: AttentionContext, before: Sources) -> Sources:
    """Record the gates and the β of all heads; queries, keys and values stay as they are."""
    keys = keys_of(at.parameters, AttentionKeys)
    first = at.inputs.first
    for role, typed in ((GATE, keys.gate), (STRENGTH, keys.beta)):
        if typed is None:
            continue
        if isinstance(typed, Gate | Strength):
            assert isinstance(before.queries, Value)
            at.recorded[role] = computed_gates(tape, at, before.queries, typed)
        elif len(typed) == 1:
            at.recorded[role] = tape.given(role, typed[0], ())
        else:
            tokens = before.queries if isinstance(before.queries, Axis) else before.queries.axes[0]
            last = first + len(tokens.labels)
            if last > len(typed) and tape.arithmetic is not SHAPES:
                message = f"{count(len(typed), 'number')}, but the text is longer now"
                place = (*tape.place.yaml_path, role.name)
                raise TracerError(Problem(message, address=tape.address(role), yaml_path=place))
            own = typed[first:last]
            at.recorded[role] = tape.given(role, own, (tokens,))
    return before


def computed_gates(tape: Tape, at: AttentionContext, x: Value, by: Gate | Strength) -> Value:
    """α or β of each token and head: x (n, d) → (n, h)."""
    heads = Axis("head", tuple(f"head {i + 1}" for i in range(len(at.parameters.heads))))
    axes = (x.axes[1], heads)
    if isinstance(by, Strength):
        w = tape.given(W_B, by.W_B, axes)
        logits = tape.record(STRENGTH_LOGITS, op.MatMul(), x, w, *bias(tape, B_B, by.b_B, w))
        return tape.record(STRENGTH, el.Sigmoid(), logits)
    w = tape.given(W_A, by.W_A, axes)
    logits = tape.record(GATE_LOGITS, op.MatMul(), x, w, *bias(tape, B_A, by.b_A, w))
    if by.A_log is None:
        return tape.record(GATE, el.Sigmoid(), logits)
    a_log = tape.given(A_LOG, by.A_log, (heads,))
    return tape.record(GATE, el.Decay(), tape.record(GATE_RATE, el.DecayRate(), logits, a_log))


def number_of(tape: Tape, at: HeadContext, role: Role, row: int) -> Value | None:
    """α or β of a token, by its row; None where there is none."""
    numbers = at.attention.recorded.get(role)
    if numbers is None or not numbers.axes:
        return numbers
    place = (row, at.number - 1)[: len(numbers.axes)]
    return tape.record_as(NUMBERS[role], op.TakeNumber(place), (), numbers)


# --- queries and keys ----------------------------------------------------------------------------


def on_the_way(tape: Tape, x: Value, keys: AttentionKeys, of: VectorRoles) -> Value:
    """φ(x), of length 1 if asked for: (n, d_k) → (n, d_k)."""
    if keys.feature_map != "none":
        mapped = el.EluPlusOne() if keys.feature_map == "elu_plus_1" else el.AboveZero()
        x = tape.record(of.mapped, mapped, x)
    if keys.unit_length is None:
        return x
    squares = tape.record(of.squares, op.RowDot(), x, x)
    length = tape.record(of.length, el.SquareRoot(keys.unit_length.epsilon), squares)
    return tape.record(of.unit, el.DivideRows(), x, length)


def scaled(tape: Tape, q: Value, attention: Attention) -> Value:
    """q / √d_k, or divided by a number, or by nothing: (n, d_k) → (n, d_k)."""
    if attention.scale == "none":
        return q
    if isinstance(attention.scale, Decimal):
        return tape.record(SCALED_QUERY, el.Divide(), q, tape.given(SCALE, attention.scale, ()))
    d_k = tape.given(WIDTH, Decimal(q.shape[1]), ())
    return tape.record(SCALED_QUERY, el.Divide(), q, tape.record(SCALE, el.SquareRoot(), d_k))


# --- the state -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """What a head keeps: S (d_k, d_v), and with a normalizer the sum of the keys, (1, d_k)."""

    matrix: Value
    keys: Value | None = None


def way_of(attention: Attention) -> ComputeHead | None:
    """What computes the heads of an attention that keeps a state."""
    return recurrence if is_recurrent(attention) else None


def recurrence(tape: Tape, at: HeadContext, own: Projected) -> Value:
    """The outputs o_t = q_t S_t of a head: Q, K (n, d_k), V (n, d_v) → (n, d_v)."""
    keys = keys_of(at.attention.parameters, AttentionKeys)
    assert own.k and own.v
    q, k = on_the_way(tape, own.q, keys, QUERIES), on_the_way(tape, own.k, keys, KEYS)
    q = scaled(tape, q, at.attention.parameters)
    n, first = q.shape[0], at.attention.inputs.first
    before = state = kept_of_earlier(tape, at, first) if first else None
    size = size_of_chunks(tape, keys, n)
    read: list[Value] = []
    gates: list[Value | None] = []
    strengths: list[Value | None] = []
    for row in range(n):
        with tape.at(token=first + row + 1):
            rows = row_of(tape, OWN_KEY, k, row), row_of(tape, OWN_VALUE, own.v, row)
            gates.append(number_of(tape, at, GATE, row) if state or size else None)
            strengths.append(number_of(tape, at, STRENGTH, row))
            state = next_state(tape, keys, state, *rows, gates[-1], strengths[-1])
            read.append(read_by_query(tape, row_of(tape, OWN_QUERY, q, row), state))
    output = tape.record_as(OUTPUT, op.Append(), (q.axes[0], own.v.axes[1]), *read)
    if size:
        known = [each for each in gates if each], [each for each in strengths if each]
        rows_of_head = chunks.Rows(q, k, own.v, *known, first, keys.kind == "delta")
        chunks.in_chunks(tape, rows_of_head, size, before.matrix if before else None)
    return output


def size_of_chunks(tape: Tape, keys: AttentionKeys, n: int) -> int | None:
    """The tokens of a chunk; all tokens, if the output is that of attention without softmax."""
    is_without_softmax = keys.kind == "linear" and keys.gate is None and not keys.normalizer
    whole = n if is_without_softmax and tape.arithmetic is not ON_DEMAND else None
    return keys.chunk or whole


def kept_of_earlier(tape: Tape, at: HeadContext, tokens: int) -> State:
    """The state that an earlier pass has left after its last token."""
    earlier = at.attention.inputs.earlier
    assert earlier is not None
    with tape.at(token=tokens):
        known = [role for role in (STATE, KEY_SUM) if tape.address(role) in earlier]
        kept = [tape.record(role, op.Reused(), earlier[tape.address(role)]) for role in known]
    return State(*kept)


def row_of(tape: Tape, role: Role, x: Value, row: int) -> Value:
    """A token's row of queries, keys or values: (n, d) → (1, d)."""
    tokens, columns = x.axes
    own = Axis("key", tokens.labels[row : row + 1], (row - x.shape[0],))
    return tape.record_as(role, op.Rows((row,)), (own, columns), x)


def next_state(
    tape: Tape,
    keys: AttentionKeys,
    before: State | None,
    k: Value,
    v: Value,
    gate: Value | None,
    beta: Value | None,
) -> State:
    """The state after a token with the key k (1, d_k) and the value v (1, d_v)."""
    kept = before.matrix if before else None
    if kept and gate:
        kept = tape.record(KEPT, el.Times(), kept, gate)
    if keys.kind == "delta":
        v = correction(tape, kept, k, v, beta)
    written = tape.record(WRITTEN if kept else STATE, op.TransposedMatMul(), k, v)
    state = tape.record(STATE, el.Add(), kept, written) if kept else written
    return State(state, sum_of_keys(tape, before, gate, k) if keys.normalizer else None)


def correction(tape: Tape, kept: Value | None, k: Value, v: Value, beta: Value | None) -> Value:
    """β (v - k S): what the token corrects, (1, d_v)."""
    if kept:
        v = tape.record(ERROR, el.Difference(), v, tape.record(PREDICTED, op.MatMul(), k, kept))
    return tape.record(CORRECTION, el.Times(), v, beta) if beta else v


def sum_of_keys(tape: Tape, before: State | None, gate: Value | None, k: Value) -> Value:
    """z_t = α_t z_(t-1) + k_t: (1, d_k)."""
    if before is None or before.keys is None:
        return tape.record(KEY_SUM, op.Copy(), k)
    kept = tape.record(KEPT_SUM, el.Times(), before.keys, gate) if gate else before.keys
    return tape.record(KEY_SUM, el.Add(), kept, k)


def read_by_query(tape: Tape, q: Value, state: State) -> Value:
    """o_t = q S, or q S / q · z: (1, d_k) → (1, d_v)."""
    if state.keys is None:
        return tape.record(READ, op.MatMul(), q, state.matrix)
    read = tape.record(NUMERATOR, op.MatMul(), q, state.matrix)
    return tape.record(
        READ, el.DivideRows(), read, tape.record(DIVISOR, op.RowDot(), q, state.keys)
    )


OF_TOKEN = (
    *(OWN_KEY, OWN_VALUE, OWN_GATE, OWN_STRENGTH, KEPT_SUM, KEY_SUM, KEPT, PREDICTED, ERROR),
    *(CORRECTION, WRITTEN, STATE, OWN_QUERY, NUMERATOR, DIVISOR, READ),
)
"""What is recorded for each token, in this order."""

PART = Part(
    roles={
        roles.MASK: (
            *(W_A, B_A, A_LOG, GATE_LOGITS, GATE_RATE, GATE, W_B, B_B, STRENGTH_LOGITS, STRENGTH),
        ),
        roles.HEAD_OUTPUT: (
            *vars(QUERIES).values(),
            *(WIDTH, SCALE, SCALED_QUERY),
            *vars(KEYS).values(),
            *(*OF_TOKEN, OUTPUT, *chunks.OF_CHUNK, chunks.CHUNKS_OUTPUT),
        ),
    },
    sources=gates,
    head=way_of,
    head_outputs=(OUTPUT,),
)
