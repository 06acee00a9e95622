"""Three lengths of a text: how long they are, and that the shorter ones are parts of the full one.

The sentences, lines and rows of the full text are judged elsewhere (`test_every_claim`).
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings

from tests.helpers.command import printed, run
from tests.helpers.continuity import misplaced, violations
from tests.helpers.every_judge import ONE_LINE, not_refused
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.lengths import not_in_full
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.whole_scenarios import plain_and_written

MOST_LINES = {
    **{("alex", "short"): 150, ("pizza", "short"): 200, ("alex", "normal"): 900},
    ("pizza", "normal"): 1400,
}


@pytest.mark.parametrize(("name", "detail"), MOST_LINES)
def test_a_text_is_as_long_as_its_detail_allows(name: str, detail: str) -> None:
    text = printed("tutorial", name, "--detail", detail)
    assert len(text.splitlines()) <= MOST_LINES[name, detail]


@pytest.mark.parametrize("name", ["alex", "science", "pizza", "comics", "picture", "experts"])
@pytest.mark.parametrize("detail", ["short", "normal"])
def test_a_shorter_text_is_a_part_of_the_full_one(name: str, detail: str) -> None:
    assert wrong(detail, name) == []


@settings(max_examples=8, deadline=None)
@given(plain_and_written())
def test_shorter_texts_of_random_scenarios(drawn: tuple[Scenario, Scenario]) -> None:
    stdin = to_yaml(drawn[1])
    if run("run", "-", stdin=stdin).exit_code:
        return
    for detail in ("short", "normal"):
        assert wrong(detail, "-", stdin) == []
        assert misplaced_references(detail, stdin) == []
        rounding = drawn[1].get("rounding", {})
        if rounding.get("carry") != "never" and "dimensions" not in drawn[1]:
            assert violations(run("run", "-", "--detail", detail, stdin=stdin).stdout) == []


def test_the_rest_of_the_layer_shows_the_results_of_its_steps() -> None:
    """The last row of the table is the output, and each residual connection adds two others."""
    text = printed("tutorial", "alex", "--detail", "short", "-f", "markdown")
    _, rest = text.split("## The rest of the layer")
    rows = [row[1:-1].split(" | ") for row in re.findall(r"^\|.*\|$", rest, re.MULTILINE)]
    numbers = {row[0].strip(): [Decimal(each) for each in row[1:]] for row in rows[2:]}
    found = json.loads(printed("run", "alex", "-f", "json"))["values"]
    output = next(value["printed"] for value in found if value["address"] == "output")
    x, attention, first, norm, ffn, second, last = numbers.values()
    assert last == [*map(Decimal, output[3])]
    for total, *terms in ((first, x, attention), (second, norm, ffn)):
        sums = map(sum, zip(*terms, strict=True))
        assert all(abs(a - b) <= Decimal("0.001") for a, b in zip(total, sums, strict=True))


LEARN = ("alex-learns", "pizza", "comics", "experts", "picture")


@pytest.mark.parametrize("name", LEARN)
@pytest.mark.parametrize("detail", ["short", "normal"])
def test_a_shorter_backward_pass_is_a_part_of_the_full_one(name: str, detail: str) -> None:
    assert wrong(detail, name, command="train") == []
    assert violations(printed("train", name, "--detail", detail)) == []


@settings(max_examples=2, deadline=None)
@given(learning_scenarios("step", any_loss=True))
def test_shorter_backward_passes_of_random_scenarios(spec: Scenario) -> None:
    stdin = to_yaml(spec)
    for detail in ("short", "normal"):
        assert wrong(detail, "-", stdin, "train") == []
        full, shorter = (
            violations(run("train", "-", "--detail", length, stdin=stdin).stdout)
            for length in ("full", detail)
        )
        # The 0 of a target that is not the correct word may be the first 0 of a text.
        assert {each.text for each in shorter} <= {each.text for each in full}


IN_BLOCKS = """
title: A block repeats another
tokens: [a, b, c]
mask: none
layers:
  - attention:
      blocks: 3
      heads: [{Q: [[1], [2], [1]], K: [[0], [1], [2]], V: [[1, 0], [0, 1], [3, 1]]}]
rounding: {decimals: 3}
"""


def test_a_repeated_step_shows_what_later_steps_read() -> None:
    """The last step of blocks divides by the sum of the last block, which repeats the second."""
    text = text_of("normal", "-", IN_BLOCKS)
    assert "O₃ is computed as in step " in text
    assert (violations(text), misplaced(text)) == ([], [])


ADDING = """
tokens: [a, b, c]
embeddings: {a: [1, 0.5], b: [0.2, -1], c: [0.7, 0.3]}
mask: [[0, -99, -99], [0.5, 0, -99], [1, -0.25, 0]]
layers:
  - attention:
      heads: [{W_Q: [[1, 0.2], [0, 1]], W_K: [[0.5, 1], [1, 0]], W_V: [[1, 0], [0, 1]]}]
"""


def test_a_short_text_shows_a_mask_that_adds_numbers() -> None:
    """It hides no token from the last one; its lines have numbers of the mask."""
    text = text_of("short", "-", ADDING)
    assert "0.806 + 1 " in text
    assert violations(text) == []


ROUNDED = """
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [0.25, 1]}
layers:
  - attention:
      scale: none
      residual: false
      heads: [{W_Q: [[1], [0.5]], W_K: [[0.5], [1]], W_V: [[1], [0]]}]
rounding: {decimals: 3, digits: {"*.masked": 2}}
"""


def test_a_short_text_shows_masked_scores_with_digits_of_their_own() -> None:
    """The mask hides no token from the last one; e to the power of its scores is of 0.84."""
    text = text_of("short", "-", ROUNDED)
    assert "e^0.84 " in text and re.search(r"^▸ b +0\.75 +0\.84$", text, re.MULTILINE)


def test_a_short_text_has_no_score_of_a_row_that_it_does_not_show() -> None:
    assert "its scores 14.121 and 10.150 remain" in text_of("normal", "alex", "")
    assert "14.121" not in text_of("short", "alex", "")


def test_a_short_text_refers_to_no_step() -> None:
    assert not re.search(r"\bstep \d", text_of("short", "-", IN_BLOCKS))


def wrong(detail: str, name: str, stdin: str = "", command: str = "tutorial") -> list[str]:
    """The sentences and lines of a shorter text that the full one does not have."""
    shorter, full = (text_of(length, name, stdin, command) for length in (detail, "full"))
    return not_in_full(shorter, full, detail)


def text_of(detail: str, name: str, stdin: str, command: str = "tutorial") -> str:
    asked = (command, name, "--detail", detail, "--format", "terminal")
    ran = run(*asked, width=ONE_LINE, stdin=stdin)
    assert not not_refused(ran)
    return unbroken(ran.stdout)


def misplaced_references(detail: str, stdin: str) -> list[str]:
    """The sections of repeated steps that refer to other steps than those of the same names."""
    table = run("steps", "-", stdin=stdin).stdout
    names = {int(n): name for n, name in re.findall(r"^ *(\d+) +(\S+)", table, re.MULTILINE)}
    text = unbroken(run("run", "-", "--detail", detail, width=5000, stdin=stdin).stdout)
    form = (
        r"^(\d+)(?:–(\d+))? · [^\n]*\n─+\n+"
        r"(?:The same as |[^\n]* is computed as in )([^\n.]*?)(?:, with other numbers)?\.$"
    )
    found = []
    for first, last, said in re.findall(form, text, re.MULTILINE):
        own = {names[n] for n in range(int(first), int(last or first) + 1)}
        meant: set[str] = set()
        for start, end in re.findall(r"step (\d+)(?: to step (\d+))?", said):
            meant |= {names[n] for n in range(int(start), int(end or start) + 1)}
            assert int(end or start) < int(first)
        found += [f"{first}: {said}"] if own != meant else []
    return found


NORMS = """
title: norms with fewer parameters than one before them
tokens: [a, b]
embeddings: {a: [1, 2], b: [0, 1]}
layers:
"""
FFN = "  - ffn: {{W_1: identity, W_2: identity, norm: {}}}\n"


@pytest.mark.parametrize(
    "norms, said",
    [
        (
            ("{gain: [2, 3], shift: [1, 0]}", "{gain: [2, 3]}", "{}"),
            [("x₂", "7", ", but without β."), ("x₃", "7", ", but without γ and β.")],
        ),
        (
            (
                "{kind: rms_norm, gain: [2, 3], unit_offset: true}",
                "{kind: rms_norm, gain: [2, 3]}",
                "{kind: rms_norm}",
            ),
            [("x₃", "7", ", but without γ.")],
        ),
        (
            ("{gain: [2, 3]}", "{shift: [1, 0]}", "{gain: [2, 3], shift: [1, 0]}"),
            [],
        ),
    ],
)
def test_a_norm_says_which_parameters_it_lacks_beside_the_one_it_refers_to(
    norms: tuple[str, ...], said: list[tuple[str, str, str]]
) -> None:
    """1 + γ is not γ, and no earlier norm may have both γ and β: such a norm is worked anew."""
    text = text_of("normal", "-", NORMS + "".join(map(FFN.format, norms)))
    assert re.findall(r"(x\S) is computed as in step (\d+)(.*)", text) == said


def test_a_layer_behind_layers_that_are_alike_is_drawn_above_them() -> None:
    norms = ("{gain: [2, 3]}", "{}", "{}", "{kind: rms_norm}")
    text = text_of("normal", "-", NORMS + "".join(map(FFN.format, norms)))
    drawing = text.partition("Read the diagram")[2].partition("Its sizes")[0]
    names = re.findall(r"LayerNorm|RMSNorm|layers? \d[^│┄]*", drawing)
    assert names[0] == "RMSNorm" and "LayerNorm" in names and "layers 2 to 3" not in drawing


def test_a_mask_whose_numbers_have_other_digits_is_shown() -> None:
    """The score 0.800 is put in as 0.80, which stands in the matrix of the masked scores alone."""
    scenario = """\
title: Other digits
tokens: [a]
embeddings: [[1, 0.5]]
layers:
- attention:
    residual: false
    heads: [{W_Q: [[0.4], [0.8]], W_K: [[1], [0]], W_V: [[1], [1]]}]
rounding: {decimals: 3, carry: line, trailing_zeros: keep, digits: {"*.masked": 2}}
"""
    text = printed("tutorial", "-", "--detail", "short", "--format", "terminal", stdin=scenario)
    assert "e^0.80" in text and violations(text) == []
