"""Two files of arrays beside each other: the first difference, fewer rows, other names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.command import printed, problems, run

Arrays = dict[str, Any]
SHAPES = {"embed": (5, 8), "blocks.0.attn": (5, 8), "blocks.0.w": (5, 5), "logits": (5, 20)}


@pytest.fixture
def arrays() -> Arrays:
    random = np.random.default_rng(1)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(first: Mapping[str, Any], second: Mapping[str, Any], *options: str) -> Any:
    np.savez("a.npz", **first)
    np.savez("b.npz", **second)
    return json.loads(run("check", "a.npz", "b.npz", "--format", "json", *options).stdout)


def refused(*arguments: str) -> str:
    ran = run(*arguments)
    assert ran.exit_code == 2
    return "\n".join(problems(ran))


def test_rounding_is_no_difference(arrays: Arrays, folder: Path) -> None:
    moved = {name: array * np.float32(1 + 2**-22) for name, array in arrays.items()}
    assert compared(arrays, moved)["holds"]
    halves = {name: array.astype(np.float16) for name, array in arrays.items()}
    found = compared(arrays, halves)
    assert found["holds"] and {each["tolerance"] for each in found["values"]} == {1e-2}


def test_the_first_difference_is_named_with_its_numbers(arrays: Arrays, folder: Path) -> None:
    other = {name: array.copy() for name, array in arrays.items()}
    other["blocks.0.w"][3, 1] += 1
    other["logits"][0, 0] += 1
    found = compared(arrays, other)
    assert not found["holds"] and found["first"] == "blocks.0.w"
    assert [each["differs"] for each in found["values"]] == [False, False, True, True]
    ran = run("check", "a.npz", "b.npz")
    assert ran.exit_code == 1
    assert "blocks.0.w[4,2]” is " in ran.stdout and "1 apart." in ran.stdout.replace("\n", " ")
    assert "Before it, 2 arrays agree; the last is “blocks.0.attn”." in ran.stdout


def test_an_outlier_hides_nothing(arrays: Arrays, folder: Path) -> None:
    for name in ("embed", "blocks.0.attn"):
        arrays[name][:, 3] = 3000
    other = {**arrays, "blocks.0.attn": arrays["blocks.0.attn"].copy()}
    other["blocks.0.attn"][2, 5] += 0.01
    assert compared(arrays, other)["first"] == "blocks.0.attn"


def test_a_sudden_growth_is_told_though_it_is_allowed(arrays: Arrays, folder: Path) -> None:
    other = {**arrays, "embed": arrays["embed"] * np.float32(1 + 2**-22)}
    other["logits"] = arrays["logits"] + np.float32(5e-5) * np.abs(arrays["logits"]).max()
    found = compared(arrays, other)
    assert found["holds"]
    assert [bool(each["jumps"]) for each in found["values"]] == [False, False, False, True]
    assert "stay below what is allowed, in “logits”." in printed("check", "a.npz", "b.npz")


def test_a_pass_with_a_cache_has_the_last_rows(arrays: Arrays, folder: Path) -> None:
    last = {name: array[None, -2:] for name, array in arrays.items()}
    found = compared(arrays, last)
    assert found["holds"] and {each["last_rows"] for each in found["values"]} == {2}
    first = {name: array[:2] for name, array in arrays.items()}
    assert compared(arrays, first)["first"] == "embed"
    other_width = {**arrays, "embed": arrays["embed"][:, :7]}
    found = compared(arrays, other_width)
    assert found["first"] == "embed" and "at" not in found["values"][0]
    assert "“embed” is 5×8 in “a.npz” and 5×7 in “b.npz”." in run("check", "a.npz", "b.npz").stdout


def test_names_are_paired_by_a_file(arrays: Arrays, folder: Path) -> None:
    Path("names.yaml").write_text("blocks.*.attn: layers.*.attention\nembed: wte\n")
    other = {
        name.replace("blocks.0.attn", "layers.0.attention").replace("embed", "wte"): array
        for name, array in arrays.items()
    }
    found = compared(arrays, {**other, "more": np.zeros(2)}, "--names", "names.yaml")
    pairs = [(each["name"], each["their_name"]) for each in found["values"]]
    assert pairs[:2] == [("embed", "wte"), ("blocks.0.attn", "layers.0.attention")]
    assert found["not_compared"] == [] and found["unknown"] == ["more"]
    unnamed = compared(arrays, other)
    assert unnamed["not_compared"] == ["embed", "blocks.0.attn"]


@pytest.mark.parametrize(
    "names, expected",
    [
        ("blocks.*.atn: x.*", "blocks.*.atn: no such array in the first file; did you mean"),
        ("embed: logit", "logit: no such array in the second file; did you mean 'logits'?"),
        ("blocks.*.attn: x", "with as many * on both sides"),
        ("embed: [logits]", "expected pairs such as"),
        ("embed", "expected pairs such as"),
    ],
)
def test_wrong_names_are_refused(names: str, expected: str, arrays: Arrays, folder: Path) -> None:
    Path("names.yaml").write_text(names)
    np.savez("a.npz", **arrays)
    assert expected in refused("check", "a.npz", "a.npz", "--names", "names.yaml")


def test_files_without_a_common_name_are_refused(arrays: Arrays, folder: Path) -> None:
    np.savez("a.npz", **arrays)
    np.savez("b.npz", x=np.ones(2))
    assert "no array has the name of one in the other file" in refused("check", "a.npz", "b.npz")
    assert "expected a .npz or .safetensors file" in refused("check", "alex", "b.npz")
