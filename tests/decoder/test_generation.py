"""Generation: turn by turn, the likeliest word, with and without a cache of keys and values."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings

from tests.helpers import random_scenarios
from tests.helpers.command import generated, printed, problems, run, turns
from tests.helpers.every_part import every_part
from tests.helpers.reference import reference
from tests.helpers.traces import records
from tracer.decoder.forward import EarlierPasses, trace
from tracer.decoder.operations import Append, Reused
from tracer.decoder.value import Form
from tracer.scenario.loading import folder, load

TOLERANCE = 1e-12
NEAR = 1e-9
"""How near floats are that are added in another order."""

LARGEST = 50
SENTENCE = ["<START>", "Me", "gusta", "la", "pizza", "<END>"]

few = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))


def test_the_translation_is_said_turn_by_turn() -> None:
    document = generated("pizza")
    assert document["text"] == SENTENCE
    for number, (turn, values) in enumerate(turns(document), start=1):
        assert turn["input"] == SENTENCE[:number]
        assert turn["word"] == SENTENCE[number]
        assert len(turn["outputs"]) == len(values["logits"]) == number
        assert turn["outputs"][-1] == turn["word"]
    text = printed("generate", "pizza")
    assert " ".join(SENTENCE[1:]) in text
    assert "The end token came after 5 turns." in text
    assert len(re.findall(" kept$", text, flags=re.MULTILINE)) == 5
    assert len(re.findall(" discarded$", text, flags=re.MULTILINE)) == 1 + 2 + 3 + 4


def test_a_scenario_may_begin_with_several_tokens() -> None:
    document = generated("science", "--max-tokens", "1")
    assert document["turns"][0]["input"] == ["i", "like", "data", "science"]
    said = "After `i like data science`, the model writes `is`."
    assert said in printed("tutorial", "science")


def test_with_the_cache_only_the_new_token_is_computed() -> None:
    document = generated("pizza", "--kv-cache")
    assert document["text"] == SENTENCE
    for number, (turn, values) in enumerate(turns(document), start=1):
        assert len(turn["outputs"]) == len(values["input"]) == 1
        [seen] = values["layer1.attention.head1.weights"]
        assert len(seen) == number
    text = printed("generate", "pizza", "--kv-cache")
    assert " ".join(SENTENCE[1:]) in text
    assert " ".join(text.split()).count("are reused from earlier turns") == 4


BARE = """\
tokens: [a, b, c, d]
embeddings: {a: [1, 0], b: [0, 1], c: [1, 1], d: [0.5, 2]}
layers: [{attention: {heads: [{W_Q: identity, W_K: [[1, 1], [0, 1]], W_V: [[1, 0], [1, 1]]}]}}]
rounding: {carry: never}
"""
"""An attention layer without a vocabulary."""


@pytest.mark.parametrize("start", [1, 3])
def test_without_a_vocabulary_the_cache_reads_the_tokens_in_turn(start: int) -> None:
    tokens = ["a", "b", "c", "d"]
    options = [word for token in tokens[:start] for word in ("--start", token)]
    document = generated("-", "--kv-cache", *options, stdin=BARE)
    expected = reference(yaml.safe_load(BARE.replace("identity", "[[1, 0], [0, 1]]")))["output"]
    assert document["text"] == tokens
    for number, (turn, values) in enumerate(turns(document), start=start):
        assert turn["input"] == tokens[:number] and turn["word"] is None
        read = 0 if number == start else number - 1
        np.testing.assert_allclose(values["output"], expected[read:number], atol=TOLERANCE)
    assert len(document["turns"]) == 4 - start + 1


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("cached", [(), ("--kv-cache",)])
def test_the_limit_stops_it(most: int, cached: tuple[str, ...]) -> None:
    text = printed("generate", "pizza", "--max-tokens", str(most), *cached)
    assert text.count("\nTurn ") == most
    assert f"the model writes “{' '.join(SENTENCE[1 : most + 1])}”.\n" in text
    assert "The text stops at the limit" in text
    assert "The end token" not in text


def test_it_begins_with_the_tokens_that_are_asked_for() -> None:
    document = generated("pizza", "--start", "<START>", "--start", "Me", "--start", "odio")
    assert document["turns"][0]["input"] == ["<START>", "Me", "odio"]
    assert len(document["turns"][0]["outputs"]) == 3


def test_each_turn_has_the_probabilities_of_the_next_word() -> None:
    for options in ((), ("--kv-cache",)):
        for turn in generated("pizza", "--worked", *options)["turns"]:
            [row] = [v for v in turn["values"] if v["address"] == "probabilities"]
            words = row["axes"][1]["labels"]
            every = list(zip(words, row["data"][-1], row["printed"][-1], strict=True))
            listed = [(p["word"], p["data"], p["printed"]) for p in turn["probabilities"]]
            assert sorted(listed) == sorted(every)
            assert [p for _, p, _ in listed] == sorted((p for _, p, _ in every), reverse=True)
            assert listed[0][0] == turn["word"]


def tame(scenario: random_scenarios.Scenario, text: list[str]) -> bool:
    """Whether float64 can hold what comes up on the way to a text."""
    table = scenario["embeddings"]
    found = reference({**scenario, "tokens": text, "embeddings": [table[word] for word in text]})
    return all(
        np.abs(values).max() < LARGEST
        for address, values in found.items()
        if address.endswith((".scores", "logits"))
    )


def told_apart(turn: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether the largest logit is not so near to another that floats may take either."""
    logits = sorted(values["logits"][-1])
    return len(logits) == 1 or logits[-1] - logits[-2] > NEAR


@few
@given(
    scenario=random_scenarios.scenarios(
        speaks=True,
        epsilons=("0.1",),
        max_layers=2,
        max_tokens=3,
        limits=(1,),
        masks=random_scenarios.NEVER_AHEAD,
    ),
)
def test_the_cache_changes_no_number(scenario: random_scenarios.Scenario) -> None:
    assume(tame(scenario, scenario["tokens"]))
    assert_cache_changes_nothing(scenario, TOLERANCE)


@few
@given(
    scenario=random_scenarios.scenarios(
        carry="never",
        speaks=True,
        epsilons=("0.1",),
        max_layers=2,
        max_tokens=3,
        limits=(1,),
        masks=random_scenarios.NEVER_AHEAD,
    ),
)
def test_the_cache_changes_no_float(scenario: random_scenarios.Scenario) -> None:
    assume(tame(scenario, scenario["tokens"]))
    assert_cache_changes_nothing({**scenario, "arithmetic": "float64"}, NEAR)


def assert_cache_changes_nothing(scenario: random_scenarios.Scenario, within: float) -> None:
    start = [argument for token in scenario["tokens"] for argument in ("--start", token)]
    asked = ("-", *start, "--max-tokens", str(random_scenarios.MOST_TURNS))
    text = random_scenarios.to_yaml(scenario)
    whole, cached = (generated(*asked, *more, stdin=text) for more in ((), ("--kv-cache",)))
    if within != TOLERANCE:
        assume(all(told_apart(*each) for each in turns(whole)))
    assert whole["text"] == cached["text"]
    assert len(whole["turns"]) == random_scenarios.MOST_TURNS
    for (_, ours), (_, theirs) in zip(turns(whole), turns(cached), strict=True):
        for address in (each for each in ours if ".expert" not in each):  # without all tokens
            if address.endswith((".weights", "output", ".norm", "logits", "probabilities")):
                np.testing.assert_allclose(
                    *(ours[address][-1], theirs[address][-1]), rtol=within, atol=within
                )


@pytest.mark.parametrize("layout", ["pairs", "halves"])
@pytest.mark.parametrize("carry", random_scenarios.CARRY_MODES)
def test_turned_keys_and_shared_ones_are_cached(layout: str, carry: str) -> None:
    text = f"{every_part(layout)}rounding: {{carry: {carry}}}\n"
    asked = ("-", "--start", "b", "--max-tokens", "4")
    whole, cached = (generated(*asked, *more, stdin=text) for more in ((), ("--kv-cache",)))
    assert whole["text"] == cached["text"]
    keys = "layer1.attention.head1.keys"
    for number, ((_, ours), (_, theirs)) in enumerate(
        zip(turns(whole), turns(cached), strict=True), start=1
    ):
        turned = ours["layer1.attention.head1.rotated_key"]
        assert len(turned) == number and turned == theirs.get(keys, turned)
        assert "layer1.attention.head2.keys" not in theirs  # it has none of its own
        for address in ("layer1.attention.head2.weights", "layer3.ffn.norm", "logits"):
            assert ours.get(address, [0])[-1] == theirs.get(address, [0])[-1]


def test_a_text_whose_tokens_see_later_ones_is_computed_anew_in_each_turn() -> None:
    text = every_part(mask="none")
    worked = generated("-", "--max-tokens", "3", stdin=text)
    assert all(len(values["input"]) == len(turn["input"]) for turn, values in turns(worked))
    shown = printed("generate", "-", "--max-tokens", "3", stdin=text)
    assert f"“{' '.join(worked['text'][1:])}”" in shown


def test_what_the_cache_holds_is_reused_with_its_digits() -> None:
    """With numbers that only the first turn has, the second turn's are those of the first."""
    scenario = load("pizza").scenario
    first = trace("pizza", scenario.reading(("<START>", "Me")))
    second = trace(
        "pizza", scenario.reading(("<START>", "Me", "gusta")), earlier=EarlierPasses(first)
    )
    found = records(second)
    for layer, head in itertools.product((1, 2), (1, 2)):
        for one, all_together in (("key", "keys"), ("value", "values")):
            address = f"layer{layer}.attention.head{head}.{all_together}"
            if address not in found:
                continue
            earlier = first[f"layer{layer}.attention.head{head}.{one}"]
            assert isinstance(found[address].operation, Append)
            assert found[address].inputs[0] is earlier
            value = found[address].output
            assert [list(map(str, row)) for row in value.numbers[:2]] == [
                list(map(str, row)) for row in earlier.numbers
            ]
            assert value.axes[0].labels == ("<START>", "Me", "gusta")
            assert value.form is earlier.form is Form.AS_THEY_ARE
            crossed = found[f"layer{layer}.cross_attention.head{head}.{one}"]
            assert isinstance(crossed.operation, Reused)
            before = first[f"layer{layer}.cross_attention.head{head}.{one}"]
            assert crossed.inputs == (before,)
            assert (crossed.output.numbers == before.numbers).all()
    assert any(address.endswith(".keys") for address in found)
    assert [len(second[a].numbers) for a in ("input", "output", "prediction")] == [1, 1, 1]
    assert second["output"].row(2, 3) == 0  # the third of three tokens stands in the first row
    assert first["output"].row(1, 2) == 1


@pytest.mark.parametrize("carry", random_scenarios.CARRY_MODES)
def test_the_cache_changes_no_word_of_the_translation(carry: str) -> None:
    assert generated("pizza", "--kv-cache", "--carry", carry)["text"] == SENTENCE


READ = ("unembedding.transform.norm", "unembedding.transform.activation", "output")
"""What W_U reads, the first that there is."""


@few
@given(
    scenario=random_scenarios.scenarios(speaks=True, epsilons=("0.1",), max_layers=1, max_tokens=2)
)
def test_each_word_is_the_one_with_the_largest_logit(scenario: random_scenarios.Scenario) -> None:
    assume(tame(scenario, scenario["tokens"]))
    vocabulary = scenario["vocabulary"]
    document = generated("-", "--max-tokens", "3", stdin=random_scenarios.to_yaml(scenario))
    tokens = scenario["tokens"][:1]
    biases = np.array(scenario["unembedding"].get("b_U", 0), dtype=float)
    for turn, values in turns(document):
        assert turn["input"] == tokens
        said = vocabulary.index(turn["word"])
        for address in ("probabilities", "logits"):
            assert values[address][-1][said] == max(values[address][-1])
        # Where rounding makes words alike, what they had before decides.
        weights = np.array(scenario["unembedding"]["W_U"], dtype=float)
        read = next(values[each] for each in READ if each in values)
        logits = read[-1] @ weights + biases
        off = logits.max() - logits[said]
        # With `line` each product is rounded before it is added.
        in_line = scenario["rounding"]["carry"] == "line"
        unit = 10.0 ** -scenario["rounding"]["decimals"]
        assert off <= (unit * len(weights) if in_line else TOLERANCE)
        tokens = [*tokens, turn["word"]]
    assert document["text"] == tokens


# --- what cannot go on ---

SMALL = """\
title: Two words
tokens: [a]
embeddings: {a: [1, 2], b: [3, 4]}
positions: {table: [[0, 0], [0.5, 0.5]]}
layers: [{ffn: {W_1: [[1], [1]], W_2: [[1, 2]]}}]
vocabulary: [a, b]
unembedding: {W_U: [[0, 1], [0, 1]]}
"""
WITHOUT_VOCABULARY = SMALL.partition("vocabulary")[0]

REFUSED = {
    "no vocabulary": (WITHOUT_VOCABULARY, (), "vocabulary: generation needs a vocabulary"),
    "other tokens without a vocabulary": (
        WITHOUT_VOCABULARY,
        ("--kv-cache", "--start", "b"),
        "tokens: without a vocabulary, only the scenario's own tokens are read, from the first on",
    ),
    "drawing without a vocabulary": (
        WITHOUT_VOCABULARY,
        ("--kv-cache", "--temperature", "0.5"),
        "vocabulary: words are drawn from a vocabulary",
    ),
    "by position": (
        SMALL.replace("{a: [1, 2], b: [3, 4]}", "[[1, 2]]"),
        (),
        "embeddings: another text needs the embeddings by token",
    ),
    "unknown start": (SMALL, ("--start", "c"), "--start: no embedding for the token 'c'"),
    "no embedding for the next word": (
        SMALL.replace(", b: [3, 4]", ""),
        (),
        "embeddings: no embedding for the token 'b'",
    ),
    "too few positions": (SMALL, (), "positions.table: 2 rows, but the text is longer now"),
    "too few rows of the mask": (
        SMALL.replace("positions: {table: [[0, 0], [0.5, 0.5]]}", "mask: [[0, -inf], [0, 0]]"),
        ("--max-tokens", "3"),
        "mask: 2 rows, but the text is longer now",
    ),
    "a cache of what changes": (
        SMALL.replace("positions: {table: [[0, 0], [0.5, 0.5]]}", "mask: none"),
        ("--kv-cache",),
        "mask: the mask shows later tokens, so cached keys and values would change",
    ),
    "a cache of what later tokens change": (
        SMALL.replace("positions: {table: [[0, 0], [0.5, 0.5]]}", "mask: [[0, 0], [-inf, 0]]"),
        ("--kv-cache",),
        "mask: the mask shows later tokens, so cached keys and values would change",
    ),
    "temperature": (
        SMALL,
        ("--temperature", "0"),
        "'--temperature': got '0', expected a number from 0.001",
    ),
    "top-p": (SMALL, ("--top-p", "1.5"), "'--top-p': got '1.5', expected a number above 0"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("form", ["terminal", "json"])
def test_what_cannot_go_on_is_told_in_one_line(name: str, form: str) -> None:
    text, arguments, said = REFUSED[name]
    ran = run("generate", "-", *arguments, "--format", form, stdin=text)
    assert (ran.exit_code, ran.stdout) == (2, "")
    [line] = problems(ran)
    assert said in line


def test_as_many_words_as_there_are_positions_can_be_said() -> None:
    assert generated("-", "--max-tokens", "2", stdin=SMALL)["text"] == ["a", "b", "b"]


def test_what_nobody_sees_is_computed_once_and_says_the_same() -> None:
    most = ("--max-tokens", "2")
    for options in (most, (*most, "--seed", "3", "--temperature", "2")):
        plain, worked = (
            json.loads(printed("generate", "-", "-f", "json", *options, *more, stdin=SMALL))
            for more in ((), ("--worked",))
        )
        turns_alike = [
            {key: turn[key] for key in turn if key != "values"} for turn in worked["turns"]
        ]
        assert (plain["turns"], plain["text"]) == (turns_alike, worked["text"])


# --- with an encoder -----------------------------------------------------------------------------


@pytest.mark.parametrize("cached", [(), ("--kv-cache",)])
def test_an_encoder_is_computed_once(cached: tuple[str, ...]) -> None:
    first, *others = generated("picture", "--worked", *cached)["turns"]
    encoded = [value["address"] for value in first["values"] if "encoder." in value["address"]]
    assert len(encoded) > 30
    for turn in others:
        assert [v["address"] for v in turn["values"] if "encoder." in v["address"]] == [
            "encoder.output"
        ]
    outputs = [
        value["data"]
        for turn in (first, *others)
        for value in turn["values"]
        if value["address"] == "encoder.output"
    ]
    assert outputs == [outputs[0]] * 4


PINNED = """
given: {encoder.layer1.ffn.output: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}
"""


@pytest.mark.parametrize("cached", [(), ("--kv-cache",)])
def test_what_is_pinned_in_an_encoder_stays_so(cached: tuple[str, ...]) -> None:
    source = (folder() / "picture.yaml").read_text(encoding="utf-8") + PINNED
    first, second, *_ = generated("-", "--worked", *cached, stdin=source)["turns"]
    values = {value["address"]: value for value in first["values"]}
    assert values["encoder.layer1.ffn.output"]["operation"] == "given"
    (again,) = (v for v in second["values"] if v["address"] == "encoder.output")
    assert again["data"] == values["encoder.output"]["data"]
