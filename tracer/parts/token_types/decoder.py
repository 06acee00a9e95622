"""Token types: the row of each token's type is added to its embedding (Devlin et al. 2019)."""

from __future__ import annotations

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Rows
from tracer.decoder.part import Part
from tracer.decoder.roles import Role
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.token_types.scenario import TowerKeys, types_of
from tracer.scenario.fields import shape_of
from tracer.scenario.model import Tower
from tracer.scenario.part import keys_of

TABLE = Role("type_embeddings", parameter=True)
OF_TOKENS = Role("token_type")
WITH_TYPE = Role("embedding.with_type")


def with_types(tape: Tape, tower: Tower, x: Value) -> Value:
    """X + T (n, d_model), where T has the row of each token's type; X without types."""
    own = keys_of(tower, TowerKeys)
    if own.type_embeddings is None:
        return x
    types = types_of(own, len(tower.tokens))[-x.shape[0] :]
    rows, _ = shape_of(own.type_embeddings)
    names = Axis("type", tuple(f"type {number}" for number in range(rows)))
    table = tape.given(TABLE, own.type_embeddings, (names, x.axes[1]))
    of_tokens = tape.record_as(OF_TOKENS, Rows(types), x.axes, table)
    return tape.record(WITH_TYPE, Add(), x, of_tokens)


PART = Part(
    roles={roles.SCALED_EMBEDDING: (TABLE, OF_TOKENS, WITH_TYPE)},
    embedded=with_types,
    labels={OF_TOKENS: "token type"},
)
