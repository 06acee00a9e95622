"""Rotary positions of single layers: angles, a cache, equal layers, texts, what is refused."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.part_tests import cached_generations
from tests.helpers.traces import traced

HEAD = "heads: [{W_Q: [[1, 0.2, 0, 2], [0.3, 1, 1, 0]], W_K: {random: {seed: 2}}, W_V: identity}]"
START = """\
tokens: [a, b, c, d]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [0.25, 2], d: [1, 1]}
vocabulary: [a, b, c, d]
unembedding: tied
rounding: {carry: never}
positions: {rotary: {base: 100, layout: halves}}
"""


def layers(*settings: str, start: str = START) -> str:
    """A layer for each of the settings; "" is the scenario's."""
    own = [f"rotary: {each}, " if each else "" for each in settings]
    return start + "layers:\n" + "".join(f"- {{attention: {{{each}{HEAD}}}}}\n" for each in own)


def test_equal_settings_are_recorded_once() -> None:
    found = traced(layers("{base: 9}", "", "{base: 9}", "{base: 100}", "{base: 5}"))
    angles = [address for address in found.values if address.endswith("position.angle")]
    assert angles == ["position.angle", "rotary2.position.angle", "rotary3.position.angle"]


def test_settings_that_no_layer_has_are_not_recorded() -> None:
    found = traced(layers("{base: 9}", "none"))
    assert [a for a in found.values if a.endswith("angle")] == ["position.angle"]
    assert not [a for a in traced(layers("none")).values if a.endswith("angle")]


def test_given_angles_are_those_of_the_layers_that_share_them() -> None:
    given = "given: {rotary2.position.angle: [[0, 0], [0, 0], [0, 0], [0, 0]]}\n"
    found = traced(layers("{base: 9}", "", "{base: 9}", start=START + given))
    for layer, is_rotated in ((1, False), (2, True), (3, False)):
        at = f"layer{layer}.attention.head1."
        same = (found[f"{at}query"].array == found[f"{at}rotated_query"].array).all()
        assert same != is_rotated


def test_an_encoder_has_layers_with_their_own_angles() -> None:
    encoder = layers("", "{base: 9}", "none").replace("\n", "\n  ").replace("a:", "x:")
    kept = re.sub(r"  (vocabulary|unembedding|rounding).*\n", "", encoder)
    crossed = layers("").replace("- {attention", "- {cross_attention")
    text = f"{crossed}encoder:\n  {kept}".replace("tokens: [a, b, c, d]\n  ", "tokens: [x, b]\n  ")
    found = traced(text.replace("positions: {rotary: {base: 100, layout: halves}}\n", "", 1))
    angles = [address for address in found.values if address.endswith("position.angle")]
    assert angles == ["encoder.position.angle", "encoder.rotary2.position.angle"]


test_a_cache_changes_no_number = cached_generations(
    {"layers": layers("", "{base: 9}", "none")}, ("a", "b")
)


def test_equal_layers_are_drawn_once_and_others_apart() -> None:
    settings = ("", *["{base: 9}"] * 3, "none", "{factors: [1, 4]}", "{factors: [1, 5]}")
    for command in ("run", "shapes"):
        text = printed(command, "-", stdin=layers(*settings))
        drawn = re.findall(r"^  (layer \d|× \d: .* alike)", text, re.MULTILINE)
        apart = ["layer 7", "layer 6", "layer 5"]
        assert drawn == [*apart, "× 3: layers 3–4 alike", "layer 2", "layer 1"]
        assert "turn Q by θ₂" in text and "θ₂ turns Q, K" in text


def test_nothing_rotated_is_no_positions() -> None:
    assert "There are no positions here" in printed("run", "-", stdin=layers("none"))


WITHOUT = START.replace("positions: ", "#")
FACTORS = START.replace("base: 100", "factors: [1, 2]")
AT = "layer1.attention.rotary"


@pytest.mark.parametrize(("settings", "start", "message"), [
    ("{base: 9}", WITHOUT, f"{AT}: there are no rotary positions to change"),
    ("none", WITHOUT, f"{AT}: there are no rotary positions to change"),
    ("always", START, f"{AT}: expected none or settings: {{base: 10000}}"),
    ("{start: 1}", START, f"{AT}.start: "),
    ("{share: 0.75}", START, "4 columns, of which 3 are rotated, expected an even number of them"),
    ("{factors: [1]}", START, f"{AT}.factors: 1 number, expected 2 (one per pair"),
    ("{share: 0.5}", FACTORS, f"{AT}: another share with the factors of positions.rotary"),
    ("{share: 0.5, factors: [1, 2]}", START, f"{AT}.factors: 2 numbers, expected 1"),
])  # fmt: skip
def test_what_does_not_fit(settings: str, start: str, message: str) -> None:
    ran = run("run", "-", stdin=layers(settings, start=start))
    assert ran.exit_code == 2
    assert message in ran.stderr


def test_cross_attention_has_no_rotary_positions() -> None:
    encoder = "encoder: {tokens: [x], vectors: [[1, 0]]}\n"
    crossed = layers("none", start=START + encoder).replace("- {attention", "- {cross_attention")
    ran = run("run", "-", stdin=crossed)
    assert ran.exit_code == 2
    assert "layer1.cross_attention.rotary: cross-attention has no rotary positions" in ran.stderr


def test_layers_without_rotation_need_no_pairs() -> None:
    odd = layers("none").replace("W_Q: [[1, 0.2, 0, 2], [0.3, 1, 1, 0]]", "W_Q: [[1], [0.3]]")
    assert run("run", "-", stdin=odd).exit_code == 0


def test_sliding_and_full_layers_are_rotated_as_those_of_gemma_3() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    gemma = pytest.importorskip("transformers.models.gemma3.modeling_gemma3")
    kinds = {"sliding_attention": 10000.0, "full_attention": 1000000.0}
    config = gemma.Gemma3TextConfig(
        head_dim=4,
        num_hidden_layers=2,
        layer_types=list(kinds),
        rope_parameters={k: {"rope_type": "default", "rope_theta": b} for k, b in kinds.items()},
    )
    found = traced(layers("", "{base: 1000000}").replace("base: 100,", "base: 10000,"))
    rotary = gemma.Gemma3RotaryEmbedding(config)
    for layer, kind in enumerate(kinds, 1):
        at = f"layer{layer}.attention.head1."
        names = ("query", "key", "rotated_query", "rotated_key")
        q, k, *turned = (
            torch.tensor(found[f"{at}{name}"].array.astype(float))[None, None] for name in names
        )
        expected = gemma.apply_rotary_pos_emb(q, k, *rotary(q, torch.arange(4)[None], kind))
        for ours, theirs in zip(turned, expected, strict=True):
            assert_allclose(ours, theirs, atol=1e-6)  # it computes the angles in float32


def test_a_model_with_layers_without_positions_is_smollm3() -> None:
    """Every third layer rotates nothing and has a window."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    smollm3 = pytest.importorskip("transformers.models.smollm3.modeling_smollm3")
    torch.manual_seed(1)
    config = smollm3.SmolLM3Config(
        **{"vocab_size": 5, "hidden_size": 8, "intermediate_size": 6, "num_hidden_layers": 3},
        **{"num_attention_heads": 2, "num_key_value_heads": 1, "initializer_range": 0.6},
        **{"no_rope_layer_interval": 3, "use_sliding_window": True, "sliding_window": 2},
        **{"attn_implementation": "eager", "pad_token_id": None, "bos_token_id": None},
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    )
    model = smollm3.SmolLM3ForCausalLM(config).double().eval()
    found = traced(json.dumps(_of_smollm3(model, config)))
    with torch.no_grad():
        logits = model(torch.arange(5)[None]).logits[0]
    assert np.ptp(logits.numpy()) > 1
    assert_allclose(found["logits"].array.astype(float), logits, atol=1e-4)  # parts are float32


def _of_smollm3(model: Any, config: Any) -> dict[str, Any]:
    """The scenario of a small model."""
    weights = {name: each.tolist() for name, each in model.state_dict().items()}
    words = [f"t{i}" for i in range(5)]
    spec: dict[str, Any] = {
        "tokens": words,
        "vocabulary": words,
        "arithmetic": "float64",
        "rounding": {"carry": "never"},
        "embeddings": dict(zip(words, weights["model.embed_tokens.weight"], strict=True)),
        "unembedding": "tied",
        "positions": {"rotary": {"base": 100, "layout": "halves"}},
        "final_norm": _norm(weights["model.norm.weight"]),
        "layers": [],
    }
    for i, kind in enumerate(config.layer_types):
        of = {
            n.removeprefix(f"model.layers.{i}."): {"transposed": w}
            for n, w in weights.items()
            if n.startswith(f"model.layers.{i}.") and "norm" not in n
        }
        queries = of["self_attn.q_proj.weight"]["transposed"]
        first = {"W_K": of["self_attn.k_proj.weight"], "W_V": of["self_attn.v_proj.weight"]}
        heads = [
            {
                "W_Q": {"transposed": queries[4 * h : 4 * h + 4]},
                **(first if h == 0 else {"shares": 1}),
            }
            for h in range(2)
        ]
        own: dict[str, Any] = {"mask": {"window": 2}} if kind == "sliding_attention" else {}
        own |= {} if config.no_rope_layers[i] else {"rotary": "none"}
        norms = [
            weights[f"model.layers.{i}.{name}_layernorm.weight"]
            for name in ("input", "post_attention")
        ]
        spec["layers"].append(
            {
                "attention": {
                    **own,
                    "heads": heads,
                    "W_O": of["self_attn.o_proj.weight"],
                    "norm": {**_norm(norms[0]), "placement": "pre"},
                },
                "ffn": {
                    "W_1": of["mlp.gate_proj.weight"],
                    "W_3": of["mlp.up_proj.weight"],
                    "W_2": of["mlp.down_proj.weight"],
                    "activation": "silu",
                    "norm": {**_norm(norms[1]), "placement": "pre"},
                },
            }
        )
    return spec


def _norm(gain: list[float]) -> dict[str, Any]:
    return {"kind": "rms_norm", "epsilon": "1e-6", "gain": gain}


def test_given_position_vectors_are_added_beside_the_rotation() -> None:
    given = layers("") + "given: {position: [[1, 1], [0, 2], [1, 0], [0, 0]]}\n"
    found = traced(given)
    assert found["input"].array.astype(float).tolist() == [[1.5, 0], [1, 2.5], [1.25, 2], [1, 1]]
    rotated, query = (
        found[f"layer1.attention.head1.{name}"] for name in ("rotated_query", "query")
    )
    assert (rotated.array != query.array).any()
