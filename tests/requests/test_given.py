"""`--given`: a number, a row or the mean in place of computed numbers, against plain NumPy."""

from __future__ import annotations

import json
import random
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, reject, settings, strategies as st

from tests.decoder.test_forward import POSITIVE
from tests.decoder.test_patches import replaceable
from tests.helpers.claims import Judge, faults
from tests.helpers.command import printed, problems, run, run_json
from tests.helpers.every_judge import FORMATS, faults_of_text
from tests.helpers.random_scenarios import scenarios
from tests.helpers.reference import Array, reference
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.traces import traced_or_rejected
from tests.helpers.truth import false_equations

some = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))

WAYS = ("number", "mean", "row of numbers", "row with a number", "row with the mean")


def data(document: Any, address: str) -> Array:
    values = {value["address"]: value for value in document["values"]}
    found = values[address]
    return np.array(found["data"], object).astype(float).reshape(found["shape"])


def asked(way: str, address: str, row: int, width: int) -> str:
    """The argument that gives a value in one of the ways."""
    site = address if way in ("number", "mean") else f"{address}[{row + 1}]"
    if "mean" in way:
        return f"{site}=mean"
    numbers = [round(0.25 * (j - 1), 2) for j in range(width)]
    return f"{site}={numbers if way == 'row of numbers' else -0.5}"


def given_numbers(way: str, computed: Array, mean: Array, row: int) -> Array:
    """The value with the numbers that the argument gives."""
    changed = np.array(computed)
    rows = slice(None) if way in ("number", "mean") else row
    if "mean" in way:
        changed[rows] = mean
    elif way == "row of numbers":
        changed[rows] = [0.25 * (j - 1) for j in range(computed.shape[1])]
    else:
        changed[rows] = -0.5
    return changed


@some
@given(
    spec=scenarios("never", all_digits=True, epsilons=POSITIVE, encoder=True),
    way=st.sampled_from(WAYS),
    number=st.integers(0, 10**6),
)
def test_the_rest_follows_from_the_given_numbers(spec: Scenario, way: str, number: int) -> None:
    first, expected = traced_or_rejected(spec), reference(spec)
    chosen = [
        each for each in replaceable(first, expected) if not each.endswith(("input", ".norm"))
    ]
    assume(chosen)
    address = chosen[number % len(chosen)]
    computed, row = expected[address], number % len(first.tokens)
    mean = computed.mean(axis=0)

    def replace(at: str, value: Array) -> Array:
        return given_numbers(way, value, mean, row) if at == address else value

    argument = asked(way, address, row, computed.shape[1])
    ran = run("run", "-", "--given", argument, "--format", "json", stdin=to_yaml(spec))
    if ran.exit_code:
        assert "a division by zero" in ran.stderr, ran.stderr
        reject()
    found, plain = json.loads(ran.stdout), reference(spec, replace)
    shapes = {value["address"]: tuple(value["shape"]) for value in found["values"]}
    for name, array in plain.items():
        if shapes.get(name) != array.shape or name == f"{address}_and_sink":
            continue  # an expert may get other tokens; the weights with the sink stand before
        finite = np.where(np.isfinite(array), array, 0)
        assume(not (name.endswith(".std") and finite.min() < 1e-2))
        off = np.where(np.isfinite(array), data(found, name), 0) - finite
        allowed = 1e-9 * max(1.0, float(np.abs(finite).max(initial=0)))
        assert np.abs(off).max(initial=0) <= allowed, (argument, name)


ARGUMENTS = (
    "{a}.head1.output=0",
    "{a}.head1.output=mean",
    "{a}.head1.output[1]=0.5",
    "{a}.head1.weights[2]=mean",
    "{a}.output[1]=mean",
    "output[2]=-1",
    "{a}.head1.scores[1]=0",
)
COMMANDS = (
    ("run",),
    ("tutorial",),
    ("lens",),
    ("step", "attention", "-s", "-"),
    ("why", "output[1,1]", "-s", "-"),
    ("attribute", "output[1,1]", "-s", "-"),
)


@some
@given(
    spec=scenarios(encoder=True),
    form=st.sampled_from(sorted(FORMATS)),
    command=st.sampled_from(COMMANDS),
    arguments=st.lists(st.sampled_from(ARGUMENTS), min_size=1, max_size=2, unique=True),
)
def test_every_equation_is_true(
    spec: Scenario, form: str, command: tuple[str, ...], arguments: list[str]
) -> None:
    assume(spec["layers"][0].get("attention"))
    given = [word for each in arguments for word in ("--given", each.format(a="layer1.attention"))]
    choice, _, _ = FORMATS[form]
    words = command if "-s" in command else (*command, "-")
    ran = run(*words, *given, *choice, stdin=to_yaml(spec))
    if ran.exit_code:
        assert "Traceback" not in ran.stderr
        reject()
    if command[0] == "why":  # whose lines stand without their matrices
        _, lines, _ = FORMATS[form]
        assert false_equations(lines(ran.stdout)) == []
    else:
        assert faults_of_text(ran.stdout, form) == []


# --- what the text says --------------------------------------------------------------------------

HEAD = "layer1.attention.head1.output"


def section(*given: str, scenario: str = "pizza", options: tuple[str, ...] = ()) -> str:
    words = [word for each in given for word in ("--given", each)]
    text = printed("run", scenario, *words, *options, width=5000)
    _, _, last = text.partition("What the given values change\n")
    return last


@pytest.mark.parametrize("carry", ["step", "never"])
def test_the_predictions_with_and_without_are_those_of_both_runs(carry: str) -> None:
    given = ("layer1.ffn.output=0", "layer1.attention.output=0", "output[pizza]=0")
    for pins in (given[:1], given[:2], given[2:]):
        words = [word for each in pins for word in ("--given", each)]
        rounding = ("--carry", carry)
        runs = [values_of_pizza(*rounding), values_of_pizza(*words, *rounding)]
        said = section(*pins, options=rounding)
        for values, what in zip(runs, ("without", "with"), strict=True):
            word = values["prediction"]["data"][-1]
            column = values["logits"]["axes"][1]["labels"].index(word)
            logit, p = (values[name]["printed"][-1][column] for name in ("logits", "probabilities"))
            [row] = re.findall(rf"^  {word} .*", said, re.M)
            own = row.split()[1:3] if what == "without" else row.split()[3:]
            assert own == [logit, p]
        words = [values["prediction"]["data"][-1] for values in runs]
        same = words[0] == words[1]
        assert ("without and with the given values" in said) == same
        assert same or f"predicts “{words[0]}” without the given values, and “{words[1]}”" in said


def test_without_a_vocabulary_the_output_is_shown() -> None:
    said = section(f"{HEAD}=0", scenario="alex")
    plain, changed = run_json("alex"), run_json("alex", "--given", f"{HEAD}=0")
    [row] = re.findall(r"^  cheap +(\S+) +(\S+)$", said, re.M)
    assert [float(n) for n in row] == [data(each, "output")[3, 1] for each in (plain, changed)]


def test_a_mean_is_rounded_like_the_value_and_explained() -> None:
    rows = data(run_json("alex"), HEAD)
    found = {v["address"]: v for v in run_json("alex", "--given", f"{HEAD}=mean")["values"]}
    exact = [sum(map(Decimal, map(str, column)), Decimal(0)) / 4 for column in rows.T]
    mean = [str(each.quantize(Decimal("0.001"), ROUND_HALF_UP)) for each in exact]
    assert found[HEAD]["printed"] == [mean] * 4
    said = " ".join(section(f"{HEAD}=mean", scenario="alex").split())
    where = "over all tokens, per column, of what the model computes there without --given."
    assert f"“{HEAD}” is given, not computed." in said
    assert f"“{HEAD}” is the mean {where}" in said
    step = printed("step", HEAD, "-s", "alex", "--given", f"{HEAD}=mean")
    assert "Each given row is the mean over all tokens, per column" in " ".join(step.split())


def test_the_other_rows_are_worked() -> None:
    step = "step", HEAD, "-s", "alex", "--given", f"{HEAD}[Frank]=0"
    followed = printed(*step, width=5000)
    assert "The row of “Frank” in O¹ is given, not computed." in followed
    assert "info-budget:  0.964×2.121" in followed
    assert "0.964×" not in printed(*step, "--token", "Frank", width=5000)
    why = printed("why", f"{HEAD}[Alex,2]", "-s", "alex", *step[4:], "--depth", "0")
    assert "step 10:" in why and "0.964×2.121" in why
    why = printed("why", f"{HEAD}[Frank,2]", "-s", "alex", *step[4:], "--depth", "0")
    assert "given:" in why and "×" not in why


def test_an_attribution_goes_through_computed_rows() -> None:
    words = ("attribute", "output[Alex,cheap]", "-s", "alex", "--format", "json")
    plain, other, own = (
        [part["address"] for part in json.loads(printed(*words, *given))["parts"]]
        for given in (
            (),
            ("--given", "layer1.ffn.output[Frank]=0.5"),
            ("--given", "layer1.ffn.output[Alex]=0.5"),
        )
    )
    assert sorted(plain) == sorted(other)
    assert "layer1.ffn.output" in own and "layer1.ffn.output" not in plain


def test_all_rows_can_be_given_each_in_its_own_way() -> None:
    ways = ("=1", "=[1, 2, 3]", "=mean", "=-0.50")
    words = [w for i, each in enumerate(ways, 1) for w in ("--given", f"{HEAD}[{i}]{each}")]
    found = {v["address"]: v for v in run_json("alex", *words)["values"]}[HEAD]
    plain = data(run_json("alex"), HEAD).mean(axis=0)
    expected = [[1, 1, 1], [1, 2, 3], list(plain), [-0.5] * 3]
    np.testing.assert_allclose(np.array(found["data"], float), expected, atol=5.1e-4)


def test_a_row_can_be_given_over_a_value_of_the_file(tmp_path: Path) -> None:
    text = Path("scenarios/alex.yaml").read_text(encoding="utf-8")
    path = tmp_path / "alex.yaml"
    rows = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 1, 0]]
    path.write_text(f"{text}\ngiven: {{{HEAD}: {rows}}}\n", encoding="utf-8")
    found = run_json(str(path), "--given", f"{HEAD}[Emma]=0")
    assert data(found, HEAD).tolist() == [rows[0], [0, 0, 0], *rows[2:]]


def test_a_saved_training_has_the_numbers_written_out(tmp_path: Path) -> None:
    saved = tmp_path / "trained.yaml"
    given = ("--given", f"{HEAD}=mean", "--given", "layer1.ffn.b_1=0")
    printed("train", "pizza", "--steps", "2", *given, "--save", str(saved))
    again = run_json(str(saved))
    assert data(again, "layer1.ffn.b_1").tolist() == [0, 0, 0, 0]
    assert data(again, HEAD).std(axis=0).max() < 1e-12


REFUSED = {
    f"{HEAD}=0 {HEAD}=1": f"--given: {HEAD}: given twice",
    f"{HEAD}=0 {HEAD}[1]=1": f"--given: {HEAD} and {HEAD}[1]: given twice",
    f"{HEAD}[4]=0 {HEAD}[Alex]=1": f"--given {HEAD}: the row of 'Alex' is given twice",
    f"{HEAD}[Bob]=0": f"--given {HEAD}: no token 'Bob', expected 1 to 4 or its text",
    f"{HEAD}[5]=0": f"--given {HEAD}: no token '5', expected 1 to 4 or its text",
    f"{HEAD}[Alex]=[1,2]": f"--given {HEAD}: given as a row of 2 numbers, expected a row of 3",
    f"{HEAD}[Alex]=[[1,2,3]]": f"--given {HEAD}: given as 1×3 numbers, expected a row of 3",
    "layer1.attention.head1.scale[1]=0": "it has no row for each token",
    "layer1.ffn.W_1=mean": "it has no row for each token, so it has no mean over the tokens",
    "layer1.ffn.nothing=0": "layer1.ffn.nothing: given, but no such value exists",
    "tokens=0": "--given tokens: these are words; only numbers can be given",
    "tokens[1]=0": "--given tokens: these are words; only numbers can be given",
    f"{HEAD}=average": "expected a number",
    f"{HEAD}=-inf": f"--given {HEAD}: given as -∞, which only a mask and masked scores can be",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_does_not_fit_is_refused(arguments: str) -> None:
    for command in (("run", "alex"), ("step", "softmax", "-s", "alex"), ("tutorial", "alex")):
        words = [w for each in arguments.split(" ") for w in ("--given", each)]
        ran = run(*command, *words, width=500)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert REFUSED[arguments] in ran.stderr and len(ran.stderr.splitlines()) == 1


def test_all_misfits_are_told_at_once() -> None:
    words = [
        word
        for each in ("nowhere=mean", "tokens=mean", f"{HEAD}[Bob]=1", "layer1.ffn.W_1=mean")
        for word in ("--given", each)
    ]
    assert len(problems(run("run", "alex", *words))) == 4


def test_gradients_of_a_value_with_given_rows_are_refused() -> None:
    ran = run("train", "pizza", "--given", f"{HEAD}[1]=0", width=200)
    message = f"--given {HEAD}: only some of its rows are given; for gradients, give all or none\n"
    assert (ran.exit_code, ran.stderr) == (2, message)


def test_a_woven_text_shows_the_same(tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    command = f"run pizza --given {HEAD}=mean --format terminal"
    text.write_text(
        f"<!-- decoder-trace: {command} -->\n<!-- /decoder-trace -->\n", encoding="utf-8"
    )
    ran = run("weave", str(text))
    assert ran.exit_code == 0, ran.stderr
    assert "What the given values change" in text.read_text(encoding="utf-8")


# --- a step and a number, without and with -------------------------------------------------------

PINS = (f"{HEAD}=0", "layer1.attention.output[1]=mean", "layer2.ffn.output=0.5")


@cache
def values_of_pizza(*options: str) -> dict[str, Any]:
    """The values of a run by address."""
    return {each["address"]: each for each in run_json("pizza", *options)["values"]}


@pytest.mark.parametrize("pin", PINS)
def test_a_number_is_shown_as_it_is_without_them(pin: str) -> None:
    plain = values_of_pizza()
    labels = plain["logits"]["axes"][1]["labels"]
    pizza, odio = (plain["logits"]["printed"][3][labels.index(w)] for w in ("pizza", "odio"))
    entry, said = "logits[la,odio]", f"Without the given values, “logits[la,odio]” is {odio}."
    for command in ("why", "attribute"):
        text = printed(command, entry, "-s", "pizza", "--given", pin, width=500)
        assert text.count(said) == 1
    ran = run("value", entry, "-s", "pizza", "--given", pin)  # which other programs read
    assert re.fullmatch(r"-?[0-9.]+\n", ran.stdout) and not ran.stderr
    words = ("attribute", entry, "-s", "pizza", "--given", pin, "--format", "json")
    assert json.loads(printed(*words))["without_given"]["printed"] == odio
    difference = Decimal(pizza) - Decimal(odio)
    words = ("attribute", "logits[la,pizza]", "--instead-of", "odio", "-s", "pizza", "--given", pin)
    said = f"Without the given values, “logits[la,pizza] - logits[la,odio]” is {difference}."
    assert said in printed(*words, width=500)


@pytest.mark.parametrize("pin", PINS)
@pytest.mark.parametrize("name", ["softmax", "residual", "layer2.attention", "logits"])
def test_a_step_shows_what_changes(pin: str, name: str) -> None:
    runs = values_of_pizza(), values_of_pizza("--given", pin)
    text = printed("step", name, "-s", "pizza", "--given", pin, width=500)
    _, _, last = text.partition("What the given values change\n")
    rows = re.findall(r"^  (\S+) +(-?\S+) +(-?\S+)$", last, re.M)
    words = ("step", name, "-s", "pizza", "--given", pin, "--format", "json")
    addresses = [each["address"] for each in json.loads(printed(*words))["values"]]
    changed = [a for a in addresses if runs[0][a]["data"] != runs[1][a]["data"]]
    shown = {(without, now) for _, without, now in rows[1:]}
    for address in changed:
        before, after = (run[address]["printed"][-1] for run in runs)
        if before != after and f"{runs[1][address]['symbol']} of “pizza”:" in last:
            assert set(zip(before, after, strict=True)) <= shown
    same = "For “pizza”, the results above are the same without the given values."
    assert (same in last) == (not shown and "with them" not in last)
    if not changed:
        assert same in last


def test_the_loss_is_shown_without_and_with_them() -> None:
    pin = ("--given", "layer1.attention.head1.output=0")
    before, after = (
        next(v["printed"] for v in json.loads(text)["values"] if v["address"] == "loss")
        for text in (printed("loss", "pizza", *given, "--format", "json") for given in ((), pin))
    )
    assert before != after
    said = f"L is {before} without the given values, and {after} with them."
    assert said in printed("loss", "pizza", *pin)
    # The examples of a batch are other texts than the one whose value is given.
    same = printed("loss", "comics", "--given", "layer1.ffn.output=0")
    assert "L is the same without the given values." in same


@some
@given(spec=scenarios(encoder=True), argument=st.sampled_from(ARGUMENTS))
def test_json_lists_what_is_another_number_without_them(spec: Scenario, argument: str) -> None:
    assume(spec["layers"][0].get("attention"))
    given = ("--given", argument.format(a="layer1.attention"))
    found = run("run", "-", *given, "--format", "json", stdin=to_yaml(spec))
    plain = run("run", "-", "--format", "json", stdin=to_yaml(spec))
    assume(not found.exit_code and not plain.exit_code)
    before, after = (json.loads(ran.stdout) for ran in (plain, found))
    values = {each["address"]: each for each in after["values"]}
    alike = [a for a in before["values"] if a["axes"] == values.get(a["address"], {}).get("axes")]
    expected = [
        {key: each[key] for key in ("address", "data", "printed")}
        for each in alike
        if each["data"] != values[each["address"]]["data"]
    ]
    order = [each["address"] for each in after["values"]]
    listed = after["without_given"]
    assert listed == sorted(expected, key=lambda each: order.index(each["address"]))
    assert "without_given" not in before


# --- what it claims ------------------------------------------------------------------------------


@settings(parent=some, max_examples=4)
@given(spec=scenarios(encoder=True), number=st.integers(0, 10**6))
def test_every_claim_is_true(spec: Scenario, number: int) -> None:
    assert faults_of_claims(spec, random.Random(number)) == []


def test_the_claims_of_bundled_scenarios() -> None:
    for name in ("alex", "pizza"):
        spec = yaml.safe_load(Path(f"scenarios/{name}.yaml").read_text(encoding="utf-8"))
        for key in ("intro", "notes", "summary"):
            spec.pop(key, None)
        for seed in range(2):
            assert faults_of_claims(spec, random.Random(seed)) == []


def faults_of_claims(spec: Scenario, rng: random.Random) -> list[str]:
    """The sentences of a run with one or two given values that are unknown or false."""
    stdin = yaml.safe_dump(spec) if "title" not in spec else to_yaml(spec)
    plain = run("run", "-", "--format", "json", stdin=stdin)
    if plain.exit_code:
        return []
    before = {value["address"]: value for value in json.loads(plain.stdout)["values"]}
    known = [each for each in before.values() if len(each["shape"]) == 2 and 0 not in each["shape"]]
    chosen = rng.sample(known, min(len(known), rng.choice((1, 2))))
    ways = ("=0", "=0.25", "=mean", "[1]=mean", "[1]=0", f"[{len(before['tokens']['data'])}]=-1.5")
    given = [word for v in chosen for word in ("--given", v["address"] + rng.choice(ways))]
    ran = run("run", "-", *given, width=5000, stdin=stdin)
    if ran.exit_code:
        assert "Traceback" not in ran.stderr and "internal" not in ran.stderr, (given, ran.stderr)
        return []
    document = run_json("-", *given, stdin=stdin)
    values = {value["address"]: value for value in document["values"]}
    at = {**spec, "given": {each["address"]: None for each in chosen}}
    judge = Judge(values, at, len(values["tokens"]["data"]) - 1, document["rounding"])
    judge.further["plain"] = before
    return faults(unbroken(ran.stdout), judge)
