"""What surrounds and follows attention in a layer: residual, LayerNorm, FFN, worked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.command import printed
from tests.helpers.figures import checked
from tests.helpers.small_scenario import END, problems, scenario
from tests.helpers.traces import numbers, records, traced, values

FFN = """
title: two layers
tokens: [a]
embeddings: [[1, 2]]
layers:
  - ffn: {W_1: [[1], [1]], W_2: [[1, 2]]}
  - ffn: {W_1: [[1], [-1]], W_2: [[1, 2]], SETTINGS}
"""


@pytest.mark.parametrize(
    ("settings", "output"),
    [
        # x₁ = (1, 2) + 3×(1, 2) = (4, 8); then h = 4 - 8 = -4.
        ("", ["4", "8"]),
        ("b_1: [6]", ["6", "12"]),  # 2×(1, 2) is added
        ("b_2: [10, 20]", ["14", "28"]),
        ("activation: none", ["0", "0"]),  # -4×(1, 2) is added
        ("activation: none, residual: false", ["-4", "-8"]),
        ("residual: false", ["0", "0"]),
        ("norm: {}", ["-1", "1"]),  # of (4, 8): μ is 6, σ is 2
        ("norm: {epsilon: 12}", ["-0.5", "0.5"]),  # √(4 + 12) is 4
        ("norm: {gain: [2, 3], shift: [0.5, 1]}", ["-1.5", "4"]),
        ("norm: {gain: [2, 3], shift: [0.5, 1], unit_offset: true}", ["-2.5", "5"]),
        # What is added, (2, 4) or (10, 20), is normalized by itself: to (-1, 1).
        ("b_1: [6], norm_after: {}", ["3", "9"]),
        ("b_2: [10, 20], norm_after: {gain: [2, 3]}", ["2", "11"]),
        ("b_2: [10, 20], norm_after: {}, residual: false", ["-1", "1"]),
        ("norm: {kind: rms_norm, epsilon: 24, gain: [0.5, -2], unit_offset: true}", ["0.75", "-1"]),
    ],
)
def test_each_layer_works_on_what_the_one_before_hands_on(settings: str, output: list[str]) -> None:
    ran = traced(FFN.replace("SETTINGS", settings))
    assert [float(number) for number in numbers(ran, "output")[0]] == [float(n) for n in output]
    residual = values(ran)["layer1.ffn.residual"]
    assert records(ran)["layer2.ffn.hidden"].inputs[0] is residual


NORM = "kind: KIND, epsilon: 0.5, gain: [2, -3, 1], shift: [1, 0, 2]"
NORMED = f"""\
title: T
tokens: [a]
embeddings: [[1, 2, 6]]
final_norm: {{{NORM}}}
layers: []
rounding: {{decimals: 3, carry: CARRY}}
"""


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_the_numbers_before_gain_and_shift_have_an_address(kind: str, carry: str) -> None:
    """They are recorded only if they are asked for: (x - μ) / √(σ² + ½), x / √(mean of x² + ½)."""
    text = NORMED.replace("KIND", kind).replace("CARRY", carry)
    x = np.array([1, 2, 6]) - (3 if kind == "layer_norm" else 0)
    expected = x / np.sqrt((x**2).mean() + 0.5)
    for entry, number in enumerate(expected, 1):
        shown = printed("value", f"final_norm.standardized[1,{entry}]", "-s", "-", stdin=text)
        assert float(shown) == pytest.approx(number, abs=6e-4)
        why = printed("why", f"final_norm.standardized[1,{entry}]", "-s", "-", stdin=text)
        assert f" {shown.strip()}\n" in why
    assert "standardized" not in printed("run", "-", "--format", "json", stdin=text)


def test_a_figure_can_be_of_the_numbers_before_gain_and_shift(tmp_path: Path) -> None:
    text = NORMED.replace("KIND", "rms_norm").replace("CARRY", "never")
    # The mean of 1, 4 and 36 is 41/3; √(41/3 + ½) = 3.764.
    figure = {
        "address": "final_norm.standardized",
        "row": 1,
        "printed": ["0.266", "0.531", "1.594"],
    }
    assert {str(f.verdict) for f in checked(tmp_path, text, figure).findings} == {"agrees"}


@pytest.mark.parametrize(
    ("layer", "own", "there"),
    [
        ("norm: {epsilon: 1}", "", True),
        ("norm: {epsilon: 1}", "norm: none", False),
        ("", "norm: {epsilon: 1}", True),
        ("", "", False),
    ],
)
def test_a_norm_of_the_layer_holds_where_the_sub_layer_has_none_of_its_own(
    layer: str, own: str, there: bool
) -> None:
    yaml = f"""
    title: norms
    tokens: [a]
    embeddings: [[1, 2]]
    layers:
      - ffn:
          W_1: [[1], [1]]
          W_2: [[1, 2]]
          {own}
        {layer}
    """
    assert ("layer1.ffn.norm" in values(traced(yaml))) is there


def test_a_norm_after_a_sub_layer_does_not_go_with_one_behind_its_residual_connection() -> None:
    for layer in ("norm: {}\n    norm_after: {}", "norm_after: {kind: rms_norm}\n    norm: {}"):
        found = problems((END, f"{END}    {layer}\n"))
        told = (
            "norm_after and a norm after the residual connection, expected norm: {placement: pre}"
        )
        assert all("layer1.norm_after: " in problem and told in problem for problem in found)
    assert problems((END, f"{END}    norm_after: {{gain: [1]}}\n"))
    for norm in ("{placement: pre}", "none"):
        fits = scenario((END, f"{END}    norm: {norm}\n    norm_after: {{}}\n"))
        assert fits.layers[0].norm_after
