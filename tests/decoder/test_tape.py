"""Values that are given instead of computed: what follows goes on from them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.helpers.command import printed, run, run_json
from tests.helpers.truth import false_equations, unreadable

SMALL = """\
title: Two words
tokens: [a, b]
embeddings: {a: [1, 2], b: [3, 4.5]}
layers:
  - attention:
      heads:
        - W_Q: [[0.5], [0.25]]
          W_K: [[0.2], [-0.5]]
          W_V: [[1, 0.5], [0, 2]]
    ffn:
      W_1: [[1, -1], [-0.5, 1]]
      b_1: [0.5, 0.25]
      W_2: [[1, 2], [-1, 0.5]]
vocabulary: [a, b, c]
unembedding: {W_U: [[0.5, -0.25, 1], [0.2, 0.75, -0.5]]}
rounding: {carry: never}
"""

ATTENTION = "layer1.attention.output"
WEIGHTS = "layer1.attention.head1.weights"


def with_given(given: dict[str, Any]) -> str:
    """The scenario with numbers given by address."""
    return SMALL + "given:\n" + "".join(f"  {a}: {json.dumps(n)}\n" for a, n in given.items())


def given_at(address: str, numbers: Any) -> str:
    return with_given({address: numbers})


def values(*arguments: str, stdin: str) -> dict[str, Any]:
    return {value["address"]: value for value in run_json("-", *arguments, stdin=stdin)["values"]}


def data(found: dict[str, Any], address: str) -> Any:
    return np.array(found[address]["data"], dtype=object).astype(np.float64)


def assert_goes_on(found: dict[str, Any], attention: Any) -> None:
    """From the attention output on, everything follows from it and from the scenario's numbers."""
    x = np.array([[1, 2], [3, 4.5]]) + attention
    hidden = x @ [[1, -1], [-0.5, 1]] + [0.5, 0.25]
    y = x + np.maximum(hidden, 0) @ [[1, 2], [-1, 0.5]]
    logits = y @ [[0.5, -0.25, 1], [0.2, 0.75, -0.5]]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = {
        "layer1.attention.residual": x,
        "layer1.ffn.hidden": hidden,
        "output": y,
        "logits": logits,
        "probabilities": p,
    }
    for address, numbers in expected.items():
        np.testing.assert_allclose(data(found, address), numbers, rtol=1e-12, err_msg=address)
    words = [["a", "b", "c"][j] for j in logits.argmax(axis=1)]
    assert found["prediction"]["data"] == words


OUTPUTS = [[[2, -1], [0.5, 0.25]], [[0, 0], [0, 0]], [[-3.25, 1], [1e-3, 12]]]


@pytest.mark.parametrize("numbers", OUTPUTS, ids=str)
def test_what_follows_goes_on_from_a_given_output(numbers: Any) -> None:
    from_file = values(stdin=given_at(ATTENTION, numbers))
    assert from_file[ATTENTION]["data"] == numbers
    assert from_file[ATTENTION]["operation"] == "given"
    assert_goes_on(from_file, numbers)
    assert values("--given", f"{ATTENTION}={json.dumps(numbers)}", stdin=SMALL) == from_file


def test_what_stands_before_is_computed_as_ever() -> None:
    free, pinned = values(stdin=SMALL), values(stdin=given_at(ATTENTION, OUTPUTS[0]))
    addresses = list(free)
    assert list(pinned) == addresses
    before = addresses[: addresses.index(ATTENTION)]
    assert [free[address] for address in before] == [pinned[address] for address in before]
    assert free["output"] != pinned["output"]


def test_several_values_can_be_given() -> None:
    weights, logits = [[1, 0], [0.25, 0.75]], [[3, 1, 2], [0, 0, 5]]
    asked = ("--given", f"{WEIGHTS}={weights}", "--given", f"logits={logits}")
    found = values(*asked, stdin=SMALL)
    heads = np.array(weights) @ data(found, "layer1.attention.head1.value")
    np.testing.assert_allclose(data(found, "layer1.attention.head1.output"), heads, rtol=1e-12)
    assert found["logits"]["data"] == logits
    assert found["prediction"]["data"] == ["a", "c"]
    powers = np.exp(logits)
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(data(found, "probabilities"), expected, rtol=1e-12)


PARAMETERS = {
    "layer1.ffn.b_1": [10, 20.5],
    "unembedding.W_U": [[1, 2, 3], [4, 5, 6]],
    "embedding": [[0.1, 0.2], [0.3, 0.4]],
    "mask": [[0, 0], [0, 0]],
    "layer1.attention.head1.exp_sum": [2, 8],
}


@pytest.mark.parametrize("address", PARAMETERS)
def test_any_address_can_be_given(address: str) -> None:
    found = values(stdin=given_at(address, PARAMETERS[address]))
    assert found[address]["data"] == PARAMETERS[address]
    assert found["logits"]["data"] != values(stdin=SMALL)["logits"]["data"]
    text = printed("run", "-", stdin=given_at(address, PARAMETERS[address]))
    assert (unreadable(text), false_equations(text)) == ([], [])


def test_the_command_line_wins() -> None:
    text = given_at(ATTENTION, OUTPUTS[0])
    found = values("--given", f"{ATTENTION}={OUTPUTS[2]}", stdin=text)
    assert_goes_on(found, OUTPUTS[2])


def test_the_rest_of_the_scenarios_stays_given() -> None:
    text = with_given({ATTENTION: OUTPUTS[0], "layer1.ffn.output": [[1, 1], [2, 2]]})
    found = values("--given", f"{ATTENTION}=[[0, 0], [0, 0]]", stdin=text)
    assert found["output"]["data"] == [[2, 3], [5, 6.5]]


def test_the_page_says_what_is_given_and_prints_it_as_typed() -> None:
    text = printed("run", "-", "--given", f"{ATTENTION}=[[0.50, 1], [2.250, -3]]", stdin=SMALL)
    assert "is given here: it is not computed" in " ".join(text.split())
    assert "[2.250, -3]" in text
    assert "is given here" not in " ".join(printed("run", "-", stdin=SMALL).split())
    assert (unreadable(text), false_equations(text)) == ([], [])


def test_a_training_example_has_given_values_of_its_own() -> None:
    example = "{tokens: [b, a], targets: [a, c], given: {logits: [[1, 2, 3], [3, 2, 1]]}}"
    text = f"{SMALL}training: [{example}]\n"
    shown = json.loads(printed("loss", "-", "--format", "json", stdin=text))
    found = {value["address"]: value for value in shown["values"]}
    assert found["logits"]["data"] == [[1, 2, 3], [3, 2, 1]]
    # -ln p is ln Σ - z; the first word of the first row, and the last of the second, have z = 1.
    surprise = float(np.log(np.exp([1, 2, 3]).sum())) - 1
    assert found["loss.token"]["data"] == pytest.approx([surprise, surprise], rel=1e-12)


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all at once": (
        {ATTENTION: [[1, 2, 3], [4, 5, 6]], "logits": [1, 2], "layer1.attention.outpt": [[1]]},
        [
            f"{ATTENTION}: given as 2×3 numbers, expected 2×2 numbers",
            "logits: given as 2 numbers, expected 2×3 numbers",
            "layer1.attention.outpt: given, but there is no such value; "
            f"did you mean '{ATTENTION}'",
        ],
    ),
    "too few rows": (
        {"layer1.ffn.hidden": [[1, 2]]},
        ["layer1.ffn.hidden: given as 1×2 numbers, expected 2×2 numbers"],
    ),
    "another layer": (
        {"layer2.ffn.hidden": [[1, 2], [3, 4]]},
        ["layer2.ffn.hidden: given, but there is no such value"],
    ),
    "words": ({"prediction": [1, 2]}, ["prediction: given, but there is no such value"]),
    "no numbers": (
        {"logits": [[1, "x", 3], [None, 5, 6]]},
        ["logits row 1 column 2: expected a number, got 'x'", "logits row 2 column 1: expected"],
    ),
    "no list": ({"logits": 3, "output": "x"}, ["logits: expected a list", "output: expected a"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_each_misfit_is_told(name: str) -> None:
    given, said = REFUSED[name]
    ran = run("run", "-", stdin=with_given(given))
    assert (ran.exit_code, ran.stdout) == (2, "")
    lines = ran.stderr.splitlines()
    assert len(lines) == len(said)
    for message in said:
        assert any(message in line for line in lines), message


REFUSED_ARGUMENTS = {
    "logits": "--given: got 'logits', expected ADDRESS=VALUES",
    "=[1]": "--given: got '=[1]', expected ADDRESS=VALUES",
    "logits=[[1, two, 3], [4, 5, 6]]": "--given: logits: expected a number, got 'two'",
    "logits=[[1, 2, 3], [4, 5, 6]": "--given:",
    "logits=[[1, 2]]": "logits: given as 1×2 numbers, expected 2×3 numbers",
    "logit=[[1, 2]]": "logit: given, but there is no such value; did you mean 'logits'",
}


@pytest.mark.parametrize("argument", REFUSED_ARGUMENTS)
def test_a_wrong_argument_is_told_in_one_line(argument: str) -> None:
    ran = run("run", "-", "--given", argument, stdin=SMALL)
    assert (ran.exit_code, ran.stdout) == (2, "")
    [line] = ran.stderr.splitlines()
    assert REFUSED_ARGUMENTS[argument] in line
