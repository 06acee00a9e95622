"""Names of TransformerLens and Hugging Face: which there are, and that they are accepted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import tracer
from tests.check.test_variants import SPEC
from tests.helpers import tiny_models
from tests.helpers.bundled import TYPED
from tests.helpers.command import printed, problems, run
from tests.helpers.mutated_files import npz
from tests.helpers.reference import reference
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.small_scenario import END, SMALL, changed
from tests.helpers.whole_scenarios import whole_scenarios
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.data.quote import quoted
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.errors import TracerError
from tracer.lesson.texts.lookup import find
from tracer.scenario.activations import activations
from tracer.scenario.loading import load, parse
from tracer.scenario.other_names import (
    address_of_hook,
    family_of,
    names_by_address,
    names_of,
    transformer_lens,
)
from tracer.scenario.own_keys import OWN

HOOKS = {
    *("hook_embed", "hook_pos_embed", "ln_final.hook_scale", "ln_final.hook_normalized"),
    *("unembed.hook_in", "unembed.hook_out"),
    *("blocks.N.hook_resid_pre", "blocks.N.hook_resid_mid", "blocks.N.hook_resid_post"),
    *("blocks.N.hook_attn_out", "blocks.N.hook_mlp_out"),
    *(f"blocks.N.attn.hook_{name}" for name in ("q", "k", "v", "z", "attn_scores", "pattern")),
    *("blocks.N.attn.hook_rot_q", "blocks.N.attn.hook_rot_k"),
    *("blocks.N.mlp.hook_pre", "blocks.N.mlp.hook_pre_linear", "blocks.N.mlp.hook_post"),
    *(
        f"blocks.N.ln{number}{post}.hook_{name}"
        for number in (1, 2)
        for post in ("", "_post")
        for name in ("scale", "normalized")
    ),
}
"""Points of HookedTransformer (TransformerLens 3), from its documentation and its components."""
WEIGHTS = {
    *("embed.W_E", "pos_embed.W_pos", "unembed.W_U", "unembed.b_U", "ln_final.w", "ln_final.b"),
    *(f"blocks.N.attn.{kind}_{part}" for kind in "Wb" for part in "QKVO"),
    *(f"blocks.N.attn._{kind}_{part}" for kind in "Wb" for part in "KV"),
    *(f"blocks.N.mlp.{name}" for name in ("W_in", "b_in", "W_out", "b_out", "W_gate")),
    *(f"blocks.N.ln{n}{post}.{name}" for n in (1, 2) for post in ("", "_post") for name in "wb"),
}
MODULES = {"ln_final", "unembed"}
"""Modules with a single result."""


some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@some
@given(whole_scenarios())
def test_each_name_means_the_address_beside_it(spec: Scenario) -> None:
    """Of any scenario; TransformerLens has its names, and each address has a number."""
    found = traced(parse(to_yaml(spec), "x.yaml"))
    judge(found)
    general = {re.sub(r"^blocks\.[0-9]+", "blocks.N", n) for n in transformer_lens(found.scenario)}
    assert general - HOOKS - WEIGHTS - MODULES == set()
    for number, layer in enumerate(found.scenario.layers):
        between = f"blocks.{number}.hook_resid_mid" in transformer_lens(found.scenario)
        assert between != layer.is_joint


@pytest.mark.parametrize("name", TYPED)
def test_each_name_of_a_bundled_scenario_means_its_address(name: str) -> None:
    listed = judge(traced(load(name).scenario))
    document = json.loads(printed("steps", name, "--all", "--names", "-f", "json"))
    values = document["values"]
    beside = {v["address"]: [*v["transformer_lens"], *v["hugging_face"]] for v in values}
    assert {address: names for address, names in beside.items() if names} == listed
    assert [step["address"] for step in document["steps"]] == [
        step["address"] for step in json.loads(printed("steps", name, "-f", "json"))["steps"]
    ]


@pytest.mark.parametrize("model", [name for name in tiny_models.MODELS if "with" not in name])
def test_each_name_of_a_checkpoint_means_its_address(model: str, tmp_path: Path) -> None:
    listed = judge(traced(load(tiny_models.scenario(tmp_path, model)).scenario))
    assert "blocks.1.mlp.hook_post" in listed[end_of_ffn(model)]
    own = "transformer.h.1.attn.c_proj" if "gpt2" in model else "model.layers.1.self_attn.o_proj"
    assert {own, "blocks.1.hook_attn_out"} <= {*listed["layer2.attention.output"]}


def end_of_ffn(model: str) -> str:
    """The address of what W_2 reads."""
    return f"layer2.ffn.{'activation' if 'gpt2' in model else 'gated'}"


def traced(scenario: Any) -> Trace:
    return trace("x", scenario, PassOptions(standardized=True))


def judge(found: Trace) -> dict[str, list[str]]:
    """Check names and addresses of a pass; return the names of each address that it has."""
    listed = {
        address: list(names)
        for address, names in names_by_address(names_of(found.scenario)).items()
        if address in found.values
    }
    for address, value in found.values.items():
        first = f"[{','.join('1' for _ in value.axes)}]" if value.axes else ""
        if 0 in value.shape:
            continue  # no token goes to this expert
        assert quoted(found, [address + first])
        for name in listed.get(address, ()):
            assert find(found, name + first).value is value, name
    return listed


def test_steps_lists_every_value_with_its_formula() -> None:
    """The unscaled products are there, and what softmax and norms compute."""
    lines = printed("steps", "alex", "--all", width=120).splitlines()
    by_address = {line.split()[2]: line.split(maxsplit=3) for line in lines[3:] if line}
    assert {*by_address} >= {*traced(load("alex").scenario).values}
    head, norm = "layer1.attention.head1", "layer1.attention.norm"
    assert by_address[f"{head}.dot"] == ["7", "4×4", f"{head}.dot", "Q¹ · K¹ᵀ       –"]
    for address, formula in {
        f"{head}.exp": "e^(S¹ + M)",
        f"{head}.exp_sum": "sum(e^(S¹ + M))",
        f"{norm}.mean": "mean(r₁)",
        f"{norm}.variance": "mean((r₁ - μ)²)",
        f"{norm}.standardized": "(r₁ - μ) / σ",
        "output": "y",
    }.items():
        assert formula in by_address[address][3], address


def test_names_are_listed_in_a_line_each() -> None:
    text = printed("steps", "alex", "--names", width=140)
    assert "The names of Hugging Face are those of the family “marian”." in text
    lines = [line.split() for line in text.splitlines()]
    query = ["layer1.attention.head2.query", "blocks.0.attn.hook_q[1]"]
    assert [*query, "model.decoder.layers.0.self_attn.q_proj[1]"] in lines
    assert ["output", "ln_final", "hidden_states[1]"] in lines
    narrow = printed("steps", "alex", "--names", width=80)
    names = {word for line in lines[6:] for word in line}
    assert names <= {*narrow.split()}, "a name is shortened or folded"
    assert "the list has only what a model returns" in " ".join(
        printed("steps", "lora", "--names").split()
    )


FORMS = [
    ("pre", "rms_norm", True, "llama", "model.layers.0.mlp.gate_proj"),
    ("pre", "layer_norm", False, "gpt2", "transformer.h.0.mlp.c_fc"),
    ("post", "layer_norm", False, "marian", "model.decoder.layers.0.fc1"),
    ("post", "rms_norm", True, None, None),
    ("pre", "layer_norm", True, None, None),
]


@pytest.mark.parametrize(("placement", "kind", "gated", "family", "name"), FORMS)
def test_a_typed_scenario_has_the_names_of_a_family_of_its_form(
    placement: str, kind: str, gated: bool, family: str | None, name: str | None
) -> None:
    up = "      W_3: [[1], [2]]\n" if gated else ""
    norm = f"    norm: {{kind: {kind}, placement: {placement}}}\n"
    found = parse(changed((END, up + END + norm)), "x.yaml")
    assert family_of(found) == family
    modules = {
        n for n, addresses in names_of(found).items() if [*addresses] == ["layer1.ffn.hidden"]
    }
    assert modules == {"blocks.0.mlp.hook_pre", *([name] if name else [])}


FUSED = """
tokens: [a, b, c]
embeddings: {a: [1, 2], b: [3, 4], c: [5, 6]}
layers:
- norm: {placement: pre}
  attention:
    heads:
    - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}
    - {W_Q: [[1], [1]], W_K: [[0], [1]], W_V: [[0], [1]]}
    W_O: [[1, 0], [0, 1]]
  ffn: {W_1: [[1], [2]], W_2: [[1, 2]]}
"""


def test_what_is_side_by_side_is_named_and_read_part_by_part(tmp_path: Path) -> None:
    found = parse(FUSED, "x.yaml")
    heads = [f"layer1.attention.head{head}" for head in (1, 2)]
    expected = [f"{head}.{name}" for name in ("query", "key", "value") for head in heads]
    assert names_of(found)["transformer.h.0.attn.c_attn"] == expected
    array = np.arange(18.0).reshape(3, 6)
    path = tmp_path / "x.npz"
    path.write_bytes(npz({"transformer.h.0.attn.c_attn": array[np.newaxis]}))
    read = activations(path, found).arrays
    assert [*read] == expected
    for column, address in enumerate(expected):
        [dumped] = read[address]
        np.testing.assert_array_equal(dumped.numbers, array[:, column : column + 1])


NOT_ONE = "several values; choose one with blocks.0.attn.hook_q[0] to blocks.0.attn.hook_q[1]: "


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["value", "blocks.0.attn.hook_q[Alex,1]"], NOT_ONE),
        (["why", "blocks.0.attn.hook_q[2][Alex,1]"], NOT_ONE),
        (["value", "blocks.0.mlp.hook_prr[1,1]"], "did you mean 'blocks.0.mlp.hook_pre' or"),
        (["step", "blocks.0.attn.hook_patern"], "did you mean 'blocks.0.attn.hook_pattern'"),
        (["value", "blocks.0.attn.hook_rot_q[0][1,1]"], "layer1.attention.head1.rotated_query: no"),
        (["value", "blocks.0.attn.hook_q[1]"], "layer1.attention.head2.query: got no row"),
    ],
)
def test_a_name_that_is_not_one_value_is_an_error(command: list[str], message: str) -> None:
    ran = run(*command)
    assert ran.exit_code != 0
    assert message in " ".join(problems(ran))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("value hidden_states[1][Alex,spicy]", "value output[Alex,spicy]"),
        (
            "value attentions[0][1][Alex,Frank] as percent",
            "value layer1.attention.head2.weights[Alex,Frank] as percent",
        ),
        (
            "why blocks.0.mlp.hook_post[Alex,1] --depth 1",
            "why layer1.ffn.activation[Alex,1] --depth 1",
        ),
        ("step hook_embed", "step embedding"),
        ("step hidden_states[1]", "step output"),
        (
            "value blocks.0.attn.hook_pattern[0,1,3,0] as percent",
            "value layer1.attention.head2.weights[4,1] as percent",
        ),
        ("why attentions[0][0,1,3,0]", "why layer1.attention.head2.weights[4,1]"),
        ("value blocks.0.attn.hook_q[0,3,1,0]", "value layer1.attention.head2.query[4,1]"),
        ("value hidden_states[1][0,3,2]", "value output[4,3]"),
        ("value blocks.0.ln1.hook_scale[0,3,0]", "value layer1.attention.norm.std[4]"),
        (
            "check alex --figure attentions[0][0,1,3,0]=0.9",
            "check alex --figure attentions[0][1][4,1]=0.9",
        ),
        ("train pizza --parameter blocks.0.mlp.W_in", "train pizza --parameter layer1.ffn.W_1"),
        ("step blocks.0.attn.hook_pattern[1]", "step layer1.attention.head2.weights"),
        ("step blocks.0.attn.hook_pattern --head 2", "step layer1.attention.head2.weights"),
        ("step model.decoder.layers.0.self_attn.q_proj", "step query"),
        ("attribute unembed[la,pizza] -s pizza", "attribute logits[la,pizza] -s pizza"),
        (
            "value gradient.blocks.0.mlp.W_in[1,1] -s pizza",
            "value gradient.layer1.ffn.W_1[1,1] -s pizza",
        ),
        (
            "value output[Alex,1] --given blocks.0.attn.hook_z[1][Alex]=0",
            "value output[Alex,1] --given layer1.attention.head2.output[Alex]=0",
        ),
        (
            "compare pizza --train --steps 1 --patch blocks.0.attn.hook_z[0]",
            "compare pizza --train --steps 1 --patch layer1.attention.head1.output",
        ),
    ],
)
def test_a_name_is_accepted_like_an_address(theirs: str, ours: str) -> None:
    ran = run(*words(theirs))
    assert ran == run(*words(ours))
    assert ran.exit_code < 2


def test_indices_of_an_array_are_no_labels() -> None:
    stdin = changed(("[a, b]", "[2, 1]"), ("  a:", "  2:"), ("  b:", "  1:"))
    asked = ("value", "hook_embed[0,0,1]", "-s", "-")
    assert printed(*asked, stdin=stdin) == "2\n"


KEYS = """
    norm: {placement: pre}
rounding: {digits: {"*.query": 1, DIGITS: 5}}
given: {HEAD: [[1], [2]]}
notes: {NOTE: "It is {value HEAD[b,1]}.", EMBEDDING: On embeddings.}
vocabulary: [x, y]
unembedding: {W_U: [[1, 0], [0, 1]]}
training: [{tokens: [a, b], targets: [x, y], given: {HIDDEN: [[1], [3]]}}]
optimizer: {trains: [TRAINED]}
"""
THEIRS = {
    **{"DIGITS": "blocks.*.attn.hook_pattern", "HEAD": "blocks.0.attn.hook_q"},
    **{"NOTE": "blocks.0.attn.hook_q", "EMBEDDING": "hook_embed"},
    **{"HIDDEN": "transformer.h.0.mlp.c_fc", "TRAINED": "blocks.?.mlp.W_out"},
}
OURS = {
    **{"DIGITS": "layer1.attention.head1.weights", "HEAD": "layer1.attention.head1.query"},
    **{"NOTE": "layer1.attention.head1.query", "EMBEDDING": "embedding"},
    **{"HIDDEN": "layer1.ffn.hidden", "TRAINED": "layer1.ffn.W_2"},
}


def with_keys(keys: dict[str, str]) -> str:
    text = KEYS
    for key, name in keys.items():
        text = text.replace(key, f'"{name}"' if key != "HEAD" else name)
    return changed((END, END.rstrip("\n") + text))


@pytest.mark.parametrize(
    "command", ["run", "train", "value layer1.attention.head1.weights[b,a] -s"]
)
def test_keys_of_a_scenario_are_accepted_like_addresses(command: str) -> None:
    theirs, ours = (printed(*command.split(), "-", stdin=with_keys(k)) for k in (THEIRS, OURS))
    assert theirs == ours
    if command == "run":
        assert "It is 2." in theirs and "On embeddings." in theirs


def test_a_key_that_is_not_one_value_is_an_error() -> None:
    query = "blocks.0.attn.hook_q"
    one = f"given:\n  mask: [[0, 0], [0, 0]]\n  {query}[0]: [[1], [2]]\n"
    twice = problems(run("run", "-", stdin=changed((END, f"{END}{one}  {query}: [[1], [2]]\n"))))
    assert twice == [f"<stdin>:18:3: {query}: given twice, also as {query}[0]"]
    misfit = problems(
        run("run", "-", stdin=changed((END, END + one.replace("[[1], [2]]", "[[1]]"))))
    )
    address = "layer1.attention.head1.query"
    assert misfit == [f"<stdin>:17:3: {address}: given as 1×1 numbers, expected 2×1 numbers"]
    several = FUSED + f"given: {{{query}: [[1]]}}\n"
    [told] = problems(run("run", "-", stdin=several))
    assert told.startswith(f"<stdin>:12:9: {query}: {NOT_ONE}")


def test_no_name_begins_like_an_address() -> None:
    for name in TYPED:
        found = names_of(load(name).scenario)
        assert [n for n, addresses in found.items() if OWN.match(n) and n not in addresses] == []
    layouts = [family.layout.names.values() for family in FAMILIES.values()]
    assert [name for names in layouts for name in names if OWN.match(name)] == []


def test_hooks_of_any_layer_have_the_addresses_of_one() -> None:
    found = names_of(parse(SMALL, "x.yaml"))
    for hook, [address, *_] in found.items():
        if hook.startswith("blocks.0.") and ".ln" not in hook and "hook_" in hook:
            for typed, layer in ((hook, "1"), (hook.replace("0", "*", 1), "*")):
                try:
                    own = address_of_hook(typed)
                except TracerError as error:
                    assert "depends on the model" in str(error)
                    assert hook.endswith(("mlp.hook_post", "hook_resid_pre"))
                else:
                    assert own == address.replace("layer1", f"layer{layer}").replace(".head1", "")
    assert address_of_hook("layer*.ffn.output") == "layer*.ffn.output"
    assert address_of_hook("hook_embed") == "embedding"


def words(command: str) -> list[str]:
    return re.split(r" (?!as|percent)", command)


def test_figures_files_have_names_too(tmp_path: Path) -> None:
    figures = tmp_path / "x.figures.yaml"
    right = printed("value", "layer1.attention.head2.query[Alex,1]").strip()
    figure = {"address": "blocks.0.attn.hook_q[1]", "row": "Alex", "column": "1", "printed": right}
    figures.write_text(json.dumps({"figures": [figure]}))
    assert run("check", "alex", "--figures-file", str(figures)).exit_code == 0
    figure["address"] = "blocks.0.attn.hook_q"
    figures.write_text(json.dumps({"figures": [figure]}))
    assert NOT_ONE in " ".join(problems(run("check", "alex", "--figures-file", str(figures))))


def test_the_library_knows_names() -> None:
    found = tracer.trace(tracer.load("alex"))
    assert found["blocks.0.attn.hook_z[1]"].address == "layer1.attention.head2.output"
    assert ("hook_embed" in found, "blocks.0.attn.hook_z" in found) == (True, False)
    with pytest.raises(KeyError, match="several values; choose one with blocks"):
        found["blocks.0.attn.hook_z"]
    one, both = (tracer.explain(found, "blocks.0.attn.hook_z" + end) for end in ("[1]", ""))
    assert (len(one.sections), len(both.sections)) == (1, 2)


def test_only_names_that_the_pass_has_are_suggested() -> None:
    """This scenario has neither an input nor a vocabulary."""
    for address in ("logits", "unembedding.W_U", "input"):
        told = problems(run("value", f"{address}[1,1]", "-s", "blocks"))
        assert told == [f"{address}: no such value"]


def test_a_number_of_a_head_can_have_any_length() -> None:
    told = problems(run("value", f"blocks.0.attn.hook_q[{'9' * 5000}]", "-s", "alex"))
    assert len(told) == 1
    assert told[0].startswith("blocks.0.attn.hook_q: several values; choose one with")


def test_hooks_of_norms_are_read_from_a_dump(tmp_path: Path) -> None:
    """x̂ before γ, and σ with an axis for it."""
    spec = to_yaml(SPEC)
    arrays = reference(SPEC)
    (tmp_path / "ours.yaml").write_text(spec, encoding="utf-8")
    final = SPEC["final_norm"]
    rows, gain = arrays["layer1.ffn.norm"], np.array(final["gain"], float)
    scale = np.sqrt(rows.var(axis=1, keepdims=True) + float(final["epsilon"]))
    theirs = {
        "ln_final.hook_normalized": arrays["output"] / gain,
        "ln_final.hook_scale": scale,
        "blocks.0.hook_resid_post": arrays["layer1.ffn.residual"],
        "blocks.0.mlp.hook_post": arrays["layer1.ffn.activation"],
    }
    (tmp_path / "x.npz").write_bytes(
        npz({name: array[np.newaxis] for name, array in theirs.items()})
    )
    told = json.loads(
        printed(
            "check", str(tmp_path / "ours.yaml"), "--against", str(tmp_path / "x.npz"), "-f", "json"
        )
    )
    assert told["holds"]
    assert {value["address"]: value["name"] for value in told["values"]} == {
        "final_norm.standardized": "ln_final.hook_normalized",
        "final_norm.std": "ln_final.hook_scale",
        "layer1.ffn.residual": "blocks.0.hook_resid_post",
        "layer1.ffn.activation": "blocks.0.mlp.hook_post",
    }
