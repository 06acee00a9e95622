"""The parts of attention scores: NumPy carries each component forward; they sum to the score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.decoder.test_forward import POSITIVE
from tests.helpers.claims_of_score_parts import faults
from tests.helpers.command import printed, problems, run
from tests.helpers.every_judge import FORMATS, faults_of_terminal, faults_of_text
from tests.helpers.random_scenarios import scenarios
from tests.helpers.reference import Array
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.terminal_page import Prose, read_blocks
from tests.helpers.traces import traced_or_rejected
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


def carried(found: Trace, start: str, ends: set[str]) -> dict[Value, Array]:
    """What a component adds to every value: itself, carried on by what is linear; norms are held.

    Nothing goes on from the other components, and nothing through what is not linear.
    """
    own: dict[Value, Array] = {}
    for record in found.records:
        value, inputs = record.output, record.inputs
        if value.address in ends:
            own[value] = value.array if value.address == start else np.zeros(value.shape)
            continue
        added = [own.get(each) for each in inputs]
        if all(each is None or not each.any() for each in added):
            continue
        parts = [np.zeros(x.shape) if a is None else a for x, a in zip(inputs, added, strict=True)]
        of = _linear(record.operation, [x.array for x in inputs], parts)
        if of is not None:
            own[value] = of
    return own


def _linear(operation: Any, x: list[Array], a: list[Array]) -> Array | None:
    match operation.name:
        case "copy":
            return a[0]
        case "add":
            return np.asarray(a[0] + a[1])
        case "scale":
            return np.asarray(float(operation.a) * a[0])
        case "matmul":
            return np.asarray(a[0] @ x[1] + (a[2] if len(a) > 2 else 0))
        case "concat":
            return np.concatenate(a, axis=1)
        case "subtract":
            return np.asarray(a[0] - a[0].mean(axis=1, keepdims=True))
        case "normalize":
            gain = x[2] if operation.gain else 1
            shift = a[-1] if operation.shift else 0
            gain = gain + 1 if operation.gain and operation.unit_offset else gain
            return np.asarray(a[0] / x[1][:, None] * gain + shift)
        case "rotate":
            first, second = operation.columns(2 * x[1].shape[1])
            turned = a[0].copy()
            turned[:, first] = a[0][:, first] * x[1] - a[0][:, second] * x[2]
            turned[:, second] = a[0][:, first] * x[2] + a[0][:, second] * x[1]
            return turned
        case "mix_experts":
            mixed = np.zeros((x[0].shape[0], a[1].shape[1]))
            for expert, rows in enumerate(operation.rows):
                for k, row in enumerate(rows):
                    mixed[row] += x[0][row, expert] * a[1 + expert][k]
            return mixed
        case _:
            return None


def faults_of_parts(found: Trace, value: Value, at: tuple[int, int], document: Any) -> list[str]:
    """Parts that are not the products of what the components add, carried forward."""
    record = found.producers[value]
    divides = record.operation.name == "divide"
    q, k = (found.producers[record.inputs[0]] if divides else record).inputs
    scale = float(record.inputs[1].numbers) if divides else 1.0
    ends = [each["address"].split(" × ") for each in document["parts"]]
    sides = [
        {start: _row(carried(found, start, all_of), of, row) for start in all_of}
        for of, row, all_of in zip((q, k), at, map(set, zip(*ends, strict=True)), strict=True)
    ]
    faults = []
    size = max(1.0, *(abs(each["value"]) for each in document["parts"]))
    for (a, b), part in zip(ends, document["parts"], strict=True):
        expected = float(sides[0][a] @ sides[1][b]) / scale
        if abs(part["value"] - expected) > 1e-9 * size:
            faults.append(f"{part['address']}: {part['value']}, expected {expected}")
    return faults


def _row(own: dict[Value, Array], of: Value, row: int) -> Array:
    return own[of][row] if of in own else np.zeros(of.shape[1])


def faults_of_score(spec: Scenario, number: int) -> list[str]:
    found = traced_or_rejected(spec)
    value = score_of(found, number)
    at = (number % value.shape[0], number // 7 % value.shape[1])
    document = attributed(spec, value.address, at)
    numbers = [each["value"] for each in document["parts"]]
    faults = faults_of_parts(found, value, at, document)
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
