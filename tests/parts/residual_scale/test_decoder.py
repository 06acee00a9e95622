"""A factor of what each sub-layer adds: its key, refusals, and parts of a logit."""

from __future__ import annotations

from numpy.testing import assert_allclose

from tests.helpers.command import run
from tests.helpers.part_tests import refusals_of
from tests.helpers.scaled import SCALED
from tests.helpers.small_scenario import END, problems
from tests.helpers.strict_json import document
from tests.helpers.traces import traced
from tracer.scenario.loading import parse
from tracer.scenario.writer import written


def test_the_factor_is_written_as_it_was_typed() -> None:
    scenario = parse(SCALED, "f.yaml")
    assert parse(written(scenario), "f.yaml") == scenario
    assert "residual_scale: 0.25" in written(scenario)


test_the_factor_is_a_positive_number = refusals_of(
    "residual_scale: 0.5",
    SCALED,
    {
        "residual_scale: 0": "residual_scale: expected more than 0, got '0'",
        "residual_scale: -3": "residual_scale: expected more than 0, got '-3'",
        "residual_scale: high": "residual_scale: expected a number, such as ",
    },
)


def test_a_factor_of_nothing_that_is_added_is_refused() -> None:
    found = problems((END, f"{END}      residual: false\n      residual_scale: 2\n"))
    assert [each.partition("layer1.")[2] for each in found] == [
        "ffn.residual_scale: a factor of what is added, but residual is false"
    ]
    head = "{Q: [[1]], K: [[1]], V: [[1]]}"
    typed = f"layers: [{{attention: {{heads: [{head}], residual_scale: 2}}}}]\n"
    ran = run("run", "-", stdin=typed)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "residual_scale: typed queries, keys and values are computed from no vectors" in (
        ran.stderr
    )


def test_parts_of_a_logit_are_multiplied_and_divided_like_it() -> None:
    found = document("attribute", "logits[b,x]", "-s", "-", stdin=SCALED)
    parts = {part["address"]: float(part["value"]) for part in found["parts"]}
    ran = traced(SCALED)
    embedding, head = (ran[a].numbers.astype(float)[1] for a in ("embedding", HEAD))
    hidden = ran["layer2.ffn.activation"].numbers.astype(float)[1]
    assert_allclose(
        [parts[each] for each in ("embedding", HEAD, "layer2.ffn.activation", B_U)],
        [embedding[0] / 8, 0.5 * head[0] / 8, 0.25 * hidden[0] / 8, 0.5],
        rtol=1e-12,
    )
    both = document("attribute", "logits[b,x]", "--instead-of", "y", "-s", "-", stdin=SCALED)
    parts = {part["address"]: float(part["value"]) for part in both["parts"]}
    assert_allclose(parts["layer2.ffn.activation"], -0.25 * hidden[0] / 8, rtol=1e-12)
    assert_allclose(parts[B_U], 0.5, rtol=1e-12)
    given = document(
        "attribute",
        *("logits[b,x]", "-s", "-", "--given", "layer2.ffn.residual.scaled=[[1,2],[3,4]]"),
        stdin=SCALED,
    )
    parts = {part["address"]: float(part["value"]) for part in given["parts"]}
    assert_allclose(parts["layer2.ffn.residual.scaled"], 3 / 8, rtol=1e-12)


HEAD, B_U = "layer1.attention.head1.output", "unembedding.b_U"
