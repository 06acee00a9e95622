"""What is shown of a value's inputs is what its record reads, in whatever order it was recorded."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings, strategies as st

from tests.helpers.command import printed
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.small_scenario import changed
from tests.helpers.traces import bundled, chain_text, traced, traced_or_rejected
from tests.helpers.wiring import in_characters, in_latex, parallel, recorded_by, shuffled
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.operations import Rotate
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.formula.expression import Call
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Heads, Picture
from tracer.lesson.texts.forward_pass import forward_pass
from tracer.lesson.texts.picture import picture
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.working.formulas import formula
from tracer.renderers.picture import as_svg, characters, in_latex as latex
from tracer.renderers.text import text
from tracer.scenario.loading import parse

several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
SMALL = ("0.1",)
ENDS = re.compile(r"(^|\.)(input|output|residual|(final_)?norm|norm_after)$")


def drawn(ran: Trace) -> Picture:
    return picture(LessonContext(ran, 0, symbols(ran.records)), steps(ran.records))


def formulas(ran: Trace) -> dict[str, str]:
    """The formula of each value that has one, by its address."""
    named = symbols(ran.records)
    found = {record.output.address: formula(record, named) for record in ran.records}
    return {address: chain_text(chain) for address, chain in found.items() if chain}


def records(of: Trace) -> dict[Value, Record]:
    return {record.output: record for record in of.records}


# --- formulas name what a record reads -----------------------------------------------------------


@several
@given(scenario=scenarios(epsilons=SMALL), in_parallel=st.booleans(), seed=st.integers(0, 10**6))
def test_formulas_name_each_input(scenario: Scenario, in_parallel: bool, seed: int) -> None:
    ran = shuffled(traced_in(scenario, in_parallel), Random(seed))
    named = symbols(ran.records)
    for record in ran.records:
        chain = formula(record, named)
        if chain is None:
            continue
        right = text(chain.sides[1])
        inputs = [named[value.address] for value in record.inputs]
        if isinstance(record.operation, Rotate):  # the angles stand for their cosine and sine
            turned, cos, _ = inputs
            assert isinstance(cos, Call)
            inputs = [turned, *cos.arguments]
        assert [text(each) for each in inputs if text(each) not in right] == [], right


@several
@given(scenario=scenarios(epsilons=SMALL), in_parallel=st.booleans(), seed=st.integers(0, 10**6))
def test_sub_layers_are_applied_to_what_they_read(
    scenario: Scenario, in_parallel: bool, seed: int
) -> None:
    """Attention(X′), FFN(n₁): the vectors that a sub-layer reads, or the norm of them."""
    ran = shuffled(traced_in(scenario, in_parallel), Random(seed))
    named, producers = symbols(ran.records), records(ran)
    for value in producers:
        applied = re.fullmatch(r"(?:Attention|FFN)ᴱ?\((.*)\)", text(named[value.address]))
        if applied:
            assert applied[1] == text(named[read_by(value, producers)])


def read_by(value: Value, producers: dict[Value, Record]) -> str:
    """The address of what attention or the FFN reads: the norm before it, or else a vector."""
    sub_layer = value.address.rpartition(".")[0]
    ahead = [value]
    while ahead:
        for read in producers[ahead.pop()].inputs:
            if read.address == f"{sub_layer}.norm":
                return read.address
            ahead += [read] if read.address.startswith(f"{sub_layer}.") else []
    (address,) = outside(value, producers)
    return address


def outside(value: Value, producers: dict[Value, Record]) -> set[str]:
    """The addresses of the tokens' vectors outside of a sub-layer that a value of it comes from."""
    sub_layer = re.match(r"(encoder\.)?layer\d+\.\w+\.", value.address)
    assert sub_layer
    ahead, found = [value], set[str]()
    while ahead:
        for read in producers[ahead.pop()].inputs:
            if read.address.startswith(sub_layer[0]):
                ahead.append(read)
            elif ENDS.search(read.address) and read.address != "encoder.output":
                found.add(read.address)
    assert len(found) == 1, found
    return found


def traced_in(scenario: Scenario, in_parallel: bool) -> Trace:
    if not in_parallel:
        return traced_or_rejected(scenario)
    with parallel():
        return traced_or_rejected(scenario)


# --- the order of recording ----------------------------------------------------------------------


@several
@given(
    scenario=scenarios(epsilons=SMALL) | scenarios(epsilons=SMALL, encoder=True, encodes=True),
    in_parallel=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_another_order_of_recording_changes_nothing(
    scenario: Scenario, in_parallel: bool, seed: int
) -> None:
    ran = traced_in(scenario, in_parallel)
    other = shuffled(ran, Random(seed))
    assert symbols(other.records) == symbols(ran.records)
    assert formulas(other) == formulas(ran)
    assert drawn(other) == drawn(ran)
    assert written(other) == written(ran)


def written(ran: Trace) -> object:
    return forward_pass(ran, steps(ran.records), 0, whole=True).sections


@several
@given(scenario=learning_scenarios(), seed=st.integers(0, 10**6))
def test_the_way_back_has_the_same_formulas(scenario: Scenario, seed: int) -> None:
    try:
        ran = trace("small", parse(to_yaml(scenario), "small.yaml"), PassOptions(gradients=True))
    except TracerError:  # a norm of equal numbers has no slope
        reject()
    other = shuffled(ran, Random(seed))
    assert symbols(other.records) == symbols(ran.records)
    assert formulas(other) == formulas(ran)


# --- a parallel block ----------------------------------------------------------------------------


def ffn_first(record: Record) -> float:
    return ".ffn." not in record.output.address


def attention_first(record: Record) -> float:
    return ".attention." not in record.output.address


def sums_last(record: Record) -> float:
    return record.output.address.endswith("residual")


ORDERS = pytest.mark.parametrize("rank", [None, ffn_first, attention_first, sums_last])


def in_order(ran: Trace, rank: object) -> Trace:
    return recorded_by(ran, rank) if callable(rank) else ran


@ORDERS
def test_a_parallel_ffn_in_symbols(rank: object) -> None:
    with parallel():
        ran = in_order(traced(changed()), rank)
    assert formulas(ran) == {
        **formulas(ran),
        "layer1.attention.residual": "x₁ = X′ + Attention(X′)",
        "layer1.ffn.hidden": "h = X′ · W₁",
        "layer1.ffn.output": "FFN(X′) = a · W₂",
        "layer1.ffn.residual": "x₂ = x₁ + FFN(X′)",
    }
    assert formulas(in_order(traced(changed()), rank))["layer1.ffn.residual"] == "x₂ = x₁ + FFN(x₁)"


@ORDERS
def test_a_parallel_ffn_in_pictures(rank: object) -> None:
    """Its lines come from the sub-layer's input, and from what attention has left to its sum."""
    with parallel():
        beside = drawn(in_order(bundled("alex"), rank))
    behind = drawn(in_order(bundled("alex"), rank))
    for of, read in ((beside, {"X + P"}), (behind, {"LayerNorm"})):
        for lines in (
            *(in_characters(characters.in_characters(of, width)) for width in (40, 80, 120)),
            in_latex(latex.in_latex(of, str)),
        ):
            assert lines.into("· W₁") == read
            assert lines.around_to("+") == {"LayerNorm"}
    assert "FFN of X + P: · W₁" in as_svg.description(beside)
    assert "· W₂, the result of the part before is added" in as_svg.description(beside)
    assert "FFN: · W₁" in as_svg.description(behind)


def test_a_parallel_ffn_in_texts(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with parallel():
        shown = printed("run", "alex")
        tutorial = printed("tutorial", "alex", "--detail", "full", "--format", "terminal")
        printed("page", "alex", "-o", str(page))
    assert "x₁ is added to the sub-layer's output." in shown
    assert "r₂ (4 × 6) = x₁ + FFN(X′)" in shown
    assert "h is computed from X′ (step 3)." in tutorial
    assert "r₂ is computed from x₁ (step 21) and FFN(X′) (step 24)." in tutorial
    read = re.findall(r'data-from="(\d+)" data-to="22"', page.read_text())
    assert read == ["3"]
    shown = printed("run", "alex")
    assert "The sub-layer's output is added to the vector of “Alex”." in shown
    assert "x₁ is added" not in shown


def test_layers_wired_in_another_way_are_not_alike() -> None:
    head, _, layer = changed().partition("layers:\n")
    layer = layer.replace("W_Q: [[1], [2]]", "W_Q: [[0], [0]]")  # no score is too large
    yaml = f"{head}layers:\n{layer * 3}"
    for layers, expected in (((), [1]), ((2, 3), [1, 2]), ((2,), [1, 2, 3]), ((9,), [1])):
        with parallel(*layers):
            assert [layer.first for layer in drawn(traced(yaml)).decoder.layers] == expected


# --- what is alike -------------------------------------------------------------------------------

ATTENTION = "heads: [{W_Q: [[1], [2]], W_K: [[3], [4]], W_V: [[1, 0], [0, 1]]}]"
FFN = "W_1: [[1], [2]], W_2: [[1, 2]]"
NORM = "norm: {epsilon: 0.1}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"ffn: {{{FFN}, activation: gelu}}", f"ffn: {{{FFN}, activation: gelu_tanh}}"),
        (f"ffn: {{{FFN}, {NORM}}}", f"ffn: {{{FFN}, norm: {{epsilon: 0.2}}}}"),
        (f"ffn: {{{FFN}, {NORM}}}", f"ffn: {{{FFN}, norm: {{epsilon: 0.1, gain: [1, 1]}}}}"),
        (
            f"ffn: {{{FFN}, {NORM}}}",
            f"ffn: {{{FFN}, norm: {{epsilon: 0.1, epsilon_outside: true}}}}",
        ),
        (f"ffn: {{{FFN}, {NORM}}}", f"ffn: {{{FFN}, norm: {{epsilon: 0.1, deviation: sample}}}}"),
        (f"attention: {{{ATTENTION}}}", f"attention: {{{ATTENTION.replace('}', ', b_Q: [1]}')}}}"),
        (f"attention: {{{ATTENTION}}}", f"attention: {{{ATTENTION}, scale: 3}}"),
    ],
)
@pytest.mark.parametrize("tower", ["decoder", "encoder"])
def test_layers_that_are_worked_in_another_way_are_not_alike(
    one: str, other: str, tower: str
) -> None:
    for layers, expected in (((one, one), [1]), ((one, other), [1, 2]), ((other, other), [1])):
        of = f"layers: [{{{layers[0]}}}, {{{layers[1]}}}]"
        inner = f"tokens: [a, b], embeddings: [[1, 2], [3, 4]], {of}"
        yaml = (
            f"title: T\n{inner.replace(', emb', chr(10) + 'emb').replace(', lay', chr(10) + 'lay')}"
        )
        if tower == "encoder":
            cross = "{W_Q: [[1], [2]], W_K: [[3], [4]], W_V: [[1, 0], [0, 1]]}"
            yaml = (
                "title: T\ntokens: [a]\nembeddings: [[1, 2]]\n"
                f"encoder: {{{inner}}}\nlayers: [{{cross_attention: {{heads: [{cross}]}}}}]\n"
            )
        found = drawn(traced(yaml))
        shown = found.encoder if tower == "encoder" else found.decoder
        assert shown is not None
        assert [layer.first for layer in shown.layers] == expected


def test_heads_that_are_worked_in_another_way_are_not_alike() -> None:
    head = "{W_Q: [[1], [2]], W_K: [[3], [4]], W_V: [[1, 0], [0, 1]]}"
    biased = head.replace("}", ", b_Q: [1]}")
    for heads, alike, words in (
        ([head] * 5, (0,) * 5, "alike"),
        ([head] * 4 + [biased], (0, 0, 0, 0, 4), "4 more"),
    ):
        yaml = (
            "title: T\ntokens: [a, b]\nembeddings: [[1, 2], [3, 4]]\n"
            f"layers: [{{attention: {{heads: [{', '.join(heads)}], residual: false}}}}]\n"
        )
        found = drawn(traced(yaml))
        (inside,) = (x for x in found.decoder.layers[0].parts[0].inside if isinstance(x, Heads))
        assert inside.alike == alike
        narrow = "\n".join(characters.in_characters(found, 40))
        assert words in narrow
        assert ("alike" in narrow) == (words == "alike")
