"""The JSON has the numbers that were worked on with: each comes from those before it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fnmatch import fnmatchcase
from typing import Any, get_args

import numpy as np
import pytest

from tests.decoder.test_gradients import WITHOUT_TARGETS
from tests.helpers.every_part import (
    ADAPTED,
    POSITIONS,
    WITH_SINKS,
    WITH_SWIGLU,
    WITH_TYPES,
    every_part,
)
from tests.helpers.operation_formulas import computed
from tests.helpers.operations import rows_of
from tests.helpers.small_scenario import END, changed
from tests.helpers.strict_json import document, values
from tests.helpers.traces import bundled
from tests.parts.quantized.test_lesson import EVERY_KIND
from tests.parts.relative_bias.test_decoder import BIASED
from tests.parts.rotary.test_scaling import (
    DYNAMIC,
    LLAMA_3,
    LONGROPE,
    START,
    YARN,
    YARN_NOT_WHOLE,
)
from tracer.data import as_json
from tracer.decoder.attribution import attribute
from tracer.decoder.beams import BeamOptions, search
from tracer.decoder.contract import Contract
from tracer.decoder.elementwise import (
    Activate,
    AddNumber,
    DivideByScale,
    Elementwise,
    GradientOf,
    Log,
)
from tracer.decoder.forward import Trace
from tracer.decoder.gather import Gather
from tracer.decoder.operations import Recorded
from tracer.decoder.roles import HEAD_OUTPUT
from tracer.decoder.score_attribution import attribute_score
from tracer.decoder.value import Entry
from tracer.formula.activations import ACTIVATIONS
from tracer.scenario.carry import Carry

SCENARIOS = ["alex", "science"]
DECIMALS = {
    "alex": [("*", 3), ("*.exp", 0), ("*.exp_sum", 0)],
    "science": [
        *(("*", 4), ("*.scale", 3), ("*.scores", 2), ("*.weights", 3)),
        *(("*output", 2), ("probabilities", 3)),
    ],
}
"""The decimals of these scenarios, but for e to a power in science: three significant digits."""


def rounded(number: Decimal, decimals: int) -> Decimal:
    if number.is_infinite():
        return number
    return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def again(value: dict[str, Any], inputs: list[Any], decimals: int | None) -> Any:
    """What an operation should give, of its operands and its parameters and of nothing else.

    With decimals, each product is rounded to them.
    """

    def kept(products: Any) -> Any:
        return np.vectorize(rounded, otypes=[object])(products, decimals)

    given = {name: plain(parameter) for name, parameter in value["parameters"].items()}
    rounds = () if decimals is None else (kept,)
    return computed(value["operation"], given, inputs, *rounds)


def plain(parameter: Any) -> Any:
    """Words, numbers, lists; a number too long for a float is a text."""
    is_number = isinstance(parameter, str) and parameter[:1] in "-0123456789"
    return Decimal(parameter) if is_number else parameter


def array(value: dict[str, Any]) -> Any:
    data = np.array(value["data"], dtype=object)
    if value["address"].endswith(("tokens", "prediction", "target", "word")):
        return data
    return np.vectorize(Decimal, otypes=[object])(data)


def replayed(
    found: dict[str, Any], decimals: int | None, earlier: dict[str, Any] | None = None
) -> Iterator[tuple[str, Any, Any]]:
    """Each computed address, its entries, and those that its operands' numbers give.

    What an operation that goes on from an earlier turn takes first is that turn's.
    """
    for address, value in found.items():
        if value["operation"] == "given":
            continue
        sources = [found[operand] for operand in value["operands"]]
        goes_on = value["operands"] == [address]
        if goes_on or (earlier is not None and value["operation"] == "append"):
            assert earlier is not None
            sources[0] = earlier[value["operands"][0]]
        operands = [array(source) for source in sources]
        with localcontext(prec=60):
            yield address, array(value), again(value, operands, decimals)


def assert_the_same(found: dict[str, Any], earlier: dict[str, Any] | None = None) -> set[str]:
    """Nothing has been rounded on the way; the names of the operations that were done again."""
    for address, shown, exact in replayed(found, None, earlier):
        assert shown.shape == exact.shape, address
        for entry, expected in zip(shown.flat, exact.flat, strict=True):
            if isinstance(expected, str) or abs(expected) == math.inf:
                assert entry == expected, address
            else:  # JSON has the float64 nearest to each number.
                assert abs(entry - expected) <= Decimal("1e-13") * (1 + abs(expected)), address
    return {value["operation"] for value in found.values()}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_with_carry_line_each_number_comes_from_those_before_it(scenario: str) -> None:
    checked = 0
    found = values("run", scenario, "--carry", "line")
    for address, shown, exact in replayed(found, DECIMALS[scenario][0][1]):
        if address == "prediction":
            continue  # words are chosen by the numbers before they were rounded
        *_, usual = [d for pattern, d in DECIMALS[scenario] if fnmatchcase(address, pattern)]
        for number, expected in zip(shown.flat, exact.flat, strict=True):
            decimals = usual
            if scenario == "science" and address.endswith("exp"):
                decimals = max(0, 2 - expected.adjusted()) if expected else 0
            if expected and not rounded(expected, decimals):
                # It is not shown as 0, but with two digits.
                decimals = 1 - expected.adjusted()
            assert number == rounded(expected, decimals), address
            checked += 1
    assert checked > 150


NEVER = ("--carry", "never")


@pytest.mark.parametrize("scenario", [*SCENARIOS, "pizza", "comics"])
def test_with_carry_never_nothing_is_rounded(scenario: str) -> None:
    assert_the_same(values("run", scenario, "--no-mask", *NEVER))


PARAMETERS = {
    **{"sqrt": {"epsilon", "outside"}, "mean": {"sample"}, "rotate": {"layout"}},
    "normalize": {"gain", "shift"},
    "div_term": {"width", "base", "factors"},
    "interleave": {"features"},
    "softcap": {"cap"},
    **{"scaled_silu": {"scale"}, "at_most": {"limit"}, "clamp": {"limit"}},
    "multiply_shifted": {"offset"},
    **{"scale": {"a"}, "divide_by": {"divisor"}},
    "power_of_two": {"over", "under"},
    **{"turns": {"context"}, "turning_pair": {"width", "base", "context", "turns"}},
    **{"ramp": {"start", "end"}, "interpolate": {"factor"}},
    "larger_base": {"base", "factor", "tokens", "context", "width"},
    **{"yarn_factor": {"factor"}, "longrope_factor": {"factor", "context"}},
    **{name: {"alpha", "rank"} for name in ("adapt", "adapt_gradient")},
    "neg_log": {"columns", "targets"},
    "mean_of": {"counted"},
    **{"sum_of": {"counted"}, "rows": {"rows"}, "columns": {"start", "stop"}},
    "select": {"columns"},
    **{"argmax": {"words"}, "pick": {"words"}},
}
"""What an operation needs besides its operands."""
DRAWN = ("--seed", "3", "--temperature", "1.5", "--top-k", "4", "--top-p", "0.9")


def attributed(scenario: str) -> Iterator[dict[str, Any]]:
    """All values of a pass and of the attribution of a logit; the same with an attention score."""
    found = bundled(scenario, Carry.NEVER)
    score = Entry(found["layer1.attention.head1.scores"], (1, 0))
    of_logit = attribute(found, Entry(found["logits"], (1, 0)), None, (HEAD_OUTPUT,))
    for whole in (of_logit.trace, attribute_score(found, score).trace):
        yield values_of(whole)


def values_of(whole: Trace) -> dict[str, Any]:
    """The values of a trace as JSON has them, by address."""
    read = json.loads(as_json.render(whole, whole.records, None), parse_float=Decimal)
    return {value["address"]: value for value in read["values"]}


def assert_scores_are_the_same(scenario: str) -> set[str]:
    """The operations of the scores of a beam search, done again from its tape: no JSON has them."""
    found = bundled(scenario, Carry.NEVER).scenario
    turns = search(scenario, found, BeamOptions(found.beginning, most=2, width=2)).turns
    records = [record for turn in turns for beam in turn.beams for record in beam.trace.records]
    scores = [record for record in records if isinstance(record.operation, Log | AddNumber)]
    for record in scores:
        with localcontext(prec=60):
            exact = computed(record.operation.name, {}, [each.computed for each in record.inputs])
            assert (abs(record.output.computed - exact) < Decimal("1e-25")).all()
    return {record.operation.name for record in scores}


STATES = """\
title: States
tokens: [a, b, a]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
- attention:
    kind: linear
    feature_map: elu_plus_1
    normalizer: true
    heads: [&head {W_Q: [[1], [2]], W_K: [[1], [0.5]], W_V: [[1], [0]]}]
    W_O: [[1, 0]]
- attention:
    kind: linear
    chunk: 2
    gate: {W_A: [[0.5], [1]], A_log: [0.25]}
    heads: [*head]
    W_O: [[1, 0]]
- attention:
    kind: delta
    gate: [0.5, 0.75, 0.25]
    beta: {W_B: [[0.5], [1]]}
    feature_map: relu
    unit_length: {epsilon: 0.01}
    heads: [{W_Q: [[1], [2]], W_K: [[1], [0.5]], W_V: [[1], [0]], conv_Q: [[0.5], [1]]}]
    W_O: [[1, 0]]
vocabulary: [a, b]
unembedding: tied
targets: [b, a, b]
"""
"""Linear attention, in chunks with a gate or divided by a normalizer, and the delta rule."""


def test_every_operation_can_be_done_again() -> None:
    done = assert_the_same(values("loss", "pizza", *NEVER))
    done |= assert_the_same(values("loss", "comics", "--example", "2", *NEVER))
    for loss in (
        *("{kind: squared, target: [1, 2, -1]}", "{kind: binary, reduction: sum}"),
        *("{kind: squared, target: [1, 2, -1], factor: 0.5}", "{smoothing: 0.1}"),
    ):
        text = f"{WITHOUT_TARGETS}loss: {loss}\n"
        done |= assert_the_same(values("train", "-", *NEVER, stdin=text))
    text = f"{WITHOUT_TARGETS}loss: {{kind: binary, reduction: sum}}\n"
    shape = values("loss", "-", *NEVER, stdin=text)["loss.sigmoid"]["shape"]
    given = f"{text}given: {{loss.sigmoid: {np.full([*map(int, shape)], 0.75).tolist()}}}\n"
    done |= assert_the_same(values("loss", "-", *NEVER, stdin=given))
    text = changed(("    ffn:\n", "    norm: {epsilon: 0.25, gain: [1.5, -2], shift: [1, 0.1]}\n"))
    done |= assert_the_same(values("run", "-", *NEVER, stdin=text.partition("      W_1")[0]))
    padded = changed(("[a, b]", "[a, b]\npadding: a"))
    done |= assert_the_same(values("run", "-", *NEVER, stdin=padded))
    for layout in ("pairs", "halves"):
        done |= assert_the_same(values("run", "-", *NEVER, stdin=every_part(layout)))
    for name in ("tanh", "relu_squared"):
        text = every_part().replace("activation: silu", f"activation: {name}")
        done |= assert_the_same(values("run", "-", *NEVER, stdin=text))
    far = every_part().replace(POSITIONS, "positions: {alibi: true}")
    done |= assert_the_same(values("run", "-", *NEVER, stdin=far))
    for scaling in (YARN, YARN_NOT_WHOLE, LLAMA_3, DYNAMIC, LONGROPE):
        scaled = START.replace("SCALING", scaling)
        done |= assert_the_same(values("run", "-", *NEVER, stdin=scaled))
    done |= assert_the_same(values("train", "-", *NEVER, stdin=ADAPTED))
    done |= assert_the_same(values("train", "-", *NEVER, stdin=WITH_SINKS))
    for text in (WITH_SWIGLU, WITH_TYPES):
        done |= assert_the_same(values("train", "-", *NEVER, stdin=text))
    adam = ("--optimizer", "adam", "--weight-decay", "0.1", "--clip", "0.1")
    done |= assert_the_same(values("train", "comics", *adam, *NEVER))
    for layout in ("pairs", "halves"):
        done |= assert_the_same(values("train", "-", *NEVER, stdin=every_part(layout)))
    done |= assert_the_same(values("train", "experts", *NEVER))
    for text in (EVERY_KIND, BIASED, STATES):
        done |= assert_the_same(values("train", "-", *NEVER, stdin=text))
    for found in attributed("science"):
        done |= assert_the_same(found)
    done |= assert_scores_are_the_same("pizza")
    turns = document("generate", "pizza", "--worked", "--kv-cache", *DRAWN, *NEVER)["turns"]
    earlier: dict[str, Any] = {}
    for turn in turns:
        now = {value["address"]: value for value in turn["values"]}
        done |= assert_the_same(now, earlier)
        # Of a value that is carried on through all turns the latest is the one to go on from.
        earlier |= now
        for value in now.values():
            named = value["parameters"].keys() - {"unit_offset"}
            assert named == PARAMETERS.get(value["operation"], set())
    # An activation function gives its operation the name.
    unnamed = (Elementwise, Activate, DivideByScale, GradientOf, Contract, Gather)
    known = {*get_args(Recorded), *rows_of(Elementwise), *rows_of(Contract), *rows_of(Gather)}
    known = {each for each in known if each.__module__.startswith("tracer.decoder")}
    names = {operation.name for operation in known if operation not in unnamed}
    by_formula = {"softcap", "scaled_silu", "at_most", "clamp", "multiply_shifted"}
    by_formula |= {"difference", "decay", "sigmoid", "above_zero", "elu_plus_one"}
    by_formula |= {"divide_rows", "decay_rate"}
    gradients = {f"{name}_gradient" for name in by_formula}
    assert done - {"given"} == names | set(ACTIVATIONS) | gradients


def test_a_parameter_is_that_of_the_scenario() -> None:
    text = changed((END, f"{END}    norm: {{epsilon: 0.00001, gain: [1, 2]}}\n"))
    found = values("run", "-", stdin=text)
    assert found["layer1.ffn.norm.std"]["parameters"] == {
        "epsilon": Decimal("0.00001"),
        "outside": False,
    }
    assert found["layer1.ffn.norm"]["parameters"] == {"gain": True, "shift": False}
    assert found["layer1.ffn.norm"]["operands"][-1] == "layer1.ffn.norm.gain"
    alex = values("run", "alex")
    assert alex["layer1.ffn.norm.std"]["parameters"] == {"epsilon": 0, "outside": False}
    features = ["spicy", "cheap", "cozy", "fast", "flavor", "vibe"]
    assert alex["position"]["parameters"] == {"features": features}
    assert alex["position.div_term"]["parameters"] == {"width": 6, "base": 10000, "factors": []}
    loss = values("loss", "comics", "--example", "2")
    words = loss["probabilities"]["axes"][1]["labels"]
    targets = loss["loss.token"]["parameters"]["targets"]
    assert targets == loss["loss.target"]["data"] == ["enjoys", "painting", "landscapes"]
    columns = [words.index(target) for target in targets]
    assert loss["loss.token"]["parameters"]["columns"] == columns
    assert loss["loss"]["parameters"] == {"counted": [0, 1, 2]}


def test_the_residual_is_the_sum_of_the_numbers_shown() -> None:
    found = values("run", "alex", "--carry", "line", "--token", "Alex")
    (x,), (change,) = found["input"]["data"], found["layer1.attention.output"]["data"]
    (residual,) = found["layer1.attention.residual"]["data"]
    assert residual == [a + b for a, b in zip(x, change, strict=True)]
    assert len(residual) == 6


def test_a_bias_is_added() -> None:
    text = changed((END, f"{END}      b_2: [10, 20]\n      residual: false\n"))
    found = values("run", "-", stdin=text)["layer1.ffn.output"]
    without = values("run", "-", stdin=text.replace("      b_2: [10, 20]\n", ""))
    rows = without["layer1.ffn.output"]["data"]
    assert found["data"] == [[a + 10, b + 20] for a, b in rows]
    assert found["operands"][-1] == "layer1.ffn.b_2"
