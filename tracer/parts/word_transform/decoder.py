"""What the unembedding reads instead of the output y: Norm(f(y W_M + b_M)).

BERT predicts masked words with it (Devlin et al. 2019, appendix A of the released program:
`get_masked_lm_output`).
"""

from __future__ import annotations

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.parameters import bias, columns, features_of, weights
from tracer.decoder.part import Part, SlopeRoles
from tracer.decoder.roles import Role, RoundingRule, norm_roles
from tracer.decoder.sub_layers import normalized
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.word_transform.scenario import UnembeddingKeys
from tracer.scenario.model import Scenario
from tracer.scenario.part import keys_of

W_M = Role("unembedding.transform.W_M", parameter=True)
B_M = Role("unembedding.transform.b_M", parameter=True)
HIDDEN = Role("unembedding.transform.hidden")
ACTIVATION = Role("unembedding.transform.activation")
SLOPES = SlopeRoles(
    Role("unembedding.transform.slope"), Role("unembedding.transform.slope", RoundingRule.WHOLE)
)
NORM = norm_roles("unembedding.transform.norm")


def transformed(tape: Tape, y: Value, scenario: Scenario) -> Value:
    """Norm(f(y W_M + b_M)): y (n, d_model), W_M (d_model, d) → (n, d); y without a transform."""
    assert scenario.unembedding is not None
    own = keys_of(scenario.unembedding, UnembeddingKeys).transform
    if own is None:
        return y
    w = weights(tape, W_M, own.W_M, y, features_of(y, columns(own.W_M)))
    hidden = tape.record(HIDDEN, op.MatMul(), y, w, *bias(tape, B_M, own.b_M, w))
    active = tape.record(ACTIVATION, el.Activate(own.activation), hidden)
    return normalized(tape, active, own.norm, NORM) if own.norm else active


PART = Part(
    roles={
        roles.OUTPUT: (W_M, B_M, HIDDEN, ACTIVATION, *vars(SLOPES).values(), *vars(NORM).values())
    },
    norms=(NORM,),
    words=transformed,
    units=(ACTIVATION,),
    slopes={ACTIVATION: SLOPES},
    labels={ACTIVATION: "transform"},
)
