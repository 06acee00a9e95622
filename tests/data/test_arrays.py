"""A pass as npz and safetensors: every number of it under its address, and only with a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.helpers.command import Ran, printed, run, run_json

pytest.importorskip("safetensors")


def arrays(path: Path) -> dict[str, NDArray[Any]]:
    """What a file holds."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as found:
            return dict(found)
    from safetensors.numpy import load_file

    return load_file(path)


@pytest.mark.parametrize("format", ["npz", "safetensors"])
def test_every_number_of_a_pass_stands_under_its_address(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"pass.{format}"
    assert run("run", "alex", "-f", format, "-o", str(path)) == Ran(0, "", "")
    values = {value["address"]: value for value in run_json("alex")["values"]}
    found = arrays(path)
    assert found.keys() == {
        address
        for address, value in values.items()
        if "W_" not in address and "norm.gain" not in address and address != "tokens"
    }
    for address, array in found.items():
        told = np.array(values[address]["data"], object).astype(np.float64)
        np.testing.assert_array_equal(array, told)


@pytest.mark.parametrize("command", ["run alex", "step softmax", "lens science", "train science"])
def test_npz_hands_numpy_only_addresses(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy before 2.1 saves every keyword as an array, `allow_pickle` too."""
    handed = set[str]()

    def savez(file: BinaryIO, **arrays: Any) -> None:
        handed.update(arrays)
        np.savez_compressed(file, **arrays)

    monkeypatch.setattr("tracer.data.arrays.np.savez", savez)
    path = tmp_path / "pass.npz"
    assert run(*command.split(), "-f", "npz", "-o", str(path)) == Ran(0, "", "")
    shown = json.loads(printed(*command.split(), "-f", "json"))
    assert handed <= {value["address"] for value in shown["values"]}


def test_a_step_writes_its_own(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    assert run("step", "softmax", "--head", "1", "-f", "npz", "-o", str(path)).exit_code == 0
    head = "layer1.attention.head1"
    assert [*arrays(path)] == [f"{head}.{name}" for name in ("exp", "exp_sum", "weights")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "alex", "-f", "npz"],
        ["why", "output[1,1]", "-f", "safetensors", "-o", "x"],
        ["tutorial", "alex", "-f", "npz", "-o", "x"],
    ],
)
def test_a_screen_or_a_text_gets_none(arguments: list[str]) -> None:
    format = arguments[arguments.index("-f") + 1]
    told = f"works only with run, step, lens, loss or train and --output, where it is {format}"
    assert run(*arguments) == Ran(2, "", f"--format: {told}\n")
