"""The texts of relative biases: every command, attributions, a page, programs, a captured model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.part_tests import CARRIES, in_carry, joined, page_edits, programs, texts
from tests.helpers.traces import traced
from tests.helpers.truth import false_equations
from tests.lesson.test_every_claim import wrong
from tests.parts.relative_bias.test_decoder import BIASED

HEAD = "layer1.attention.head1"
SEES_LATER = f"{BIASED}mask: none\n"
IN_MODES = {"line": BIASED, "step": SEES_LATER, "never": BIASED}


test_every_text_is_written = texts(
    {"causal": BIASED},
    "tutorial - --format markdown",
    "lens -",
    "steps - --names",
    "value position.bias[1,1] -s -",
    f"attribute {HEAD}.scores[b,a] -s -",
)


@pytest.mark.parametrize("carry", CARRIES)
def test_every_line_and_every_sentence_is_true(carry: str) -> None:
    stdin = in_carry(carry, IN_MODES[carry])
    shown = printed("run", "-", "--detail", "full", stdin=stdin)
    assert "S_B¹" in shown
    assert false_equations(shown) == []
    command = "train" if carry == "never" else "run"
    spec = json.loads(json.dumps(yaml.safe_load(stdin)))  # layers that are not the same object
    assert wrong(command, spec, stdin=stdin) == []


def test_a_bucket_is_the_whole_part_of_a_logarithm() -> None:
    """With a calculator: 2 + 2 ln(3 / 2) / ln(8 / 2) = 2.585, so that −3 is in bucket 2."""
    shown = joined(printed("step", "position.bias", "-s", "-", stdin=BIASED))
    assert "The bucket of a larger distance d is the whole part of ℓ" in shown
    assert "bucket offsets 0 0 1 −1 2 −2, −3 3 −4" in shown
    logarithms = traced(BIASED)["position.logarithmic"].array
    assert_allclose(logarithms, [2, 2.5849625, 3], atol=1e-7)


def test_a_score_comes_from_a_product_and_an_entry_of_the_table() -> None:
    """By hand: (1, 0.5) W_Q = (1.15, 0.7), (0.5, -1) W_K = (0.15, -1.1): 0.1725 - 0.77 + 0.25."""
    shown = printed("why", f"{HEAD}.scores_and_bias[b,a]", "-s", "-", stdin=BIASED)
    assert "b, a: -0.598 + 0.25 = -0.348" in shown
    assert "bucket 1    0.25" in shown and "bucket 2" not in shown


def test_a_logit_is_the_sum_of_its_parts() -> None:
    """A bias changes weights alone, so that it is no part of its own."""
    found = printed("attribute", "logits[b,a]", "-s", "-", stdin=BIASED)
    assert "Relative bias" not in found and "layer 2, head 1" in found
    (total,) = {line for line in found.splitlines() if line.startswith("    S = ")}
    parts, _, of = total.removeprefix("    S = ").rpartition(" = ")
    assert abs(sum(map(float, parts.split(" + "))) - float(of)) < 1e-9
    assert f"{traced(BIASED)['logits'].array[1, 0]:.3f}" == of


def test_a_biased_score_has_no_parts() -> None:
    ran = run("attribute", f"{HEAD}.scores_and_bias[b,a]", "-s", "-", stdin=BIASED)
    assert ran.exit_code == 2 and "this value is not a sum of parts" in joined(ran.stderr)


test_edits_of_a_page = page_edits({carry: in_carry(carry, IN_MODES[carry]) for carry in CARRIES})
test_programs_compute_the_numbers = programs({"causal": BIASED, "no mask": SEES_LATER})


def test_a_page_has_the_biases(tmp_path: Path) -> None:
    printed("page", "-", "--output", str(tmp_path / "page.html"), stdin=BIASED)
    assert "by offset" in (tmp_path / "page.html").read_text(encoding="utf-8")


# --- models of PyTorch ---------------------------------------------------------------------------

SIZES = {"d_model": 4, "d_kv": 2, "num_heads": 2, "d_ff": 3, "num_layers": 2, "vocab_size": 6}


def t5() -> Any:
    """A small encoder of T5 with random weights."""
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers", exc_type=ImportError)
    torch.manual_seed(1)
    of_biases = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 6}
    config = transformers.T5Config(**SIZES, **of_biases, dropout_rate=0.0)
    model = transformers.T5EncoderModel(config).double().eval()
    for parameter in model.parameters():
        parameter.data.normal_(std=0.7)
    return model


def as_scenario(model: Any, ids: list[int]) -> str:
    """The model as a scenario, each weight by its name in transformers."""
    stored = {name: each.detach().numpy() for name, each in model.state_dict().items()}

    def rows(name: str) -> list[list[str]]:
        return [[repr(float(number)) for number in row] for row in stored[name].T]

    def norm(name: str) -> dict[str, Any]:
        return {"kind": "rms_norm", "epsilon": "0.000001", "gain": [*map(float, stored[name])]}

    layers = []
    for number in range(SIZES["num_layers"]):
        at, ffn = (f"encoder.block.{number}.layer.{i}." for i in (0, 1))
        q, k, v = (rows(f"{at}SelfAttention.{letter}.weight") for letter in "qkv")
        columns = (slice(0, 2), slice(2, 4))
        heads = [
            {
                name: [row[own] for row in rows_]
                for name, rows_ in (("W_Q", q), ("W_K", k), ("W_V", v))
            }
            for own in columns
        ]
        of_attention = {"scale": "none", "heads": heads, "W_O": rows(f"{at}SelfAttention.o.weight")}
        of_ffn = {
            f"W_{i}": rows(f"{ffn}DenseReluDense.w{x}.weight") for i, x in ((1, "i"), (2, "o"))
        }
        pre = {"placement": "pre"}
        layers.append({
            "attention": of_attention | {"norm": pre | norm(f"{at}layer_norm.weight")},
            "ffn": of_ffn | {"norm": pre | norm(f"{ffn}layer_norm.weight")},
        })  # fmt: skip
    table = stored["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"].tolist()
    spec = {
        "tokens": [str(each) for each in ids],
        "embeddings": stored["shared.weight"][ids].tolist(),
        "positions": {"relative_bias": {"table": table, "max_distance": 6}},
        **{"mask": "none", "layers": layers, "arithmetic": "float64"},
        "final_norm": norm("encoder.final_layer_norm.weight"),
        "rounding": {"carry": "never"},
    }
    return yaml.safe_dump(spec)


IDS = [3, 1, 4, 1, 5, 0, 2, 4, 4]


def test_an_encoder_is_that_of_t5(tmp_path: Path) -> None:
    """Also as it is captured: the first layer's scores, and what each sub-layer adds."""
    model = t5()
    from tracer.pytorch.capture import capture

    text = as_scenario(model, IDS)
    found = traced(text)
    torch: Any = pytest.importorskip("torch")

    with torch.no_grad():
        expected = model(torch.tensor([IDS])).last_hidden_state[0].numpy()
    assert_allclose(found["final_norm"].array, expected, rtol=1e-9, atol=1e-9)
    names = {
        "encoder.block.*.layer.0.SelfAttention.o": "layer*.attention.output",
        "encoder.block.*.layer.1.DenseReluDense.wo": "layer*.ffn.output",
        "encoder.final_layer_norm": "final_norm",
    }
    file, dump = tmp_path / "t5.yaml", tmp_path / "t5.npz"
    captured = capture(model, IDS, dump, names=names)
    assert len(captured) == 5
    assert np.asarray(captured["layer2.attention.output"]).shape == (len(IDS), 4)
    file.write_text(text, encoding="utf-8")
    report = joined(printed("check", str(file), "--against", str(dump)))
    assert "5 values of “t5.npz” compared with the scenario: all agree." in report
