"""Another program's arrays as JSON: what is a number, what is a word."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.small_scenario import scenario
from tracer.check.dumps import read_dump
from tracer.errors import TracerError


def dumped(folder: Path, **values: Any) -> dict[str, Any]:
    path = folder / "x.json"
    listed = [{"address": address, "data": data} for address, data in values.items()]
    path.write_text(json.dumps({"values": listed}))
    dump = read_dump(path, scenario())
    read = {address: each.numbers.tolist() for address, [each] in dump.arrays.items()}
    assert set(values) == {*read, *dump.left_out}
    return read


def test_numbers_are_read_and_words_left_out(tmp_path: Path) -> None:
    found = dumped(
        tmp_path,
        row=[1, 2.5, "-inf"],
        hidden=[["-inf"], ["inf"]],
        large=["1E+400", 1],
        none=[],
        single=3,
        words=["the", "inf", "2"],
        token="the",
    )
    assert found == {
        "row": [1.0, 2.5, -np.inf],
        "hidden": [[-np.inf], [np.inf]],
        "large": [np.inf, 1.0],
        "none": [],
        "single": 3.0,
    }


@pytest.mark.parametrize("data", [[[1], [1, 2]], [[1], 2], [None], [True, 1], [1, "the"], {"a": 1}])
def test_what_is_neither_is_refused(data: Any, tmp_path: Path) -> None:
    with pytest.raises(TracerError, match="input: rows of different lengths, or no numbers"):
        dumped(tmp_path, input=data)


def test_a_long_text_takes_only_its_own_room(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        assert dumped(tmp_path, words=["x" * 100_000, *["y"] * 1_000]) == {}
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
