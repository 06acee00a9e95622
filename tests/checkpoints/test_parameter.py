"""A parameter reads what is asked for, and keeps nothing."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from tracer.checkpoints.parameter import Parameter
from tracer.checkpoints.tensor import Tensor
from tracer.errors import TracerError

NUMBERS = np.arange(20.0 * 12).reshape(20, 12)


def tensor(numbers: NDArray[Any], read: list[int]) -> Tensor:
    """A tensor that notes how many numbers were read of it."""

    def decoded(stored: NDArray[Any]) -> NDArray[Any]:
        read.append(stored.size)
        return stored

    return Tensor("x", "t", numbers.shape, numbers, decoded)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("chosen", [
    slice(None), slice(3, 5), slice(None, None, 3), slice(8, 1, -2), slice(5, 5), [4, 0, 4], [],
    np.array([1, 3]), [-1], (slice(2, 4), [5, 1]), ([5, 1], slice(2, 4)), (slice(None), slice(1)),
    (slice(9, None, -1), slice(None, None, -1)), 4, -1, (slice(None), 2), (slice(2, 4), -3), (1, 2),
])  # fmt: skip
def test_a_part_is_that_of_the_whole(chosen: Any, transposed: bool) -> None:
    parameter = Parameter("W", tensor(NUMBERS, []), (range(20), range(2, 12)), transposed)
    whole = NUMBERS[:, 2:].T if transposed else NUMBERS[:, 2:]
    assert parameter.shape == whole.shape
    assert_array_equal(np.asarray(parameter), whole)
    assert_array_equal(parameter[chosen], whole[chosen])


def test_columns_are_those_of_the_parameter_as_it_is_multiplied() -> None:
    whole = Parameter("W", tensor(NUMBERS, []), (range(20), range(12)))
    turned = Parameter("W", tensor(NUMBERS, []), (range(20), range(12)), transposed=True)
    bias = Parameter("W", tensor(NUMBERS[0], []), (range(12),))
    assert_array_equal(whole.columns(3, 7, "W"), NUMBERS[:, 3:7])
    assert_array_equal(whole.columns(3, 7, "W").columns(1, 2, "W"), NUMBERS[:, 4:5])
    assert_array_equal(turned.columns(3, 7, "W"), NUMBERS.T[:, 3:7])
    assert_array_equal(bias.columns(3, 7, "W"), NUMBERS[0, 3:7])
    assert_array_equal(bias.columns(3, 7, "W")[[1]], NUMBERS[0, [4]])


def test_only_the_rows_that_are_asked_for_are_decoded() -> None:
    read = list[int]()
    embeddings = Parameter("W", tensor(NUMBERS, read), (range(20), range(12)))
    embeddings[[3, 5]]
    assert sum(read) == 2 * 12
    unembedding = Parameter("W", tensor(NUMBERS, read), (range(20), range(12)), transposed=True)
    unembedding[:, 4:7]
    assert sum(read) == (2 + 3) * 12


def test_nothing_is_kept_and_little_is_made_on_the_way() -> None:
    stored = np.zeros((4096, 1024), np.float32)
    parameter = Parameter(
        "W",
        Tensor("x", "t", stored.shape, stored, lambda rows: rows + np.float32(1)),
        (range(4096), range(1024)),
    )
    tracemalloc.start()
    try:
        whole = np.asarray(parameter)
        _, most = tracemalloc.get_traced_memory()
        size = whole.nbytes
        del whole
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1.3 * size
    assert left < 0.01 * size


def test_numpy_has_it_as_an_array() -> None:
    parameter = Parameter("W", tensor(NUMBERS.astype(np.float32), []), (range(20), range(12)))
    assert np.asarray(parameter).dtype == np.float64
    assert np.asarray(parameter, np.float32).dtype == np.float32
    assert len(parameter) == 20
    assert_array_equal(np.ones((1, 20)) @ np.asarray(parameter), NUMBERS.sum(axis=0)[np.newaxis])


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("at_once", [1, 40, 10**6])
@pytest.mark.parametrize("rows", [0, 3, 40])
def test_a_product_is_that_of_the_whole(
    rows: int, at_once: int, transposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.checkpoints.tensor.AT_ONCE", at_once)
    parameter = Parameter("W", tensor(NUMBERS, []), (range(18, 1, -2), range(2, 12)), transposed)
    x = np.random.default_rng(1).normal(size=(rows, len(parameter)))
    assert_allclose(x @ parameter, x @ np.asarray(parameter), rtol=1e-12)
    y = np.ones((parameter.shape[1], 2))
    assert_allclose(parameter @ y, np.asarray(parameter) @ y, rtol=1e-13)


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_of_a_row_never_has_the_whole_in_memory(transposed: bool) -> None:
    stored = np.ones((4096, 1024), np.float32)
    parameter = Parameter(
        *("W", Tensor("x", "t", stored.shape, stored, lambda rows: rows + np.float32(1))),
        *((range(4096), range(1024)), transposed),
    )
    terms, columns = parameter.shape
    tracemalloc.start()
    try:
        assert_array_equal(np.ones((1, terms)) @ parameter, np.full((1, columns), 2.0 * terms))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < stored.nbytes / 10


@pytest.mark.parametrize(("free", "kept"), [(2 * 4 * 240, True), (2 * 4 * 240 - 1, False)])
def test_a_quantized_matrix_that_is_read_a_third_time_is_kept(
    free: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.checkpoints.tensor.free_bytes", lambda: free)
    read = list[int]()

    def decoded(stored: NDArray[Any]) -> NDArray[Any]:
        read.append(len(stored))
        return stored.repeat(2, axis=1).astype(np.float32)

    of = Tensor("x", "t", (20, 12), NUMBERS[:, ::2].astype(np.uint8), decoded)
    heads = [Parameter("W", of, (range(n, n + 10), range(12)), True) for n in (0, 10)]
    for _ in range(5):
        products = [np.eye(12) @ head for head in heads]
        assert_array_equal(np.hstack(products), of.read(slice(None), slice(None)).T)
    several = [rows for rows in read if rows > 1]
    assert sum(several) == (3 * 20 if kept else 5 * 2 * 20)


def test_numbers_of_a_file_are_not_kept_a_second_time() -> None:
    """Bytes of float64, as in a GGUF file that is not quantized."""
    plain = Tensor("x", "t", (20, 12), NUMBERS.view(np.uint8), lambda rows: rows.view("<f8"))
    for _ in range(5):
        assert_array_equal(plain.read(slice(None), slice(None)), NUMBERS)
    assert np.may_share_memory(plain.stored, NUMBERS)


SIGNALING = np.array(0x7F800001, np.uint32).view(np.float32)[()]
"""A NaN that raises an alarm where it becomes a float64."""


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, SIGNALING])
def test_what_is_no_number_is_told_where_it_is_read(wrong: float) -> None:
    numbers = NUMBERS.astype(np.float32)
    numbers[3, 5] = wrong
    heads = [Parameter("W", tensor(numbers, []), (range(20), range(12))).columns(n, n + 4, f"W_{n}")
             for n in (0, 4)]  # fmt: skip
    assert_array_equal(np.asarray(heads[0]), NUMBERS[:, :4])
    assert_array_equal(heads[1][:3], NUMBERS[:3, 4:8])
    with pytest.raises(TracerError) as caught, np.errstate(all="raise"):
        np.asarray(heads[1])
    with pytest.raises(TracerError) as multiplied, np.errstate(all="raise"):
        np.zeros((1, 4)) @ heads[1].T
    assert str(multiplied.value) == str(caught.value)
    told = f"x: t: holds {wrong}, expected a finite number: W_4"
    assert str(caught.value) == told
