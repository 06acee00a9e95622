"""Experts: which tokens go where, what an expert without tokens is, and transformers' numbers."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tests.helpers.command import printed, run
from tests.helpers.part_tests import refusals_of
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.small_scenario import END, SMALL
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.training import TrainingOptions, train
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts.survey import survey
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer

EXPERT = "{W_1: [[1, 0], [0, 1]], W_2: [[1, 0], [0, 1]]}"
SCENARIO = f"""\
tokens: [a, b, c]
embeddings: {{a: [2, 0], b: [0, 1], c: [1, 1]}}
layers:
  - ffn:
      router: [[1, 0, -9], [0, 1, -9]]
      top: 1
      experts: [{EXPERT}, {EXPERT}, {EXPERT}]
vocabulary: [a, b]
unembedding: {{W_U: [[1, 0], [0, 1]]}}
targets: [a, b, a]
rounding: {{carry: never}}
"""
FFN = "layer1.ffn."


def tokens_of(text: str) -> list[tuple[str, ...]]:
    """The tokens of each expert."""
    values = traced(text).values
    return [values[f"{FFN}expert{number}.input"].axes[0].labels for number in (1, 2, 3)]


def test_of_equal_logits_the_first_expert_is_chosen() -> None:
    assert tokens_of(SCENARIO) == [("a", "c"), ("b",), ()]


def test_a_number_of_an_expert_without_tokens_is_refused() -> None:
    for command in ("value", "why"):
        refused = run(command, f"{FFN}expert3.hidden[c,1]", "-s", "-", stdin=SCENARIO)
        assert refused.exit_code == 2
        assert f"{FFN}expert3.hidden: no token 'c'; no token goes to this expert" in refused.stderr


def test_the_choice_is_made_before_rounding() -> None:
    """The logits of c are 1 and 1.04: with one decimal they print alike."""
    text = SCENARIO.replace("[0, 1, -9]", "[0, 1.04, -9]").replace("never", "step, decimals: 1")
    assert tokens_of(text) == [("a",), ("b", "c"), ()]


def test_an_expert_computes_only_its_tokens() -> None:
    values = traced(SCENARIO).values
    assert values[f"{FFN}expert1.hidden"].shape == (2, 2)
    assert values[f"{FFN}expert3.hidden"].shape == (0, 2)
    assert values[f"{FFN}output"].numbers.tolist() == [[2, 0], [0, 1], [1, 1]]


def test_given_weights_decide_which_experts_compute() -> None:
    given = f"given: {{{FFN}router.weights: [[0, 0, 2], [0, 1, 0], [1, 0, 0]]}}\n"
    assert tokens_of(SCENARIO + given) == [("c",), ("b",), ("a",)]
    values = traced(SCENARIO + given).values
    assert values[f"{FFN}output"].numbers.tolist() == [[4, 0], [0, 1], [1, 1]]


def test_a_value_of_an_expert_can_be_given() -> None:
    given = f"given: {{{FFN}expert1.output: [[5, 5], [7, 7]]}}\n"
    found = traced(SCENARIO + given).values[f"{FFN}output"]
    assert found.numbers.tolist() == [[5, 5], [0, 1], [7, 7]]
    refused = run("run", "-", stdin=SCENARIO + given.replace(", [7, 7]", ""))
    assert refused.exit_code == 2
    assert "given as 1×2 numbers, expected 2×2 numbers" in refused.stderr


def test_the_gradient_of_an_expert_without_tokens_is_0_and_weight_decay_still_acts() -> None:
    options = TrainingOptions(Optimizer.model_validate({"kind": "adamw", "weight_decay": "0.5"}), 1)
    first = train("t", parse(SCENARIO, "f.yaml"), options).steps[0]
    assert not first[f"gradient.{FFN}expert3.W_1"].array.any()
    new = first[f"update.{FFN}expert3.W_1"].array
    np.testing.assert_allclose(new, np.eye(2) * (1 - 0.5 * float(options.optimizer.learning_rate)))


def test_shapes_spread_tokens_evenly_and_count_what_acts_on_a_token() -> None:
    scenario = parse(SCENARIO, "f.yaml")
    found = trace("t", scenario, PassOptions(arithmetic=SHAPES)).values
    assert [found[f"{FFN}expert{number}.input"].shape for number in (1, 2, 3)] == [(1, 2)] * 3
    looked = survey("t", scenario)
    # The router has 6, each expert 8; of the experts two do nothing for a token.
    assert looked.parameters - looked.active == 2 * 8
    assert looked.parts["FFN"] == (6 + 3 * 8, 3 * 2 * 3 + 3 * (2 * 2 + 2 * 2))


def test_a_cache_routes_only_the_new_token() -> None:
    whole, cached = (
        printed("generate", "-", "--max-tokens", "3", *more, "--format", "json", stdin=SCENARIO)
        for more in ((), ("--kv-cache",))
    )
    assert re.findall('"text": .*', whole) == re.findall('"text": .*', cached)


MISFITS = {
    "router: [[1], [1]]": "layer1.ffn.router: 1 column, expected 2 (one per expert)",
    "router: [[1, 1]]": "layer1.ffn.router: 1 row, expected 2 (one per feature of the input)",
    "router: [[1, 1], [1, 1]], top: 3": "layer1.ffn.top: top 3, expected at most 2 (one per expert",
    "router: [[1, 1], [1, 1]], W_1: [[1]]": "layer1.ffn: W_1 beside experts, expected it in each",
    "top: 2": "layer1.ffn.router: missing, expected router: [[1, -1], [0, 1]]",
    "router: [[1, 1], [1, 1]], shared_gate: [[1], [1]]": (
        "layer1.ffn.shared_gate: there is no shared expert, expected shared"
    ),
    f"router: [[1, 1], [1, 1]], shared: {EXPERT}, shared_gate: [[1, 1], [1, 1]]": (
        "layer1.ffn.shared_gate: 2 columns, expected 1 (one number per token)"
    ),
    "router: [[1, 1], [1, 1]], shared: {W_1: [[1], [1]], W_2: [[1]]}": (
        "layer1.ffn.shared.W_2 row 1: 1 column, expected 2 (as many as in the first expert)"
    ),
    "router: [[1, 1], [1, 1]], shared: {W_1: [[1], [1]], residual: true}": (
        "layer1.ffn.shared.residual: not a key here, but of"
    ),
}


OWN = f"    ffn:\n      W_1: [[1], [2]]\n{END}"
EXPERTS = "experts: [{W_1: [[1], [2]], W_2: [[1, 2]]}, {W_1: [[1], [2]], W_2: [[1, 2]]}]"

test_what_does_not_fit = refusals_of(
    OWN, SMALL, {f"    ffn: {{{keys}, {EXPERTS}}}\n": told for keys, told in MISFITS.items()}
)


LORA = "W_1: {frozen: [[1, 0], [0, 1]], A: [[1], [2]], B: [[0.5, -1]], alpha: 2}"


def test_an_experts_weights_can_have_lora() -> None:
    """W_1 + 2 · A B has the rows (2, -2) and (2, -3)."""
    adapted = EXPERT.replace("W_1: [[1, 0], [0, 1]]", LORA)
    text = SCENARIO.replace(f"experts: [{EXPERT}", f"experts: [{adapted}")
    found = traced(text).values
    assert found[f"{FFN}expert1.hidden"].numbers.tolist() == [[4, -4], [4, -5]]
    found = trace("t", parse(text, "f.yaml"), PassOptions(loss=True, gradients=True)).values
    learned = {f"gradient.{FFN}expert1.W_1.{name}" for name in ("A", "B")}
    assert learned < set(found) and f"gradient.{FFN}expert1.W_1.frozen" not in found


# --- transformers --------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("top", [1, 2, 4])
def test_experts_are_those_of_qwen_3(normalize: bool, top: int) -> None:
    qwen = pytest.importorskip("transformers.models.qwen3_moe.modeling_qwen3_moe")
    routes = {"num_experts_per_tok": top, "norm_topk_prob": normalize}
    config = qwen.Qwen3MoeConfig(num_experts=4, **SIZES, **routes)
    is_computed_alike(qwen.Qwen3MoeSparseMoeBlock(config), {"top": top, "normalize": normalize})


def test_experts_are_those_of_mixtral() -> None:
    mixtral = pytest.importorskip("transformers.models.mixtral.modeling_mixtral")
    config = mixtral.MixtralConfig(num_local_experts=4, **{**SIZES, "intermediate_size": 5})
    is_computed_alike(mixtral.MixtralSparseMoeBlock(config), {})


def test_a_shared_expert_is_that_of_deepseek_2() -> None:
    deepseek = pytest.importorskip("transformers.models.deepseek_v2.modeling_deepseek_v2")
    routes = {"num_experts_per_tok": 3, "topk_method": "greedy", "routed_scaling_factor": 1.0}
    sizes = {**SIZES, "num_attention_heads": 1, "n_routed_experts": 4, "n_shared_experts": 2}
    config = deepseek.DeepseekV2Config(**sizes, **routes)
    is_computed_alike(deepseek.DeepseekV2Moe(config), {"top": 3, "normalize": False})


def test_a_gate_of_a_shared_expert_is_that_of_qwen_2() -> None:
    qwen = pytest.importorskip("transformers.models.qwen2_moe.modeling_qwen2_moe")
    sizes = {**SIZES, "num_experts": 4, "shared_expert_intermediate_size": 7}
    config = qwen.Qwen2MoeConfig(**sizes, num_experts_per_tok=3)
    is_computed_alike(qwen.Qwen2MoeSparseMoeBlock(config), {"top": 3, "normalize": False})


SIZES = {"hidden_size": 6, "moe_intermediate_size": 5, "experts_implementation": "eager"}


def is_computed_alike(block: Any, settings: dict[str, Any]) -> None:
    """A scenario with the weights of a block has its output; its softmax is in float32."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    block = block.to(torch.float64)
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter)
    x = torch.randn(1, 7, 6, dtype=torch.float64)
    both = zip(block.experts.gate_up_proj, block.experts.down_proj, strict=True)
    experts = [network(gate_up[:5], gate_up[5:], down) for gate_up, down in both]
    ffn = {"router": rows(block.gate.weight.T), "experts": experts, **settings}
    if gate := getattr(block, "shared_expert_gate", None):
        ffn["shared_gate"] = rows(gate.weight.T)
    if shared := getattr(block, "shared_experts", getattr(block, "shared_expert", None)):
        gate, up, down = shared.gate_proj, shared.up_proj, shared.down_proj
        ffn["shared"] = network(gate.weight, up.weight, down.weight)
    spec = {
        "tokens": list("abcdefg"),
        "embeddings": rows(x[0]),
        "layers": [{"ffn": ffn}],
        **{"rounding": {"carry": "never"}, "arithmetic": "float64"},
    }
    found = traced(to_yaml(spec)).values[f"{FFN}output"].array
    np.testing.assert_allclose(found, block(x)[0].detach().numpy(), rtol=1e-5, atol=1e-5)


def network(gate: Any, up: Any, down: Any) -> dict[str, Any]:
    weights = {"W_1": rows(gate.T), "W_3": rows(up.T), "W_2": rows(down.T)}
    return {**weights, "activation": "silu"}


def rows(tensor: Any) -> list[list[Decimal]]:
    return [[Decimal(repr(number)) for number in row] for row in tensor.tolist()]
