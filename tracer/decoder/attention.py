"""Attention, masked and crossed, in the names of Vaswani et al. 2017."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tracer.decoder.operations import (
    Append,
    Concat,
    Copy,
    Divide,
    Dot,
    Mask,
    MatMul,
    Reused,
    SquareRoot,
    numbered,
)
from tracer.decoder.parameters import bias, features_of, weights
from tracer.decoder.roles import (
    ATTENTION_OUTPUT,
    ATTENTION_SOFTMAX,
    B_K,
    B_O,
    B_Q,
    B_V,
    CONCAT,
    D_K,
    DOT,
    HEAD_OUTPUT,
    KEY,
    KEYS,
    MASKED,
    QUERY,
    SCALE,
    SCORES,
    UNMASKED_SOFTMAX,
    VALUE,
    VALUES,
    W_K,
    W_O,
    W_Q,
    W_V,
    Role,
)
from tracer.decoder.softmax import softmax
from tracer.decoder.tape import Tape, Value
from tracer.scenario.model import Attention, Head


@dataclass(frozen=True)
class Memory:
    """What is attended to: its vectors, which of them each query may see, and what is cached.

    `earlier` finds the keys and values of an earlier pass by address; `new` says whether this pass
    adds some to them. With `unmasked`, softmax is also worked without the mask.
    """

    vectors: Value
    mask: Value | None
    earlier: dict[str, Value] | None
    new: bool
    unmasked: bool = False


def attention(tape: Tape, x: Value, memory: Memory, parameters: Attention) -> Value:
    """MultiHead = [O¹ O² …] W_O; without W_O, the heads side by side."""
    heads = []
    for number, head in enumerate(parameters.heads, start=1):
        with tape.at(head=number):
            heads.append(attention_head(tape, x, memory, head))
    concat = tape.record(CONCAT, Concat(), *heads)
    if parameters.W_O is None:
        return tape.record(ATTENTION_OUTPUT, Copy(), concat)
    w_o = weights(tape, W_O, parameters.W_O, concat, features_of(x, len(parameters.W_O[0])))
    b_o = bias(tape, B_O, parameters.b_O, w_o)
    return tape.record(ATTENTION_OUTPUT, MatMul(), concat, w_o, *b_o)


def attention_head(tape: Tape, x: Value, memory: Memory, head: Head) -> Value:
    """softmax(Q Kᵀ / √d_k + M) V: queries of x, keys and values of the memory."""
    d_k, d_v, labels = len(head.W_Q[0]), len(head.W_V[0]), head.labels
    m = memory.vectors
    w_q = weights(tape, W_Q, head.W_Q, x, labels.query or numbered("q", 1, d_k), "query")
    w_k = weights(tape, W_K, head.W_K, m, labels.key or numbered("k", 1, d_k), "key")
    w_v = weights(tape, W_V, head.W_V, m, labels.value or numbered("v", 1, d_v), "value")
    q = tape.record(QUERY, MatMul(), x, w_q, *bias(tape, B_Q, head.b_Q, w_q))
    k = remembered(tape, (KEY, KEYS), memory, w_k, bias(tape, B_K, head.b_K, w_k))
    v = remembered(tape, (VALUE, VALUES), memory, w_v, bias(tape, B_V, head.b_V, w_v))
    dot = tape.record(DOT, Dot(), q, k)
    scale = tape.record(SCALE, SquareRoot(), tape.given(D_K, Decimal(d_k), ()))
    scores = tape.record(SCORES, Divide(), dot, scale)
    masked = tape.record(MASKED, Mask(), scores, memory.mask) if memory.mask else scores
    attention_weights = softmax(tape, ATTENTION_SOFTMAX, masked)
    if memory.mask and memory.unmasked:
        softmax(tape, UNMASKED_SOFTMAX, scores)
    return tape.record(HEAD_OUTPUT, MatMul(), attention_weights, v)


def remembered(
    tape: Tape, roles: tuple[Role, Role], memory: Memory, w: Value, b: tuple[Value, ...]
) -> Value:
    """The keys, or the values, of all that may be attended to: memory · W + b.

    `roles` are those of what is new, and of all together where earlier ones are reused.
    """
    own, all_together = roles
    if memory.earlier is None:
        return tape.record(own, MatMul(), memory.vectors, w, *b)
    if not memory.new:
        return tape.record(own, Reused(), memory.earlier[tape.address(own)])
    new = tape.record(own, MatMul(), memory.vectors, w, *b)
    earlier = memory.earlier.get(tape.address(all_together))
    if earlier is None:
        earlier = memory.earlier[tape.address(own)]
    return tape.record(all_together, Append(), earlier, new)
