"""The forward pass: right numbers, in each arithmetic, at the addresses promised."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import NEVER_AHEAD, scenarios
from tests.helpers.reference import Array, predicted_words, reference
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.strict_json import values as json_values
from tests.helpers.traces import bundled, is_short, traced, traced_or_rejected, values
from tests.helpers.truth import false_equations
from tracer.decoder.forward import PassOptions, Trace, arithmetic_of, trace
from tracer.decoder.operations import Given, Pinned
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.formula.arithmetic import DECIMALS, FLOAT64, FLOATS
from tracer.scenario.loading import load, parse
from tracer.scenario.rounding import Digits

some = settings(max_examples=7, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(some, max_examples=9)

POSITIVE = ("0.1", "0.00001")
"""Epsilons with which every row has a LayerNorm."""

LARGEST = 50
"""Beyond scores of this size float64, in which the reference is written, is not good enough."""


TABLES = ("position", "encoder.position")
"""What is given where it is not computed."""

# --- against the reference -----------------------------------------------------------------------


def tame(expected: dict[str, Array]) -> bool:
    exponents = [x for a, x in expected.items() if a.endswith((".scores", "logits"))]
    return all(np.abs(x).max() < LARGEST for x in exponents)


def assert_is_the_references(ran: Trace, spec: Scenario, tolerance: float) -> None:
    expected = reference(spec)
    # Floats, which the reference works with, lose digits to large numbers and to small divisors.
    finite = [array[np.isfinite(array)] for array in expected.values()]
    assume(all(np.abs(array).max(initial=0) < 1000 for array in finite))
    assume(all(array.min() > 1e-3 for name, array in expected.items() if name.endswith(".std")))
    assert_is_computed(ran, expected, spec, tolerance)


def assert_is_computed(
    ran: Trace, expected: dict[str, Array], spec: Scenario, tolerance: float
) -> None:
    found = values(ran)
    for address, array in expected.items():
        assert found[address].numbers.shape == array.shape, address
        close = np.allclose(found[address].array, array, rtol=tolerance, atol=tolerance)
        assert close, address
    computed = {
        record.output.address
        for record in ran.records
        if not isinstance(record.operation, Given | Pinned) and not record.output.role.words
    }
    assert computed <= expected.keys()
    if "logits" in expected:
        words = list(found["prediction"].numbers)
        for word, logits in zip(words, expected["logits"], strict=True):
            largest = pytest.approx(logits.max(), abs=tolerance)
            assert logits[spec["vocabulary"].index(word)] == largest


@many
@given(scenarios(carry="never", max_layers=2))
def test_every_value_is_the_one_of_the_reference(spec: Scenario) -> None:
    ran = traced_or_rejected(spec)
    numbers = [x for value in values(ran).values() for x in value.numbers.flat]
    assert {type(x) for x in numbers} <= {Decimal, str}
    assert_is_the_references(ran, spec, 1e-12)


def beyond_floats(expected: dict[str, Array]) -> bool:
    scores = (x for a, x in expected.items() if a.endswith((".scores", "logits")))
    exponents = [finite for x in scores if (finite := x[np.isfinite(x)]).size]
    # Without the largest of its row, an exponent may be as small as both are apart.
    return any(not max(np.abs(x).max(), np.ptp(x)) < 700 for x in exponents)


@many
@given(scenarios(carry="never", max_layers=2))
def test_floats_give_the_values_of_the_reference_too(spec: Scenario) -> None:
    try:
        ran = traced(to_yaml({**spec, "arithmetic": "float64"}))
    except TracerError as error:
        # Floats have no e^710 and no e^-746, and a row of equal numbers no norm.
        assert re.search("a division by zero|too (large|small)", str(error))
        found = reference(spec)
        equal = any(not x.min() > 1e-3 for a, x in found.items() if a.endswith(".std"))
        assert beyond_floats(found) or equal
        reject()
    assume(not beyond_floats(reference(spec)))  # without their largest, floats have the powers
    for address, value in values(ran).items():
        assert value.role.words or all(Decimal(repr(float(x))) == x for x in value.numbers.flat), (
            address
        )
    assert_is_the_references(ran, spec, 1e-9)


@settings(some, max_examples=4)
@given(spec=scenarios(carry="never", epsilons=POSITIVE))
def test_every_computed_value_in_json_is_the_references(spec: Scenario) -> None:
    expected = reference(spec)
    assume(tame(expected))
    for arithmetic, tolerance in (("decimal", 1e-12), ("float64", 1e-9)):
        found = json_values("run", "-", stdin=to_yaml({**spec, "arithmetic": arithmetic}))
        words = found.pop("prediction", None)
        if words and arithmetic == "decimal":
            assert words["data"] == predicted_words(spec)
        computed = {a: v for a, v in found.items() if v["operation"] != "given" or a in TABLES}
        assert computed.keys() == expected.keys()
        for address, value in computed.items():
            data = np.array(value["data"], dtype=object).astype(np.float64)
            numbers = data.reshape(expected[address].shape) if not data.size else data
            np.testing.assert_allclose(
                numbers, expected[address], rtol=tolerance, atol=tolerance, err_msg=address
            )


@some
@given(scenarios())
def test_every_axis_has_a_label_for_each_entry(spec: Scenario) -> None:
    for address, value in values(traced_or_rejected(spec)).items():
        assert value.numbers.shape == tuple(len(axis.labels) for axis in value.axes), address


def test_the_arithmetic_is_that_of_the_scenario_or_the_one_asked_for() -> None:
    text = (
        "title: t\ntokens: [a]\nembeddings: [[0.50, 2]]\nrounding: {carry: never}\n"
        "layers: [{ffn: {W_1: [[1], [2]], W_2: [[1, 2]]}}]\n"
    )
    decimals, floats = parse(text, "f.yaml"), parse(f"{text}arithmetic: float64\n", "f.yaml")
    assert (arithmetic_of(decimals), arithmetic_of(floats)) == (DECIMALS, FLOAT64)
    assert trace("t", decimals)["output"].numbers.dtype == object
    assert (
        trace("t", decimals, PassOptions(arithmetic=FLOATS))["output"].numbers.dtype == np.float64
    )
    assert trace("t", floats, PassOptions(arithmetic=DECIMALS))["output"].numbers.dtype == object
    # 0.5 + 4.5, 2 + 9
    assert trace("t", floats)["output"].numbers.tolist() == [[5.0, 11.0]]
    assert trace("t", floats, PassOptions(arithmetic=DECIMALS))["output"].numbers[0, 0] == Decimal(
        "5.00"
    )


@some
@given(scenarios(masks=NEVER_AHEAD))
def test_a_later_token_changes_nothing_for_earlier_ones(spec: Scenario) -> None:
    assume(len(spec["tokens"]) > 1)
    if isinstance(spec["embeddings"], dict):
        spec = {**spec, "embeddings": [spec["embeddings"][token] for token in spec["tokens"]]}
    changed = deepcopy(spec)
    changed["embeddings"][-1] = [number + Decimal("0.37") for number in spec["embeddings"][-1]]
    before, after = values(traced_or_rejected(spec)), values(traced_or_rejected(changed))
    assume(before.keys() == after.keys())  # scores that are too large are shifted
    assert (before["embedding"].numbers[-1] != after["embedding"].numbers[-1]).all()
    for address, value in before.items():
        if value.per_token:
            # With later tokens as columns, these are the one thing that may change.
            by_key = value.numbers.ndim == 2 and value.axes[1].name == "key"
            seen = np.s_[:-1, :-1] if by_key else np.s_[:-1]
            if ".expert" in address:  # its rows are those of its tokens
                assert by_position(value) == by_position(after[address]), address
            else:
                assert (value.numbers[seen] == after[address].numbers[seen]).all(), address


def by_position(value: Value) -> dict[int, list[Decimal]]:
    """The rows of all tokens but the last, by their positions from the end."""
    rows = zip(value.axes[0].positions or (), value.numbers.tolist(), strict=True)
    return {position: row for position, row in rows if position != -1}


def test_is_short() -> None:
    three, two_significant = Digits(decimals=3), Digits(significant=2)
    assert is_short(Decimal("1.250"), three) and not is_short(Decimal("1.2505"), three)
    assert is_short(Decimal("0.00012"), three) and not is_short(Decimal("0.000123"), three)
    assert is_short(Decimal("1234000000000"), three) and not is_short(Decimal("12345e9"), three)
    assert is_short(Decimal("0.0012"), two_significant) and is_short(Decimal(123), two_significant)
    assert not is_short(Decimal("1.23"), two_significant)

    # From five decimals on a power of ten is written: 5.1×10⁻⁶, and not 1×10⁻⁵.
    assert is_short(Decimal("0.0000051"), Digits(decimals=5))
    assert not is_short(Decimal("0.00051"), three)


# --- what a pass is ------------------------------------------------------------------------------

HEAD = (
    *("query", "key", "value", "dot", "scores", "masked", "exp", "exp_sum", "weights", "output"),
)
NORM = ("norm.mean", "norm.deviation", "norm.squared", "norm.variance", "norm.std", "norm")

ALEX = (
    *("tokens", "embedding", "position", "input", "output"),
    *(f"layer1.attention.head{head}.{name}" for head in (1, 2) for name in HEAD),
    *(f"layer1.attention.{name}" for name in ("concat", "output", "residual", *NORM)),
    *(f"layer1.ffn.{name}" for name in ("hidden", "activation", "output", "residual", *NORM)),
    *(f"layer1.attention.head{head}.W_{name}" for head in (1, 2) for name in "QKV"),
    *("layer1.attention.W_O", "layer1.ffn.W_1", "layer1.ffn.W_2"),
)
SCIENCE = ("token_ids", "unembedding.W_U", "logits", "probabilities", "prediction")


@pytest.mark.parametrize(("name", "addresses"), [("alex", ALEX), ("science", SCIENCE)])
def test_every_value_has_the_address_that_is_promised(
    name: str, addresses: tuple[str, ...]
) -> None:
    found = values(bundled(name))
    assert [address for address in addresses if address not in found] == []


def test_a_trace_finds_what_it_holds() -> None:
    ran = trace("short", load("alex").scenario)
    assert (ran.name, ran.tokens) == ("short", ran.scenario.tokens)
    addresses = [record.output.address for record in ran.records]
    assert list(ran.values) == addresses
    for record in ran.records:
        assert ran[record.output.address] is record.output
        assert ran.producers[record.output] is record
        # What is used was recorded before it, in the same pass.
        assert all(ran.producers[value] in ran.records for value in record.inputs)
    with pytest.raises(KeyError, match="layer9"):
        ran["layer9.ffn.output"]


def test_the_array_of_a_value_is_a_copy_of_floats() -> None:
    ran = bundled("science")
    value = ran["layer1.attention.head1.masked"]
    found = value.array
    assert found.dtype == np.float64
    assert found.tolist() == [[float(x) for x in row] for row in value.numbers]
    assert np.isneginf(found[0, 1])
    found[0, 0] = 99
    assert value.array[0, 0] != 99
    with pytest.raises(ValueError, match="could not convert"):
        _ = ran["prediction"].array


NO_RESULT = """
title: No result
tokens: [a, b]
embeddings: [[1, 1], [1, KEY]]
layers: [{attention: {heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: identity}], norm: NORM}}]
rounding: {carry: never}
arithmetic: ARITHMETIC
"""
"""The query is 1, so that the scores are the keys, 1 and KEY."""

BY_ZERO = "a division by zero: σ is 0, as it is of equal numbers; set epsilon"
RMS_BY_ZERO = "a division by zero: RMS is 0, as it is of zeros; set epsilon"


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize(
    ("key", "weights"), [("3000000", [0, 1]), ("-3000000", [1, 0]), ("900", [0, 1])]
)
def test_scores_far_apart_give_the_weight_0(key: str, weights: list[int], arithmetic: str) -> None:
    """Of e^899 and e^2999999, the one is beyond floats, the other beyond Decimals."""
    text = NO_RESULT.replace("ARITHMETIC", arithmetic).replace("KEY", key).replace("NORM", "none")
    found = traced(text)["layer1.attention.head1.weights"].numbers[1]
    if arithmetic == "decimal" and key == "900":
        assert 0 < found[0] < Decimal("1e-390")
    else:
        assert list(found) == weights


def test_a_row_of_given_exponents_that_all_vanish_is_refused() -> None:
    text = NO_RESULT.replace("ARITHMETIC", "decimal").replace("KEY", "3000000")
    given = "given: {layer1.attention.head1.shifted: [[0, 0], [-9000000, -9000001]]}\n"
    with pytest.raises(TracerError) as caught:
        traced(text.replace("NORM", "none") + given)
    (problem,) = caught.value.problems
    told = ("layer1.attention.head1.exp", "the number is too small to compute with: it would be 0")
    assert (problem.address, problem.message) == told


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("activation", ["silu", "gelu", "gelu_tanh"])
def test_activations_of_large_numbers_give_their_limit(activation: str, arithmetic: str) -> None:
    ffn = f"{{ffn: {{W_1: identity, W_2: identity, activation: {activation}}}}}"
    rows = "[[-3000000, 3000000], [-1000000000000, 1]]"
    text = (
        f"tokens: [a, b]\nembeddings: {rows}\nlayers: [{ffn}]\n"
        f"rounding: {{carry: never}}\narithmetic: {arithmetic}\n"
    )
    found = traced(text)["layer1.ffn.activation"].numbers
    assert (found[0, 0], found[0, 1], found[1, 0]) == (0, 3000000, 0)


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
def test_what_has_no_result_is_told_at_its_address(arithmetic: str) -> None:
    """Before attention, the two features of a are alike."""
    text = NO_RESULT.replace("ARITHMETIC", arithmetic).replace("KEY", "1")
    with pytest.raises(TracerError) as caught:
        traced(text.replace("NORM", "{placement: pre}"))
    (problem,) = caught.value.problems
    assert (problem.address, problem.message) == ("layer1.attention.norm", BY_ZERO)


NORMED = """
title: A norm of numbers that are alike, or 0
tokens: [a]
embeddings: [ROW]
final_norm: {SETTINGS}
rounding: {carry: never}
arithmetic: ARITHMETIC
"""


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize(
    ("row", "settings", "told"),
    [
        ("[2, 2]", "", BY_ZERO),
        ("[2, 2]", "deviation: sample", BY_ZERO),
        ("[0, 0]", "kind: rms_norm", RMS_BY_ZERO),
        ("[2, 2]", "epsilon: 0.5, epsilon_outside: true", [0, 0]),
        ("[0, 0]", "kind: rms_norm, epsilon: 0.5, epsilon_outside: true", [0, 0]),
        ("[0, 0]", "kind: rms_norm, epsilon: 0.25", [0, 0]),
        ("[2, 2]", "kind: rms_norm", [1, 1]),
        ("[3, 4]", "kind: rms_norm, epsilon: 3.5", [0.75, 1]),  # √(12.5 + 3.5) is 4
        ("[0, 2]", "epsilon: 1, epsilon_outside: true", [-0.5, 0.5]),  # √1 + 1
        ("[0, 1, 5]", "deviation: sample, epsilon: 2", [-2 / 3, -1 / 3, 1]),  # √(14 / 2 + 2)
    ],
)
def test_a_norm_with_and_without_an_epsilon(
    row: str, settings: str, told: str | list[float], arithmetic: str
) -> None:
    text = NORMED.replace("ROW", row).replace("SETTINGS", settings)
    text = text.replace("ARITHMETIC", arithmetic)
    if isinstance(told, str):
        with pytest.raises(TracerError) as caught:
            traced(text)
        (problem,) = caught.value.problems
        assert (problem.address, problem.message) == ("final_norm", told)
    else:
        assert traced(text)["output"].array[0] == pytest.approx(told, abs=1e-12)


@pytest.mark.parametrize(
    ("arithmetic", "size"),
    [("decimal", "999999999999"), ("decimal", "2500000"), ("float64", "800")],
)
def test_scores_too_large_for_e_are_shifted_by_themselves(arithmetic: str, size: str) -> None:
    key = str(int(size) + 1)
    text = NO_RESULT.replace("ARITHMETIC", arithmetic).replace("NORM", "none")
    text = text.replace("[1, 1], [1, KEY]", f"[1, {size}], [1, {key}]")
    ran = traced(text)
    head = "layer1.attention.head1"
    assert ran[f"{head}.max"].array.tolist() == [float(size), float(key)]
    assert ran[f"{head}.shifted"].array.tolist() == [[0, -np.inf], [-1, 0]]
    small = 1 / (1 + math.e)
    weights = [[1, 0], [small, 1 - small]]
    assert ran[f"{head}.weights"].array == pytest.approx(np.array(weights), rel=1e-15)
    found = json_values("run", "-", stdin=text)
    assert found[f"{head}.max"]["data"] == [float(size), float(key)]
    assert found[f"{head}.shifted"]["data"] == [[0, "-inf"], [-1, 0]]
    assert false_equations(printed("run", "-", stdin=text)) == []


def test_scores_that_e_can_take_are_not_shifted() -> None:
    text = NO_RESULT.replace("ARITHMETIC", "float64").replace("NORM", "none")
    ran = traced(text.replace("KEY", "600"))
    assert "layer1.attention.head1.max" not in ran.values


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("pinned", ["[0, 0]", "[-1, 1]"])
def test_what_is_pinned_may_leave_no_result(arithmetic: str, pinned: str) -> None:
    text = f"""
    title: A root that is none
    tokens: [a, b]
    embeddings: [[1, 2], [3, 5]]
    layers: [{{ffn: {{W_1: [[1], [1]], W_2: [[1, 1]], norm: {{}}}}}}]
    rounding: {{carry: never}}
    arithmetic: {arithmetic}
    given: {{layer1.ffn.norm.variance: {pinned}}}
    """
    with pytest.raises(TracerError) as caught:
        traced(text)
    (problem,) = caught.value.problems
    if pinned == "[0, 0]":
        assert (problem.address, problem.message) == ("layer1.ffn.norm", BY_ZERO)
    else:
        said = "no result with layer1.ffn.norm.variance as given: a division by zero, or the root"
        assert problem.address == "layer1.ffn.norm.std"
        assert problem.message.startswith(said)


def test_no_result_is_one_line_for_a_person() -> None:
    text = NO_RESULT.replace("KEY", "1").replace("NORM", "{placement: pre}")
    ran = run("run", "-", stdin=text.replace("ARITHMETIC", "decimal"))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[0] == f"<stdin>:5:11: layer1.attention.norm: {BY_ZERO}"


def test_what_grows_beyond_all_bounds_is_told() -> None:
    """After 13 layers, 10^12 is multiplied by 10^24 so often that no float is as large."""
    times = "{ffn: {W_1: [[1000000000000]], W_2: [[1000000000000]], residual: false}}"
    text = f"""
    title: Beyond all floats
    tokens: [a]
    embeddings: [[1000000000000]]
    layers: [{", ".join([times] * 13)}]
    rounding: {{carry: never}}
    arithmetic: float64
    """
    with pytest.raises(TracerError) as caught:
        traced(text)
    (problem,) = caught.value.problems
    told = ("layer13.ffn.hidden", "the number is too large to compute with")
    assert (problem.address, problem.message) == told


# --- an encoder ----------------------------------------------------------------------------------


@settings(some, max_examples=4)
@given(spec=scenarios(carry="step", epsilons=("0.1",), encoder=True, encodes=True, max_layers=1))
def test_an_encoder_is_a_decoder_without_a_mask(spec: Scenario) -> None:
    whole = values(traced_or_rejected(spec))
    carried: Scenario = {key: spec[key] for key in ("softmax", "rounding") if key in spec}
    alone = values(traced_or_rejected({"title": "E", **carried, **spec["encoder"], "mask": "none"}))
    inside = {a for a in whole if a.startswith("encoder.")}
    assert {f"encoder.{address}" for address in alone} == inside
    for address, value in alone.items():
        found = whole[f"encoder.{address}"]
        assert found.numbers.tolist() == value.numbers.tolist(), address
        assert [axis.labels for axis in found.axes][1:] == [
            tuple(
                label.replace("d", "e") if COUNTED.fullmatch(label) else label
                for label in axis.labels
            )
            for axis in value.axes
        ][1:]


COUNTED = re.compile("d[₀-₉]+")
