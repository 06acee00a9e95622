"""General sentences are printed where they hold, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.helpers.claims import Judge, judged
from tests.helpers.command import printed
from tests.helpers.lengths import by_address
from tests.helpers.sentences import WIDE, told
from tests.lesson.test_every_claim import wrong

LAYER = """
  - attention:
      heads: [{W_Q: [[1, 0.5], [0.2, 1]], W_K: [[0.7, 0.1], [0.3, 0.9]], W_V: [[1, 0.4], [0.6, 1]]}]
    ffn: {W_1: [[1, -1, 0.5], [0.4, 1, -0.3]], W_2: [[0.5, 0.1], [0.2, 0.6], [0.3, -0.4]]}
"""
START = """
title: T
tokens: [a, b, c]
embeddings: {a: [0.5, 1.0], b: [1.5, -0.5], c: [-1.0, 0.3]}
"""
LEARNS = START.replace("[a, b, c]", "[a, b]") + "targets: [b, a]\n"
WORDS = "vocabulary: [a, b, c]\nunembedding: {W_U: [[1, -0.5, 0.2], [0.3, 0.8, -1]]}\n"
TIED = "vocabulary: [a, b, c]\nunembedding: tied\n"
ONE_LAYER = f"layers: {LAYER}"
SURE = WORDS.replace("1, -0.5, 0.2], [0.3, 0.8, -1", "50, -50, 0.2], [0.3, 80, -100")
ZEROS = """
layers: [{ffn: {W_1: [[1, -1], [0.4, 1]], b_1: [-9, 3], W_2: [[0.5, 0.1], [0.3, -0.4]]}}]
"""
ADAM = "optimizer: {kind: adam, learning_rate: 0.05}\n"
ROW_OF_ZEROS = "The row of a word that the model does not read has the gradient 0."
USE_THE_SAME_ROWS = "The logits use the same rows"
NEGATIVE = "Only the correct word's entry is negative"
ENCODER = "encoder: {tokens: [le, chat], vectors: [[0.1, 0.2], [0.4, 0.5]]}\n"
NORMED = ZEROS.replace("}}]", "}, norm: {epsilon: 0.1}}]")
GIVEN_STD = "given: {layer1.ffn.norm.std: [1, 2]}\n"
DIVIDES = (
    "The norm divides each feature by a number that depends on all features of the token. Each "
    "feature therefore acts on the loss in several ways, and the contributions are added."
)
CROSSED = ONE_LAYER.replace("attention", "cross_attention")


@pytest.mark.parametrize(
    ("command", "yaml_text", "options", "says", "does_not_say"),
    [
        ("train", LEARNS + ONE_LAYER + WORDS, (), ROW_OF_ZEROS, "stays as it is"),
        ("train", LEARNS + ONE_LAYER + TIED, (), USE_THE_SAME_ROWS, ROW_OF_ZEROS),
        (
            "train",
            LEARNS + ONE_LAYER + WORDS,
            ("--weight-decay", "0.1"),
            "by weight decay",
            "against",
        ),
        ("tutorial", START + ENCODER + ONE_LAYER, (), "No layer attends to", "It also attends"),
        ("tutorial", START + ENCODER + CROSSED, (), "It also attends to", "No layer attends"),
        (
            *("run", START + "mask: {window: 1}\npadding: b\n" + ONE_LAYER, ("--token", "2")),
            *("The score of the padding token “b” becomes -∞, too.", "The mask is added"),
        ),
        (
            *("train", LEARNS + ZEROS + WORDS + ADAM, ("--parameter", "layer1.ffn.W_1")),
            *("Each weight with a gradient gets a step of", "Each weight gets a step"),
        ),
        ("train", LEARNS + ONE_LAYER + WORDS, (), NEGATIVE, "without a target"),
        ("train", LEARNS + ONE_LAYER + SURE, (), "softmax and cross-entropy", NEGATIVE),
        ("train", LEARNS + NORMED + WORDS, (), DIVIDES, "masked scores"),
    ],
)
def test_where_it_holds(
    command: str, yaml_text: str, options: tuple[str, ...], says: str, does_not_say: str
) -> None:
    text = told(command, "-", *options, "--format", "terminal", stdin=yaml_text)
    assert says in text and does_not_say not in text
    assert wrong(command, yaml.safe_load(yaml_text), *options, stdin=yaml_text) == []


def test_a_norm_that_divides_by_given_numbers_has_one_path() -> None:
    source = LEARNS + NORMED + WORDS + GIVEN_STD
    assert DIVIDES not in told("train", "-", "--format", "terminal", stdin=source)
    document = json.loads(printed("train", "-", "--format", "json", stdin=source))
    at = Judge(by_address(document), yaml.safe_load(source), 1, document["rounding"])
    at.address = "gradient.layer1.ffn.norm"
    assert "of_a_norm" in str(judged(DIVIDES, at))


def test_a_loss_that_is_printed_alike_has_still_fallen() -> None:
    less = "One step lowers the loss L by less than its digits show: it is 0.2 before and after."
    assert less in told("train", "pizza", "--carry", "never", "--decimals", "1")


def test_a_loss_is_printed_with_the_digits_that_it_has_elsewhere() -> None:
    """0.1² and (0.1 - 10⁻⁶×0.2)² = 0.00999996: both are 0.01, printed with different digits."""
    source = """
title: Digits of a loss
tokens: [a]
embeddings: {a: [0.1]}
loss: {kind: squared, reduction: sum, target: [0]}
optimizer: {learning_rate: 0.000001}
rounding: {decimals: 1, carry: never}
"""
    assert wrong("train", yaml.safe_load(source), stdin=source) == []
    losses = [
        each["printed"]
        for each in json.loads(printed("train", "-", "--format", "json", stdin=source))["passes"]
    ]
    assert f"rounded, from {losses[0]} to {losses[1]}." in told("train", "-", stdin=source)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--top-k", "1"), "Only one word is left to draw"),
        (("--top-p", "0.1"), "Only one word is left to draw"),
        (("--top-k", "2"), "A random number selects the next word"),
        ((), "A random number selects the next word"),
    ],
)
def test_a_draw_of_one_word(options: tuple[str, ...], says: str) -> None:
    asked = ("--worked", "--seed", "1", "--max-tokens", "1", *options)
    text = told("generate", "-", *asked, stdin=START + ONE_LAYER + WORDS)
    assert text.count("left to draw:") + text.count("according to the prob") == 1 and says in text


def test_a_step_is_told_as_another_only_if_all_of_it_is_the_same() -> None:
    norm = "    norm: {epsilon: 0.1SETTINGS}\n"
    inside, outside = (norm.replace("SETTINGS", s) for s in ("", ", epsilon_outside: true"))
    alike = START + f"layers: {LAYER}{inside}{LAYER}{inside}"
    other = START + f"layers: {LAYER}{inside}{LAYER}{outside}"
    said = "ε is added to the root so that a vector of equal numbers is not divided by 0."
    texts = [told("run", "-", stdin=each) for each in (alike, other)]
    assert [said in text for text in texts] == [False, True]
    # Of the two norms of layer 2, both are told as one before, or only the second is.
    assert texts[0].count("As in step") - texts[1].count("As in step") == 1
    biased = START + f"layers: {LAYER}{LAYER.replace('{W_1:', '{b_1: [1, 2, 3], W_1:')}"
    assert "The bias b₁ gives each hidden unit an offset" in told("run", "-", stdin=biased)


def test_factors_of_frequencies_stand_before_they_are_put_in() -> None:
    positions = "positions: {rotary: {base: 100, factors: [8]}}\n"
    text = told("run", "-", stdin=START + positions + ONE_LAYER)
    said = text.index("has a frequency, 100^(-2k / d_k) / f_k,")
    assert said < text.index("f_k   8") < text.index("100^(0 / 2) / 8 = 0.125")
    assert "f_k is a factor that is set for each pair." in text


@pytest.mark.parametrize(("form", "written"), [("terminal", "e^{}"), ("latex", "e^{{{}}}")])
def test_an_exponent_has_the_digits_of_its_number(form: str, written: str) -> None:
    logits = "vocabulary: [x, y]\nunembedding: {W_U: [[2.0, 3.0]]}\nrounding: {carry: never}\n"
    source = f"title: t\ntokens: [a]\nembeddings: [[1]]\n{logits}"
    text = printed("run", "-", "--format", form, width=WIDE, stdin=source)
    assert written.format("2.000") in text and written.format("3.000") in text
    assert "e²" not in text and "e³" not in text


# --- the judge finds what is false ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "yaml_text", "sentence", "false"),
    [
        ("train", LEARNS + ONE_LAYER + TIED, USE_THE_SAME_ROWS, ROW_OF_ZEROS),
        (
            *("train", LEARNS + ONE_LAYER + SURE, "softmax and cross-entropy"),
            f"{NEGATIVE}: raising its logit lowers the loss.",
        ),
        (
            *("run", START + ONE_LAYER, "Without the activation, W₁"),
            "Without the activation, W₁ and W₂ could be replaced by a single matrix and a bias.",
        ),
        ("run", START + ONE_LAYER, "ReLU keeps positive", "The hidden units after the activation."),
        ("run", START + ONE_LAYER, "Only attention moves", "Something is true of all models."),
    ],
)
def test_a_false_sentence_is_found(
    command: str, yaml_text: str, sentence: str, false: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_the_false_one(name: str, spec: dict[str, Any], *options: str, stdin: str) -> Any:
        both = right(name, spec, *options, stdin=stdin)
        assert both
        text, document = both
        lines = text.split("\n")
        at = next(i for i, line in enumerate(lines) if sentence in line)
        begins = lines[at].partition(USE_THE_SAME_ROWS)[0]
        lines[at] = f"{begins}{false}"
        return "\n".join(lines), document

    from tests.lesson import test_every_claim  # its function is replaced

    right = test_every_claim.told
    monkeypatch.setattr(test_every_claim, "told", with_the_false_one)
    found = wrong(command, yaml.safe_load(yaml_text), stdin=yaml_text)
    assert len(found) == 1 and false in found[0]
