"""Another program's arrays beside the trace: the first step that differs is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.check.test_variants import SPEC
from tests.helpers.command import Ran, printed, problems, run
from tests.helpers.mutated_files import npz
from tests.helpers.reference import reference
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.small_scenario import SMALL
from tracer.check.against import TOLERANCES
from tracer.check.wording import together

Arrays = Mapping[str, NDArray[Any]]

HEAD = "layer1.attention.head1"
ATTENTION = "layer1.attention"

NAMES = {
    "input": "blocks.0.hook_resid_pre",
    f"{HEAD}.query": "blocks.0.attn.hook_q",
    f"{HEAD}.key": "blocks.0.attn.hook_k",
    f"{HEAD}.value": "blocks.0.attn.hook_v",
    f"{HEAD}.weights": "blocks.0.attn.hook_pattern",
    f"{HEAD}.output": "blocks.0.attn.hook_z",
    f"{ATTENTION}.output": "blocks.0.hook_attn_out",
    f"{ATTENTION}.residual": "blocks.0.hook_resid_mid",
    "layer1.ffn.hidden": "blocks.0.mlp.hook_pre",
    "layer1.ffn.activation": "blocks.0.mlp.hook_post",
    "layer1.ffn.output": "blocks.0.hook_mlp_out",
    "output": "ln_final",
}
"""Names of TransformerLens in the order of computation."""

WEIGHTS = {
    ("attention", "heads", 0, "W_Q"): f"{HEAD}.query",
    ("attention", "heads", 0, "W_V"): f"{HEAD}.value",
    ("attention", "W_O"): f"{ATTENTION}.output",
    ("ffn", "W_1"): "layer1.ffn.hidden",
    ("ffn", "W_2"): "layer1.ffn.output",
}
"""Weights, and the first value that they change."""


def with_another_weight(way: tuple[Any, ...]) -> Scenario:
    spec = deepcopy(SPEC)
    part = spec["layers"][0]
    for key in way:
        part = part[key]
    part[1][1] += Decimal("0.5")
    return spec


def theirs(spec: Scenario = SPEC) -> dict[str, NDArray[Any]]:
    """What another decoder has, as TransformerLens keeps it: a batch of one, heads last but one."""
    arrays = reference(spec)
    found = {}
    for address, name in NAMES.items():
        array = arrays[address]
        if ".head1." in address:
            array = array[np.newaxis] if name.endswith("pattern") else array[:, np.newaxis]
        found[name] = array[np.newaxis]
    return found


def against(folder: Path, arrays: Arrays, *options: str, spec: Scenario = SPEC) -> Ran:
    (folder / "ours.yaml").write_text(to_yaml(spec), encoding="utf-8")
    (folder / "theirs.npz").write_bytes(npz(arrays))
    named = (str(folder / "ours.yaml"), "--against", str(folder / "theirs.npz"))
    return run("check", *named, *options, width=100)


def found(ran: Ran) -> Any:
    assert ran.stderr == ""
    return json.loads(ran.stdout)


def test_another_decoder_that_is_right_agrees(tmp_path: Path) -> None:
    ran = against(tmp_path, theirs())
    assert ran.exit_code == 0, ran.stdout
    text = " ".join(ran.stdout.split())
    assert "12 values of “theirs.npz” compared with the scenario: all agree." in text
    assert "Differences that rounding to float64 explains do not count." in text
    told = found(against(tmp_path, theirs(), "-f", "json"))
    assert (told["also_agrees"], told["hides_tokens"]) == ([], [])


@pytest.mark.parametrize("way", WEIGHTS)
def test_one_other_weight_is_found_where_it_is_used_first(
    way: tuple[Any, ...], tmp_path: Path
) -> None:
    spec, first = with_another_weight(way), WEIGHTS[way]
    ran = against(tmp_path, theirs(spec), "-f", "json")
    assert ran.exit_code == 1
    told = found(ran)
    assert (told["holds"], told["first"]) == (False, first)
    here, there = reference(SPEC)[first], reference(spec)[first]
    worst = np.unravel_index(np.abs(here - there).argmax(), here.shape)
    value = next(value for value in told["values"] if value["differs"])
    assert value["address"] == first
    assert value["name"] == NAMES[first]
    assert abs(here - there)[tuple(value["at"])] == pytest.approx(abs(here - there)[worst])
    assert value["here"] == pytest.approx(here[tuple(value["at"])])
    assert value["there"] == pytest.approx(there[tuple(value["at"])])
    text = against(tmp_path, theirs(spec)).stdout
    assert "First difference: step" in text
    assert "The scenario computes it as follows:" in text


def test_names_of_hugging_face_are_known(tmp_path: Path) -> None:
    arrays = reference(SPEC)
    named = {
        "hidden_states.0": arrays["input"][np.newaxis],
        "hidden_states.1": arrays["output"][np.newaxis],
        "hidden_states.2": arrays["output"][np.newaxis],
        "attentions.0": arrays[f"{HEAD}.weights"][np.newaxis, np.newaxis],
        "last_hidden_state": arrays["output"][np.newaxis],
    }
    told = found(against(tmp_path, named, "-f", "json"))
    assert told["holds"]
    assert [(value["name"], value["address"]) for value in told["values"]] == [
        ("hidden_states.0", "input"),
        ("attentions.0", f"{HEAD}.weights"),
        ("hidden_states.1", "output"),
        ("last_hidden_state", "output"),
    ]
    assert told["not_compared"] == ["hidden_states.2"]  # there is one layer


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_the_tolerance_is_that_of_the_numbers(kind: str, tmp_path: Path) -> None:
    """What rounding of the type can explain agrees, four hundred times as much does not."""
    arrays = {name: array.astype(kind) for name, array in theirs().items()}
    for times, agrees in ((1, True), (400, False)):
        off = 1 + times * np.finfo(kind).eps / 2
        other = arrays | {NAMES["output"]: (arrays[NAMES["output"]] * off).astype(kind)}
        ran = against(tmp_path, other, "-f", "json")
        value = found(ran)["values"][-1]
        assert (value["type"], value["tolerance"]) == (kind, TOLERANCES[kind])
        assert (value["address"], found(ran)["holds"]) == ("output", agrees)


def test_bfloat16_has_a_tolerance_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    array = reference(SPEC)["output"].astype("<f4")
    half = (array.view("<u4") >> 16).astype("<u2")
    header = {
        "output": {"dtype": "BF16", "shape": list(array.shape), "data_offsets": [0, half.nbytes]}
    }
    text = json.dumps(header).encode()
    path = tmp_path / "theirs.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + half.tobytes())
    (tmp_path / "ours.yaml").write_text(to_yaml(SPEC), encoding="utf-8")
    told = json.loads(
        printed("check", str(tmp_path / "ours.yaml"), "--against", str(path), "-f", "json")
    )
    [value] = told["values"]
    assert (value["type"], value["differs"]) == ("bfloat16", False)
    assert value["difference"] > 0


def test_a_tolerance_may_be_asked_for(tmp_path: Path) -> None:
    other = {"output": reference(SPEC)["output"] * 1.01}
    assert against(tmp_path, other).exit_code == 1
    assert against(tmp_path, other, "--tolerance", "0.02").exit_code == 0


@pytest.mark.parametrize("hidden", [-np.inf, -1e9, np.finfo(np.float32).min])
def test_what_a_mask_hides_is_hidden_whatever_stands_for_it(hidden: float, tmp_path: Path) -> None:
    scores = reference(SPEC)[f"{HEAD}.scores"]
    visible = np.tril(np.ones_like(scores)) > 0
    named = {"blocks.0.attn.hook_attn_scores": np.where(visible, scores, hidden)[np.newaxis]}
    assert against(tmp_path, named).exit_code == 0
    seen = {"blocks.0.attn.hook_attn_scores": scores[np.newaxis]}
    told = found(against(tmp_path, seen, "-f", "json"))
    assert (told["first"], told["values"][0]["here"]) == (f"{HEAD}.masked", "-inf")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e308])
def test_what_is_no_number_differs(wrong: float, tmp_path: Path) -> None:
    array = reference(SPEC)["output"]
    array[1, 2] = wrong
    ran = against(tmp_path, {"output": array}, "-f", "json")
    [value] = found(ran)["values"]
    assert (value["differs"], value["at"], value["there"]) == (
        True,
        [1, 2],
        str(wrong) if not np.isfinite(wrong) else wrong,
    )
    assert against(tmp_path, {"output": array}).exit_code == 1


def test_another_shape_is_told(tmp_path: Path) -> None:
    ran = against(tmp_path, {"input": np.zeros((2, 4)), "nonsense": np.zeros(2)})
    assert ran.exit_code == 1
    assert "“input” is 2×4 in the file and 3×4 in the scenario." in ran.stdout
    assert "nonsense" in ran.stdout


def test_a_trace_that_was_written_is_held_against_one_that_rounds_alike(tmp_path: Path) -> None:
    for carry in ("line", "step", "never"):
        path = tmp_path / f"{carry}.json"
        path.write_text(printed("run", "alex", "-f", "json", "--carry", carry, "--decimals", "4"))
        told = json.loads(printed("check", "alex", "--against", str(path), "-f", "json"))
        assert told["holds"], carry
        assert len(told["values"]) > 40
        text = " ".join(printed("check", "alex", "--against", str(path)).split())
        assert ("because the scenario rounds" in text) == (carry != "never")
    document = json.loads(path.read_text())
    output = next(v for v in document["values"] if v["address"] == f"{ATTENTION}.output")
    output["data"][2][0] += 0.5
    path.write_text(json.dumps(document))
    ran = run("check", "alex", "--against", str(path), "-f", "json")
    assert (ran.exit_code, json.loads(ran.stdout)["first"]) == (1, f"{ATTENTION}.output")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.npz", b"PK\x03\x04 nothing", "not a whole npz file of numbers"),
        ("x.safetensors", b"\xff" * 20, "not a whole safetensors file"),
        ("x.txt", b"1 2 3", "expected a .npz or .safetensors file, or a trace as .json"),
        ("x.json", b"{", "not JSON: "),
        ("x.json", b"[]", "expected a mapping"),
        ("x.json", b"{}", "values: expected a trace, as --format json writes it"),
        ("x.json", b'{"values": [{"address": "input"}]}', "values: expected a trace, as"),
        (
            *("x.json", b'{"values": [{"address": "input", "data": [[1], [1, 2]]}]}'),
            "input: rows of different lengths, or no numbers",
        ),
        (
            *("x.json", b'{"values": [{"address": "inputs", "data": [1]}]}'),
            "no array has a known name, expected addresses or the names of TransformerLens or "
            "Hugging Face; got inputs; did you mean 'input'",
        ),
        ("x.json", b"[" * 100_000, "not JSON that can be read"),
    ],
)
def test_a_file_that_is_none_of_them_is_told(
    name: str, content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    ran = run("check", "alex", "--against", str(path))
    assert (ran.exit_code, ran.stdout) == (2, "")
    [line] = problems(ran)
    assert said in line and line.startswith(str(path))


def test_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, input=np.array([print], dtype=object))
    ran = run("check", "alex", "--against", str(path))
    assert problems(ran) == [f"{path}: not a whole npz file of numbers"]


def test_shapes_alone_cannot_be_held_against_numbers(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", input=np.zeros((5, 512)))
    ran = run("check", "transformer-base", "--against", str(tmp_path / "x.npz"))
    assert ran.exit_code == 2
    assert "the scenario has shapes but no numbers" in ran.stderr


def test_of_a_trained_model_only_what_is_compared_is_computed(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    from tests.helpers.reference_of_checkpoint import reference_of
    from tests.helpers.tiny_models import model, scenario
    from tracer.check.checking import check_against
    from tracer.checkpoints.opening import open_checkpoint
    from tracer.decoder.lazy import LazyValue
    from tracer.scenario.loading import load

    loaded = load(scenario(tmp_path, "folder gpt2"))
    plain = reference_of(
        open_checkpoint(model(tmp_path, "folder gpt2")), list(loaded.scenario.token_ids or ())
    )
    names = ("input", "layer1.attention.output", "layer1.ffn.residual")
    path = tmp_path / "theirs.npz"
    path.write_bytes(npz({name: plain[name] for name in names}))
    found = check_against(loaded, path, None, None)
    assert [each.value.address for each in found.compared] == list(names)
    assert found.holds
    later = [value for value in found.trace.values.values() if isinstance(value, LazyValue)]
    assert not any(value.is_ready for value in later if value.place.layer == 2)


def test_a_small_scenario_is_compared_by_its_addresses(tmp_path: Path) -> None:
    """Single numbers and rows are compared too: √1 and the rows' sums."""
    (tmp_path / "small.yaml").write_text(SMALL)
    arrays = {f"{HEAD}.scale": np.array(1.0), "input": np.array([[1, 2], [3, 5]])}
    (tmp_path / "x.npz").write_bytes(npz(arrays))
    named = (str(tmp_path / "small.yaml"), "--against", str(tmp_path / "x.npz"))
    told = json.loads(run("check", *named, "-f", "json").stdout)
    assert [(value["address"], value["differs"]) for value in told["values"]] == [
        ("input", True),
        (f"{HEAD}.scale", False),
    ]
    assert told["values"][0]["relative"] == 0.25


def test_what_is_not_compared_is_named_in_the_headline(tmp_path: Path) -> None:
    """Under no address of the pass, words, or what only another program computes."""
    others = {
        **{"x": np.zeros(2), "layer1.ffn.hiden": np.zeros((3, 4)), "tokens": np.zeros(3)},
        **{"blocks.1.attn.hook_q": np.zeros((1, 3, 2, 2)), "blocks.0.hook_attn_in": np.zeros(3)},
        **{"hook_tokens": np.zeros(3), "hidden_states.7": np.zeros((1, 3, 4))},
    }
    arrays = {"input": reference(SPEC)["input"], **others}
    ran = against(tmp_path, arrays)
    told = " ".join(ran.stdout.split("Value by value")[0].split())
    listed = ", ".join(f"“{name}”" for name in others)
    assert (
        "1 value of “theirs.npz” compared with the scenario: it agrees. 7 other arrays are not "
        f"compared, because the scenario computes no such numbers: {listed}. Similar addresses are "
        "“layer1.ffn.hidden”" in told
    )
    data = found(against(tmp_path, arrays, "-f", "json"))
    assert (data["compared"], data["not_compared"]) == (1, list(others))
    one = {"input": arrays["input"], "layer1.ffn.hiden": np.zeros((3, 4))}
    told = " ".join(against(tmp_path, one).stdout.split())
    assert ". A similar address is “layer1.ffn.hidden”" in told
    many = {f"x{n}": np.zeros(2) for n in range(10)}
    assert ", and 9 more. Similar" in " ".join(against(tmp_path, arrays | many).stdout.split())


def test_words_and_a_value_that_is_written_twice_are_named_too(tmp_path: Path) -> None:
    rows = reference(SPEC)["input"].tolist()
    path, ours = tmp_path / "theirs.json", tmp_path / "ours.yaml"
    ours.write_text(to_yaml(SPEC), encoding="utf-8")
    values = [
        {"address": "tokens", "data": ["a", "b", "c"]},
        {"address": "input", "data": np.add(rows, 1).tolist()},
        {"address": "input", "data": rows},
    ]
    path.write_text(json.dumps({"values": values}))
    ran = run("check", str(ours), "--against", str(path), "-f", "json")
    assert [value["differs"] for value in found(ran)["values"]] == [True, False]
    assert found(ran)["not_compared"] == ["tokens"]


def test_one_value_agrees_and_two_agree(tmp_path: Path) -> None:
    wrong = reference(SPEC)
    arrays = {name: wrong[name] for name in ("input", f"{HEAD}.query", f"{HEAD}.key")}
    arrays[f"{HEAD}.key"] = arrays[f"{HEAD}.key"] + 1
    assert "Before it, 2 values agree;" in against(tmp_path, arrays).stdout
    del arrays["input"]
    assert "Before it, 1 value agrees;" in against(tmp_path, arrays).stdout


def test_addresses_of_several_layers_and_heads_are_listed_together() -> None:
    heads = [f"layer{n}.attention.head{h}.query" for n in (1, 3) for h in (1, 2, 3, 4)]
    assert together([*heads, "input", "layer2.ffn.norm", "layer3.ffn.expert1.hidden"]) == [
        "layer{1,3}.attention.head{1..4}.query",
        *("input", "layer2.ffn.norm", "layer3.ffn.expert1.hidden"),
    ]


# --- tolerances of numbers of different sizes ----------------------------------------------------

EPSILON = 1e-5
KINDS = ("float32", "float16", "bfloat16")


def as_kind(array: NDArray[Any], kind: str) -> NDArray[Any]:
    """Numbers as a program stores them in a type."""
    if kind != "bfloat16":
        return array.astype(kind).astype(float)
    bits: NDArray[Any] = array.astype("<f4").view("<u4")
    cut: NDArray[Any] = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view("<f4")
    return cut.astype(float)


@dataclass
class Network:
    """Three FFN layers, each behind a LayerNorm, whose rows may have an outlier."""

    rows: NDArray[Any]
    weights: list[NDArray[Any]]

    @staticmethod
    def drawn(seed: int, outlier: float, width: int = 16, tokens: int = 5) -> Network:
        draw = np.random.default_rng(seed)
        rows = np.round(draw.normal(size=(tokens, width)), 3)
        rows[:, 3] *= outlier
        sizes = (width, 2 * width), (2 * width, width)
        weights = [np.round(draw.normal(size=size) / 4, 3) for size in sizes * 3]
        return Network(rows, weights)

    @property
    def text(self) -> str:
        pairs = zip(self.weights[::2], self.weights[1::2], strict=True)
        norm = f"norm: {{epsilon: {EPSILON:f}, placement: pre}}"
        layers = [f"{{ffn: {{W_1: {a.tolist()}, W_2: {b.tolist()}, {norm}}}}}" for a, b in pairs]
        return (
            f"tokens: [{', '.join(f't{n}' for n in range(len(self.rows)))}]\n"
            f"embeddings: {self.rows.tolist()}\nlayers: [{', '.join(layers)}]\n"
            "rounding: {carry: never}\narithmetic: float64\n"
        )

    def arrays(self, kind: str, epsilon: float = EPSILON, wrong: float = 1) -> Arrays:
        """What a program that stores each result in a type computes; `wrong` scales W_1."""
        here = as_kind(self.rows, kind)
        found = {"embedding": here}
        for layer in (1, 2, 3):
            w_1, w_2 = self.weights[2 * layer - 2 : 2 * layer]
            centered = here - here.mean(axis=1, keepdims=True)
            deviation = np.sqrt((centered**2).mean(axis=1, keepdims=True) + epsilon)
            normed = as_kind(centered / deviation, kind)
            hidden = as_kind(normed @ w_1 * wrong, kind)
            output = as_kind(np.maximum(hidden, 0) @ w_2, kind)
            here = as_kind(here + output, kind)
            place = f"layer{layer}.ffn"
            found |= {f"{place}.norm": normed, f"{place}.hidden": hidden}
            found |= {f"{place}.output": output, f"{place}.residual": here}
        return found


def held(folder: Path, network: Network, arrays: Arrays, kind: str) -> Any:
    folder.joinpath("ours.yaml").write_text(network.text)
    file = folder / "theirs.safetensors"
    stored = "<f4" if kind == "bfloat16" else kind
    contents = {name: array.astype(stored) for name, array in arrays.items()}
    if kind == "bfloat16":
        contents = {name: (a.view("<u4") >> 16).astype("<u2") for name, a in contents.items()}
    header, data = {}, b""
    dtype = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}[kind]
    for name, array in contents.items():
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data)
    words = (str(folder / "ours.yaml"), "--against", str(file), "-f", "json")
    return found(run("check", *words))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outlier", [1, 30, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_rounding_is_no_difference(seed: int, outlier: float, kind: str, tmp_path: Path) -> None:
    network = Network.drawn(seed, outlier)
    assert held(tmp_path, network, network.arrays(kind), kind)["holds"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_an_outlier_hides_no_difference_of_the_others(seed: int, kind: str, tmp_path: Path) -> None:
    """In the residual stream alone, as most dumps have it, of a model with one large channel."""
    network = Network.drawn(seed, 3000)
    arrays = network.arrays(kind, wrong=1.5)
    residuals = {name: array for name, array in arrays.items() if name.endswith("residual")}
    assert held(tmp_path, network, residuals, kind)["first"] == "layer1.ffn.residual"


@pytest.mark.parametrize("seed", range(3))
def test_another_epsilon_is_found_in_float32_where_it_is_used(seed: int, tmp_path: Path) -> None:
    network = Network.drawn(seed, 1)
    told = held(tmp_path, network, network.arrays("float32", epsilon=1e-6), "float32")
    assert told["first"] == "layer1.ffn.norm"
    [_, norm, *_] = told["values"]
    assert 1e-6 < norm["relative"] < TOLERANCES["float32"]
    wrong = [value["address"] for value in told["values"] if value["wrong"]]
    # In a later layer, where its inputs are larger, ε may change less than rounding does.
    norms = [f"layer{layer}.ffn.norm" for layer in (1, 2, 3)]
    assert wrong == norms[: len(wrong)] and len(wrong) >= 2
    text = run(
        "check", str(tmp_path / "ours.yaml"), "--against", str(tmp_path / "theirs.safetensors")
    ).stdout
    assert "None of these follows from the file's numbers before them: " in " ".join(text.split())
