"""What a config.json says, in its older and newer forms."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.tiny_checkpoints import config
from tracer.checkpoints.architecture import RotaryPositions
from tracer.checkpoints.hugging_face import architecture_of
from tracer.errors import TracerError

OF_FOUR = ("gpt2", "llama", "mistral", "qwen2")


def read(family: str, **values: Any) -> Any:
    said = config(family) | values
    return architecture_of({k: v for k, v in said.items() if v != "missing"}, "config.json")


def test_what_is_not_said_is_as_it_was_when_it_was_not_said() -> None:
    plain = read("gpt2", n_inner="missing", layer_norm_epsilon="missing")
    assert (plain.hidden, plain.epsilon, plain.activation) == (128, 1e-5, "gelu_tanh")
    plain = read("llama", num_key_value_heads="missing", rope_theta="missing")
    assert (plain.key_heads, plain.rotary.base, plain.d_k) == (4, 10000.0, 8)


def test_a_window_is_mistrals() -> None:
    assert read("mistral", sliding_window=7).window == 7
    assert read("mistral", sliding_window=None).window is None
    assert read("mistral").window == 4096
    assert read("llama", sliding_window=None).window is None
    assert (
        read("qwen2", max_window_layers=1, sliding_window=7, use_sliding_window=False).window
        is None
    )


def test_a_window_of_qwen2_counts_if_all_layers_have_it() -> None:
    used = {"use_sliding_window": True, "sliding_window": 7}
    assert read("qwen2", **used, max_window_layers=0).window == 7
    assert read("qwen2", **used, max_window_layers=2).window is None
    assert read("qwen2", **used).window is None
    assert read("qwen2", **used | {"sliding_window": None}, max_window_layers=0).window is None
    assert read("qwen2", use_sliding_window=True, max_window_layers=0).window == 4096


def test_a_key_may_have_another_name() -> None:
    same = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    assert read("gpt2", **same) == read("gpt2")
    alone = dict.fromkeys(("n_embd", "n_layer", "n_head"), "missing")
    assert read("gpt2", **same, **alone) == read("gpt2")
    with pytest.raises(TracerError, match=r"hidden_size: got 64, .* another name of n_embd"):
        read("gpt2", hidden_size=64)


def test_a_key_of_training_or_generation_changes_nothing() -> None:
    """Names that writers of the last years used, beside those of today's transformers."""
    names = """attn_dropout_prob hidden_dropout_prob ffn_dropout eos_token_ids xla_device
        output_past mask_token_id _attn_implementation_internal custom_pipelines base_model_tp_plan
        base_model_ep_plan router_z_loss_coef moe_aux_loss_coeff init_method_std unsloth_version
        use_flash_attention_2 penalty_alpha max_new_tokens quantization_dtype"""
    for family in OF_FOUR:
        assert read(family, **dict.fromkeys(names.split(), "x")) == read(family)


@pytest.mark.parametrize(("key", "nothing", "something"), [
    ("some_other_key", [None], [0, False, ""]),
    ("num_nextn_predict_layers", [None, 0], [1]),
    ("qk_layernorm", [None, False], [True]),
    ("rotary_pct", [None, 1, 1.0], [0.5, True]),
    ("embedding_multiplier", [None, 1.0], [12.0]),
    ("lm_head_bias", [None, False], [True]),
    ("activation", [None, "silu", "swish"], ["gelu", "relu2", True]),
])  # fmt: skip
def test_a_key_may_have_a_value_that_changes_nothing(
    key: str, nothing: list[Any], something: list[Any]
) -> None:
    for value in nothing:
        assert read("llama", **{key: value}) == read("llama")
    for value in something:
        with pytest.raises(TracerError, match=f"{key}: got "):
            read("llama", **{key: value})


def test_a_key_may_repeat_a_size() -> None:
    assert read("gpt2", num_key_value_heads=4) == read("gpt2")
    assert read("llama", rotary_dim=8) == read("llama")
    for family, key in (("gpt2", "num_key_value_heads"), ("llama", "rotary_dim")):
        with pytest.raises(TracerError, match=f"{key}: got 2, "):
            read(family, **{key: 2})


def test_a_context_may_be_missing_where_it_is_not_read() -> None:
    assert read("llama", max_position_embeddings="missing").rotary == read("llama").rotary
    with pytest.raises(TracerError, match="n_positions: missing"):
        read("gpt2", n_positions="missing")


def test_a_gated_silu_has_a_name_of_its_own() -> None:
    assert read("llama", activation="swiglu") == read("llama")
    with pytest.raises(TracerError, match="activation: got 'swiglu', supported are gelu"):
        read("llama", hidden_act="gelu", activation="swiglu")


def test_the_kinds_of_layers_are_those_of_the_window() -> None:
    sliding = {"sliding_window": 7, "head_dim": 8, "layer_types": ["sliding_attention"] * 2}
    assert read("mistral", **sliding).window == 7
    assert read("mistral", **sliding | {"layer_types": None}).window == 7
    full = read("llama", layer_types=["full_attention"] * 2)
    assert full == read("llama", layer_types=None) == read("llama")


@pytest.mark.parametrize(("name", "activation"), [
    ("gelu", "gelu"), ("gelu_python", "gelu"), ("gelu_new", "gelu_tanh"),
    ("gelu_pytorch_tanh", "gelu_tanh"), ("gelu_fast", "gelu_tanh"), ("relu", "relu"),
    ("silu", "silu"), ("swish", "silu"), ("relu2", "relu_squared"),
])  # fmt: skip
def test_activations_have_several_names(name: str, activation: str) -> None:
    assert read("gpt2", activation_function=name).activation == activation
    assert read("llama", hidden_act=name).activation == activation


@pytest.mark.parametrize("said", [
    {"rope_theta": 300.0},
    {"rope_theta": 300, "rope_scaling": None},
    {"rope_theta": "missing", "rope_parameters": {"rope_theta": 300.0, "rope_type": "default"}},
    {"rope_theta": 300.0, "rope_parameters": None},
    {"rope_theta": 300.0, "rope_parameters": {"rope_type": "default"}},
    {"rope_theta": 7.0, "rope_parameters": {"rope_theta": 300.0}},
    {"rope_theta": 7.0, "rope_scaling": {"rope_theta": 300.0}},
    {"rope_theta": 300.0, "rope_parameters": {"rope_theta": 7.0},
     "rope_scaling": {"type": "default"}},
])  # fmt: skip
def test_the_base_stands_in_either_place(said: dict[str, Any]) -> None:
    assert read("llama", **said).rotary == RotaryPositions(300.0, "halves", None)


@pytest.mark.parametrize(("said", "read_as"), [
    ({"type": "linear", "factor": 4}, {"kind": "linear", "factor": 4.0}),
    ({"rope_type": "dynamic", "factor": 2.0},
     {"kind": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16.0}),
    ({"rope_type": "yarn", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 1.0},
     {"kind": "yarn", "factor": 4.0, "original_max_position_embeddings": 16.0,
      "attention_factor": 1.0, "truncate": True}),
    ({"rope_type": "longrope", "short_factor": [1, 2.0], "long_factor": [4, 8], "factor": None,
      "original_max_position_embeddings": 4.0, "attention_factor": None},
     {"kind": "longrope", "factor": 4.0, "original_max_position_embeddings": 4.0,
      "short_factor": (1.0, 2.0), "long_factor": (4.0, 8.0)}),
    ({"factor": 2.0}, None),
])  # fmt: skip
def test_a_scaling_stands_in_either_place(said: dict[str, Any], read_as: dict[str, Any]) -> None:
    sizes = {"max_position_embeddings": 16, "head_dim": 4}
    for key in ("rope_scaling", "rope_parameters"):
        assert read("llama", **{key: said}, **sizes).rotary.scaling == read_as


@pytest.mark.parametrize(("family", "said", "told"), [
    ("llama", {"hidden_size": "missing"},
     "hidden_size: missing, expected a whole number from 1 to 2147483648"),
    ("llama", {"hidden_size": True}, "hidden_size: got true, expected a whole number"),
    ("llama", {"num_attention_heads": 0}, "num_attention_heads: got 0, expected a whole number"),
    ("llama", {"rms_norm_eps": float("nan")}, "rms_norm_eps: got nan, expected a positive number"),
    ("llama", {"hidden_act": "mish"}, "hidden_act: got 'mish', supported are gelu, gelu_python"),
    ("llama", {"hidden_act": ["silu"]}, "hidden_act: got ['silu'], supported are"),
    ("llama", {"tie_word_embeddings": "no"}, "tie_word_embeddings: got 'no', expected true or"),
    ("mistral", {"mlp_bias": True}, "mlp_bias: got true, supported is false"),
    ("llama", {"rope_scaling": [1]}, "rope_scaling: got [1], expected a mapping"),
    ("llama", {"rope_scaling": {"rope_type": "su"}},
     "rope_scaling.rope_type: got 'su', supported are default, linear, llama3"),
    ("llama", {"rope_scaling": {"rope_type": "yarn"}}, "rope_scaling.factor: missing, expected"),
    ("llama", {"rope_scaling": {"type": "longrope", "short_factor": [0], "long_factor": [1]}},
     "rope_scaling.short_factor: expected a list of positive numbers"),
    ("phi3", {"rope_scaling": {"type": "su", "short_factor": [1], "long_factor": [1]}},
     "rope_scaling.original_max_position_embeddings: missing, expected a number: with su"),
    ("llama", {"rope_parameters": {"partial_rotary_factor": 0.5}},
     "rope_parameters.partial_rotary_factor: got 0.5, supported is 1.0"),
    ("llama", {"rope_scaling": {"type": "linear"}}, "rope_scaling.factor: missing, expected a"),
    ("llama", {"rope_scaling": {"mrope_section": [1]}}, "rope_scaling.mrope_section: got [1]"),
    ("llama", {"rope_theta": 10**400}, "rope_theta: got 1"),
    ("llama", {"tie_word_embeddings": None}, "tie_word_embeddings: got null, expected true or"),
    ("llama", {"sliding_window": 7}, "sliding_window: got 7, supported is null"),
    ("qwen2", {"use_sliding_window": False, "layer_types": ["sliding_attention"] * 2},
     "layer_types: got"),
    ("mistral", {"sliding_window": None, "head_dim": 8, "layer_types": ["full_attention"] * 2},
     "sliding_window: got null, expected a whole number: with layer_types, transformers loads a"),
    ("mistral", {"sliding_window": None, "head_dim": 8, "layer_types": None},
     "sliding_window: got null, expected a whole number: with layer_types, transformers loads a"),
    ("mistral", {"sliding_window": 7, "layer_types": ["sliding_attention"] * 2},
     "head_dim: missing, expected a whole number: with layer_types, transformers loads a"),
    ("mistral", {"num_key_value_heads": None},
     "num_key_value_heads: got null, expected a whole number: transformers raises an error for"),
    ("qwen2", {"head_dim": None}, "head_dim: got null, expected a whole number: transformers"),
    ("llama", {"mlp_bias": None}, "mlp_bias: got null, expected true or false"),
    ("llama", {"mlp_bias": 0}, "mlp_bias: got 0, expected true or false"),
    ("mistral", {"mlp_bias": None}, "mlp_bias: got null, supported is false"),
    ("mistral", {"mlp_bias": 0}, "mlp_bias: got 0, supported is false"),
    ("llama", {"rope_parameters": False}, "rope_parameters: got false, expected a mapping"),
    ("llama", {"hidden_size": 34, "head_dim": 8},
     "hidden_size: got 34, expected a multiple of the 4 heads"),
    ("gpt2", {"n_embd": 34}, "n_embd: got 34, expected a multiple of the 4 heads"),
    ("mistral", {"attention_bias": True}, "attention_bias: got true, supported is false"),
    ("mistral", {"sliding_window": 0}, "sliding_window: got 0, expected a whole number from 1"),
    ("gpt2", {"hidden_size": 16},
     "hidden_size: got 16, supported is 32: it is another name of n_embd"),
])  # fmt: skip
def test_what_is_wrong_is_told(family: str, said: dict[str, Any], told: str) -> None:
    with pytest.raises(TracerError) as caught:
        read(family, **said)
    assert str(caught.value).startswith(f"config.json: {told}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("family", OF_FOUR)
@pytest.mark.parametrize(("key", "value", "told"), [
    ("is_causal", False, "supported is true: without a causal mask, tokens attend to later tokens"),
    ("is_causal", None, "supported is true: without a causal mask, tokens attend to later tokens"),
    ("is_causal", 1, "supported is true: without a causal mask, tokens attend to later tokens"),
    ("return_dict", False, "supported is true: with false, transformers raises an error"),
    ("use_return_dict", True, "this key is unknown and may change the result"),
    ("quantization_config", {"quant_method": "gptq"},
     "supported is null: the weights are stored as codes"),
    ("logit_scale", 2.0, "not supported: it belongs to a scale of the logits"),
    ("num_local_experts", 4, "not supported: it belongs to a mixture of experts"),
    ("attn_logit_softcapping", 50.0, "not supported: it belongs to soft caps"),
    ("per_layer_config", {"0": {"sliding_window": 2}},
     "not supported: it belongs to settings of single layers"),
    ("some_other_key", 0, "this key is unknown and may change the result"),
])  # fmt: skip
def test_a_key_that_changes_something_is_refused(
    family: str, key: str, value: Any, told: str
) -> None:
    with pytest.raises(TracerError) as caught:
        read(family, **{key: value})
    assert str(caught.value).startswith(f"config.json: {key}: got ")
    assert str(caught.value).endswith(told)


@pytest.mark.parametrize("family", OF_FOUR)
def test_what_changes_nothing_may_be_there(family: str) -> None:
    harmless = {"torch_dtype": "float16", "use_cache": True, "temperature": 2.0, "is_causal": True}
    harmless |= {"num_local_experts": None, "num_experts": 0, "per_layer_config": {}}
    assert read(family, **harmless, quantization_config=None) == read(family)


def test_how_many_heads_have_keys_may_be_unsaid() -> None:
    unsaid = {each: read(each, num_key_value_heads="missing").key_heads for each in OF_FOUR}
    assert unsaid == {"gpt2": 4, "llama": 4, "mistral": 8, "qwen2": 32}
    assert read("qwen2", num_key_value_heads=None).key_heads == 4


def test_biases_are_those_that_are_said() -> None:
    said = {each: read(each).biases for each in OF_FOUR}
    assert said == {"gpt2": "QKVOF", "llama": "", "mistral": "", "qwen2": "QKV"}
    assert read("llama", attention_bias=True).biases == "QKVO"
    assert read("llama", attention_bias=True, mlp_bias=True).biases == "QKVOF"


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(TracerError) as caught:
        read("llama", hidden_size=-1, vocab_size="many", rope_scaling={"type": "linear"})
    wrong = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert wrong == ["hidden_size", "vocab_size", "rope_scaling.factor"]
