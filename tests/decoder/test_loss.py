"""The training loss: -ln of the right word's probability, and the mean of what counts."""

from __future__ import annotations

import json
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from tests.helpers.command import printed, problems, run
from tests.helpers.learning import batch_of, loss_of
from tests.helpers.learning_scenarios import examples, learning_scenarios
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.reference import losses, reduced, reference
from tests.helpers.unembeddings import untied

TARGETS = {
    "pizza": ["Me", "gusta", "la", "pizza", "<END>"],
    "1": ["love", "reading", "books"],
    "2": ["enjoys", "painting", "landscapes"],
    "3": ["explore", "nature", "daily"],
    "4": ["play", "music", "together"],
}
"""What should come next: of the translation, and of the examples by their number."""


FLOATS = "arithmetic: float64"

few = settings(max_examples=9, deadline=None, suppress_health_check=list(HealthCheck))


def loss(*arguments: str, stdin: str = "") -> dict[str, Any]:
    """The values of `loss` by address."""
    document = json.loads(printed("loss", *arguments, "--format", "json", stdin=stdin))
    return {value["address"]: value for value in document["values"]}


def assert_cross_entropy(values: dict[str, Any], targets: list[str], tolerance: float) -> None:
    """The losses are those of the probabilities beside them, and the loss is their mean."""
    words = values["probabilities"]["axes"][1]["labels"]
    rows = values["probabilities"]["data"]
    expected = [
        -math.log(row[words.index(target)]) for row, target in zip(rows, targets, strict=True)
    ]
    assert values["loss.target"]["data"] == targets
    assert values["loss.token"]["data"] == pytest.approx(expected, rel=tolerance)
    mean = sum(expected) / len(expected)
    assert values["loss"]["data"] == pytest.approx(mean, rel=tolerance)


@pytest.mark.parametrize(
    ("options", "inside"),
    [
        (("--carry", "line"), 3),  # each loss has the usual decimals, and so has their mean
        (("--carry", "step"), 5),  # each loss stands inside a step: it has two decimals more
    ],
)
def test_each_loss_is_rounded_and_their_mean_is_that_of_the_rounded(
    options: tuple[str, ...], inside: int
) -> None:
    values = loss("pizza", *options)
    words = values["probabilities"]["axes"][1]["labels"]
    rows = values["probabilities"]["data"]
    pairs = zip(rows, TARGETS["pizza"], strict=True)
    p = [Decimal(repr(row[words.index(target)])) for row, target in pairs]
    assert all(x == round(x, 3) for x in p)
    expected = [rounded(-x.ln(), inside) for x in p]
    assert [Decimal(repr(x)) for x in values["loss.token"]["data"]] == expected
    assert Decimal(repr(values["loss"]["data"])) == rounded(
        sum(expected, Decimal(0)) / len(expected), 3
    )


def rounded(number: Decimal, decimals: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


@pytest.mark.parametrize("example", ["1", "2", "3", "4"])
def test_the_loss_of_each_training_example(example: str) -> None:
    values = loss("comics", "--example", example, "--carry", "never")
    assert_cross_entropy(values, TARGETS[example], 1e-12)
    # What is read are the first words; each target but the last is the next of them.
    assert values["tokens"]["data"][1:] == TARGETS[example][:-1]
    text = printed("loss", "comics", "--example", example)
    assert " ".join(TARGETS[example]) in text


def test_the_first_example_is_the_published_one() -> None:
    page = printed("loss", "comics")
    assert page == printed("loss", "comics", "--example", "1")
    text = re.sub(r" +(?=≈)", " ", page)  # results stand in a column
    assert "love:    -ln(0.001) ≈ 6.9\n" in text
    assert re.search(r"reading: -ln\(0\.998\) ≈ 0\.0020?\n", text)
    assert "books:   -ln(0.85) ≈ 0.16\n" in text
    assert "≈ 2.35\n" in text
    assert "perplexity = e^2.35 ≈ 10.49\n" in text
    values = loss("comics")
    assert values["loss.token"]["data"] == [6.9, 0.002, 0.16]
    assert values["loss"]["data"] == 2.35


def answers(text: str) -> list[list[str]]:
    """The rows of the table of targets and predictions."""
    found = [re.findall(r"\S+", line) for line in text.splitlines()]
    start = found.index(["position", "input", "target", "prediction", "correct"])
    return [row for row in found[start + 1 : found.index([], start)] if row]


def test_a_wrong_prediction_is_marked() -> None:
    text = printed("loss", "comics")
    marks = {"love": "✗", "reading": "✓", "books": "✓"}
    assert {row[2]: row[4] for row in answers(text)} == marks
    assert "Correct predictions: 2 of 3." in text


@pytest.mark.parametrize("example", ["2", "3", "4"])
def test_marks_are_where_target_and_prediction_agree(example: str) -> None:
    rows = answers(printed("loss", "comics", "--example", example))
    assert [row[2] for row in rows] == TARGETS[example]
    assert [row[4] for row in rows] == ["✓" if row[2] == row[3] else "✗" for row in rows]
    predictions = loss("comics", "--example", example)["prediction"]["data"]
    assert [row[3] for row in rows] == predictions


PADDED = """\
title: A sentence that is filled up
tokens: [a, b, <PAD>, <PAD>]
embeddings: {a: [1, 0.5], b: [-0.5, 1], c: [0, 1], <PAD>: [0, 0]}
padding: <PAD>
layers: [{ffn: {W_1: [[1, 0.5], [0.3, 1]], W_2: [[1, 0], [0.5, 1]]}}]
vocabulary: [a, b, c, <PAD>]
unembedding: {W_U: [[0.1, 0.7, -0.2, 0.4], [0.3, 0.2, 0.6, 0.1]]}
"""

COUNTED = {
    # the line of targets: which positions count
    "": [0],
    "targets: [b, c, <PAD>, <PAD>]": [0, 1],
    "targets: [b, c, a, <PAD>]": [0, 1],
    "targets: [<PAD>, c, a, a]": [1],
    "targets: [b, <PAD>, a, a]": [0],
}
LEFT_OUT = re.compile(r"([0-9]+) positions have no target and do not count in the mean\.")


@pytest.mark.parametrize("targets", COUNTED)
def test_what_fills_up_does_not_count(targets: str) -> None:
    places = COUNTED[targets]
    text = PADDED + targets + "\n"
    values = loss("-", "--carry", "never", stdin=text)
    tokens = values["loss.token"]["data"]
    assert [i for i, token in enumerate(tokens) if token] == places
    mean = sum(tokens) / len(places)
    assert values["loss"]["data"] == pytest.approx(mean, abs=1e-12)
    shown = printed("loss", "-", stdin=text)
    [left_out] = LEFT_OUT.findall(" ".join(shown.split()))
    assert int(left_out) == 4 - len(places)
    assert [row[4] for row in answers(shown)].count("—") == 4 - len(places)


def test_a_next_token_outside_the_vocabulary_does_not_count() -> None:
    text = PADDED.replace("vocabulary: [a, b, c, <PAD>]", "vocabulary: [a, c, d, <PAD>]")
    text = text.replace("[a, b, <PAD>, <PAD>]", "[b, a, b, a]")
    values = loss("-", "--carry", "never", stdin=text)
    assert values["loss.target"]["data"] == ["a", "—", "a", "—"]
    tokens = values["loss.token"]["data"]
    assert [bool(token) for token in tokens] == [True, False, True, False]
    assert values["loss"]["data"] == pytest.approx((tokens[0] + tokens[2]) / 2, abs=1e-12)
    [left_out] = LEFT_OUT.findall(" ".join(printed("loss", "-", stdin=text).split()))
    assert left_out == "2"


@few
@given(learning_scenarios(any_loss=True, max_layers=1))
def test_losses_of_every_kind_are_the_references(spec: Scenario) -> None:
    each = examples(spec)
    found = [loss for example in each for loss in losses(untied(example)) if loss is not None]
    assume(found and max(found) < 50)
    for arithmetic, within in (("decimal", 1e-12), ("float64", 1e-9)):
        shown = loss_of(batch_of({**spec, "arithmetic": arithmetic}))
        assert float(shown) == pytest.approx(reduced(spec, found), rel=within, abs=within)


CONFIDENT = """
tokens: [a]
embeddings: {{a: [{0}, 0]}}
layers: []
vocabulary: [u, v]
unembedding: {{W_U: [[1, 0], [0, 1]]}}
loss: {{kind: binary, target: [[{1}, 1]]}}
"""


@pytest.mark.parametrize(
    "rounding", ["{carry: line}", "{carry: never}", "{carry: never}\n" + FLOATS]
)
@pytest.mark.parametrize(("logit", "target"), [(9, 0), (9, 1), (-9, 1), (40, 0), (-300, 1)])
def test_a_confident_wrong_logit_has_a_finite_binary_loss(
    logit: int, target: int, rounding: str
) -> None:
    """The mean of ln(1 + e^z) and ln 2; with two digits of e^-9, up to 0.02 more or less."""
    found = loss("-", stdin=f"{CONFIDENT.format(logit, target)}rounding: {rounding}\n")
    wrong = logit if target == 0 else -logit
    exact = (math.log1p(math.exp(wrong)) + math.log(2)) / 2
    assert found["loss"]["data"] == pytest.approx(exact, abs=0.02 if "line" in rounding else 1e-9)


@pytest.mark.parametrize("pinned", ["loss.sigmoid: [[0.75, 0.5]]", "loss.correct: [[0.25, 0.5]]"])
def test_a_binary_loss_is_computed_from_a_given_probability(pinned: str) -> None:
    """The probability of 0 is 1 - 0.75."""
    found = loss(
        "-", stdin=f"{CONFIDENT.format(9, 0)}given: {{{pinned}}}\nrounding: {{carry: never}}"
    )
    assert found["loss"]["data"] == pytest.approx((math.log(4) + math.log(2)) / 2)


@few
@given(scenario=scenarios("never", epsilons=("0.1",), max_layers=1, speaks=True, limits=(1,)))
def test_random_losses_are_the_references(scenario: Scenario) -> None:
    logits = reference(scenario)["logits"]
    assume(abs(logits).max() < 50)
    expected = losses(scenario)
    counted = [number for number in expected if number is not None]
    if not counted:
        ran = run("loss", "-", stdin=to_yaml(scenario))
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert "no position has a next token" in ran.stderr
        return
    shown = [0 if number is None else number for number in expected]
    mean = sum(counted) / len(counted)
    for arithmetic, within in (("decimal", 1e-12), ("float64", 1e-9)):
        values = loss("-", stdin=to_yaml({**scenario, "arithmetic": arithmetic}))
        assert values["loss.token"]["data"] == pytest.approx(shown, rel=within, abs=within)
        assert values["loss"]["data"] == pytest.approx(mean, rel=within, abs=within)


REFUSED = {
    "no such example": (
        ("comics", "--example", "5"),
        "",
        "--example: no training example 5, the last is 4",
    ),
    "no examples": (
        ("pizza", "--example", "1"),
        "",
        "--example: the scenario has no training examples",
    ),
    "no vocabulary": (
        ("-",),
        PADDED.partition("vocabulary")[0],
        "vocabulary: the loss needs a vocabulary",
    ),
    "nothing to guess": (
        ("-",),
        PADDED.replace("[a, b, <PAD>, <PAD>]", "[a, <PAD>, b, <PAD>]"),
        "targets: no position has a next token that is in the vocabulary",
    ),
    "unknown target": (
        ("-",),
        PADDED + "targets: [b, d, a, a]\n",
        "<stdin>:8:14: targets entry 2: 'd' is not in the vocabulary",
    ),
    "a target of words and of numbers": (
        ("-",),
        PADDED + "targets: [b, c, a, a]\nloss: {kind: binary, target: [1, 0, 0, 1]}\n",
        "targets: targets and loss.target, expected only one of them",
    ),
    "a row of another length": (
        ("-",),
        PADDED + "loss: {kind: squared, target: [1, 0]}\n",
        "loss.target: 2 numbers, expected 4 (one per word of the vocabulary)",
    ),
    "rows of another length": (
        ("-",),
        PADDED + "loss: {kind: squared, target: [[1, 0, 1, 0]]}\n",
        "loss.target: 1 row, expected 4 (one per token)",
    ),
    "no target": (
        ("-",),
        PADDED + "loss: {kind: squared}\n",
        "loss: squared needs target: [[1, 0], …]",
    ),
    "a target of cross-entropy": (
        ("-",),
        PADDED + "loss: {target: [1, 0, 0, 1]}\n",
        "loss: a target of numbers goes with squared and binary only",
    ),
    "a target that is neither 0 nor 1": (
        ("-",),
        PADDED + "loss: {kind: binary, target: [1, 0, 0.5, 1]}\n",
        "loss: each target of binary is 0 or 1",
    ),
    "binary without words": (
        ("-",),
        PADDED.partition("vocabulary")[0] + "loss: {kind: binary}\n",
        "loss.kind: binary needs a vocabulary, expected vocabulary: […]",
    ),
    "numbers for examples": (
        ("-",),
        PADDED
        + "loss: {kind: squared, target: [1, 0, 0, 1]}\n"
        + "training: [{tokens: [a], targets: [b]}]\n",
        "loss.target: training examples have words as targets, expected no training",
    ),
    "too few targets": (
        ("-",),
        PADDED + "targets: [b, c]\n",
        "targets: 2 entries, expected 4 (one per token)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_loss_is_told_in_one_line(name: str) -> None:
    arguments, text, said = REFUSED[name]
    ran = run("loss", *arguments, stdin=text)
    assert (ran.exit_code, ran.stdout) == (2, "")
    [line] = problems(ran)
    assert said in line
