"""The texts of quantized weights: worked lines, ties, sizes, pages, programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers import tiny_models
from tests.helpers.command import printed, run
from tests.helpers.every_part import ADAPTED
from tests.helpers.part_tests import CARRIES, in_carry, page_edits, programs, texts
from tests.helpers.traces import traced
from tests.helpers.truth import false_equations, needless_equations
from tracer.library import load, trace

EVERY_KIND = """\
title: Quantized weights
tokens: [a, b, c]
embeddings: {a: [1, 0.5], b: [-0.5, 2], c: [0.3, -1]}
layers:
  - attention:
      heads:
        - W_Q: {quantized: {bits: 4}, of: [[1, 0.5], [0.5, -0.9]]}
          W_K: {quantized: {bits: 8, group: row, zero_point: true}, of: [[1, 0.2], [0.4, -1]]}
          W_V: {quantized: {kind: mxfp4}, of: [[1.3, 0.2], [0.4, -1]]}
      W_O: {quantized: {group: column}, of: [[1, 0.2], [0.4, -1]]}
    ffn:
      W_1: {quantized: {bits: 4, zero_point: true}, of: [[1, 0.2, 0.6], [0.4, -1, 0]]}
      W_2: {quantized: {bits: 4, group: 3}, of: [[1, 0], [0.25, 0], [-0.4, 0]]}
vocabulary: [a, b]
unembedding: {W_U: {quantized: {bits: 4, group: 2}, of: [[1, 0.3], [0.2, 1]]}}
targets: [b, a, b]
"""


@pytest.mark.parametrize("carry", CARRIES)
def test_every_line_is_true(carry: str) -> None:
    shown = printed("run", "-", "--detail", "full", stdin=in_carry(carry, EVERY_KIND))
    assert shown.count("round(") > 30 and "E2M1(" in shown and "floor(log2(" in shown
    assert false_equations(shown) == [] and needless_equations(shown) == []


def lines_of(step: str, stdin: str) -> str:
    return " ".join(printed("step", step, "-s", "-", stdin=stdin).split())


def test_the_ratio_is_shown_and_its_integer() -> None:
    """With a calculator: 0.5 / 0.1429 = 3.499, and 0.9 / 0.1429 = 6.298."""
    shown = lines_of("quantized_W_Q", in_carry("step", EVERY_KIND))
    assert "d₀, q₂: round(0.5 / 0.1429) = round(3.499) = 3" in shown
    assert "d₁, q₂: 0.1429×(-6) = -0.8574 ≈ -0.857" in shown


def test_a_tie_is_shown_with_the_exact_scale() -> None:
    """0.5 is 3.5 scales of 1 / 7, and 0.6 is 4.5 scales of 2 / 15: both become the even integer."""
    shown = lines_of("quantized_W_Q", in_carry("never", EVERY_KIND))
    assert "round(0.5 / (1.000 / 7)) = round(3.5) = 4" in shown
    shown = lines_of("quantized_W_1", in_carry("never", EVERY_KIND))
    assert "round(0.6 / ((1.000 - (-1.000)) / 15)) + 8)) = max(0, min(15, round(4.5) + 8))" in shown


def test_a_ratio_has_as_many_digits_as_its_integer_needs() -> None:
    """2.5004 becomes 3; with two decimals it would be 2.50, which is a tie and becomes 2."""
    scenario = """\
title: Close to a tie
tokens: [a]
embeddings: {a: [1]}
layers: [{ffn: {W_1: {quantized: {bits: 4}, of: [[7, 2.5004]]}, W_2: [[1], [1]]}}]
"""
    assert "round(2.5004 / 1.000) = round(2.5004) = 3" in lines_of("quantized_W_1", scenario)


def test_a_group_of_zeros_has_no_lines() -> None:
    shown = printed("step", "quantized_W_2", "-s", "-", stdin=in_carry("step", EVERY_KIND))
    assert "h₁, d₁: round" not in shown and "h₁, d₀: round(1 / 0.1429)" in shown
    assert "h₁, d₁: 0×0" not in shown and "h₁, d₁: 0 - 0" not in " ".join(shown.split())


def test_sizes_count_what_a_scale_takes() -> None:
    """By hand: 5 matrices of 4 weights and 2 of 6, with 1, 2, 2, 2, 1, 2 and 2 groups."""
    bits = [4 * 4 + 16, 4 * 8 + 2 * 24, 4 * 4 + 2 * 8, 4 * 8 + 2 * 16]
    bits += [6 * 4 + 16 + 4, 6 * 4 + 2 * 16, 4 * 4 + 2 * 16]
    assert sum(bits) == 356
    size, mean = -(-sum(bits) // 8), "11.13"  # 356 / 32 = 11.125
    shown = " ".join(printed("shapes", "-", stdin=EVERY_KIND).split())
    assert "Of the parameters, 32 are quantized. With their scales and zero points," in shown
    taken = f"they take {size} bytes in place of 64 as float16: about {mean} bits per weight."
    assert taken in shown
    assert "Quantization freezes 32 parameters; the other 6 can learn." in shown
    assert "4 weights of 4 bits, with 8 bits for each scale, take 32 bits: 8 bits per weight." in (
        " ".join(printed("run", "-", stdin=EVERY_KIND).split())
    )


def test_blocks_of_mxfp4_have_a_quarter_of_a_bit_more() -> None:
    rows = [[str((i * 7 + j) % 13 - 6) for j in range(2)] for i in range(64)]
    typed = ", ".join(f"[{', '.join(row)}]" for row in rows)
    scenario = f"""\
title: Two blocks in each column
tokens: [a]
embeddings: {{a: [{", ".join("1" * 64)}]}}
layers:
  - ffn: {{W_1: {{quantized: {{kind: mxfp4}}, of: [{typed}]}}, W_2: {{random: {{columns: 64}}}}}}
"""
    shown = " ".join(printed("run", "-", stdin=scenario).split())
    assert "with a scale for each group of 32 weights in a column" in shown
    assert "128 weights of 4 bits, with 8 bits for each scale, take 544 bits: 4.25 bits" in shown


COARSE = f"{EVERY_KIND}rounding: {{carry: line, decimals: 1, digits: {{'*.scale': 1}}}}\n"

test_edits_of_a_page = page_edits({carry: in_carry(carry, EVERY_KIND) for carry in CARRIES}, 12)
test_edits_of_a_page_with_few_digits = page_edits({"coarse": COARSE}, 12)
test_programs_compute_the_numbers = programs({"every kind": EVERY_KIND})


def test_a_scenario_is_compared_with_its_quantized_self() -> None:
    shown = " ".join(printed("compare", "alex", "--quantize", "2").split())
    assert "The second run is “alex, quantized” with the same tokens." in shown
    first = "layer1.attention.head1.W_Q"
    assert f"First difference: {first}" in shown and f"{first}.integers" not in shown


@pytest.mark.parametrize("name", ["folder llama", "gguf qwen2"])
def test_a_checkpoint_is_compared_with_its_quantized_self(name: str, tmp_path: Path) -> None:
    """The first matrix differs most where the integer of four bits is farthest away."""
    file = tiny_models.scenario(tmp_path, name)
    of = trace(load(file))["layer1.attention.head1.W_Q"].array
    scale = abs(of).max() / 7
    error = scale * np.rint(of / scale) - of
    at = np.unravel_index(abs(error).argmax(), of.shape)
    shown = " ".join(printed("compare", file, "--quantize", "4").split())
    after = f"{of[at] + error[at]:.3f}".replace("0.000", "0")
    words = f"is {of[at]:.3f} in the first run and {after} in the second run."
    assert words in shown and "tiny, quantized" in shown
    for how in ("mxfp4", "{bits: 4, group: 2, zero_point: true}"):
        assert "quantized" in printed("compare", file, "--quantize", how)


def test_a_group_that_does_not_fit_a_checkpoint_is_refused(tmp_path: Path) -> None:
    ran = run("compare", tiny_models.scenario(tmp_path), "--quantize", "{bits: 4, group: 3}")
    assert ran.exit_code == 2
    assert "--quantize: W_Q: quantized.group: 3 does not divide the 32 rows" in ran.stderr


BIASED = EVERY_KIND.replace("[0.2, 1]]}}\n", "[0.2, 1]]}, b_U: [0.5, 0]}\n")


COMMANDS = (
    "tutorial - --format markdown",
    "lens -",
    "steps - --names",
    "why layer1.attention.head1.W_Q[1,1] -s -",
    "attribute logits[b,a] -s -",
    "attribute layer1.attention.head1.scores[b,a] -s -",
    "compare - --train --steps 2",
)

test_every_text_is_written = texts(
    {"quantized": EVERY_KIND, "b_U": BIASED},
    *COMMANDS,
    "value unembedding.W_U.integers[1,1] -s -",
)
test_every_text_of_lora_is_written = texts(
    {"LoRA": ADAPTED}, *COMMANDS, "value unembedding.W_U.frozen[1,1] -s -"
)


@pytest.mark.parametrize("scenario", [BIASED, ADAPTED], ids=["quantized", "LoRA"])
def test_the_lens_applies_the_weights_that_are_computed(scenario: str) -> None:
    """The logits of the only layer are those of the model, which has no final norm."""
    logits = traced(scenario)["logits"].array
    found = json.loads(printed("lens", "-", "--format", "json", stdin=scenario))["values"]
    of_layer = next(each for each in found if each["address"].startswith("layer1.lens.logits"))
    assert_allclose(np.array(of_layer["data"], float), logits, atol=1e-9)
