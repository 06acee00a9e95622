"""What `shapes --caches` says, by closed formulas and published figures."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from safetensors.numpy import load_file, save_file

from tests.helpers import tiny_checkpoints as tiny
from tests.helpers.claims_of_caches import FORMS, Layers, Model, false_products, fault, products
from tests.helpers.claims_of_shapes import sentences
from tests.helpers.command import printed, problems, run
from tests.helpers.sentences import unbroken
from tests.helpers.truth import false_equations

WIDE = 5000
SAID: list[str] = []


def counted(stdin: str, *options: str) -> Any:
    """What `shapes --caches --format json` prints, read back."""
    return json.loads(printed("shapes", "-", "--caches", *options, "--format", "json", stdin=stdin))


def by_kind(stdin: str, *options: str) -> dict[str, Any]:
    return {kind["kind"]: kind for kind in counted(stdin, *options)["caches"]["kinds"]}


def told(stdin: str, *options: str) -> str:
    return unbroken(printed("shapes", "-", "--caches", *options, stdin=stdin, width=WIDE))


def dimensions(**sizes: Any) -> str:
    usual = {"width": sizes.get("d_k", 64) * sizes["heads"], "words": 100, "positions": "rotary"}
    return yaml.safe_dump({"dimensions": usual | sizes, "tokens": "one two"})


# --- published figures ---------------------------------------------------------------------------

LLAMA_2_7B = dimensions(layers=32, heads=32, d_k=128)
LLAMA_2_70B = dimensions(layers=80, heads=64, key_heads=8, d_k=128)
LLAMA_3_8B = dimensions(layers=32, heads=32, key_heads=8, d_k=128)
GPT2_XL = dimensions(layers=48, heads=25)
DEEPSEEK_V2 = dimensions(layers=60, heads=128, d_k=128)
DEEPSEEK_V3 = dimensions(layers=61, heads=128, d_k=128)
KIB, GIB = 2**10, 2**30


@pytest.mark.parametrize(("scenario", "kind", "per_token"), [
    (LLAMA_2_7B, "multi-head", 512 * KIB),
    (LLAMA_2_70B, "grouped", 327_680),
    (LLAMA_2_70B, "multi-head", 2_621_440),
    (LLAMA_3_8B, "grouped", 128 * KIB),
    (GPT2_XL, "multi-head", 300 * KIB),
    # DeepSeek-AI (2024), table 1: 2 n_h d_h l, 2 d_h l and (d_c + d_R) l ≈ 9/2 d_h l numbers.
    (DEEPSEEK_V2, "multi-head", 2 * 2 * 128 * 128 * 60),
    (DEEPSEEK_V2, "multi-query", 2 * 2 * 128 * 60),
    (DEEPSEEK_V2, "latent", 2 * 576 * 60),
    (DEEPSEEK_V3, "latent", 70_272),
])  # fmt: skip
def test_bytes_for_each_token_are_those_that_are_published(
    scenario: str, kind: str, per_token: int
) -> None:
    assert by_kind(scenario)[kind]["per_token"]["bytes"] == per_token


def test_latent_attention_is_as_large_as_is_published() -> None:
    """DeepSeek-AI (2024): as many numbers as grouped attention with 2.25 groups."""
    text = told(DEEPSEEK_V2)
    assert "The latent cache has as many numbers as the keys and values of 2.25 heads." in text


@pytest.mark.parametrize(("scenario", "tokens", "gib"), [
    # dev.to/jagmarques: the figures of Llama 3 8B hold; those of 70B, 5 and 40 GB, are 4 times too
    # many, with the formula and the sizes of that page.
    (LLAMA_3_8B, 4096, 0.5), (LLAMA_3_8B, 32_768, 4),
    (LLAMA_2_70B, 4096, 5 / 4), (LLAMA_2_70B, 32_768, 40 / 4),
    # github.com/daddaops/dadops-blog-code
    (LLAMA_2_70B, 8192, 2.5),
])  # fmt: skip
def test_bytes_of_a_text_are_those_that_others_print(
    scenario: str, tokens: int, gib: float
) -> None:
    found = by_kind(scenario, "--length", str(tokens))["grouped"]
    assert found["own"] and not found["assumed"]
    assert found["bytes"][0] == {"tokens": tokens, "bytes": gib * GIB}


def test_figures_that_others_print_and_that_are_wrong() -> None:
    """insidellms.com: 523 KB and 65 KB for each token of Llama 2 70B are 5 times too few.

    heji-study-blog.web.app: 128,000 tokens in 100 layers of 128 heads have 838 GB, as it says; the
    latent cache has 14.7 GB, not 55.
    """
    large = by_kind(LLAMA_2_70B)
    whole, grouped = (large[kind]["per_token"]["bytes"] for kind in ("multi-head", "grouped"))
    assert (round(whole / 523_000, 1), round(grouped / 65_000, 1)) == (5.0, 5.0)
    wide = by_kind(dimensions(layers=100, heads=128, d_k=128), "--length", "100000")
    gigabytes = {kind: found["per_token"]["bytes"] * 128e-6 for kind, found in wide.items()}
    assert round(gigabytes["multi-head"], 1) == 838.9
    assert round(gigabytes["latent"], 1) == 14.7


# --- dimensions ----------------------------------------------------------------------------------


@st.composite
def dimensioned(draw: st.DrawFn) -> tuple[dict[str, Any], Model]:
    key_heads, sharing = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    heads, d_k = key_heads * sharing, draw(st.integers(1, 70))
    layers = draw(st.integers(1, 9))
    context = draw(st.sampled_from([None, 50, 200_000]))
    sizes = {
        **{"layers": layers, "heads": heads, "key_heads": key_heads, "d_k": d_k},
        **{"width": draw(st.integers(1, 40)), "words": 20, "hidden": 3},
        **({"context": context} if context else {"positions": "none"}),
    }
    spec: dict[str, Any] = {"dimensions": sizes, "tokens": ["a", "b"]}
    source = 0
    if draw(st.booleans()):
        spec["encoder"] = {"tokens": ["x", "y", "z"][: draw(st.integers(1, 3))]}
        source = layers * 2 * key_heads * d_k
    reads = tuple(head // sharing for head in range(heads))
    own = Layers(layers, ((d_k, d_k),) * heads, reads)
    return spec, Model([own], context=context, source=source)


def check_cache(found: dict[str, int], model: Model) -> None:
    """Hold the sizes that `shapes` prints in any case against the formulas."""
    assert found["per_token"] == model.per_token(model.own)
    states = [each for each in model.layers if each.state]
    assert found.get("states", 0) == sum(model.numbers(each, "state") for each in states)
    pairs = sum(model.numbers(each, "multi-head") for each in model.layers if each.latent)
    assert found.get("replaced_per_token", 0) == pairs


def check(stdin: str, model: Model, *options: str) -> None:
    """Hold a text and its JSON against the formulas."""
    document = counted(stdin, *options)
    found = {kind["kind"]: kind for kind in document["caches"]["kinds"]}
    assert list(found) == model.kinds
    assert [kind for kind in found if found[kind]["own"]] == [model.own]
    for name, kind in found.items():
        numbers = model.per_token(name)
        assert kind["per_token"] == {"numbers": numbers, "bytes": numbers * model.size}, name
        bytes_of = [{"tokens": n, "bytes": model.bytes(name, n)} for n in model.lengths]
        assert kind["bytes"] == bytes_of, name
    check_cache(document["cache"], model)
    text = told(stdin, *options)
    assert false_products(text) == []
    assert len(products(text)) >= len(found)
    assert false_equations(text) == []
    said = sentences(text)
    assert [wrong for each in said if (wrong := fault(each, model))] == []
    SAID.extend(said)
    for name, kind in found.items():
        row = re.search(rf"^[ ▸] {name} +([\d,–]+)  +([\d,–]+)  +(.*)$", text, re.MULTILINE)
        assert row
        shown = [f"{each['bytes']:,}" for each in kind["bytes"]]
        assert re.split(" +", row[3]) == shown
        assert row[1] == (
            f"{kind['per_token']['numbers']:,}" if kind["per_token"]["numbers"] else "–"
        )
        assert (row[0][0] == "▸") == kind["own"]


@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(dimensioned())
def check_random_dimensions(drawn: tuple[dict[str, Any], Model]) -> None:
    spec, model = drawn
    check(yaml.safe_dump(spec), model)


# --- typed layers: windows, latent vectors, shared keys, heads of different widths ---------------

WIDTH = 2


def is_rotated(own: Layers) -> bool:
    return all(d_k == WIDTH for d_k, _ in own.heads)


def matrix(rows: int, columns: int) -> list[list[int]]:
    return [[1] * columns] * rows


@st.composite
def layer(draw: st.DrawFn) -> tuple[dict[str, Any], Layers]:
    """A layer, and the same in numbers."""
    number = draw(st.integers(1, 6))
    widths = st.tuples(st.integers(1, 4), st.integers(1, 4))
    alike = draw(st.booleans())
    heads = [draw(widths)] * number if alike else [draw(widths) for _ in range(number)]
    window = draw(st.sampled_from([None, None, 3, 5000]))
    latent = draw(st.sampled_from([None, None, (draw(st.integers(1, 5)), 2)]))
    kind = draw(st.sampled_from(["softmax", "softmax", "linear", "delta"]))
    if kind != "softmax":
        window = latent = None
    reads, specs = list[int](), list[dict[str, Any]]()
    source = latent[0] if latent else WIDTH
    for i, (d_k, d_v) in enumerate(heads):
        earlier = [j for j in range(i) if reads[j] == j and heads[j] == heads[i]]
        shares = draw(st.sampled_from([None, *earlier])) if not latent else None
        spec: dict[str, Any] = {"W_Q": matrix(WIDTH, d_k)}
        if shares is None:
            spec |= {"W_K": matrix(source, d_k), "W_V": matrix(source, d_v)}
        else:
            spec["shares"] = shares + 1
        if latent:
            spec["W_QR"] = matrix(WIDTH, latent[1])
        specs.append(spec)
        reads.append(i if shares is None else shares)
    attention: dict[str, Any] = {"heads": specs}
    attention["W_O"] = matrix(sum(d_v for _, d_v in heads), WIDTH)
    sums = kind == "linear" and draw(st.booleans())
    if kind != "softmax":
        attention["kind"] = kind
    if sums:
        attention["normalizer"] = True
    if window:
        attention["mask"] = {"window": window}
    if latent:
        attention["latent"] = {"W_DKV": matrix(WIDTH, latent[0]), "W_KR": matrix(WIDTH, latent[1])}
        heads = [(d_k + latent[1], d_v) for d_k, d_v in heads]
    return {"attention": attention}, Layers(
        1, tuple(heads), tuple(reads), latent, window, kind != "softmax", sums
    )


@st.composite
def typed(draw: st.DrawFn) -> tuple[dict[str, Any], Model]:
    drawn = draw(st.lists(layer(), min_size=1, max_size=2))
    repeated = [each for each in drawn for _ in range(draw(st.integers(1, 3)))]
    is_rotary = any(own.latent for _, own in drawn)
    if is_rotary:  # as many columns in each layer
        repeated = [(spec, own) for spec, own in repeated if own.latent or is_rotated(own)]
    spec: dict[str, Any] = {
        **{"title": "Caches", "tokens": ["a", "b"]},
        **{"embeddings": {"a": [1, 0], "b": [0, 1]}, "layers": [each for each, _ in repeated]},
        **({"positions": {"rotary": {}}} if is_rotary else {}),
    }
    together: dict[Any, int] = {}
    for _, own in repeated:
        key = (replace(own, reads=()), tuple(own.heads[i] for i in own.owners))
        together[key] = together.get(key, 0) + 1
    layers = []
    for _, own in repeated:
        key = (replace(own, reads=()), tuple(own.heads[i] for i in own.owners))
        if number := together.pop(key, 0):
            layers.append(replace(own, number=number))
    return spec, Model(layers)


@settings(max_examples=14, deadline=None, derandomize=True, database=None)
@given(typed())
def check_random_layers(drawn: tuple[dict[str, Any], Model]) -> None:
    spec, model = drawn
    check(json.dumps(spec), model)


GROWTH = (
    r"With # tokens instead of #, the # multiply-adds(.*?) (four times|about twice|twice) as many"
    r"(?:, # others (?:about )?twice as many)?\."
)
STATES = (
    r"The (states|states and sums of keys) have # numbers?, whatever the number of tokens\. "
    r"Keys and values in their place would have # for each token: from # tokens? on, they would be "
    r"more\."
)


@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(typed())
def test_shapes_says_what_a_state_takes(drawn: tuple[dict[str, Any], Model]) -> None:
    """The sentences, and twice as many tokens."""
    spec, model = drawn
    longer = spec | {"tokens": [*spec["tokens"], *spec["tokens"]]}
    n, more = (len(each["tokens"]) for each in (spec, longer))
    stdins = json.dumps(spec), json.dumps(longer)
    costs = [
        json.loads(printed("shapes", "-", "-f", "json", stdin=stdin))["multiply_adds"]
        for stdin in stdins
    ]
    text = unbroken(printed("shapes", "-", stdin=stdins[0], width=WIDE))
    found = re.search(GROWTH.replace("#", r"([\d,]+)"), text)
    assert found
    said = [int((word or "0").replace(",", "")) for word in found.group(1, 2, 3, 6)]
    times = 4 if found[5] == "four times" else 2
    assert said[:2] == [more, n]
    fewer = re.search(r"The first token takes ([\d,]+) fewer, because there is no state", text)
    start = int(fewer[1].replace(",", "")) if fewer else 0
    assert [said[2] + said[3], times * said[2] + 2 * said[3] + start] == costs
    assert (
        bool(fewer)
        == ("about twice as many" in found[0])
        == any(layer["attention"].get("kind") == "delta" for layer in spec["layers"])
    )
    states = [each for each in model.layers if each.state]
    has_softmax = len(states) < len(model.layers)
    assert (found[5] == "four times") == has_softmax
    of_states = re.search(STATES.replace("#", r"([\d,]+)"), text)
    assert bool(of_states) == bool(states)
    if of_states:
        assert (of_states[1] != "states") == any(each.sums for each in states)
        size = sum(model.numbers(each, "state") for each in states)
        pairs = sum(model.numbers(each, "") for each in states)
        assert [int(word.replace(",", "")) for word in of_states.groups()[1:3]] == [size, pairs]
        longest = int(of_states[4].replace(",", "")) - 1
        assert pairs * longest <= size < pairs * (longest + 1)


HEAD = {"W_Q": [[1], [1]], "W_K": [[1], [1]], "W_V": [[1, 1], [1, 1]]}


def test_layers_keep_their_own_windows() -> None:
    """As in Gemma, whose layers without a window are counted with that of the others."""
    own = [None, 3, 5000]
    layers: list[dict[str, Any]] = [{"attention": {"heads": [HEAD]}} for _ in own]
    for layer, window in zip(layers, own, strict=True):
        if window:
            layer["attention"]["mask"] = {"window": window}
    embeddings = {"a": [1, 0], "b": [0, 1]}
    spec = {"tokens": ["a", "b"], "embeddings": embeddings, "layers": layers}
    model = Model([Layers(1, ((1, 2),), (0,), None, window) for window in own])
    check(json.dumps(spec), model)
    numbers = {"windowed": 3 * (3 + 3 + 5000), "this model": 3 * (100_000 + 3 + 5000)}
    for kind, each in numbers.items():
        assert model.bytes(kind, 100_000) == 2 * each


def test_random_models() -> None:
    SAID.clear()
    check_random_dimensions()
    check_random_layers()
    assert {form for form in FORMS if not any(re.fullmatch(form, each) for each in SAID)} == set()


@pytest.mark.fuzz
@settings(max_examples=500, deadline=None)
@given(dimensioned() | typed())
def test_many_models(drawn: tuple[dict[str, Any], Model]) -> None:
    spec, model = drawn
    check(json.dumps(spec), model)


# --- files, formats, refusals --------------------------------------------------------------------


@pytest.mark.parametrize(("form", "size"), [(np.float32, 4), (np.float16, 2)])
def test_a_number_has_the_bytes_of_a_weight_in_the_file(
    tmp_path: Path, form: Any, size: int
) -> None:
    folder = tiny.write_folder(tmp_path / "model", "llama", tiny.hugging_face_llama())
    weights = {
        name: array.astype(form) for name, array in load_file(folder / "model.safetensors").items()
    }
    save_file(weights, folder / "model.safetensors")
    (tmp_path / "my.yaml").write_text("checkpoint: model\ntoken_ids: [1, 2]\n", encoding="utf-8")
    document = json.loads(printed("shapes", str(tmp_path / "my.yaml"), "--caches", "-f", "json"))
    assert document["caches"]["bytes_of_number"] == size
    own = next(kind for kind in document["caches"]["kinds"] if kind["own"])
    numbers = 2 * tiny.LAYERS * tiny.KEY_HEADS * tiny.D_K
    assert (own["kind"], own["per_token"]) == (
        "grouped", {"numbers": numbers, "bytes": numbers * size},
    )  # fmt: skip
    text = unbroken(printed("shapes", str(tmp_path / "my.yaml"), "--caches"))
    assert f"Each number takes {size} bytes, like the weights in the file." in text


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_each_format(form: str) -> None:
    text = printed("shapes", "-", "--caches", "--format", form, stdin=LLAMA_2_70B)
    assert "26,214,400,000" not in text
    assert "32,768,000,000" in text


def test_a_length_takes_the_place_of_1000_tokens() -> None:
    text = told(LLAMA_2_7B, "--length", "4096")
    assert "4,096 tokens" in text
    assert "1,000 tokens" not in text


WITHOUT = """
tokens: [a]
embeddings: {a: [1]}
mask: MASK
layers: [{ffn: {W_1: [[1]], W_2: [[1]]}}MORE]
"""
ATTENDING = ", {attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}}"


@pytest.mark.parametrize(("mask", "more", "said"), [
    ("causal", "", "expected self-attention"),
    ("none", ATTENDING, "the mask shows later tokens, so what is cached would change"),
])  # fmt: skip
def test_a_model_without_a_cache_is_refused(mask: str, more: str, said: str) -> None:
    stdin = WITHOUT.replace("MASK", mask).replace("MORE", more)
    ran = run("shapes", "-", "--caches", stdin=stdin)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert problems(ran) == [f"--caches: {said}"]
    assert run("shapes", "-", stdin=stdin).exit_code == 0
