"""What the tape records: how numbers are kept, and values that are given instead of computed."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.command import printed, problems, run, run_json
from tests.helpers.small_scenario import END, changed, scenario
from tests.helpers.traces import numbers, records, traced
from tests.helpers.truth import false_equations, unreadable
from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import Add
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.operations import Copy, Pinned
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import Role
from tracer.decoder.tape import Overrides, Tape
from tracer.decoder.value import Form, Value
from tracer.errors import TracerError
from tracer.formula.arithmetic import DECIMALS
from tracer.scenario.rounding import Rounding

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
HEAD = "layer1.attention.head1"
WEIGHTS = f"{HEAD}.weights"


def with_given(given: dict[str, Any]) -> str:
    """The scenario with numbers given by address."""
    return SMALL + "given:\n" + "".join(f"  {a}: {json.dumps(n)}\n" for a, n in given.items())


def given_at(address: str, data: Any) -> str:
    return with_given({address: data})


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
    for address, wanted in expected.items():
        np.testing.assert_allclose(data(found, address), wanted, rtol=1e-12, err_msg=address)
    words = [["a", "b", "c"][j] for j in logits.argmax(axis=1)]
    assert found["prediction"]["data"] == words


OUTPUTS = [[[2, -1], [0.5, 0.25]], [[0, 0], [0, 0]], [[-3.25, 1], [1e-3, 12]]]


@pytest.mark.parametrize("output", OUTPUTS, ids=str)
def test_what_follows_goes_on_from_a_given_output(output: Any) -> None:
    from_file = values(stdin=given_at(ATTENTION, output))
    assert from_file[ATTENTION]["data"] == output
    assert from_file[ATTENTION]["operation"] == "given"
    assert_goes_on(from_file, output)
    assert values("--given", f"{ATTENTION}={json.dumps(output)}", stdin=SMALL) == from_file


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


PARAMETERS: dict[str, Any] = {
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
    assert "is given, not computed" in " ".join(text.split())
    assert re.search(r" 2\.250 +-3$", text, re.MULTILINE)
    assert "is given, not" not in " ".join(printed("run", "-", stdin=SMALL).split())
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
            "logits: given as a row of 2 numbers, expected 2×3 numbers",
            f"layer1.attention.outpt: given, but no such value exists; did you mean '{ATTENTION}'",
        ],
    ),
    "too few rows": (
        {"layer1.ffn.hidden": [[1, 2]]},
        ["layer1.ffn.hidden: given as 1×2 numbers, expected 2×2 numbers"],
    ),
    "another layer": (
        {"layer2.ffn.hidden": [[1, 2], [3, 4]]},
        ["layer2.ffn.hidden: given, but no such value exists"],
    ),
    "words": (
        {"prediction": [1, 2], "tokens": [3, 4]},
        [
            f"{address}: these are words; only numbers can be given"
            for address in ("prediction", "tokens")
        ],
    ),
    "rows of different lengths": (
        {"logits": [[1, 2, 3], [4, 5]]},
        ["logits: given as rows of different lengths"],
    ),
    "a prefix": (
        {"weights.unembedding.W_U": [[1, 2, 3], [4, 5, 6]]},
        [
            "weights.unembedding.W_U: given, but no such value exists; "
            "did you mean 'unembedding.W_U'"
        ],
    ),
    "no numbers": (
        {"logits": [[1, "x", 3], [None, 5, 6]]},
        ["logits row 1 column 2: expected a number, got 'x'", "logits row 2 column 1: expected"],
    ),
    "no rows": ({"logits": 3}, ["logits: given as one number, expected 2×3 numbers"]),
    "no number": (
        {"logits": {}, "output": "x"},
        ["logits: expected a number, a row of numbers, or rows", "output: expected a number"],
    ),
    "-∞ where nothing is masked": (
        {"logits": [[1, "-inf", 3], [4, 5, 6]]},
        ["logits: given as -∞, which only a mask and masked scores can be"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_each_misfit_is_told(name: str) -> None:
    given, said = REFUSED[name]
    ran = run("run", "-", stdin=with_given(given))
    assert (ran.exit_code, ran.stdout) == (2, "")
    lines = problems(ran)
    assert len(lines) == len(said)
    assert all(line.startswith("<stdin>:") for line in lines)
    for message in said:
        assert any(message in line for line in lines), message


REFUSED_ARGUMENTS = {
    "logits": "--given: got 'logits', expected ADDRESS=VALUES",
    "=[1]": "--given: got '=[1]', expected ADDRESS=VALUES",
    "logits=[[1, two, 3], [4, 5, 6]]": "--given: logits: expected a number, got 'two'",
    "logits=[[1, 2, 3], [4, 5, 6]": "--given:",
    "logits=[[1, 2]]": "logits: given as 1×2 numbers, expected 2×3 numbers",
    "logit=[[1, 2]]": "logit: given, but no such value exists; did you mean 'logits'",
}


@pytest.mark.parametrize("argument", REFUSED_ARGUMENTS)
def test_a_wrong_argument_is_told_in_one_line(argument: str) -> None:
    ran = run("run", "-", "--given", argument, stdin=SMALL)
    assert (ran.exit_code, ran.stdout) == (2, "")
    [line] = ran.stderr.splitlines()
    assert REFUSED_ARGUMENTS[argument] in line


# --- pins and digits, on the tape itself ---------------------------------------------------------


@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_pinned_numbers_keep_the_digits_that_were_typed(carry: str) -> None:
    text = with_given({}).replace("given:\n", "").replace("carry: never", f"carry: {carry}")
    text += f"given: {{{WEIGHTS}: [[1.00, 0], [0.123456, 0.80]], {HEAD}.scale: [2.50, 3]}}\n"
    with pytest.raises(TracerError, match="given as a row of 2 numbers, expected one number"):
        traced(text)
    ran = traced(text.replace(f", {HEAD}.scale: [2.50, 3]", ""))
    record = records(ran)[WEIGHTS]
    assert isinstance(record.operation, Pinned)
    assert record.operation.name == "given"
    assert [value.address for value in record.inputs] == [f"{HEAD}.exp", f"{HEAD}.exp_sum"]
    assert numbers(ran, WEIGHTS) == [["1.00", "0"], ["0.123456", "0.80"]]
    assert record.output.form is Form.AS_THEY_ARE
    assert record.output.computed is record.output.numbers


def test_a_pinned_parameter_has_no_operands() -> None:
    ran = traced(with_given({"unembedding.W_U": [[1, 2, 3], [4, 5, 6]]}))
    record = records(ran)["unembedding.W_U"]
    assert isinstance(record.operation, Pinned)
    assert record.inputs == ()
    assert [[axis.name, *axis.labels] for axis in record.output.axes] == [
        ["feature", "d₀", "d₁"],
        ["word", "a", "b", "c"],
    ]


def are_floats(numbers: Any) -> bool:
    return all(Decimal(repr(float(x))) == x for x in numbers.flat)


def test_pins_are_numbers_of_the_tapes_arithmetic() -> None:
    text = with_given({WEIGHTS: [[1, 0], [0.25, 0.75]]}) + "arithmetic: float64\n"
    ran = traced(text)
    assert all(float(str(x)) == x for x in ran[WEIGHTS].numbers.flat)
    assert ran[WEIGHTS].numbers.tolist() == [[1, 0], [0.25, 0.75]]
    # V is (1, 4.5), (3, 10.5): x W_V = (1×1, 1×0.5 + 2×2), (3, 1.5 + 9).
    assert ran[f"{HEAD}.output"].numbers.tolist() == [[1, 4.5], [2.5, 9.0]]
    for address, value in ran.values.items():
        assert value.role.words or are_floats(value.numbers), address


def recorded(carry: str, *pairs: tuple[Role, Any]) -> tuple[Tape, list[Value]]:
    """A tape on which numbers are given, in a layer's FFN."""
    tape = Tape(DECIMALS, Pencil(Rounding.model_validate({"carry": carry})))
    axes = (Axis("token", ("a",)), Axis("feature", ("x", "y")))
    with tape.at(layer=1, sub_layer="ffn"):
        return tape, [tape.given(role, data, axes) for role, data in pairs]


TYPED = ((Decimal("0.50"), Decimal("1.23456")),)
THIRDS = ((Decimal(1) / 3, Decimal(2) / 3),)


@pytest.mark.parametrize(
    ("carry", "shown", "form"),
    [
        ("line", ["0.333", "0.667"], Form.AS_THEY_ARE),
        ("step", ["0.333", "0.667"], Form.AS_THEY_ARE),
        ("never", list(map(str, THIRDS[0])), Form.ROUNDED_FOR_PRINT),
    ],
)
def test_what_is_typed_stays_and_what_is_computed_is_rounded(
    carry: str, shown: list[str], form: Form
) -> None:
    zeros = ((Decimal(0), Decimal(0)),)
    tape, (typed, thirds, none) = recorded(
        carry, (roles.W_1, TYPED), (roles.W_2, THIRDS), (roles.INPUT, zeros)
    )
    assert list(map(str, typed.numbers[0])) == ["0.50", "1.23456"]
    assert list(map(str, thirds.numbers[0])) == list(map(str, THIRDS[0]))
    assert typed.form is thirds.form is Form.AS_THEY_ARE
    with tape.computing():
        total = tape.record(roles.RESIDUAL, Add(), thirds, none)
        moved = tape.record(roles.OUTPUT, Copy(), total)
        typed_still = tape.record(roles.ACTIVATION, Copy(), typed)
    assert list(map(str, total.numbers[0])) == shown
    assert (total.computed == thirds.numbers).all()
    assert total.form is moved.form is form
    assert list(map(str, moved.numbers[0])) == shown
    assert list(map(str, typed_still.numbers[0])) == ["0.50", "1.23456"]
    assert typed_still.form is Form.AS_THEY_ARE


def test_an_array_that_nobody_typed_is_rounded_for_print() -> None:
    tape, (stored,) = recorded("never", (roles.W_1, np.array([[0.5, 1 / 3]])))
    assert stored.form is Form.ROUNDED_FOR_PRINT
    assert list(map(str, stored.numbers[0])) == ["0.5", "0.3333333333333333"]
    with tape.computing():
        assert tape.record(roles.OUTPUT, Copy(), stored).form is Form.ROUNDED_FOR_PRINT


def test_each_row_belongs_to_a_token() -> None:
    _, (value,) = recorded("step", (roles.INPUT, TYPED))
    assert value.per_token
    # One row, of the last of three tokens.
    assert value.row(2, 3) == 0
    assert value.array.tolist() == [[0.5, 1.23456]]


def test_words_are_no_floats() -> None:
    tape = Tape(DECIMALS, Pencil(Rounding()))
    words = tape.given(roles.TOKENS, ("1.0", "no"), (Axis("token", ("1.0", "no")),))
    assert list(words.numbers) == ["1.0", "no"]
    with pytest.raises(ValueError, match="'no'"):
        _ = words.array


def test_what_does_not_fit_is_told_before_a_division_by_zero() -> None:
    text = changed((END, f"{END}given: {{layer1.ffn.hidden: [[1, 2, 3]], nonsense: [1]}}\n"))
    text = text.replace("ffn:", "norm: {}\n    ffn:").replace(
        "[1, 2]\n  b: [3, 4]", "[1, 1]\n  b: [1, 1]"
    )
    ran = run("run", "-", stdin=text)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "layer1.ffn.hidden: given as 1×3 numbers, expected 2×1 numbers" in ran.stderr
    assert "nonsense: given, but no such value exists" in ran.stderr
    assert "division" not in ran.stderr


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
def test_what_stands_in_place_of_a_number_is_worked_on_with(arithmetic: str) -> None:
    """h of b is 6 · 1 + 8 · 2 = 22; with 25 in its place the FFN gives 25 · (1, 2)."""
    said = f"rounding: {{decimals: 2, carry: never}}\narithmetic: {arithmetic}\n"
    small = scenario((END, f"{END}{said}"))
    there: Overrides = {"layer1.ffn.hidden": {(1, 0): Decimal(25)}}
    plain, other = trace("small", small), trace("small", small, PassOptions(overrides=there))
    hidden = other["layer1.ffn.hidden"]
    assert (hidden.array[1, 0], float(hidden.computed[1, 0])) == (25, 22)
    assert hidden.array[0, 0] == plain["layer1.ffn.hidden"].array[0, 0]
    assert other["layer1.ffn.output"].array[1].tolist() == [25, 50]
    assert plain["layer1.ffn.output"].array[1].tolist() == [22, 44]


def test_what_is_typed_may_have_another_number_in_its_place_too() -> None:
    """W_Q is (1, 2)ᵀ; with (9, 2)ᵀ the query of a is 9 · 1 + 2 · 2."""
    there: Overrides = {"layer1.attention.head1.W_Q": {(0, 0): Decimal(9)}}
    other = trace("small", scenario(), PassOptions(overrides=there))
    assert other["layer1.attention.head1.query"].array[0, 0] == 13


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_mask_from_a_file_holds_numbers(wrong: float, tmp_path: Path) -> None:
    np.savez(tmp_path / "mask.npz", mask=np.array([[0, wrong], [0, 0]]))
    path = tmp_path / "x.yaml"
    path.write_text(f"{SMALL}given: mask.npz\n", encoding="utf-8")
    ran = run("run", str(path))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "mask: given as NaN or ∞, expected numbers" in ran.stderr
