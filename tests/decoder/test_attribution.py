"""Attribution: a part is what the model computes from it alone; the parts sum to the logit."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.continuity import misplaced, violations
from tests.helpers.judge import exact
from tests.helpers.parts_of_rows import Parts, Values
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.strict_json import document, values
from tests.helpers.traces import traced_or_rejected
from tests.helpers.whole_scenarios import whole_scenarios
from tracer.data import as_json

some = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32 - 1)
PER_PART = ("--by", "part")
SPLIT = ("--by", "token"), ("--by", "neuron")


def entry(found: Values, seed: int) -> tuple[str, tuple[int, int], int | None]:
    """An entry of the logits or the output, and sometimes another column to subtract."""
    rng = random.Random(seed)
    addresses = [a for a in ("logits", "logits.uncapped", "output") if a in found]
    address = rng.choice([a for a in addresses if found[a]["operation"] in ("matmul", "copy")])
    rows, columns = map(int, found[address]["shape"])
    at = rng.randrange(rows), rng.randrange(columns)
    others = [column for column in range(columns) if column != at[1]]
    return address, at, rng.choice(others) if others and rng.random() < 0.5 else None


def attributed(spec: Any, asked: tuple[str, tuple[int, int], int | None], *options: str) -> Any:
    """The JSON of an attribution, its numbers as decimals."""
    address, (row, column), other = asked
    words = ("attribute", f"{address}[{row + 1},{column + 1}]", "-s", "-", *options)
    instead = () if other is None else ("--instead-of", str(other + 1))
    return document(*words, *instead, stdin=to_yaml(spec))


def by_address(found: Any) -> Mapping[str, float]:
    """The parts by the address of what adds them; the tokens of a head together."""
    parts: dict[str, float] = defaultdict(float)
    for part in found["parts"]:
        address = part["address"]
        whole = f"{address.removesuffix('weights')}output"
        parts[whole if address.endswith(".weights") else address] += float(part["value"])
    return parts


@some
@given(whole_scenarios(carry="never"), SEEDS)
def test_each_part_is_what_the_model_computes_from_it_alone(spec: Any, seed: int) -> None:
    ran = traced_or_rejected(spec)
    listed = json.loads(as_json.render(ran, ran.records, None))["values"]
    found = {value["address"]: value for value in listed}
    asked = entry(found, seed)
    address, (row, column), other = asked
    weights = [0.0] * found[address]["shape"][1]
    weights[column] = 1.0
    if other is not None:
        weights[other] = -1.0
    expected = Parts(found, address, row).times(weights)
    tolerance = 1e-9 * max(1, *map(abs, expected.values()))
    for options in (PER_PART, SPLIT[seed % 2]):
        document = attributed(spec, asked, *options)
        parts = by_address(document)
        assert parts.keys() == expected.keys()
        assert parts == pytest.approx(expected, rel=0, abs=tolerance)
        assert abs(Decimal(document["remainder"])) <= tolerance
        values = [Decimal(part["value"]) for part in document["parts"]]
        assert float(sum(values)) == pytest.approx(float(document["value"]), rel=0, abs=tolerance)
        assert list(map(abs, values)) == sorted(map(abs, values), reverse=True)


@settings(some, max_examples=4)
@given(st.sampled_from(["line", "step"]).flatmap(whole_scenarios), SEEDS)
def test_printed_parts_sum_to_the_printed_logit(spec: Any, seed: int) -> None:
    traced_or_rejected(spec)
    found = values("run", "-", stdin=to_yaml(spec))
    asked = entry(found, seed)
    for options in (PER_PART, *SPLIT):
        document = attributed(spec, asked, *options)
        parts = [exact(part["printed"]) for part in document["parts"]]
        missing = exact(document["printed"]) - sum(parts)
        # JSON has no more digits than a float; what is beyond floats is a text.
        remainder = Decimal(document["remainder"])
        assert abs(remainder - missing) <= abs(missing) * Decimal("1e-15")
    address, (row, column), other = asked
    if other is None:
        assert document["printed"] == found[address]["printed"][row][column]


# One head, whose weights are 1: of two features, it adds [3·0.5, 0]; then LayerNorm, whose input
# is [2.5, 1] with mean 1.75 and σ = 0.75, gives [1·2 + 0.5, -1·1].
WORKED = """
tokens: [a]
embeddings: {a: [1, 1]}
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [2]]}]
      W_O: [[0.5, 0]]
    norm: {epsilon: 0, gain: [2, 1], shift: [0.5, 0]}
vocabulary: [x, y]
unembedding: {W_U: [[1, 0], [3, 1]], b_U: [0.25, 0]}
rounding: {carry: never}
"""


def test_worked_by_hand() -> None:
    """u = [1, 3], times γ and over σ [2.667, 4], minus its mean [-0.667, 0.667].

    The embedding adds 0, the head -1, β 0.5, b_U 0.25: together -0.25 = 2.5·1 - 1·3 + 0.25.
    """
    found = document("attribute", "logits[a,x]", "-s", "-", stdin=WORKED)
    assert {part["address"]: part["printed"] for part in found["parts"]} == {
        "layer1.attention.head1.output": "-1.000",
        "layer1.attention.norm.shift": "0.500",
        "unembedding.b_U": "0.25",
        "embedding": "0",
    }
    assert (found["entry"], found["instead_of"], found["printed"]) == (
        "logits[a,x]",
        None,
        "-0.250",
    )
    assert abs(found["remainder"]) < Decimal("1e-30")
    by_label = {part["label"]: (part["row"], part["column"]) for part in found["parts"]}
    assert by_label == {
        "layer 1, head 1": ("a", None),
        "layer 1, attention, β": (None, None),
        "b_U": (None, "x"),
        "embedding": ("a", None),
    }


def test_tokens_and_neurons_have_addresses_that_can_be_looked_up() -> None:
    for option, end in (("token", ".weights"), ("neuron", ".ffn.activation")):
        words = ("attribute", "logits[la,pizza]", "-s", "pizza", "--by", option)
        split = [part for part in document(*words)["parts"] if part["address"].endswith(end)]
        assert split
        for part in (split[0], split[-1]):
            asked = f"{part['address']}[{part['row']},{part['column']}]"
            assert run("value", asked, "-s", "pizza").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "layer1.attention.head1.weights[a,a]",
            "layer1.attention.head1.weights: this value is not a sum of parts, expected an entry "
            "of output or logits\n",
        ),
        ("prediction[a]", "prediction: this value is not a sum of parts, expected an entry of "),
        ("logits[a,z]", "logits: no word 'z', expected 1 to 2 or a label, such as 'x'\n"),
        ("logits[a]", "logits: got [a], expected [token,word], such as [a,x]\n"),
        ("logits[a,x] --instead-of x", "--instead-of: expected another word than that of the "),
        ("logits[a,x] --instead-of z", "--instead-of: no word 'z', expected 1 to 2"),
        ("loss --instead-of x", "loss: this value is not a sum of parts, expected an entry of "),
        ("logits[a,x] --given logits=[[1,2]]", "logits: given, so it has no parts\n"),
    ],
)
def test_what_has_no_parts_is_refused(words: str, message: str) -> None:
    text = f"{WORKED}targets: [y]\n"
    ran = run("attribute", *words.split(), "-s", "-", stdin=text)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.endswith(message) or message in ran.stderr


def test_a_soft_cap_is_refused_and_its_input_is_not() -> None:
    capped = WORKED.replace("b_U: [0.25, 0]", "b_U: [0.25, 0], softcap: 30")
    ran = run("attribute", "logits[a,x]", "-s", "-", stdin=capped)
    message = "logits: the soft cap is not linear, so the parts are those of output or "
    assert (ran.exit_code, ran.stderr) == (2, f"{message}logits.uncapped\n")
    below = document("attribute", "logits.uncapped[a,x]", "-s", "-", stdin=capped)
    assert below["parts"] == document("attribute", "logits[a,x]", "-s", "-", stdin=WORKED)["parts"]


def test_the_divisors_of_a_given_value_are_those_of_the_pass() -> None:
    """With a given sum, the head adds nothing: the given vector is a part of its own."""
    given = ("--given", "layer1.attention.residual=[[4,2]]")
    found = document("attribute", "logits[a,x]", "-s", "-", *given, stdin=WORKED)
    # σ is 1 and u [-1/2, 1/2]: 4·(-1/2) + 2·1/2 = -1, as above; β and b_U add 0.75.
    assert [(part["address"], part["printed"]) for part in found["parts"]] == [
        ("layer1.attention.residual", "-1.000"),
        ("layer1.attention.norm.shift", "0.500"),
        ("unembedding.b_U", "0.25"),
    ]


def test_a_text_of_no_token_but_the_followed_one() -> None:
    """Directions and parts belong to one token, whichever it is."""
    for token in ("Frank", "Daniel"):
        text = printed("attribute", f"output[{token},cheap]", "-s", "alex")
        assert f"The output of “cheap” for “{token}” is " in text


def test_digits_of_the_author_are_those_of_the_pass_alone() -> None:
    """A row of an attribution has the digits of the matrix that it is taken from."""
    text = f"{WORKED.replace('{carry: never}', '{carry: line, digits: {*: {significant: 5}}}')}"
    text = text.replace("{*:", "{'*':")
    shown = printed("attribute", "logits[a,x]", "-s", "-", stdin=text)
    assert violations(shown) == misplaced(shown) == []


def test_a_part_with_more_decimals_than_others_is_not_lost_in_the_sum() -> None:
    """With one decimal, small numbers have two digits; the sum and the rounding keep them all."""
    text = "tokens: [a]\nembeddings: {a: [0.5, 0.0123]}\nlayers: []\nvocabulary: [x]\n"
    text += "unembedding: {W_U: [[1], [1]], b_U: [0.0211]}\nrounding: {decimals: 1, carry: line}\n"
    shown = printed("attribute", "logits[a,x]", "-s", "-", stdin=text)
    # 0.5 + 0.012 is rounded to 0.5, as is the logit.
    assert "S = 0.5 + 0.0211 = 0.5211" in shown
    assert "ρ = 0.5 - 0.5211 = -0.0211" in shown
