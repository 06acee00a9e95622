"""Activations of another program, pinned from a file: under our names and TransformerLens's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.helpers.bundled import TYPED
from tests.helpers.command import printed, problems, run, run_json
from tests.helpers.mutated_files import npz
from tests.helpers.small_scenario import SMALL, scenario
from tracer.errors import TracerError
from tracer.scenario import activations as module
from tracer.scenario.activations import activations
from tracer.scenario.loading import parse

HEAD = "layer1.attention.head1"


def written(folder: Path, **arrays: object) -> Path:
    """A file of arrays; a point in a name is a double underscore here."""
    path = folder / "theirs.npz"
    named = {name.replace("__", "."): np.asarray(array) for name, array in arrays.items()}
    path.write_bytes(npz(named))
    return path


def test_names_of_transformer_lens_are_ours_head_by_head(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    queries, pattern = rng.random((1, 3, 2, 4)), rng.random((1, 2, 3, 3))
    stream = rng.random((1, 3, 8))
    path = written(
        tmp_path,
        hook_embed=stream,
        blocks__0__hook_resid_pre=stream + 1,
        blocks__0__attn__hook_q=queries,
        blocks__0__attn__hook_pattern=pattern,
        blocks__0__hook_resid_post=stream + 2,
        blocks__0__attn__hook_result=stream,
        blocks__4__hook_resid_post=stream,
        layer1__ffn__hidden=[[1, 2]],
    )
    arrays, unknown = activations(path, scenario())
    assert unknown == ["blocks.0.attn.hook_result"]
    found = {address: dumped.numbers for address, [dumped] in arrays.items()}
    assert found.keys() == {
        *("embedding", "input", "layer1.ffn.residual", "layer1.ffn.hidden"),
        "blocks.4.hook_resid_post",  # there is one layer
        *(f"layer1.attention.head{h}.{name}" for h in (1, 2) for name in ("query", "weights")),
    }
    for head in (0, 1):
        place = f"layer1.attention.head{head + 1}"
        np.testing.assert_array_equal(found[f"{place}.query"], queries[0, :, head])
        np.testing.assert_array_equal(found[f"{place}.weights"], pattern[0, head])
    np.testing.assert_array_equal(found["input"], stream[0] + 1)


GROUPED = """
embeddings: {a: [1, 2], b: [3, 4], c: [5, 6]}
tokens: [a, b, c]
layers:
- attention:
    heads:
    - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}
    - {W_Q: [[0], [1]], shares: 1}
    - {W_Q: [[1], [1]], W_K: [[0], [1]], W_V: [[0], [1]]}
    - {W_Q: [[1], [2]], shares: 3}
    W_O: [[1, 0], [0, 1], [1, 1], [0, 0]]
"""


def test_arrays_of_all_heads_are_split(tmp_path: Path) -> None:
    """Keys are those of the heads that have keys, whoever names them."""
    shared = parse(GROUPED, "x.yaml")
    queries, keys = np.arange(12.0).reshape(3, 4), np.arange(6.0).reshape(3, 2)
    weights = np.arange(36.0).reshape(1, 4, 3, 3)
    path = written(
        tmp_path,
        layer1__attention__query=queries[None],
        layer1__attention__key=keys,
        layer1__attention__weights=weights,
        layer1__attention__value=keys[None, :, :, None],
        layer1__attention__rotated_query=queries.T[:, :, None],
        blocks__0__attn__hook_k=keys[None, :, :, None],
        layer2__attention__key=keys,
        gradient__layer1__attention__key=keys,
    )
    arrays, _ = activations(path, shared)
    expected = {
        **{f"layer1.attention.head{h}.query": queries[:, h - 1 : h] for h in (1, 2, 3, 4)},
        **{f"layer1.attention.head{h}.rotated_query": queries[:, h - 1 : h] for h in (1, 2, 3, 4)},
        **{f"layer1.attention.head{h}.weights": weights[0, h - 1] for h in (1, 2, 3, 4)},
        **{f"layer1.attention.head{2 * i + 1}.key": keys[:, i : i + 1] for i in (0, 1)},
        **{f"layer1.attention.head{2 * i + 1}.value": keys[:, i : i + 1] for i in (0, 1)},
        "layer2.attention.key": keys,
        **{f"gradient.layer1.attention.head{2 * i + 1}.key": keys[:, i : i + 1] for i in (0, 1)},
    }
    assert arrays.keys() == expected.keys()
    for address, dumped in arrays.items():
        for each in dumped:
            np.testing.assert_array_equal(each.numbers, expected[address])
    assert len(arrays["layer1.attention.head3.key"]) == 2


@pytest.mark.parametrize(("name", "shape", "said"), [
    ("query", (3, 5), "3 × 5, expected 4 heads of one text"),
    ("key", (3, 3, 1), "3 × 3 × 1, expected 2 heads"),
    ("weights", (3, 3, 3), "3 × 3 × 3, expected 4 heads"),
    ("query", (2, 4, 3, 1), "2 × 4 × 3 × 1, expected 4 heads of one text"),
])  # fmt: skip
def test_an_array_of_other_heads_is_told(
    name: str, shape: tuple[int, ...], said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, **{f"layer1__attention__{name}": np.ones(shape)})
    with pytest.raises(TracerError) as caught:
        activations(path, parse(GROUPED, "x.yaml"))
    assert said in str(caught.value)


def test_bfloat16_of_jax_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, input=np.array([[0x3F80, 0xC049]], "<u2").view("V2"))
    [found] = activations(path, scenario()).arrays["input"]
    assert (found.kind, found.numbers.tolist()) == ("bfloat16", [[1.0, -3.140625]])


def test_what_is_pinned_is_worked_on_with(tmp_path: Path) -> None:
    weights = [[1, 0], [0.25, 0.75]]
    written(tmp_path, **{f"{HEAD}.weights".replace(".", "__"): weights})
    pinned = tmp_path / "pinned.yaml"
    pinned.write_text(f"{SMALL}given: theirs.npz\n")
    values = {value["address"]: value for value in run_json(str(pinned))["values"]}
    assert values[f"{HEAD}.weights"]["data"] == weights
    assert values[f"{HEAD}.output"]["data"] == [[1, 2], [2.5, 3.5]]  # ¼ (1, 2) + ¾ (3, 4)


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    written(tmp_path, nonsense=[[1.0]], input=[[1.0, 2.0]])
    pinned = tmp_path / "pinned.yaml"
    pinned.write_text(f"{SMALL}given: theirs.npz\n")
    place = f"{pinned}:{SMALL.count(chr(10)) + 1}:8: theirs.npz"
    misfit, unknown = (
        f"{place}: input: given as 1×2 numbers, expected 2×2 numbers",
        f"{place}: nonsense: given, but no such value exists",
    )
    assert problems(run("run", str(pinned))) == [misfit, unknown]
    typed = "--given input: given as a row of 1 number, expected 2×2 numbers"
    assert problems(run("run", str(pinned), "--given", "input=[1]")) == [typed, unknown]


@pytest.mark.parametrize("name", ["alex", "science", "pizza"])
def test_the_values_of_a_pass_can_be_pinned_to_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    printed("run", name, "-f", "npz", "-o", str(path))
    pinned = tmp_path / "pinned.yaml"
    text = TYPED[name].read_text(encoding="utf-8")
    pinned.write_text(f"{text}\ngiven: own.npz\n", encoding="utf-8")
    values = {value["address"]: value for value in run_json(str(pinned))["values"]}
    whole = {value["address"]: value for value in run_json(name)["values"]}
    assert values.keys() <= whole.keys()
    assert values["output"]["printed"] == whole["output"]["printed"]


def test_two_names_of_one_value_must_have_the_same_numbers(tmp_path: Path) -> None:
    pinned = tmp_path / "pinned.yaml"
    pinned.write_text(f"{SMALL}given: theirs.npz\n")
    written(tmp_path, input=[[1, 2], [3, 9]], hidden_states__0=[[[1, 2], [3, 9]]])
    values = {value["address"]: value for value in run_json(str(pinned))["values"]}
    assert values["input"]["data"] == [[1, 2], [3, 9]]
    path = written(tmp_path, input=[[1, 2], [3, 9]], hidden_states__0=[[[1, 2], [3, 8]]])
    told = f"{path}: hidden_states.0: differs from input, which is also input"
    assert problems(run("run", str(pinned))) == [told]


def test_a_part_of_what_is_not_whole_is_missed(tmp_path: Path) -> None:
    written(tmp_path, input__part=[[1.0]], embedding=[[1, 2], [3, 4]])
    pinned = tmp_path / "pinned.yaml"
    pinned.write_text(f"{SMALL}given: theirs.npz\n")
    [told] = problems(run("run", str(pinned)))
    assert "theirs.npz: input.part: given, but no such value exists" in told


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.npz", b"PK\x03\x04 nothing", "not a whole npz file of numbers"),
        ("x.txt", b"1 2 3", "expected a .npz or .safetensors file"),
        ("x.safetensors", b"\xff" * 20, "not a whole safetensors file"),
    ],
)
def test_a_damaged_file_is_told(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TracerError) as caught:
        activations(path, scenario())
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_name_of_another_kind_of_file_is_told_where_it_is_typed() -> None:
    [told] = problems(run("run", "-", stdin=f"{SMALL}given: some words\n"))
    assert told.startswith("<stdin>:15:1: given: expected values by address, or a .npz or .safe")


def test_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, input=np.array([print], dtype=object))
    with pytest.raises(TracerError, match="not a whole npz file of numbers"):
        activations(path, scenario())


@pytest.mark.parametrize(
    ("array", "kind"), [([1 + 2j], "complex128"), (["1.5"], "str96"), ([b"1"], "bytes8")]
)
def test_what_is_no_real_number_is_refused(array: object, kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, input=array)
    with pytest.raises(TracerError) as caught:
        activations(path, scenario())
    assert str(caught.value) == f"{path}: input: holds {kind}, expected real numbers"


@pytest.mark.parametrize(
    ("array", "read"),
    [
        (np.array([0x7FA00000], "<u4").view("<f4"), np.nan),
        (np.array([0x7D01], "<u2").view("<f2"), np.nan),
        (np.array(["1e4000"], np.longdouble), np.inf),
        (np.array([-0.0], "<f4"), -0.0),
        (np.array([2**64 - 1], "<u8"), 2.0**64),
    ],
    ids=["signaling f4", "signaling f2", "too large", "negative zero", "u8"],
)
@pytest.mark.parametrize("end", ["npz", "safetensors"])
def test_odd_numbers_are_read_without_a_warning(
    array: NDArray[Any], read: float, end: str, tmp_path: Path
) -> None:
    path = tmp_path / f"x.{end}"
    if end == "npz":
        np.savez(path, input=array)
    elif array.dtype == np.longdouble:
        pytest.skip("a type that safetensors does not have")
    else:
        pytest.importorskip("safetensors.numpy").save_file({"input": array}, path)
    [dumped] = activations(path, scenario()).arrays["input"]
    np.testing.assert_array_equal(dumped.numbers, [read])
    assert np.signbit(dumped.numbers[0]) == np.signbit(read)


def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.zeros(500), b=np.zeros(500))
    assert path.stat().st_size < 1000
    assert set(activations(path, scenario()).arrays) == {"a", "b"}
    monkeypatch.setattr(module, "MOST_UNPACKED", 8000)
    whole = written(tmp_path, a=np.zeros(500), b=np.zeros(500))
    assert set(activations(whole, scenario()).arrays) == {"a", "b"}  # a large file may hold as much
    with (
        monkeypatch.context() as context,
        pytest.raises(
            TracerError, match=r"x.npz: unpacks to 8,[0-9]+ bytes, expected at most 8,000$"
        ),
    ):
        context.setattr(np, "load", None)
        activations(path, scenario())


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(TracerError, match="cannot be read: No such file or directory"):
        activations(tmp_path / "none.npz", scenario())


def test_a_batch_of_several_texts_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, hook_embed=np.zeros((2, 3, 4)))
    with pytest.raises(TracerError, match="hook_embed: 2 × 3 × 4, expected 2 axes, or a batch of"):
        activations(path, scenario())
