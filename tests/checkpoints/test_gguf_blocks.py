"""A block taken apart has the numbers that the gguf package reads, and its line is true."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize
from numpy.testing import assert_allclose

from tests.checkpoints.test_gguf_families import mixtral_in
from tests.helpers import tiny_models
from tests.helpers.command import printed
from tests.helpers.truth import false_equations
from tracer.checkpoints.gguf_blocks import GROUPS, Group, stored_number
from tracer.checkpoints.gguf_tensors import TensorLocation, tensors_at
from tracer.checkpoints.opening import open_checkpoint


def number_of(group: Group, place: int) -> Decimal:
    """What the format's description says."""
    scale, q = group.scale, group.integers[place]
    if group.factors is None:
        return scale * (q - group.offset) + (group.least or 0)
    s, t = group.factors
    return scale * s * (q - group.offset) - (group.least or 0) * t


@pytest.mark.parametrize("name", GROUPS)
def test_each_number_is_that_of_the_gguf_package(name: str) -> None:
    """Of random bytes; a float32 that is rounded several times has a relative error below 10⁻⁶."""
    try:
        kind = GGMLQuantizationType[name]
        _, size = GGML_QUANT_SIZES[kind]
        dequantize(np.zeros((1, size), np.uint8), kind)
    except (KeyError, NotImplementedError):
        pytest.skip("the installed gguf package cannot read it")
    rows, blocks = 3, 2
    stored = np.random.default_rng(5).integers(0, 256, (rows, blocks * size), np.uint8)
    for at in range(0, blocks * size, size):  # no scale is NaN or infinite
        for half in {"Q6_K": (208,), "MXFP4": ()}.get(name, (0, 2)):
            stored[:, at + half + 1] &= 0x3F
        if name == "MXFP4":
            stored[:, at] = 120 + stored[:, at] % 12
    expected = dequantize(stored, kind)
    place = TensorLocation(expected.shape, kind, offset=0)
    tensor = tensors_at({"t": place}, stored.reshape(-1), "x")["t"]
    found = np.empty(expected.shape)
    parts = np.empty(expected.shape)
    for row, column in np.ndindex(expected.shape):
        number = stored_number(tensor, row, column)
        assert number and (number.row, number.column) == (row, column)
        found[row, column] = number_of(number.group, number.place)
        s = number.group.factors[0] if number.group.factors else 1
        parts[row, column] = (
            abs(number.group.scale * s) * 64 + abs(number.group.least or Decimal(0)) * 64
        )
    assert_allclose(found, expected, rtol=0, atol=1e-6 * parts.max())
    assert len({*expected.ravel().tolist()}) > 20


KINDS = {
    **{"attn_q": "Q8_0", "attn_k": "Q4_0", "attn_v": "Q4_1"},
    **{"ffn_gate": "Q5_1", "ffn_up": "Q5_0"},
}
ADDRESSES = {
    **{"attn_q": "layer1.attention.head2.W_Q", "attn_k": "layer1.attention.head1.W_K"},
    **{"attn_v": "layer1.attention.head1.W_V", "ffn_gate": "layer1.ffn.W_1"},
    "ffn_up": "layer1.ffn.W_3",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kinds = {f"blk.0.{name}.weight": GGMLQuantizationType[k] for name, k in KINDS.items()}
    return tiny_models.model(tmp_path_factory.mktemp("blocks"), kinds=kinds)


def why(model: Path, address: str) -> str:
    return printed("why", address, "-s", tiny_models.naming(model, text=tiny_models.TEXT))


@pytest.mark.parametrize("name", KINDS)
def test_a_weight_of_a_file_is_worked(name: str, model: Path) -> None:
    parameters: Any = open_checkpoint(model).parameters
    address = ADDRESSES[name]
    for row, column in ((1, 1), (3, 2), (17, 4)):
        shown = why(model, f"{address}[{row},{column}]")
        assert f"blk.0.{name}.weight is stored as {KINDS[name]}: each group of 32" in shown
        assert false_equations(shown) == []
        [line] = re.findall(r"    w = .* [=≈] (-?[0-9.]+)$", shown, re.MULTILINE)
        weight = parameters[address][row - 1, column - 1]
        assert abs(float(line) - weight) <= 0.0005001


def test_a_weight_that_is_not_quantized_has_no_block(model: Path) -> None:
    assert "How the file stores it" not in why(model, "layer1.ffn.W_2[1,1]")


def test_a_weight_of_a_stack_is_worked_from_its_own_matrix(tmp_path: Path) -> None:
    names = [f"blk.0.ffn_{part}_exps.weight" for part in ("gate", "up", "down")]
    kinds = dict.fromkeys(names, GGMLQuantizationType.Q8_0)
    file = mixtral_in(tmp_path, lambda tensors: tensors, kinds=kinds)
    parameters: Any = open_checkpoint(file).parameters
    for address, row, column in (
        ("layer1.ffn.expert2.W_1", 3, 5),
        ("layer1.ffn.expert3.W_2", 2, 7),
    ):
        at = f"{address}[{row},{column}]"
        shown = printed("why", at, "-s", tiny_models.naming(file, token_ids=[3, 1]))
        assert f"_exps.weight[{int(address[17]) - 1}] is stored as Q8_0" in " ".join(shown.split())
        [line] = re.findall(r"    w = .* [=≈] (-?[0-9.]+)$", shown, re.MULTILINE)
        assert abs(float(line) - parameters[address][row - 1, column - 1]) <= 0.0005001
