"""Sentences at the edges: ties, the only one, what is hidden, filled up or given, one and many."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.helpers.command import printed
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.sentences import told
from tests.lesson.test_every_claim import wrong

HEAD = "{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}"
LAYER = f"{{attention: {{heads: [{HEAD[:-1]}, sink: 1}}]}}}}"
ONE_HEAD = f"layers: [{{attention: {{heads: [{HEAD}]}}}}]\n"


def numbers(tokens: str, **embeddings: str) -> str:
    """Tokens of one number each, and one head that looks at them."""
    table = ", ".join(f"{token}: [{x}]" for token, x in embeddings.items())
    return f"title: t\ntokens: [{tokens}]\nembeddings: {{{table}}}\n{ONE_HEAD}"


LEAK = numbers("a, b, c", a="1", b="4", c="5") + "rounding: {decimals: 0}\n"
OVER_100 = numbers("a, b", a="0", b="1.456") + (
    'rounding: {carry: line, digits: {"*.exp_sum": 0}}\n'
)
TIE_SHARES = numbers("a, b", a="1.0", b="1.01") + "rounding: {decimals: 1, carry: never}\n"
SECOND = numbers("a, b, c", a="1.0", b="1.01", c="2") + "rounding: {decimals: 1, carry: never}\n"
PADDED = """
title: padding
tokens: [TOKENS]
embeddings: {a: [1, 0.5], b: [2.5, 1], PAD: [0, 0]}
padding: PAD
layers: [{attention: {heads: [{W_Q: [[1], [1]], W_K: [[1], [0]], W_V: [[1], [1]]}], W_O: [[1, 2]]}}]
"""
PAD_MIDDLE, PAD_FIRST = PADDED.replace("TOKENS", "a, PAD, b"), PADDED.replace("TOKENS", "PAD, a, b")
PAD_LAST = PADDED.replace("TOKENS", "a, b, PAD")
TIE = """
title: rounded probabilities tie
tokens: [a]
embeddings: {a: [1, 0.5], x: [1, 1], y: [1, 1], z: [1, 1]}
layers: [{ffn: {W_1: [[1], [1]], W_2: [[1, 2]]}}]
vocabulary: [x, y, z]
unembedding: {W_U: [[0.10, 0.12, 0], [0, 0, 0]]}
targets: [y]
rounding: {decimals: 1}
"""
DRAW = TIE.replace("0.12, 0]", "0.1, 0.1]")
OUTSIDE = """
title: target outside
tokens: [a, b, c]
embeddings: {a: [1.00], b: [1.01], c: [1.02]}
layers: [{ffn: {W_1: [[1]], W_2: [[1]]}}]
vocabulary: [b, y]
unembedding: {W_U: [[1.000, 1.0001]]}
"""
ONE_FEATURE = """
title: one feature
tokens: [a, b]
embeddings: {a: [1.5], b: [2.5]}
layers:
  - attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}
    ffn: {W_1: [[-1]], W_2: [[1]], b_2: [3]}
    norm: {epsilon: 0.1}
vocabulary: [a, b]
unembedding: {W_U: [[1, 1]]}
"""
PINNED_ACTIVATION = """
title: pinned activation
tokens: [a]
embeddings: {a: [1, 2]}
layers: [{ffn: {W_1: [[1, -1], [0.5, 1]], W_2: [[1, 0], [0, 1]]}}]
given: {layer1.ffn.activation: [[1.5, -0.2]]}
"""
SAME_LABEL = PINNED_ACTIVATION.partition("given")[0].replace("ffn: {", "ffn: {labels: [u, u], ")
ZERO = PINNED_ACTIVATION.partition("given")[0].replace("[0.5, 1]", "[-0.5, 1]")
PINNED_MASK = numbers("a, b", a="1", b="4") + "given: {mask: [[0, 0], [0, 0]]}\n"
BLIND = numbers("a, b", a="1", b="4") + "given: {mask: [[0, -.inf], [-.inf, -.inf]]}\n"
TRAINING = """
title: targets that are no shift
tokens: [a]
embeddings: {a: [1, 0.5], b: [1, 1], PAD: [0, 0]}
padding: PAD
layers: [{ffn: {W_1: [[1], [1]], W_2: [[1, 2]]}}]
vocabulary: [a, b]
unembedding: {W_U: [[0.10, 0.2], [0, 0]]}
training: [{tokens: [a, b], targets: [a, b]}]
batch: [[a, b], [b, a]]
"""
LENGTHS = """
title: the first example is longer than the second
tokens: [a, b, a]
embeddings: {a: [1, 0.5], b: [2.5, 1]}
layers: [{attention: {heads: [{W_Q: [[1], [1]], W_K: [[1], [0]], W_V: [[1], [1]]}], W_O: [[1, 2]]}}]
vocabulary: [a, b]
unembedding: {W_U: [[0.10, 0.2], [0, 0]]}
training: [{tokens: [a, b, a], targets: [b, a, b]}, {tokens: [b, a], targets: [a, b]}]
"""
FROM_0 = """
title: t
tokens: [a, b]
embeddings: {a: [1, 2], b: [3, 4]}
positions: {sinusoidal: {start: 0}}
"""
TWINS = """
title: one text, two tokens
tokens: [pizza]
embeddings: {pizza: [1]}
encoder: {tokens: [pizza, like], vectors: [[2], [1]]}
layers: [{cross_attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}}]
"""
NEAR = """
title: the first product is the larger one, 4.6010 + 4.5953
tokens: [a, b]
embeddings: {a: [1, 1], b: [-4.6932493, -4.7105307]}
layers:
- attention:
    scale: 0.5
    heads:
    - labels: {query: [first, second], key: [k, l]}
      W_Q: identity
      W_K: [[0.2088853, 0], [0, 0.2070936]]
      W_V: identity
rounding: {decimals: 1, carry: never}
"""
FLOATS = "rounding: {decimals: 3, carry: never}\narithmetic: float64\nsoftmax: shifted\n"
LARGE_SINK = (
    numbers("a, b", a="0.5", b="-1.5").replace("W_V: [[1]]", "W_V: [[1]], sink: 60") + FLOATS
)
EXPERTS = """
title: experts
tokens: [a, b]
embeddings: {a: [1, 0], b: [0, 1]}
layers:
- ffn:
    router: [[1, 0], [0, 1]]
    top: TOP
    experts: [{W_1: [[1], [1]], W_2: [[1, 2]]}, {W_1: [[1], [1]], W_2: [[2, 1]]}]
"""
ONE_EXPERT = """
title: one expert
tokens: [a, b]
embeddings: {a: [1, 0], b: [0, 1]}
layers:
- ffn:
    router: [[1], [0]]
    top: 1
    normalize: false
    experts: [{W_1: [[1], [1]], W_2: [[1, 2]]}]
"""
OWN_ANGLES = """
title: the only layer has its own angles
tokens: [a, b]
embeddings: {a: [1, 0], b: [0, 1]}
positions: {rotary: {base: 100}}
layers:
- attention:
    rotary: {base: 9}
    heads: [{W_Q: [[1, 0], [0, 1]], W_K: [[1, 0], [0, 1]], W_V: [[1, 0], [0, 1]]}]
"""

ROWS: dict[str, tuple[Any, ...]] = {
    "a leak is no more than all": (
        LEAK,
        ("run", "--token", "1", "--no-mask"),
        ("Without the mask, “a” would ",),
    ),
    "a leak of one": (
        LEAK,
        ("run", "--token", "2", "--no-mask"),
        (
            "to the later token “c”; the mask makes this weight 0. This is data leakage",
            "is trained to predict what follows “b”.",
        ),
    ),
    "a leak to one of two": (
        numbers("a, b, c", a="30", b="-30", c="30") + FLOATS,
        ("run", "--token", "1", "--no-mask"),
        ("“a” would give 50 % of its attention to the later token “c”;",),
    ),
    "no leak": (
        numbers("a, b", a="30", b="-30") + FLOATS,
        ("run", "--token", "1", "--no-mask"),
        (),
        "Without the mask, “a”",
    ),
    "shares above 100 %": (OVER_100, ("run",), ()),
    "padding in the middle": (PAD_MIDDLE, ("run", "--no-mask"), ("“b” cannot attend to “PAD”.",)),
    "only padding behind": (
        PAD_LAST,
        ("run", "--no-mask", "--token", "2"),
        ("“b” cannot attend to “PAD”.",),
    ),
    "the larger logit is said": (TIE, ("run",), ()),
    "targets outside the vocabulary": (
        OUTSIDE,
        ("loss",),
        ("2 positions have no target and do not count in the mean.",),
    ),
    "one feature": (ONE_FEATURE, ("run",), ("ReLU keeps positive numbers",)),
    "a given activation": (
        PINNED_ACTIVATION,
        ("run",),
        ("a is given, not", "The hidden units after the activation."),
    ),
    "a given mask": (
        PINNED_MASK,
        ("run", "--token", "1", "--no-mask"),
        ("The mask is added to the scores.", "“a” can attend to every token."),
    ),
    "units of one label": (SAME_LABEL, ("run",), ("changes no hidden unit",)),
    "shares that print alike": (TIE_SHARES, ("run",), ()),
    "a second place that ties": (
        SECOND,
        ("run",),
        ("of its attention to itself, more than to any other token.",),
    ),
    "a key that is hidden": (
        numbers("a, b", a="1", b="4"),
        ("run", "--token", "1"),
        ("“a” cannot attend to “b”.",),
    ),
    "a token that is hidden from itself": (
        numbers("a, b, c", a="1", b="4", c="5") + "mask: [[0, 0, 0], [0, 0, 0], [-inf, 0, -inf]]\n",
        ("run",),
        ("“c” cannot attend to “a” or itself.",),
    ),
    "probabilities that no loss is computed from": (
        OUTSIDE + "loss: {kind: binary, target: [0, 1]}\n",
        ("run",),
        ("With probabilities, a program can draw the word after",),
    ),
    "a sink without the mask": (
        numbers("a, b", a="1", b="4").replace(ONE_HEAD, f"layers: [{LAYER}, {LAYER}]\n"),
        ("tutorial", "--detail", "full"),
        ("This section follows the token “a” in layer 1.", "W_Q has 1 × 1 = 1 parameter."),
        "without the mask.\n\ns has 1 parameter",
    ),
    "products that a line rounds past each other": (
        NEAR,
        ("run",),
        ("(4.60 + 4.62) / 0.5", "for the key of “b” with 18.4; “a” has -3.9."),
    ),
    "one head": (
        PAD_LAST,
        ("run",),
        ("There is only one head here", "W_O maps the result of the head"),
    ),
    "a row that is hidden as a whole": (
        PAD_FIRST,
        ("run", "--token", "1"),
        ("Every key is masked for “PAD”",),
    ),
    "blind without being padding": (
        BLIND,
        ("run",),
        ("“b” cannot attend to any token, not even to itself.",),
    ),
    "a hidden number that was 0": (ZERO, ("run",), ("none is negative",)),
    "a draw behind the last sum": (
        DRAW,
        ("generate", "--seed", "6", "--max-tokens", "1"),
        ("Rounding leaves the last sum at 0.9, so the last word, ",),
    ),
    "targets that are no shift": (
        TRAINING,
        ("loss",),
        (
            "The batch has 1 example.",
            "At each position, the model is trained to predict the target beside it.",
        ),
    ),
    "a batch of different lengths": (
        LENGTHS,
        ("train",),
        ("The mask hides the later tokens, which contain the answers.",),
    ),
    "a batch without padding": (
        TRAINING,
        ("run", "--sequence", "1"),
        ("It is one sequence of a batch. All have the same length.",),
    ),
    "positions that count from 0": (FROM_0, ("run",), ("“b” is at position 1, counted from 0.",)),
    "a sink that takes all": (
        LARGE_SINK,
        ("run",),
        (
            "“b” gives nearly all of its attention to the sink.",
            "the weights of a row add up to less than 1.",
        ),
    ),
    "experts that get as many tokens": (
        EXPERTS.replace("TOP", "1"),
        ("run",),
        ("Experts 1 and 2 get 1 token each.",),
    ),
    "experts that get all tokens": (
        EXPERTS.replace("TOP", "2"),
        ("run",),
        (
            "Each token goes to both experts.",
            "All 2 tokens go to expert 1.",
            "“b” goes to expert 1 with the weight 0.269 and to expert 2 with the weight 0.731.",
        ),
    ),
    "training of experts that get all tokens": (
        EXPERTS.replace("TOP", "2") + "loss: {kind: squared, target: [1, 0]}\n",
        ("train",),
        ("A matrix product passes its gradient to both of its factors.",),
    ),
    "training without a matrix product": (
        "title: t\ntokens: [a]\nembeddings: {a: [1, 2]}\nloss: {kind: squared, target: [1, 0]}\n",
        ("train",),
        ("Compute the gradient at the model's output.",),
    ),
    "an expert that is the only one": (
        ONE_EXPERT,
        ("run",),
        ("Each token goes to the only expert.", "is the output of its expert, multiplied"),
    ),
    "angles that no other layer has": (
        OWN_ANGLES,
        ("run",),
        ("Angles of the positions", "rotate(Q, θ)"),
        "set 2",
        "θ₂",
    ),
    "the encoder's token": (
        TWINS,
        ("run",),
        ("of its attention to the encoder's “pizza” and", "to the encoder's “like”."),
    ),
}
"""Scenarios, commands, what is said of them, and what is not, where no judge would miss it."""


@pytest.mark.parametrize("row", ROWS)
def test_what_is_said_and_that_it_is_true(row: str) -> None:
    source, (command, *options), said, *unsaid = ROWS[row]
    more = ("--worked",) if command == "generate" else ()
    text = told(command, "-", *options, *more, "--format", "terminal", stdin=source)
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []
    assert wrong(command, yaml.safe_load(source), *options, *more, stdin=source) == []


ONE_OF_EACH = numbers("a", a="1").replace(
    "}}]\n", "}, ffn: {W_1: [[1]], W_2: [[1]]}}]\nvocabulary: [a]\nunembedding: {W_U: [[1]]}\n"
)


def test_one_is_no_plural() -> None:
    text = told("tutorial", "-", "--detail", "full", "--format", "terminal", stdin=ONE_OF_EACH)
    assert "to 1 hidden unit." in text and "of each token to 1 number." in text
    assert "1 × 1 = 1 parameter." in text
    for plural in ("1 hidden units", "1 numbers", "1 parameters", "1 positions", "1 predictions"):
        assert plural not in text


def test_of_one_of_a_kind_nothing_is_claimed() -> None:
    text = told("run", "-", "--format", "terminal", stdin=ONE_OF_EACH)
    for claim in (
        "largest score",
        "attention to",
        "attend to every",
        " most, ",
        "largest is",
        "model predicts",
        "ReLU changes",
    ):
        assert claim not in text


def test_hidden_tokens_are_alternatives() -> None:
    text = told("step", "mask", "--token", "Emma")
    assert "“Emma” cannot attend to “Daniel” or “Alex”." in text


def test_titles_have_one_colon() -> None:
    text = told("run", "alex")
    assert "Head 1 · Softmax: the attention weights" in text


def test_a_token_cannot_melt_into_a_sentence() -> None:
    source = numbers("a, the", a="1", the="2")
    said = "The largest score of {0} is that for the key of {0} with 4.000; {1} has 2.000."
    for form, the, a in (
        ("terminal", "“the”", "“a”"),
        ("markdown", "`the`", "`a`"),
        ("latex", r"\texttt{the}", r"\texttt{a}"),
    ):
        text = told("step", "scores", "-s", "-", "-f", form, stdin=source)
        assert said.format(the, a) in text.replace("$", "")


def test_given_values_are_not_spoken_of() -> None:
    scenario: dict[str, Any] = yaml.safe_load(numbers("a, b", a="1", b="4"))
    address = "layer1.attention.head1"
    for name, claim in (
        ("scores", "largest score"),
        ("weights", "of its attention"),
        ("masked", "attend to every"),
    ):
        scenario["given"] = {f"{address}.{name}": [["1", "2"], ["3", "4"]]}
        text = told("run", "-", "--format", "terminal", stdin=to_yaml(scenario))
        assert "is given, not" in text and claim not in text


@pytest.mark.parametrize("options", [(), ("--kv-cache",), ("--seed", "1"), ("--worked",)])
def test_each_turn_has_the_probability_of_its_word_once(options: tuple[str, ...]) -> None:
    text = printed("generate", "pizza", *options, "--format", "terminal")
    turns = json.loads(printed("generate", "pizza", *options, "--format", "json"))["turns"]
    shown = [
        next(p["printed"] for p in turn["probabilities"] if p["word"] == turn["word"])
        for turn in turns
    ]
    answer = text.split("Turn 1")[0]
    said = re.findall(r"^  \d+ +(\S+) +(0\.\d+)$", answer, re.M)
    words = [turn["word"] for turn in turns]
    assert said == list(zip(words, shown, strict=True))
    assert f"the model writes “{' '.join(words)}”" in answer
