"""The parts of attention scores: NumPy carries each component forward; they sum to the score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.decoder.test_forward import POSITIVE
from tests.helpers.claims_of_score_parts import faults
from tests.helpers.command import printed, problems, run
from tests.helpers.every_judge import FORMATS, faults_of_terminal, faults_of_text
from tests.helpers.parts_of_rows import Parts
from tests.helpers.random_scenarios import scenarios
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.terminal_page import Prose, read_blocks
from tests.helpers.traces import traced_or_rejected
from tracer.data import as_json
from tracer.decoder.forward import Trace
from tracer.decoder.value import Value

some = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(some, max_examples=300)


def score_of(found: Trace, number: int) -> Value:
    chosen = [
        value
        for address, value in found.values.items()
        if address.endswith(".scores") and ".block" not in address and ".head" in address
    ]
    assume(chosen)
    return chosen[number % len(chosen)]


def attributed(spec: Scenario, address: str, at: tuple[int, int], *options: str) -> Any:
    entry = f"{address}[{at[0] + 1},{at[1] + 1}]"
    words = ("attribute", entry, "-s", "-", "--format", "json", *options)
    ran = run(*words, stdin=to_yaml(spec))
    assert ran.exit_code == 0, ran.stderr
    return json.loads(ran.stdout)


# --- against plain NumPy -------------------------------------------------------------------------


def faults_of_parts(found: Trace, address: str, at: tuple[int, int], document: Any) -> list[str]:
    """Parts that are not the products of what the components add, carried forward."""
    listed = json.loads(as_json.render(found, found.records, None))["values"]
    values = {value["address"]: value for value in listed}
    score, divisor = values[address], 1.0
    if score["operation"] == "divide":
        divisor = values[score["operands"][1]]["data"]
        score = values[score["operands"][0]]
    query, key = (
        Parts(values, of, row).rows for of, row in zip(score["operands"], at, strict=True)
    )
    expected = {f"{a} × {b}": float(query[a] @ key[b]) / divisor for a in query for b in key}
    parts = {each["address"]: each["value"] for each in document["parts"]}
    faults = [f"other pairs: {parts.keys() ^ expected.keys()}"] * (parts.keys() != expected.keys())
    size = max(1.0, *map(abs, parts.values()))
    return faults + [
        f"{pair}: {parts[pair]}, expected {number}"
        for pair, number in expected.items()
        if abs(parts.get(pair, 0) - number) > 1e-9 * size
    ]


def faults_of_score(spec: Scenario, number: int) -> list[str]:
    found = traced_or_rejected(spec)
    value = score_of(found, number)
    at = (number % value.shape[0], number // 7 % value.shape[1])
    document = attributed(spec, value.address, at)
    numbers = [each["value"] for each in document["parts"]]
    faults = faults_of_parts(found, value.address, at, document)
    if [abs(n) for n in numbers] != sorted(map(abs, numbers), reverse=True):
        faults.append("not ranked")
    off = abs(sum(map(float, numbers)) - float(document["value"]))
    if off > 1e-9 * max(1.0, *map(abs, numbers)):
        faults.append(f"they sum to {sum(numbers)}, not {document['value']}")
    return faults


unrounded = given(
    spec=scenarios("never", all_digits=True, epsilons=POSITIVE, encoder=True),
    number=st.integers(0, 10**6),
)


@some
@unrounded
def test_each_pair_is_what_its_components_add(spec: Scenario, number: int) -> None:
    assert faults_of_score(spec, number) == []


@pytest.mark.fuzz
@many
@unrounded
def test_each_of_many_pairs_is_what_its_components_add(spec: Scenario, number: int) -> None:
    assert faults_of_score(spec, number) == []


# --- the text ------------------------------------------------------------------------------------


def faults_of_page(spec: Scenario, number: int, form: str) -> list[str]:
    found = traced_or_rejected(spec)
    value = score_of(found, number)
    entry = f"{value.address}[{number % value.shape[0] + 1},{number // 7 % value.shape[1] + 1}]"
    words = ("attribute", entry, "-s", "-", *FORMATS[form][0])
    ran = run(*words, stdin=to_yaml(spec))
    assert ran.exit_code == 0, ran.stderr
    faults = faults_of_text(ran.stdout, form)
    if "dimensions" not in spec:
        faults += faults_of_terminal(printed(*words[:4], stdin=to_yaml(spec)), spec)
    row, column = (int(n) - 1 for n in _at(entry))
    document = attributed(spec, value.address, (row, column))
    parts = [Decimal(str(each["value"])) for each in document["parts"]]
    total = sum(parts, Decimal(str(document["remainder"])))
    if spec["rounding"]["carry"] != "never" and total != Decimal(str(document["value"])):
        faults.append(f"the parts and the remainder sum to {total}, not {document['value']}")
    return faults


def _at(entry: str) -> list[str]:
    return entry.rstrip("]").rpartition("[")[2].split(",")


in_a_format = given(
    spec=scenarios(encoder=True),
    number=st.integers(0, 10**6),
    form=st.sampled_from(sorted(FORMATS)),
)


@some
@in_a_format
def test_every_equation_and_claim_is_true(spec: Scenario, number: int, form: str) -> None:
    assert faults_of_page(spec, number, form) == []
    assert faults_of_claims(spec, number) == []


@pytest.mark.fuzz
@many
@in_a_format
def test_every_equation_and_claim_of_many_is_true(spec: Scenario, number: int, form: str) -> None:
    assert faults_of_page(spec, number, form) == []
    assert faults_of_claims(spec, number) == []


def labels() -> Iterator[str]:
    document = json.loads(
        printed(
            *("attribute", "layer2.attention.head1.scores[la,Me]", "-s", "pizza"),
            *("--format", "json"),
        )
    )
    for part in document["parts"]:
        assert (part["row"], part["column"]) == ("la", "Me")
        yield part["label"]


def test_a_pair_is_named_by_its_components_and_tokens() -> None:
    found = list(labels())
    assert "embedding of la · layer 1, FFN of Me" in found
    assert len(set(found)) == len(found)


def faults_of_claims(spec: Scenario, number: int) -> list[str]:
    """Sentences that are unknown or false."""
    found = traced_or_rejected(spec)
    value = score_of(found, number)
    row, column = number % value.shape[0], number // 7 % value.shape[1]
    entry = f"{value.address}[{row + 1},{column + 1}]"
    text = unbroken(printed("attribute", entry, "-s", "-", width=5000, stdin=to_yaml(spec)))
    blocks = read_blocks(text)
    said = [block.text for block in blocks if isinstance(block, Prose)][1:]
    document = attributed(spec, value.address, (row, column))
    divides = found.producers[value].operation.name == "divide"
    rounds = bool(document["remainder"]) and spec["rounding"]["carry"] != "never"
    padding = "padding" in spec
    factors = set(map(str, factors_of(spec)))
    return faults(
        *(said, document), divides=divides, rounds=rounds, padding=padding, factors=factors
    )


def factors_of(spec: Any) -> Iterator[Any]:
    """What the results of sub-layers are multiplied by."""
    if isinstance(spec, dict):
        yield from (each for key, each in spec.items() if key == "residual_scale")
    for each in spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ():
        yield from factors_of(each)


REFUSED = {
    ("layer1.attention.head1.scores[1,1]", "--instead-of", "la"): "works only with a logit",
    ("layer1.attention.head1.scores[1,1]", "--by", "token"): "works only with a logit",
    ("layer1.attention.head1.masked[1,1]",): "not a sum of parts, expected an entry of",
    ("layer1.attention.head1.scores[1,1]", "--given", "layer1.attention.head1.scores=0"): (
        "given, so it has no parts"
    ),
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_has_no_parts_is_refused(words: tuple[str, ...]) -> None:
    ran = run("attribute", *words, "-s", "pizza")
    assert ran.exit_code == 2 and len(problems(ran)) == 1
    assert REFUSED[words] in " ".join(ran.stderr.split())
