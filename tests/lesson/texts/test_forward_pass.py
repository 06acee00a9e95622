"""The tutorial: nothing is missing, nothing is said that is not so, every reference is right."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.helpers.command import printed, run, run_json
from tests.helpers.random_scenarios import Scenario, printed_or_rejected, scenarios
from tests.helpers.reference import shares_norm
from tests.helpers.small_scenario import changed
from tests.lesson.texts.test_at_a_glance import networks_of

SCENARIOS = ("alex", "science", "pizza", "comics")
every_scenario = pytest.mark.parametrize("name", SCENARIOS)

COMPUTED_BY = {
    **{"X": "Tokens and embeddings", "P": "Positions", "X′": "Input vectors"},
    **{"E": "Output of the encoder", "Q": "Query", "K": "Key", "V": "Value"},
    **{"S": "Attention scores", "S + M": "Mask", "A": "Softmax: the attention weights"},
    **{
        "O": "Weighted sum of the values",
        "[O O]": "Concatenate the heads",
        "h": "FFN: hidden layer",
    },
    **{"Attention": "Attention output", "CrossAttention": "Attention output", "FFN": "FFN: output"},
    **{"a": "FFN: activation", "r": "Residual connection", "n": "LayerNorm"},
    **{"y": "Output of the model", "z": "Logits", "p": "Softmax: the probabilities"},
}
"""Which step computes what a symbol stands for."""
SEVERAL = {
    "x": ("LayerNorm after", "Residual connection after", "FFN: output", "Attention output"),
    "O": ("Weighted sum of the values", "Concatenate the heads"),
}
"""The end of a sub-layer may be any of these; and what there is to concatenate may be one head."""
TAKE_NOTHING = ("Tokens and embeddings", "Positions", "Output of the encoder")


@cache
def tutorial(name: str, *options: str, stdin: str = "") -> str:
    return printed("tutorial", name, "--detail", "full", *options, stdin=stdin)


def sections(text: str) -> dict[str, str]:
    """The sections by their headings, the introduction by its title; steps with their part's."""
    bare = re.sub('^(<a id="[^"]*"></a>|</?(details|summary)>.*)$', "", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    part = ""
    for written in re.split(r"^(?=#{1,3} )", bare, flags=re.MULTILINE)[1:]:
        title, _, body = written.partition("\n")
        marks, _, heading = title.partition(" ")
        number, dot, words = heading.partition(". ")
        if marks == "##":
            part = heading
        elif marks == "###" and dot:
            heading = f"{number}. {part} · {words}"
        assert heading not in found
        found[heading] = body.strip()
    return found


def steps(text: str) -> dict[str, str]:
    """The numbered sections."""
    return {heading: body for heading, body in sections(text).items() if heading[0].isdigit()}


def paragraphs(text: str) -> list[str]:
    """The text between fences, tables and headings."""
    bare = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    blocks = [
        block
        for block in bare.split("\n\n")
        if not block.startswith(("|", "#", "- ", ">", "<a id=", "<details", "</details"))
    ]
    return [block.strip("\n") for block in blocks if block.strip("\n")]


def unescaped(text: str) -> str:
    entities = re.sub("&#([0-9]+);", lambda found: chr(int(found[1])), text)
    return re.sub(r"\\([_\W])", r"\1", entities)


# --- what is there -------------------------------------------------------------------------------


@every_scenario
def test_introduction_steps_summary(name: str) -> None:
    text = tutorial(name)
    told = sections(text)
    title, *_, summary = told
    assert summary == "Summary"
    numbered = list(steps(text))
    assert numbered == list(steps(printed("run", name, "--format", "markdown")))
    assert [int(h.split(".")[0]) for h in numbered] == list(range(1, len(numbered) + 1))
    introduction = paragraphs(told[title])
    assert "| input |" in told[title] or any("the model predicts" in each for each in introduction)
    # The author's question takes the place of the general one.
    assert re.fullmatch(r"\*\*.*\?\*\*", introduction[0])
    assert any(unescaped(each).startswith("The model reads ") for each in introduction)


@every_scenario
def test_every_step_shows_what_run_shows(name: str) -> None:
    told = steps(tutorial(name))
    for heading, body in steps(printed("run", name, "--format", "markdown")).items():
        blocks = told[heading].split("\n\n")
        here = [block for block in blocks if " is computed from " not in block]
        as_run = [re.sub(r"^.+? is computed as (in .+?), from .+", r"As \1.", b) for b in here]
        assert "\n\n".join(as_run) == body


# --- references ----------------------------------------------------------------------------------


def references(body: str) -> list[tuple[str, int]]:
    """The symbols that a step takes, each with the step's number."""
    linked = re.sub(r"\[(step [0-9]+)\]\(#[^)]*\)", r"\1", body)
    sentence = re.findall(r"^.+? is computed (?:as in .+?, )?from (.*)\.$", linked, re.MULTILINE)
    assert len(sentence) <= 1
    parts = re.findall(r"(?:^|, | and )((?:(?! \(step).)+) \(step ([0-9]+)\)", "".join(sentence))
    assert "".join(sentence).count("(step") == len(parts)
    return [(symbol, int(number)) for symbol, number in parts]


def place(heading: str) -> str:
    """Part and head, if there are several."""
    return heading.partition(". ")[2].rpartition(" · ")[0]


@every_scenario
def test_references(name: str) -> None:
    told = steps(tutorial(name))
    headings = list(told)
    for heading, body in told.items():
        found = references(body)
        nothing = heading.endswith(TAKE_NOTHING) or "There is only one head here" in body
        assert bool(found) != nothing, heading
        for symbol, number in found:
            source = headings[number - 1]
            assert number < int(heading.split(".")[0])
            stands = f"\n| {symbol} |", f"\n{unescaped(symbol)} = ", f"\n{unescaped(symbol)} ("
            assert any(each in told[source].replace("\n> ", "\n") for each in stands)
            plain = re.sub("[⁰¹²³⁴-⁹₀-₉]|\\(.*\\)", "", unescaped(symbol))
            plain = "[O O]" if plain.startswith("[O") else plain
            expected = SEVERAL.get(plain) or (COMPUTED_BY[plain],)
            assert any(words in source for words in expected), (symbol, source)
            if re.match(r"[QKVSA][¹²³ ]", symbol):
                assert place(source) == place(heading)


@every_scenario
def test_references_are_the_operands_on_the_tape(name: str) -> None:
    values = {value["address"]: value for value in run_json(name)["values"]}
    for heading, body in steps(tutorial(name)).items():
        if not heading.endswith("Attention scores"):
            continue
        layer = re.search(r"[Ll]ayer ([0-9]+)", heading)
        head = re.search(r"head ([0-9]+)", heading, re.IGNORECASE)
        kind = "cross_attention" if "cross-attention" in heading.lower() else "attention"
        at = f"layer{layer[1] if layer else 1}.{kind}.head{head[1] if head else 1}"
        operands = [values[operand]["symbol"] for operand in values[f"{at}.dot"]["operands"]]
        assert [symbol for symbol, _ in references(body)] == operands


# --- what is said --------------------------------------------------------------------------------


def norms(scenario: Scenario) -> list[str]:
    """Where the norms stand, in the order of the sub-layers."""
    found = []
    for layer in scenario["layers"]:
        for kind in ("attention", "cross_attention", "ffn"):
            if kind in layer:
                norm: Any = layer[kind].get("norm", layer.get("norm", "none"))
                norm = "none" if kind == "ffn" and shares_norm(layer) else norm
                placement = {} if norm == "none" else {"placement": "post", **norm}
                found += [placement["placement"]] if placement else []
                after = layer[kind].get("norm_after", layer.get("norm_after", "none"))
                found += ["post"] if after != "none" else []
    return [
        *found,
        *(["final"] if scenario.get("final_norm", "none") != "none" else []),
    ]


def sub_layers(scenario: Scenario, *kinds: str) -> list[dict[str, Any]]:
    return [layer[kind] for layer in scenario["layers"] for kind in kinds if kind in layer]


@settings(
    phases=[Phase.generate],
    database=None,
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(scenario=scenarios(carry="step", epsilons=("0.1",), encodes=False))
def test_random_scenarios(scenario: Scenario) -> None:
    text = printed_or_rejected(scenario, "tutorial", "-", "--detail", "full")
    words = [unescaped(paragraph) for paragraph in paragraphs(text)]
    assert [w for w in words if re.search(r"\bNone\b|[{}]|Decimal\(|TODO|  |\bnan\b", w)] == []
    assert [
        w for w in words if not re.match(r"[A-Za-z0-9θμσγβε√&<«`[].*[.:`]$", w, re.DOTALL)
    ] == []
    assert "\n\n\n" not in text
    whole, headings = "\n".join(words), list(sections(text))
    positions = scenario.get("positions", "none")
    assert ("are waves" in whole) == ("sinusoidal" in positions)
    turns_nothing = not sub_layers(scenario, "attention") and positions != "none"
    turns_nothing &= bool({"rotary", "alibi", "relative_bias"} & set(positions))
    assert ("There are no positions here" in whole) == (positions == "none" or turns_nothing)
    attentions = sub_layers(scenario, "attention", "cross_attention")
    with_w_o = sum("W_O" in attention for attention in attentions)
    # What a step is for is said once, and of the next ones where.
    assert bool(re.search("W_O (?:combines|maps) the result", whole)) == (with_w_o > 0)
    assert ("There is no W_O here" in whole) == (len(attentions) > with_w_o)
    ffns = [network for ffn in sub_layers(scenario, "ffn") for network in networks_of(ffn)]
    assert sum(heading.endswith("FFN: output") for heading in headings) == len(ffns)
    unembedding = scenario.get("unembedding", {})
    transform = unembedding.get("transform") if isinstance(unembedding, dict) else None
    active = [*ffns, *([{"activation": "gelu", **transform}] if transform else [])]
    relus = sum(each.get("activation", "relu") == "relu" for each in active)
    assert ("ReLU keeps positive numbers" in whole) == (relus > 0)
    sides = {"before": "pre", "after": "post", None: "final"}
    norm = r"(?:Final (?:Layer|RMS)Norm$|(?:Layer|RMS)Norm (before|after))"
    found = [re.search(norm, heading) for heading in headings]
    assert [sides[words[1]] for words in found if words] == norms(scenario)
    said = re.findall("After `.*the model predicts", whole)
    # First and at its step; of a tie nothing is said.
    assert len(said) in ((0, 2) if "vocabulary" in scenario else (0,))


# --- the contents of the long text ---------------------------------------------------------------


def contents(name: str) -> list[list[str]]:
    """What `steps` lists: number, name, shape, address."""
    _, _, *lines = printed("steps", name).splitlines()
    header, *rows = [line.split() for line in lines if line]
    assert header == ["step", "name", "shape", "address"]
    return rows


@every_scenario
def test_the_contents_are_those_of_the_run(name: str) -> None:
    shapes = {v["address"]: v["shape"] for v in run_json(name)["values"]}
    headings = re.findall(r"^([0-9]+) · ", printed("run", name), re.MULTILINE)
    rows = contents(name)
    assert [number for number, *_ in rows] == headings
    for _, _, shape, address in rows:
        assert shape == "×".join(map(str, shapes[address]))


def test_a_listed_name_and_address_show_the_step() -> None:
    for number, step, _, address in contents("science"):
        for asked in (step, address):
            shown = printed("step", asked, "--scenario", "science")
            assert re.search(rf"^ ?{number} · ", shown, re.MULTILINE)


@every_scenario
def test_the_contents_in_every_form(name: str) -> None:
    rows = contents(name)
    _, _, header, _, *table = printed("steps", name, "--format", "markdown").splitlines()
    assert header == "| step | name | shape | address |"
    assert [line.strip("| ").split(" | ") for line in table] == rows
    document = json.loads(printed("steps", name, "--format", "json"))
    assert document["scenario"] == name
    assert [
        [str(s["number"]), s["name"], "×".join(map(str, s["shape"])), s["address"]]
        for s in document["steps"]
    ] == rows
    assert "weighted" in printed("steps", name, "--format", "latex")


@every_scenario
def test_the_contents_are_aligned_and_whole(name: str) -> None:
    lines = printed("steps", name).splitlines()[2:]
    assert max(map(len, lines)) <= 80
    start = lines[0].index("address")
    assert all(line[start - 1] == " " != line[start] for line in lines if line)
    assert "…" not in "".join(lines)


def test_the_contents_need_no_numbers_that_can_be_computed() -> None:
    # Equal numbers have no LayerNorm; its shape is known all the same.
    equal = changed(
        ("a: [1, 2]", "a: [1, 1]"), ("b: [3, 4]", "b: [1, 1]"), ("[[1, 2]]", "[[0, 0]]")
    )
    scenario = f"{equal}      norm: {{}}\n"
    assert run("run", "-", stdin=scenario).exit_code == 2
    assert "layer1.ffn.norm" in printed("steps", "-", stdin=scenario)


def test_a_scale_that_is_given_is_printed_before_it_is_used() -> None:
    text = printed(
        *("step", "scores", "-s", "-"),
        stdin="tokens: [a, b]\nembeddings: {a: [1, 2], b: [3, 1]}\npositions: none\nlayers:\n"
        "  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}\n"
        "given: {layer1.attention.head1.scale: 0.5}\n",
    )
    assert "√d_k is given, not computed.\n\n    √d_k = 0.5\n" in text
    assert text.index("√d_k = 0.5") < text.index(" / 0.5")
