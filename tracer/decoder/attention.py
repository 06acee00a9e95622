"""Masked attention and cross-attention, with the names of Vaswani et al. 2017, section 3.2.

In the shapes, n counts the queries' tokens and m the keys' tokens. In self-attention they are the
same tokens; with a cache, m also counts the tokens before. h is the number of heads.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from tracer.decoder import operations as op, roles
from tracer.decoder.attention_inputs import AttentionInputs, with_rows_before
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.elementwise import Add, Divide, Mask, SquareRoot
from tracer.decoder.parameters import bias, columns, features_of, weights
from tracer.decoder.part import (
    AttentionContext,
    HeadContext,
    Projected,
    Projections,
    Sources,
    own_way,
    parts,
)
from tracer.decoder.softmax import softmax
from tracer.decoder.tape import Tape
from tracer.decoder.typed_heads import typed_keys_and_values, typed_queries
from tracer.decoder.value import Value
from tracer.scenario.fields import Scale
from tracer.scenario.layers import Attention, Head


def attention(tape: Tape, x: Value | Axis, inputs: AttentionInputs, parameters: Attention) -> Value:
    """MultiHead(x) = [O¹ … Oʰ] W_O + b_O: x (n, d_model) → (n, d_model).

    Each head's Oⁱ is (n, d_v), W_O is (h · d_v, d_model). Without W_O, the heads side by side:
    (n, h · d_v). Of typed queries, x is only the tokens.
    """
    context = AttentionContext(parameters, inputs)
    sources = Sources(x, inputs.vectors)
    for part in parts():
        if part.sources:
            sources = part.sources(tape, context, sources)
    projected = project(tape, sources, context)
    for part in parts():
        if part.projected:
            projected = part.projected(tape, context, projected)
    positioned = with_positions(tape, sources, context, projected)
    for part in parts():
        if part.positioned:
            positioned = part.positioned(tape, context, positioned)
    own_head = own_way(parameters)
    heads: list[Value] = []
    read: list[tuple[Value, Value]] = []
    for number, own in enumerate(positioned, start=1):
        with tape.at(head=number):
            head = parameters.heads[number - 1]
            at = HeadContext(number, head, context)
            if own.k is None or own.v is None:
                k_v = read[(head.shares or 1) - 1]
            elif sources.has_rows_before or own_head:
                k_v = own.k, own.v
            else:
                k_v = with_earlier(tape, own.k, own.v, inputs)
            read.append(k_v)
            if own_head:
                output = own_head(tape, at, Projected(own.q, *k_v))
            else:
                scores = scaled(tape, own.q, k_v[0], parameters.scale)
                output = attention_head(tape, scores, k_v[1], at)
            for part in parts():
                if part.head_output:
                    output = part.head_output(tape, at, x, output)
            heads.append(output)
    concat = tape.record(roles.CONCAT, op.Concat(), *heads)
    if parameters.W_O is None:
        return tape.record(roles.ATTENTION_OUTPUT, op.Copy(), concat)
    width = columns(parameters.W_O)
    features = numbered("d", 0, width) if isinstance(x, Axis) else features_of(x, width)
    w_o = weights(tape, roles.W_O, parameters.W_O, concat, features)
    b_o = bias(tape, roles.B_O, parameters.b_O, w_o)
    return tape.record(roles.ATTENTION_OUTPUT, op.MatMul(), concat, w_o, *b_o)


def project(tape: Tape, sources: Sources, at: AttentionContext) -> Projections:
    """Q, K and V of each head, when they are asked for."""
    for number, head in enumerate(at.parameters.heads, start=1):
        with tape.at(head=number):
            own = Projected(queries(tape, sources.queries, head))
            if not head.shares:
                k_v = keys_and_values(tape, sources.keys_and_values, at.inputs, head)
                own = Projected(own.q, *k_v)
        yield own


def queries(tape: Tape, x: Value | Axis, head: Head) -> Value:
    """Q = x W_Q + b_Q: x (n, d_model), W_Q (d_model, d_k) → (n, d_k)."""
    if isinstance(x, Axis):
        return typed_queries(tape, head, x)
    assert head.W_Q is not None
    labels = head.labels.query or numbered("q", 1, columns(head.W_Q))
    w_q = weights(tape, roles.W_Q, head.W_Q, x, labels, "query")
    return tape.record(roles.QUERY, op.MatMul(), x, w_q, *bias(tape, roles.B_Q, head.b_Q, w_q))


def keys_and_values(
    tape: Tape, m: Value | None, inputs: AttentionInputs, head: Head
) -> tuple[Value, Value]:
    """K = m W_K + b_K (m, d_k) and V = m W_V + b_V (m, d_v), or an earlier pass's."""
    earlier = inputs.earlier
    if m is None:
        return typed_keys_and_values(tape, head, inputs.tokens)
    assert head.W_K is not None and head.W_V is not None
    k_labels = head.labels.key or numbered("k", 1, columns(head.W_K))
    v_labels = head.labels.value or numbered("v", 1, columns(head.W_V))
    w_k = weights(tape, roles.W_K, head.W_K, m, k_labels, "key")
    w_v = weights(tape, roles.W_V, head.W_V, m, v_labels, "value")
    b_k, b_v = bias(tape, roles.B_K, head.b_K, w_k), bias(tape, roles.B_V, head.b_V, w_v)
    if earlier is not None and not inputs.new:
        k, v = (earlier[tape.address(own)] for own in (roles.KEY, roles.VALUE))
        return tape.record(roles.KEY, op.Reused(), k), tape.record(roles.VALUE, op.Reused(), v)
    k = tape.record(roles.KEY, op.MatMul(), m, w_k, *b_k)
    return k, tape.record(roles.VALUE, op.MatMul(), m, w_v, *b_v)


def with_positions(
    tape: Tape, sources: Sources, context: AttentionContext, projected: Projections
) -> Projections:
    """Each head's queries and keys, with their positions if a part encodes them there."""
    encode = [part.positions for part in parts() if part.positions]
    for number, own in enumerate(projected, start=1):
        at = HeadContext(number, context.parameters.heads[number - 1], context)
        with tape.at(head=number):
            encoded = (each(tape, at, sources, own.q, own.k) for each in encode)
            q, k = next(filter(None, encoded), (own.q, own.k))
        yield Projected(q, k, own.v)


def with_earlier(tape: Tape, k: Value, v: Value, inputs: AttentionInputs) -> tuple[Value, Value]:
    """K (m, d_k) and V (m, d_v): the rows of an earlier pass, if any, then the new ones."""
    earlier = inputs.earlier
    if earlier is None or not inputs.new:
        return k, v
    together = {roles.KEY: roles.KEYS, roles.VALUE: roles.VALUES}
    for part in parts():
        together |= part.with_earlier
    k = with_rows_before(tape, together[k.role], k, earlier)
    return k, with_rows_before(tape, together[v.role], v, earlier)


def scaled(tape: Tape, q: Value, k: Value, scale: Scale) -> Value:
    """The scores Q Kᵀ / √d_k, or divided by a number, or by nothing: (n, m)."""
    if scale == "none":
        return tape.record(roles.SCORES, op.Dot(), q, k)
    dot = tape.record(roles.DOT, op.Dot(), q, k)
    if isinstance(scale, Decimal):
        return tape.record(roles.SCORES, Divide(), dot, tape.given(roles.SCALE, scale, ()))
    d_k = tape.given(roles.D_K, Decimal(q.shape[1]), ())
    return tape.record(roles.SCORES, Divide(), dot, tape.record(roles.SCALE, SquareRoot(), d_k))


def attention_head(tape: Tape, scores: Value, v: Value, at: HeadContext) -> Value:
    """softmax(S + M) V: scores S (n, m), V (m, d_v) → (n, d_v)."""
    inputs = at.attention.inputs
    for part in parts():
        if part.scores:
            scores = part.scores(tape, scores, at)
    masked = scores
    if inputs.mask and inputs.only_hides:
        masked = tape.record(roles.MASKED, Mask(), scores, inputs.mask)
    elif inputs.mask:
        masked = tape.record(roles.MASKED, Add(), scores, inputs.mask)
    weights = softmax_of_head(tape, roles.ATTENTION_SOFTMAX, masked, at)
    if inputs.mask and inputs.unmasked:
        softmax_of_head(tape, roles.UNMASKED_SOFTMAX, scores, at)
    output = tape.record(roles.HEAD_OUTPUT, op.MatMul(), weights, v)
    for part in parts():
        if part.beside:
            part.beside(tape, at, masked, v)
    return output


def softmax_of_head(tape: Tape, own: roles.SoftmaxRoles, scores: Value, at: HeadContext) -> Value:
    """softmax(S), as the parts of the model change it: (n, m) → (n, m)."""
    compute = partial(softmax, tape, shifted=at.attention.inputs.shifted)
    for part in parts():
        if part.softmax:
            compute = partial(part.softmax, tape, at, compute)
    return compute(own, scores)
