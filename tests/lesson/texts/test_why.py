"""`why`: the way back from a number to what was typed, every line of it true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.helpers.command import printed, run
from tests.helpers.expressions import numbers
from tests.helpers.origins import levels, origin
from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tests.helpers.truth import equations, false_equations, unreadable
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.operations import ArgMax, Given, Pinned
from tracer.decoder.training import TrainingOptions, train
from tracer.decoder.value import Entry
from tracer.errors import TracerError
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.texts.lookup import find
from tracer.lesson.texts.why import why
from tracer.renderers import Format, render
from tracer.requests.resolve import Engine, Subject
from tracer.scenario.loading import load, parse
from tracer.scenario.optimizer import Optimizer

WIDE = 1000
"""Columns enough for every line to be one."""
HEAD = "layer1.attention.head1"


@cache
def with_loss(name: str) -> Trace:
    """A pass with all that a bundled scenario can say: the loss, and what the mask hides."""
    learns = name in ("pizza", "comics")
    scenario = Engine().load(Subject(name, options=PassOptions(loss=learns))).scenario
    return trace(name, scenario, PassOptions(unmasked=True, loss=learns))


def entries(of: Trace) -> list[Entry]:
    indices = ((value, np.ndindex(value.numbers.shape)) for value in of.values.values())
    return [Entry(value, index) for value, all_of_it in indices for index in all_of_it]


def some(of: list[Entry], most: int) -> list[Entry]:
    """Entries at equal distances, the last of all among them."""
    return of[:: -max(1, -(-len(of) // most))]


def lines(section: doc.Section) -> list[doc.Line]:
    return [
        line for block in section.blocks if isinstance(block, doc.Working) for line in block.lines
    ]


def of_line(line: doc.Line) -> Entry:
    """The entry that a line is about: it stands last."""
    last = line.chain.sides[-1]
    assert isinstance(last, Number) and isinstance(last.entry, Entry)
    return last.entry


def told(document: doc.Document) -> list[list[Entry]]:
    """The entries that have a line, section by section."""
    return [
        [of_line(line) for line in lines(section)] + shown(section) for section in document.sections
    ]


def shown(section: doc.Section) -> list[Entry]:
    """The entries that are shown without a line: in a part of their matrix."""
    return [number.entry for number in in_matrices(section) if number.entry]


def in_matrices(section: doc.Section) -> list[Number]:
    matrices = [block for block in section.blocks if isinstance(block, doc.Matrix)]
    cells = [cell for matrix in matrices for row in matrix.cells for cell in row]
    return [cell for cell in cells if isinstance(cell, Number)]


def text(document: doc.Document) -> str:
    return render(document, Format.TERMINAL, width=WIDE)


def assert_true(document: doc.Document) -> None:
    shown = text(document)
    assert unreadable(shown) == []
    assert false_equations(shown) == []


def assert_whole(of: Trace, entry: Entry) -> None:
    """Every number that it comes from has its line, as near as it can be, and once."""
    document = why(of, entry)
    assert_true(document)
    found, expected = told(document), levels(of, entry)
    assert all(len(level) == len(set(level)) for level in found)
    if entry.value.role.words:
        # A word has a sentence, and then the number by which it was chosen.
        (sentence,) = document.sections[0].blocks
        assert isinstance(sentence, doc.Paragraph)
        assert found[0] == []
        assert list(map(set, found[1:])) == expected[1:]
    else:
        # Under another name a number may have a line of its own, before the line it comes from.
        moved = entry != origin(of, entry) and found[0] == [entry]
        assert list(map(set, found[1:] if moved else found)) == expected
    titles = ["The number", "1 step back", *(f"{n} steps back" for n in range(2, len(found)))]
    assert [section.title for section in document.sections] == titles[: len(found)]


# --- every number --------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["alex", "science", "pizza", "comics"])
def test_every_number_of_a_bundled_scenario(scenario: str) -> None:
    ran = with_loss(scenario)
    every = entries(ran)
    for entry in some(every, 40):
        assert why(ran, entry, 1).sections[0].blocks
    for entry in some(every, 10):
        assert_true(why(ran, entry, 1))
    for entry in some(every, 2):
        assert_whole(ran, entry)


MOVED = {
    "science": {"kind": "adamw", "weight_decay": "0.1", "clip": "0.1"},
    "comics": {"momentum": "0.5", "weight_decay": "0.1"},
}


@pytest.mark.parametrize("name", MOVED)
def test_every_number_of_training(name: str) -> None:
    scenario = load(name).scenario
    options = TrainingOptions(Optimizer.model_validate(MOVED[name]))
    (ran,) = train(name, scenario, options).steps
    every = [entry for entry in entries(ran) if entry.value.place.phase != "forward"]
    for entry in some(every, 15):
        assert_true(why(ran, entry, 0))
    for entry in some(every, 2):
        assert_whole(ran, entry)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_layers=1, max_tokens=3, all_digits=True))
def test_every_number_of_a_random_scenario(spec: dict[str, Any]) -> None:
    ran = traced_or_rejected(spec)
    every = entries(ran)
    for entry in every:
        assert why(ran, entry, 0).sections[0].blocks
    for entry in some(every, 8):
        assert_whole(ran, entry)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_layers=1, max_tokens=3, speaks=True, epsilons=("0.1",), padded=True))
def test_padding_the_loss_and_what_the_mask_hides(spec: dict[str, Any]) -> None:
    scenario = parse(to_yaml(spec), "small.yaml")
    try:
        ran = trace("small", scenario, PassOptions(unmasked=True, loss=True))
    except TracerError as error:
        assert "no position has a next token" in str(error) or "too large" in str(error)
        return
    ends = ("masked", "weights", "exp", "loss", "loss.token", "loss.target", "prediction")
    for entry in some([e for e in entries(ran) if e.value.address.endswith(ends)], 20):
        assert_whole(ran, entry)


# --- the way back from a number of alex ----------------------------------------------------------


def typed(document: doc.Document, ran: Trace) -> Iterator[str]:
    """The given numbers that are shown, with their addresses."""
    for section in document.sections:
        for number in in_matrices(section):
            assert number.entry
            if isinstance(ran.producers[number.entry.value].operation, Given):
                yield f"{number.entry.value.address} {number.value}"


def test_the_way_back_ends_at_typed_numbers_only() -> None:
    alex = bundled("alex")
    document = why(alex, find(alex, "layer1.ffn.norm[Alex,spicy]"))
    everything = [entry for level in told(document) for entry in level]
    ends = [entry for entry in everything if not levels(alex, entry)[1:]]
    addresses = {entry.value.address for entry in ends}
    head = "layer1.attention.head"
    assert addresses == {
        *("embedding", "position.index", "position.div_term", "mask", f"{head}1.d_k"),
        *(f"{head}2.d_k", "layer1.attention.W_O", "layer1.ffn.W_1", "layer1.ffn.W_2"),
        *(f"{head}{n}.W_{letter}" for n in (1, 2) for letter in "QKV"),
    } - {"mask"}  # from Alex, who comes last, nothing is hidden
    # All four tokens are seen, with all six features; and they stand there as they were typed.
    said = set(typed(document, alex))
    rows = alex.scenario.embeddings
    assert isinstance(rows, dict)
    assert {f"embedding {x}" for row in rows.values() for x in row} <= said
    assert {"layer1.attention.W_O 1.20", "layer1.ffn.W_1 0.8"} <= said
    assert {f"position.index {n}" for n in (1, 2, 3, 4)} <= said
    assert sum(entry.value.address == "embedding" for entry in ends) == 4 * 6
    assert sum(entry.value.address == "layer1.attention.W_O" for entry in ends) == 5 * 6


def told_numbers(section: doc.Section) -> set[Decimal]:
    """The results of a section's lines, and the numbers that it shows without a line."""
    results = {n.value for line in lines(section) for n in numbers(line.chain.sides[-1])}
    return results | {number.value for number in in_matrices(section)}


def test_what_a_line_puts_in_has_its_own_line_a_step_further_back_or_before() -> None:
    alex = bundled("alex")
    document = why(alex, find(alex, "layer1.ffn.norm[Alex,vibe]"))
    results: set[Decimal] = set()
    for section, following in zip(document.sections, [*document.sections[1:], None], strict=True):
        results |= told_numbers(section)
        there = results | (told_numbers(following) if following else set())
        for line in lines(section):
            if len(line.chain.sides) > 1:
                put_in = {n.value for n in numbers(line.chain.sides[0]) if n.entry}
                assert put_in <= there, line


def test_the_nearest_come_first() -> None:
    shown = printed("why", "layer1.attention.norm[Alex,spicy]", "--depth", "2", width=200)
    # μ comes from all of r₁, which stands nearer already in part.
    assert re.findall(
        r"^(?:The number|.* back|.*, step \d+:|.*, given:)$", shown, re.MULTILINE
    ) == [
        *("The number", "x₁, layer1.attention.norm, step 21:"),
        "1 step back",
        "r₁ - μ, layer1.attention.norm.deviation, step 21:",
        "σ, layer1.attention.norm.std, step 21:",
        "2 steps back",
        "r₁, layer1.attention.residual, step 20:",
        "μ, layer1.attention.norm.mean, step 21:",
        "σ², layer1.attention.norm.variance, step 21:",
    ]
    assert [e.left for e in equations(shown)][:3] == [
        *("-0.4975 / 1.413430", "5.037 - 5.5345", "√1.997785")
    ]


# --- how far back --------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2, 5, 99])
def test_depth(depth: int) -> None:
    alex = bundled("alex")
    entry = find(alex, f"{HEAD}.weights[Alex,Frank]")
    whole = why(alex, entry).sections
    assert len(whole) > 5
    assert why(alex, entry, depth).sections == whole[: depth + 1]
    shown = printed("why", f"{HEAD}.weights[Alex,Frank]", "--depth", str(depth), width=WIDE)
    assert shown == text(why(alex, entry, depth))


def test_depth_0_is_the_line_alone() -> None:
    shown = printed("why", f"{HEAD}.weights[Alex,Frank]", "--depth", "0")
    assert shown.split("\n\n") == [
        f"Where {HEAD}.weights[Alex,Frank] comes from",
        f"The number\n{'─' * 80}",
        f"A¹, {HEAD}.weights, step 9:",
        "    Alex, Frank: 105135 / 109078 ≈ 0.964",
        "",
    ]


def test_a_depth_below_0_is_refused() -> None:
    assert run("why", "input[1,1]", "--depth", "-1").exit_code == 2


# --- under another name --------------------------------------------------------------------------

RENAMED = {
    "output[Alex,spicy]": "layer1.ffn.norm[Alex,spicy]",
    "layer1.attention.concat[Alex,info-upscale]": f"{HEAD}.output[Alex,info-upscale]",
    "layer1.attention.concat[2,5]": "layer1.attention.head2.output[2,2]",
    f"{HEAD}.masked[Alex,Emma]": f"{HEAD}.scores[Alex,Emma]",
    "position[Daniel,cozy]": "position.sin[3,2]",
    "position[Daniel,fast]": "position.cos[3,2]",
}


@pytest.mark.parametrize("asked", RENAMED)
def test_a_number_under_another_name_comes_from_where_it_was_computed(asked: str) -> None:
    alex = bundled("alex")
    renamed, first = find(alex, asked), find(alex, RENAMED[asked])
    lines_of_first = told(why(alex, first))
    found = told(why(alex, renamed))
    if found[0] == [renamed]:
        del found[0]
    assert found == lines_of_first
    assert "given" not in text(why(alex, renamed, 0))


# --- words, what is hidden, what is given --------------------------------------------------------


def test_words() -> None:
    science = bundled("science")
    shown = text(why(science, find(science, "prediction[science]")))
    # 8.9 and 6.1 of 2.8 and 2.8; the largest of 455 / 7803.1, 16.1 / 7803.1 and 7332 / 7803.1.
    assert "“is” is chosen; its p is 0.94." in shown
    assert "science, is: 7332 / 7803.1 ≈ 0.94\n" in shown
    assert shown.index("is chosen;") < shown.index("1 step back") < shown.index("7332 / 7803.1")
    assert "“like” is given." in text(why(science, find(science, "tokens[like]")))
    assert "“like” is given." in printed("why", "tokens[like]", "-s", "science")


def test_what_a_word_was_chosen_by_is_the_largest() -> None:
    for name in ("science", "pizza", "comics"):
        ran = with_loss(name)
        said, p = ran["prediction"], ran["probabilities"]
        assert isinstance(ran.producers[said].operation, ArgMax)
        for i, word in enumerate(said.numbers):
            _, (chosen_by,) = told(why(ran, Entry(said, (i,)), 1))
            assert chosen_by.value is p
            assert p.axes[1].labels[chosen_by.at[1]] == word
            assert p.computed[chosen_by.at] == max(p.computed[i])


def test_what_is_masked() -> None:
    shown = printed("why", f"{HEAD}.masked[Frank,Emma]", "--depth", "1", width=200)
    assert "    Frank, Emma: 13.193 + (-∞) = -∞\n" in shown
    assert re.search(r"^  M +Emma\n  Frank +-∞$", shown, re.MULTILINE)
    assert ") / √2 = 18.658 / √2 ≈ 13.193\n" in shown
    shown = printed("why", f"{HEAD}.weights[Frank,Emma]", "--depth", "1", width=200)
    assert re.search(r"^    Frank, Emma: 0 / [0-9.×⁰-⁹¹²³]+ = 0$", shown, re.MULTILINE)
    assert "    Frank, Emma: e^(-∞) = 0\n" in shown


HIDDEN_ROW = """\
title: The first token only fills up
tokens: [fill, a]
padding: fill
embeddings: [[1, 2], [3, 4]]
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1], [1]]}]
      W_O: [[1, 0.5]]
vocabulary: [a, b]
unembedding: {W_U: [[1, 0], [0, 1]]}
"""


def test_a_row_that_is_hidden_as_a_whole() -> None:
    ran = traced(HIDDEN_ROW)
    for key in ("fill", "a"):
        entry = find(ran, f"{HEAD}.weights[fill,{key}]")
        document = why(ran, entry)
        assert_true(document)
        assert len(document.sections) == 1
        assert re.search(rf"^  A +{key}\n  fill +0$", text(document), re.MULTILINE)
    # It gathers nothing: 0 times each value.
    assert "0×3.000 + 0×7.000 = 0 + 0 = 0\n" in text(
        why(ran, find(ran, f"{HEAD}.output[fill,v₁]"), 0)
    )


def test_the_loss() -> None:
    ran = trace(
        "small", parse(HIDDEN_ROW + "targets: [a, b]\n", "small.yaml"), PassOptions(loss=True)
    )
    # Only “a” has a next word that counts: its loss is the mean.
    assert ran["loss.target"].numbers[1] == "b"
    shown = text(why(ran, find(ran, "loss")))
    assert unreadable(shown) == [] == false_equations(shown)
    (value,) = (n for n in ran["loss"].numbers.flat)
    assert re.search(rf"^    L = \S+ ≈ {re.escape(str(value))}$", shown, re.MULTILINE)
    assert re.search(r"^    .*-ln\(.*\) ≈ ", shown, re.MULTILINE)
    assert "“b” is given." in text(why(ran, find(ran, "loss.target[2]")))
    # No word is right at a position that only fills up: there the loss is 0, and has no line.
    document = why(ran, find(ran, "loss.token[1]"))
    assert len(document.sections) == 1
    assert re.search(r"^ +—\n  ℓ  0$", text(document), re.MULTILINE)


PINNED = HIDDEN_ROW.replace("padding: fill\n", "") + (
    "given: {layer1.attention.output: [[0.50, 1], [2, 2.5]]}\n"
)


def test_what_is_pinned_ends_the_way() -> None:
    ran = traced(PINNED)
    document = why(ran, find(ran, "layer1.attention.residual[a,1]"))
    assert [{entry.value.address for entry in level} for level in told(document)] == [
        {"layer1.attention.residual"},
        {"input", "layer1.attention.output"} - {"input"} | {"embedding"},
    ]
    assert isinstance(ran.producers[ran["layer1.attention.output"]].operation, Pinned)
    shown = text(why(ran, find(ran, "layer1.attention.output[fill,1]")))
    assert "Attention(X′), layer1.attention.output, given:" in shown
    assert re.search(r"^  Attention\(X′\) +d₀\n  fill +0\.50$", shown, re.MULTILINE)


# --- on the command line -------------------------------------------------------------------------


def test_options() -> None:
    exact = printed("why", "input[Alex,spicy]", "--depth", "0", "--decimals", "2", width=200)
    assert "    Alex, spicy: 0.98 + (-0.76) = 0.22\n" in exact
    given_it = ("--given", "position=[[1,1,1,1,1,1],[1,1,1,1,1,1],[1,1,1,1,1,1],[0.5,1,1,1,1,1]]")
    shown = printed("why", "input[Alex,spicy]", *given_it)
    assert "Alex, spicy: 0.98 + 0.5 = 1.480\n" in shown
    assert "P, position, given:" in shown
    sequence = printed("why", "layer1.attention.residual[1,1]", "-s", "comics", "--sequence", "2")
    assert sequence.startswith("Where layer1.attention.residual[")
    without = printed("why", f"{HEAD}.unmasked.weights[1,4]", "--depth", "0")
    assert f"U¹, {HEAD}.unmasked.weights, step " in without


def test_json_is_either_made_or_refused_in_a_line() -> None:
    ran = run("why", f"{HEAD}.weights[Alex,Frank]", "-f", "json")
    if ran.exit_code:
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert ran.stderr.count("\n") == 1
    else:
        assert json.loads(ran.stdout)["schema"] == 1


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("layer1.attention.head1.weihgts[1,1]", "layer1.attention.head1.weihgts: no such value"),
        (f"{HEAD}.weights[Alex]", f"{HEAD}.weights: got [Alex], expected [token,key], such as"),
        (f"{HEAD}.weights[Alex,Frnak]", f"{HEAD}.weights: no key 'Frnak'; did you mean 'Frank'?"),
        ("", "got '', expected ADDRESS[ROW,COLUMN]"),
    ],
)
def test_what_is_not_there(asked: str, told: str) -> None:
    ran = run("why", asked)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(told)
    assert ran.stderr.count("\n") == 1


LARGE = """
title: t
tokens: [a, b, c]
dimensions: {layers: 2, width: 16, heads: 2, words: 30, context: 9, biases: false}
random: {seed: 1}
"""


@pytest.mark.parametrize(("terms", "shown"), [((), 4), (("--terms", "7"), 7)])
def test_of_a_large_model_the_written_terms_are_followed(
    terms: tuple[str, ...], shown: int
) -> None:
    def asked(*options: str) -> list[str]:
        back = ("why", "logits[c,w20]", "-s", "-", *terms, *options)
        return printed(*back, width=WIDE, stdin=LARGE).split("\n\n\n")

    first, *_, last, left = asked()
    assert len(re.findall(r"×", first.split("≈")[0])) == shown
    assert last.startswith("3 steps back\n")
    (further,) = re.findall(r"(\d+) more numbers lead further back: --depth 4 shows them", left)
    deeper = asked("--depth", "4")[-2]
    assert deeper.startswith("4 steps back\n")
    lines = re.findall(r"^ {4}\S.*[=≈]", deeper, re.M)
    rows = re.findall(r"^  \S+((?: +-?[0-9][^ ]*)+)$", deeper, re.M)
    assert len(lines) + sum(len(row.split()) for row in rows) == int(further)


def test_all_of_a_large_model_is_followed_if_it_is_asked_for() -> None:
    entry = ("why", "layer1.attention.head1.scores[b,a]", "-s", "-")
    text = printed(*entry, "--depth", "99", "--terms", "99", stdin=LARGE)
    assert "What is left out" not in text
