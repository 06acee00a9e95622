"""The sentences of a whole run agree with the values that it writes as JSON."""

from __future__ import annotations

import math
import re
from typing import Any

from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from tests.helpers.command import run, run_json
from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.reference import reference
from tests.helpers.sentences import WIDE

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(text: str) -> float:
    """9.4×10⁻¹² as a number."""
    mantissa, _, power = text.partition("×10")
    return float(mantissa) * 10.0 ** int(power.translate(POWERS) or 0)


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


SHARES = r"(.+) gives (\S+) % of its attention to (.+?)(?:, then (\S+) % to (.+))?\."
ABOUT_SHARES = "attention to |^The largest shares|^All of the attention of"


def check_shares(sentence: str, names: list[str], token: int, weights: list[float]) -> None:
    """The sentence on a row of weights, which are recorded with the digits printed."""
    first, second, *_ = [*sorted(weights, reverse=True), 0]
    if not second:
        receiver = "itself" if weights[token] else names[weights.index(first)]
        assert sentence == f"All of the attention of {names[token]} goes to {receiver}."
        return
    if first == second:
        largest = [name for name, weight in zip(names, weights, strict=True) if weight == first]
        start = f"The largest shares of {names[token]} go to {listed(largest)}: "
        assert sentence.startswith(start) and sentence.endswith(" % each.")
        assert math.isclose(number(sentence.removeprefix(start).split(" ")[0]), 100 * first)
        return
    found = re.fullmatch(SHARES, sentence)
    assert found and found[1] == names[token]
    assert (found[4] is None) == (second == 0)
    for share, receiver, weight in ((found[2], found[3], first), (found[4], found[5], second)):
        if weight:
            assert math.isclose(number(share), 100 * weight)
            assert weights[token if receiver == "itself" else names.index(receiver)] == weight
            assert receiver != names[token]


def relu_sentence(labels: list[str], row: list[float]) -> str:
    kept = [label for label, entry in zip(labels, row, strict=True) if entry > 0]
    zeroed = [label for label, entry in zip(labels, row, strict=True) if entry == 0]
    if not zeroed:
        return "ReLU keeps them all: none is negative."
    if not kept:
        return "ReLU keeps none: all are 0 from here on."
    return f"ReLU keeps {listed(kept)} and zeroes {listed(zeroed)}."


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(encoder=False, padded=False), st.data())
def test_sentences_agree_with_the_values(spec: dict[str, Any], data: st.DataObject) -> None:
    # e^709 is the largest power of e that is a float, and so a number in JSON.
    exponents = [a for name, a in reference(spec).items() if name.endswith(("scores", "logits"))]
    assume(all(array.max() < 600 for array in exponents))
    tokens, yaml = spec["tokens"], to_yaml(spec)
    token = data.draw(st.integers(0, len(tokens) - 1))
    ran = run("run", "-", "--token", str(token + 1), width=WIDE, stdin=yaml)
    if ran.exit_code:
        assert re.search("a division by zero|too large a number", ran.stderr)
        reject()
    assert not re.search(r"[{}<>]|None|Decimal|Number\(|Name\(", ran.stdout)
    prose = [line for line in ran.stdout.split("\n")[1:] if re.match(r"[^ \d]|\d+ ", line)]
    assert all(re.search(r"[^ ,:.][.:]$", line) and "  " not in line for line in prose)

    names = [f"{t} ({i})" if tokens.count(t) > 1 else t for i, t in enumerate(tokens, 1)]
    sentences = [line for line in prose if re.search(ABOUT_SHARES, line)]
    values = run_json("-", stdin=yaml)["values"]
    weights = [v["data"][token] for v in values if v["address"].endswith(".weights")]
    assert len(sentences) == len(weights)
    if spec["rounding"]["carry"] != "never":  # with which more digits are recorded than printed
        for sentence, row in zip(sentences, weights, strict=True):
            check_shares(sentence, names, token, row)

    goal = "ReLU keeps what is positive and makes the rest 0."
    sentences = [line for line in prose if line.startswith("ReLU keeps ") and line != goal]
    active = [v for v in values if v["operation"] == "relu"]
    assert sentences == [relu_sentence(v["axes"][1]["labels"], v["data"][token]) for v in active]
