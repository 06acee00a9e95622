"""Quantised numbers are those that the gguf package has for the same bytes, row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize, quantize
from numpy.testing import assert_array_equal

from tests.helpers.tiny_checkpoints import gguf_llama, write_gguf
from tracer.checkpoints.gguf_tensors import TensorLocation, tensors_at
from tracer.checkpoints.opening import open_checkpoint

WRITTEN = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]
ONLY_READ = ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS", "IQ2_XXS"]


@pytest.mark.parametrize("name", WRITTEN)
def test_quantised_numbers_are_within_what_their_bits_allow(name: str, tmp_path: Path) -> None:
    kind, tensors = GGMLQuantizationType[name], gguf_llama()
    kinds = {"token_embd.weight": kind, "blk.0.attn_k.weight": kind}
    path = write_gguf(tmp_path / "x.gguf", "llama", tensors, kinds=kinds)
    parameters = open_checkpoint(path).parameters
    for parameter, written in {
        "embeddings": tensors["token_embd.weight"],
        "layer1.attention.head3.W_K": tensors["blk.0.attn_k.weight"][8:].T,
    }.items():
        read = np.asarray(parameters[parameter])
        assert read.dtype == np.float64
        assert 0 < np.abs(read - written).max() < {"4": 0.4, "5": 0.2}.get(name[1], 0.05)
    rows = dequantize(quantize(tensors["token_embd.weight"], kind), kind)
    assert_array_equal(parameters["embeddings"][[7, 3]], rows[[7, 3]])
    assert_array_equal(parameters["embeddings"][5:9, 4:6], rows[5:9, 4:6])


@pytest.mark.parametrize("name", [*ONLY_READ, *WRITTEN])
def test_some_rows_are_those_of_the_whole(name: str) -> None:
    kind = GGMLQuantizationType[name]
    block, size = GGML_QUANT_SIZES[kind]
    rows, columns = 20, 2 * max(block, 16)
    stored = np.random.default_rng(3).integers(0, 60, columns // block * size * rows, np.uint8)
    place = TensorLocation((rows, columns), kind, offset=64)
    tensor = tensors_at({"t": place}, np.concatenate([np.zeros(64, np.uint8), stored]), "x")["t"]
    whole = dequantize(stored.reshape(rows, -1), kind)
    assert tensor.shape == whole.shape == (rows, columns)
    assert_array_equal(tensor.read(slice(None), slice(None)), whole)
    assert_array_equal(tensor.read([9, 2], slice(3, 40, 7)), whole[[9, 2], 3:40:7])


def test_doubles_stay_as_they_are() -> None:
    numbers = np.array([[0.1, 1 / 3], [1e300, -0.0]])
    place = TensorLocation((2, 2), GGMLQuantizationType.F64, offset=0)
    tensor = tensors_at({"t": place}, numbers.view(np.uint8).reshape(-1), "x")["t"]
    assert_array_equal(tensor.read(slice(None), slice(None)), numbers)
