"""The JSON of a run: strict, complete, labeled and in the order of computation."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from tests.helpers.command import printed
from tests.helpers.small_scenario import changed
from tests.helpers.strict_json import document, entries, refuse, values
from tests.helpers.traces import bundled
from tracer.data.quote import quoted
from tracer.scenario.carry import Carry

SCENARIOS = ["alex", "science"]
CARRY_MODES = ["line", "step", "never"]
WORDS = {"tokens", "prediction"}
KEYS = [
    *("address", "symbol", "operation", "parameters", "operands"),
    *("axes", "shape", "data", "printed"),
]


def shape(data: Any) -> list[int]:
    """The shape of nested lists, all of whose rows are of one length."""
    if not isinstance(data, list):
        return []
    (inner,) = {tuple(shape(part)) for part in data}
    return [len(data), *inner]


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_form_of_a_run(scenario: str, carry: str) -> None:
    found = document("run", scenario, "--carry", carry)
    words = ["intro", "summary", "notes"]
    assert list(found) == ["schema", "scenario", "rounding", *words, "values"]
    assert found["schema"] == 1
    assert found["scenario"] == scenario
    before: set[str] = set()
    for value in found["values"]:
        assert list(value) == KEYS
        assert set(value["operands"]) <= before, value["address"]
        if value["operation"] == "given":
            assert value["operands"] == []
        before.add(value["address"])
        assert value["symbol"]
        assert shape(value["data"]) == value["shape"], value["address"]
        assert shape(value["printed"]) == value["shape"], value["address"]
        assert all(isinstance(entry, str) and entry for entry in entries(value["printed"]))
        assert [len(axis["labels"]) for axis in value["axes"]] == value["shape"]
        for axis in value["axes"]:
            assert list(axis) == ["name", "labels"]
            assert all(isinstance(label, str) for label in axis["labels"])
        for entry in entries(value["data"]):
            if value["address"] in WORDS:
                assert isinstance(entry, str)
            elif isinstance(entry, str):
                assert entry == "-inf"
                assert value["address"] == "mask" or value["address"].endswith(".masked")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_is_computed_is_used(scenario: str) -> None:
    found = values("run", scenario)
    used = {operand for value in found.values() for operand in value["operands"]}
    assert found.keys() - used <= {"tokens", "token_ids", "prediction", "output"}


def test_rounding_is_that_of_the_run() -> None:
    assert document("run", "alex")["rounding"] == {"decimals": 3, "carry": "step"}
    assert document("run", "science")["rounding"] == {"decimals": 4, "carry": "line"}
    options = ["--decimals", "5", "--carry", "never"]
    assert document("run", "alex", *options)["rounding"] == {"decimals": 5, "carry": "never"}
    step = document("step", "query", *options)
    assert step["rounding"] == {"decimals": 5, "carry": "never"}


def test_tokens_ids_and_prediction() -> None:
    found = values("run", "science")
    tokens = ["i", "like", "data", "science"]
    assert found["tokens"]["data"] == tokens
    assert found["tokens"]["axes"] == [{"name": "token", "labels": tokens}]
    assert found["token_ids"]["data"] == [1, 2, 3, 4]
    words = ["projects", "field", "is"]
    probabilities = found["probabilities"]
    assert [axis["labels"] for axis in probabilities["axes"]] == [tokens, words]
    largest = [words[row.index(max(row))] for row in probabilities["data"]]
    assert found["prediction"]["data"] == largest
    assert not {"token_ids", "logits", "prediction"} & values("run", "alex").keys()


def test_labels_are_those_of_the_scenario() -> None:
    found = values("run", "alex")
    query = [axis["labels"] for axis in found["layer1.attention.head1.query"]["axes"]]
    assert query == [["Frank", "Emma", "Daniel", "Alex"], ["street-stall", "upscale"]]
    assert found["layer1.attention.head1.query"]["operation"] == "matmul"
    w_o = [axis["labels"] for axis in found["layer1.attention.W_O"]["axes"]]
    heads = ["info-sichuan", "info-budget", "info-upscale", "price_info", "exp_info"]
    assert w_o == [heads, ["spicy", "cheap", "cozy", "fast", "flavor", "vibe"]]


def test_names_and_numbers_come_out_as_typed() -> None:
    name = '"\\e[0m \\"é\\u2028 no"'
    text = changed(("[a, b]", f"[{name}, '1.0']"), ("  a: [1,", f"  {name}: [1.80,"))
    text = text.replace("  b:", "  '1.0':")
    found = values("run", "-", stdin=text)
    assert found["tokens"]["data"] == ['\x1b[0m "é\u2028 no', "1.0"]
    embedding = found["embedding"]["data"]
    assert embedding == [[Decimal("1.8"), 2], [3, 4]]
    assert str(embedding[0][1]) == "2"
    shown = printed("run", "-", "--format", "json", stdin=text)
    assert "é" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_is_masked_is_minus_infinity(scenario: str) -> None:
    found = values("run", scenario)
    scores = found["layer1.attention.head1.scores"]["data"]
    expected = [
        [score if key <= query else "-inf" for key, score in enumerate(row)]
        for query, row in enumerate(scores)
    ]
    assert found["layer1.attention.head1.masked"]["data"] == expected


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_token_has_its_row_of_each_matrix(scenario: str) -> None:
    whole = values("run", scenario)
    rows = values("run", scenario, "--token", "2")
    assert list(rows) == list(whole)
    for address, value in whole.items():
        row = rows[address]
        if value["axes"] and value["axes"][0]["name"] == "token":
            assert row["shape"] == [1, *value["shape"][1:]]
            assert row["data"] == value["data"][1:2]
            assert row["printed"] == value["printed"][1:2]
            assert row["axes"][0]["labels"] == value["axes"][0]["labels"][1:2]
            assert row["axes"][1:] == value["axes"][1:]
        else:
            assert row == value
    assert rows["layer1.attention.head1.query"]["shape"] == [1, 2]
    assert rows["layer1.ffn.W_1"]["shape"][0] > 1


def test_a_step_has_the_values_of_the_run() -> None:
    whole = values("run", "alex")
    for name, ends in {"scores": "scores", "softmax": "weights", "ffn": "output"}.items():
        step = values("step", name)
        assert 0 < len(step) < len(whole)
        assert list(step)[-1].endswith(f".{ends}")
        assert all(whole[address] == value for address, value in step.items())


# --- printed -------------------------------------------------------------------------------------

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read(text: str) -> Decimal:
    """A printed number: -∞, 0.250, 9.4×10⁻¹²."""
    if text == "-∞":
        return Decimal("-Infinity")
    mantissa, _, power = text.partition("×10")
    return Decimal(mantissa).scaleb(int(power.translate(POWERS) or 0))


def named(value: dict[str, Any]) -> list[str]:
    """What `value` is asked for each of its entries, by position."""
    places = product(*(range(1, int(size) + 1) for size in value["shape"]))
    return [f"{value['address']}[{','.join(map(str, place))}]" for place in places]


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_printed_is_what_value_prints(scenario: str, carry: str) -> None:
    ran = bundled(scenario, Carry(carry))
    for value in document("run", scenario, "--carry", carry)["values"]:
        for asked, text in zip(named(value), entries(value["printed"]), strict=True):
            asked = asked if value["shape"] else value["address"]
            assert f"{text}\n" == quoted(ran, [asked]), asked


@pytest.mark.parametrize(
    "asked", ["layer1.attention.head1.weights[4,1]", "tokens[2]", "input[1,2]"]
)
def test_printed_is_what_the_command_line_prints(asked: str) -> None:
    address, _, place = asked.removesuffix("]").partition("[")
    text = values("run", "alex")[address]["printed"]
    for index in place.split(","):
        text = text[int(index) - 1]
    assert printed("value", asked) == f"{text}\n"


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_printed_is_the_number_or_what_it_is_rounded_to(scenario: str, carry: str) -> None:
    for value in document("run", scenario, "--carry", carry, "--decimals", "4")["values"]:
        inside = value["address"].endswith((".dot", ".scale", ".squared"))
        for number, text in zip(entries(value["data"]), entries(value["printed"]), strict=True):
            if value["address"] in WORDS:
                assert text == number
            elif number == "-inf":
                assert text == "-∞"
            elif carry != "never" and not (carry == "step" and inside):
                assert read(text) == number
            else:
                digits = read(text).as_tuple().exponent
                assert isinstance(digits, int)
                half = Decimal(5).scaleb(digits - 1)
                assert abs(read(text) - number) <= half * (1 + Decimal("1e-9"))


def test_printed_has_the_digits_that_a_reader_sees() -> None:
    found = values("run", "alex")
    # As typed, with their zeros; 0.98 + (-0.757) = 0.223; e^11.563 has no decimals here.
    assert found["layer1.attention.W_O"]["printed"][1][:2] == ["1.28", "1.20"]
    assert found["input"]["printed"][3][:2] == ["0.223", "0.296"]
    assert found["layer1.attention.head1.exp"]["printed"][3][0] == "105135"
    assert found["layer1.attention.head1.d_k"]["printed"] == "2"
    # 5.5345 is exact with one digit more; a mean of 4.1 would be 4.100.
    assert found["layer1.attention.norm.mean"]["printed"][3] == "5.5345"
    assert found["layer1.attention.head1.masked"]["printed"][0][1:] == ["-∞"] * 3
    trimmed = values("run", "science")
    assert trimmed["input"]["printed"][3] == ["2.4", "1.4"]
    assert trimmed["probabilities"]["printed"][3][2] == "0.94"
    never = values("run", "science", "--carry", "never")
    root = never["layer1.attention.head1.scale"]
    assert (root["printed"], root["data"]) == ("1.414", Decimal("1.4142135623730951"))


def test_printed_of_a_generated_text() -> None:
    text = printed("generate", "pizza", "--max-tokens", "2", "--worked", "--format", "json")
    found = json.loads(text, parse_constant=refuse)
    assert list(found) == ["schema", "scenario", "rounding", "turns", "text"]
    for turn in found["turns"]:
        assert all(list(value) == KEYS for value in turn["values"])
        values = {value["address"]: value for value in turn["values"]}
        assert values["tokens"]["printed"] == turn["input"]
