"""The texts of a factor of what each sub-layer adds."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed
from tests.helpers.scaled import SCALED
from tests.helpers.small_scenario import END, changed


def test_the_lines_of_a_scaled_sum() -> None:
    text = printed("step", "residual", "--layer", "2", "-s", "-", stdin=SCALED)
    assert "The sub-layer's output is multiplied by 0.25, a constant of the model; then" in text
    assert "s₂ (2 × 2) = 0.25×FFN(x₁)" in text
    assert "x₂ (2 × 2) = x₁ + s₂" in text
    assert "| x₁ | X′ + 0.5×Attention(X′) |" in printed("tutorial", "-", stdin=SCALED)


def test_a_factor_of_1_or_more_is_not_said_to_make_anything_smaller() -> None:
    below = "A factor below 1 makes each change smaller"
    for factor, said in (("0.99", True), ("1", False), ("2", False)):
        text = SCALED.replace("residual_scale: 0.5", f"residual_scale: {factor}")
        found = printed("step", "residual", "--layer", "1", "-s", "-", stdin=text)
        assert (below in " ".join(found.split())) == said


def test_a_parallel_layer_multiplies_both_changes() -> None:
    parallel = changed(
        ("layers:\n  -", "layers:\n  - parallel: true\n   "),
        (END, f"{END}      residual_scale: 2\n"),
    )
    text = printed("step", "residual", "-s", "-", stdin=parallel)
    assert "multiplied by 2, a constant of the model; then x₁ is added." in " ".join(text.split())


@pytest.mark.parametrize("factor", ["0.9", "0.90"])
def test_equal_factors_are_printed_with_the_digits_of_their_own_scenario(factor: str) -> None:
    head = "{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"
    layer = f"{{attention: {{residual_scale: {factor}, heads: [{head}]}}}}"
    yaml = f"title: T\ntokens: [a]\nembeddings: {{a: [3]}}\nlayers: [{layer}]\n"
    assert f"{factor}×3.000 = " in printed("step", "residual", "-s", "-", stdin=yaml)
