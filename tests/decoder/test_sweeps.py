"""Sweeps, against a plain NumPy model with hooks; means over pairs of texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import yaml

from tests.helpers.claims_of_comparisons import OF_PAIRS, faults_in
from tests.helpers.command import printed, problems, run
from tests.helpers.sentences import unbroken
from tests.helpers.terminal_page import Prose, read_blocks
from tests.helpers.truth import false_equations, without_pictures
from tracer.decoder.sweeps import Sweep

Array: TypeAlias = Any
Hook: TypeAlias = Callable[[str, Array], Array]

WORDS = ("a", "b", "c", "d", "e", "f")
D, HIDDEN, LAYERS, HEADS, D_K = 4, 5, 3, 2, 2
FIRST, SECOND = "a b c d", "a f c d"
PAIRS = ((FIRST, SECOND), ("a b e d", "a f e d"), ("b b c a", "b f c a"))


@cache
def weights() -> dict[str, Array]:
    rng = np.random.default_rng(31)
    shapes = {"embeddings": (len(WORDS), D), "W_U": (D, len(WORDS))}
    for layer in range(1, LAYERS + 1):
        attention, ffn = f"layer{layer}.attention", f"layer{layer}.ffn"
        for head in range(1, HEADS + 1):
            shapes |= {f"{attention}.head{head}.{name}": (D, D_K) for name in ("W_Q", "W_K", "W_V")}
        shapes[f"{attention}.W_O"] = (HEADS * D_K, D)
        shapes |= {f"{ffn}.W_1": (D, HIDDEN), f"{ffn}.W_2": (HIDDEN, D)}
    return {name: np.round(rng.normal(scale=0.6, size=shape), 3) for name, shape in shapes.items()}


def plain(text: str, hook: Hook = lambda address, array: array) -> dict[str, Array]:
    """Every value that a sweep patches, and the logits; the hook may replace it."""
    w, found = weights(), dict[str, Array]()

    def seen(address: str, array: Array) -> Array:
        found[address] = hook(address, array)
        return found[address]

    x = seen("input", w["embeddings"][[WORDS.index(word) for word in text.split()]])
    hidden = np.triu(np.full((len(x), len(x)), -np.inf), 1)
    for layer in range(1, LAYERS + 1):
        at, outputs = f"layer{layer}.attention", []
        for head in range(1, HEADS + 1):
            h = f"{at}.head{head}"
            q, k, v = (
                seen(f"{h}.{name}", x @ w[f"{h}.W_{letter}"])
                for name, letter in (("query", "Q"), ("key", "K"), ("value", "V"))
            )
            e = np.exp(q @ k.T / np.sqrt(D_K) + hidden)
            pattern = seen(f"{h}.weights", e / e.sum(axis=1, keepdims=True))
            outputs.append(seen(f"{h}.output", pattern @ v))
        x = x + seen(f"{at}.output", np.concatenate(outputs, axis=1) @ w[f"{at}.W_O"])
        ffn = f"layer{layer}.ffn"
        change = np.maximum(x @ w[f"{ffn}.W_1"], 0) @ w[f"{ffn}.W_2"]
        x = seen(f"{ffn}.residual", x + seen(f"{ffn}.output", change))
    return {**found, "logits": x @ w["W_U"]}


def scenario(folder: Path) -> str:
    w = {name: array.tolist() for name, array in weights().items()}
    layers = [
        {
            "attention": {
                "heads": [
                    {n: w[f"layer{i}.attention.head{h}.{n}"] for n in ("W_Q", "W_K", "W_V")}
                    for h in range(1, HEADS + 1)
                ],
                "W_O": w[f"layer{i}.attention.W_O"],
            },
            "ffn": {n: w[f"layer{i}.ffn.{n}"] for n in ("W_1", "W_2")},
        }
        for i in range(1, LAYERS + 1)
    ]
    spec = {
        "title": "t",
        "tokens": FIRST.split(),
        "embeddings": dict(zip(WORDS, w["embeddings"], strict=True)),
        "layers": layers,
        "vocabulary": list(WORDS),
        "unembedding": {"W_U": w["W_U"]},
        "arithmetic": "float64",
        "rounding": {"carry": "never"},
    }
    path = folder / "plain.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return str(path)


def effect(texts: tuple[str, str], place: str, what: Sweep) -> float:
    """The effect of a patch at an address, or in a token's row of it, by the plain model."""
    first, second = map(plain, texts)
    address, _, token = place.rstrip("]").partition("[")

    def patched(at: str, array: Array) -> Array:
        if at != address:
            return array
        if what is Sweep.ABLATIONS:
            return np.zeros_like(array)
        if what is Sweep.MEAN_ABLATIONS:
            return np.broadcast_to(array.mean(axis=0), array.shape)
        row = texts[0].split().index(token) if token in WORDS else int(token or 0) - 1
        rows = [row] if token else slice(None)
        changed = array.copy()
        changed[rows] = second[address][rows]
        return changed

    words = [int(np.argmax(each["logits"][-1])) for each in (first, second)]
    assert words[0] != words[1]
    ours, theirs, new = (
        each["logits"][-1][words[1]] - each["logits"][-1][words[0]]
        for each in (first, second, plain(texts[0], patched))
    )
    return float((new - ours) / (theirs - ours))


ADDRESSES = {
    Sweep.HEADS: "attention.head{head}.output",
    Sweep.QUERIES: "attention.head{head}.query",
    Sweep.KEYS: "attention.head{head}.key",
    Sweep.VALUES: "attention.head{head}.value",
    Sweep.PATTERNS: "attention.head{head}.weights",
    Sweep.ATTENTIONS: "attention.output",
    Sweep.FFNS: "ffn.output",
    Sweep.LAYERS: "ffn.residual[d]",
    Sweep.LAYERS_TOKENS: "ffn.residual[{token}]",
}


def places(what: Sweep) -> set[str]:
    """The places of a sweep."""
    if what is Sweep.TOKENS:
        return {f"input[{token}]" for token in FIRST.split()}
    if what not in ADDRESSES:
        return places(Sweep.HEADS) | places(Sweep.FFNS)
    return {
        f"layer{layer}.{ADDRESSES[what].format(head=head, token=token)}"
        for layer in range(1, LAYERS + 1)
        for head in range(1, HEADS + 1)
        for token in FIRST.split()
    }


@pytest.mark.parametrize("what", Sweep)
def test_the_effects_are_those_of_a_plain_model(what: Sweep, tmp_path: Path) -> None:
    words = ("compare", scenario(tmp_path), "--text", SECOND, "--sweep", what, "-f", "json")
    found = json.loads(printed(*words))["sweep"]
    effects = {each["address"]: each["effect"] for each in found}
    assert effects.keys() == places(what)
    for place, share in effects.items():
        assert share == pytest.approx(effect((FIRST, SECOND), place, what), abs=1e-9)
    assert list(effects.values()) == sorted(effects.values(), reverse=True)


def pairs_file(folder: Path, text: str | None = None) -> str:
    path = folder / "pairs.yaml"
    path.write_text(text or yaml.safe_dump({"pairs": list(map(list, PAIRS))}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("what", [Sweep.HEADS, Sweep.LAYERS, Sweep.LAYERS_TOKENS])
def test_the_means_over_pairs_are_those_of_a_plain_model(what: Sweep, tmp_path: Path) -> None:
    words = ("compare", scenario(tmp_path), "--pairs", pairs_file(tmp_path), "--sweep", what)
    found = json.loads(printed(*words, "-f", "json"))
    assert len(found["sweep"]) == len(places(what))
    for each in found["sweep"]:
        shares = [effect(texts, each["address"], what) for texts in PAIRS]
        assert each["mean"] == pytest.approx(np.mean(shares), abs=1e-9)
        assert each["spread"] == pytest.approx(np.std(shares, ddof=1), abs=1e-9)
    rows = {
        cells[-1]: cells[1:3] for line in printed(*words).splitlines() if (cells := line.split())
    }
    for each in (*found["sweep"][:10], *found["sweep"][-10:]):
        expected = [each["mean"], each["spread"]]
        assert list(map(float, rows[each["address"]])) == pytest.approx(expected, abs=5.1e-4)


@pytest.mark.parametrize("what", Sweep)
def test_what_is_said_about_pairs_is_true(what: Sweep, tmp_path: Path) -> None:
    file = pairs_file(tmp_path)
    words = ["compare", scenario(tmp_path), "--pairs", file, "--sweep", what]
    if what is Sweep.LAYERS:
        shorter = "- [a a d, a b d]"
        pairs_file(tmp_path, f"{Path(file).read_text(encoding='utf-8')}{shorter}")
    elif what is Sweep.HEADS:
        words += ["--patch", "layer1.ffn.output"]
    text, found = printed(*words, width=5000), json.loads(printed(*words, "-f", "json"))
    said = [
        block.text
        for block in read_blocks(without_pictures(unbroken(text)))
        if isinstance(block, Prose)
    ]
    assert faults_in(said[1:], found, OF_PAIRS) == []
    assert false_equations(text) == []
    is_long = what is Sweep.LAYERS
    assert is_long == ("[-1] is the row of the last token" in text)


def test_each_pair_can_be_traced(tmp_path: Path) -> None:
    words = ("compare", scenario(tmp_path), "--pairs", pairs_file(tmp_path))
    patch = ("--patch", "layer1.ffn.output", "--sweep", "heads")
    found = json.loads(printed(*words, *patch, "-f", "json"))
    assert [(each["first"], each["second"]) for each in found["pairs"]] == list(PAIRS)
    assert "To rank the heads by their effects:" in printed(*words)
    assert "To rank" not in printed(*words, *patch)
    for texts, each in zip(PAIRS, found["pairs"], strict=True):
        assert each["effect"] == pytest.approx(
            effect(texts, "layer1.ffn.output", Sweep.FFNS), abs=1e-9
        )
        _, *again = each["command"].split()
        alone = json.loads(printed(*again, "-f", "json"))
        for key in ("predictions", "patched", "sweep"):
            assert alone[key] == each[key]
    rounded = ("--decimals", "2", "--carry", "never")
    found = json.loads(printed(*words, *patch, *rounded, "-f", "json"))
    assert all(each["command"].split()[-6:-2] == [*rounded] for each in found["pairs"])


def test_templates_get_each_pair_of_names(tmp_path: Path) -> None:
    file = pairs_file(tmp_path, 'templates: ["a {} c d", "a {} e d"]\nnames: [[b, f], [c, f]]\n')
    found = json.loads(printed("compare", scenario(tmp_path), "--pairs", file, "-f", "json"))
    assert [(each["first"], each["second"]) for each in found["pairs"]] == [
        ("a b c d", "a f c d"),
        ("a c c d", "a f c d"),
        ("a b e d", "a f e d"),
        ("a c e d", "a f e d"),
    ]


REFUSED = {
    "pairs: [[a, b]]": "expected at least 2 pairs",
    "pairs: [[a], [a, b]]": "pairs entry 1: expected at least 2 entries, got 1",
    "pairs: [[a, b], [a, b, c]]": "pairs entry 2: expected at most 2 entries, got 3",
    'templates: ["a {}"]': "expected both templates and names",
    "templates: [a b]\nnames: [[a, b], [c, d]]": "expected {} for the name",
    "pairs: [[a b c d, a f c d], [a b c d, a z c d]]": "pair 2: no embedding for the token 'z'",
    "pairs: [[a b c d, a f c d], [a b, a b]]": "pair 2: the runs must predict different words",
}


@pytest.mark.parametrize("text", REFUSED)
def test_other_pairs_are_refused(text: str, tmp_path: Path) -> None:
    words = ("compare", scenario(tmp_path), "--pairs", pairs_file(tmp_path, text))
    assert REFUSED[text] in " ".join(problems(run(*words, "--sweep", "heads")))


def test_there_are_no_more_pairs(tmp_path: Path) -> None:
    words = ("compare", scenario(tmp_path), "--pairs", pairs_file(tmp_path), "--pair", "4")
    assert problems(run(*words)) == ["--pair: no pair 4, the last is 3"]
