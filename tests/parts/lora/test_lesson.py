"""The texts of LoRA: its steps, what is frozen, the worked gradient."""

from __future__ import annotations

import re

import numpy as np

from tests.helpers.command import printed
from tests.helpers.every_part import ADAPTED
from tracer.scenario.loading import parse
from tracer.scenario.parts import frozen_weights, learned


def test_shapes_count_what_is_frozen() -> None:
    shown = " ".join(printed("shapes", "-", stdin=ADAPTED).split())
    scenario = parse(ADAPTED, "f.yaml")
    frozen = sum(np.prod(shape) for shape in frozen_weights(scenario).values())
    others = sum(np.prod(shape) for shape in learned(scenario).values())
    assert f"LoRA freezes {frozen} parameters; the other {others} can learn." in shown
    assert f"parameters {frozen + others} " in shown  # in memory
    assert "for the products of LoRA, do not change" in shown
    sizes = " ".join(printed("tutorial", "-", "--format", "terminal", stdin=ADAPTED).split())
    assert f"frozen {frozen} parameters that LoRA leaves as they are" in sizes


def test_the_gradient_of_the_product_is_worked_with_its_factor() -> None:
    shown = printed("train", "lora")
    assert "∂L/∂ΔW_Q (2 × 2) = 2×(∂L/∂W_Q)" in shown
    assert "The worked parameter is B_Q, layer1.attention.head1.W_Q.B." in " ".join(shown.split())
    assert "r₁, asks-water: 0.5×" in shown  # of Aᵀ and the gradient at the product


def test_each_weight_matrix_has_its_step() -> None:
    shown = printed("step", "lora", "-s", "-", stdin=ADAPTED)
    titles = set(re.findall(r"Low-rank adaptation \(LoRA\) of (\S+)", shown))
    assert titles == {"W_Q", "W_K", "W_V", "W_O", "W₁", "W₂", "W₃", "W_U"}
    assert "All numbers of B_V are 0, so W_V equals F_V." in shown
    assert "All numbers of B_Q are 0" not in shown
