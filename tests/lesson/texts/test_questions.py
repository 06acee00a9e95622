"""The answers to the questions of a page are right."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.command import run_json
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml, words
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tests.helpers.worksheets import read, told
from tracer.decoder.forward import Trace
from tracer.lesson import document as doc
from tracer.lesson.texts.questions import questions
from tracer.renderers import Format, render

MASK = re.compile(r"Which tokens does the mask hide from `(.*)`\? Answer before you read on\.")
WORD = re.compile(r"Which word will be the most probable one after `(.*)`\?")
WEIGHT = re.compile(
    r"Suppose that the weight of (\S+) in row `(.*)` and column `(.*)` is doubled\. Which of the "
    r"numbers of `(.*)` in (\S+) change, and by how much\?"
)
CHANGE = re.compile(r"`(.+?)` changes(?: from (\S+) to (\S+) \(by (\S+)\)| by ([^\s,]+\d))")
OF_WEIGHTS = re.compile(r"layer1\.attention\.head1\.W_[QKV]|layer1\.ffn\.W_1|unembedding\.W_U")


class Asked(NamedTuple):
    """Questions and their answers, in the order of the text."""

    asked: list[str]
    answers: list[str]


def asked_of(of: Trace, seed: int = 1, token: int = -1) -> Asked:
    found = questions(told(of), of, token % len(of.tokens), seed).values()
    return Asked([written(q.parts) for q in found], [written(q.answer) for q in found])


def written(sentence: doc.Sentence) -> str:
    paragraph = doc.Section(None, "", (doc.Paragraph(sentence),))
    return render(doc.Document("", "", (), (paragraph,), whole=False), Format.MARKDOWN).split("\n")[
        -2
    ]


# --- a judge, from the JSON of two passes --------------------------------------------------------


def judge(sheet: Asked, scenario: str, stdin: str = "", token: int = -1) -> None:
    """Each answer follows from the data of a pass, or from those of one with another weight."""
    values = by_address(run_json(scenario, stdin=stdin))
    for asks, answer in zip(sheet.asked, sheet.answers, strict=True):
        if of_mask := MASK.fullmatch(asks):
            (mask,) = (v for a, v in values.items() if a.split(".")[-1] == "mask")
            rows, columns = (axis["labels"] for axis in mask["axes"])
            row = mask["data"][distinct(rows).index(of_mask[1])]
            hidden = [n for n, x in zip(distinct(columns), row, strict=True) if x == "-inf"]
            assert re.findall("`(.*?)`", answer) == hidden != []
        elif of_word := WORD.fullmatch(asks):
            assert distinct(values["prediction"]["axes"][0]["labels"])[token] == of_word[1]
            assert answer == f"`{values['prediction']['data'][token]}`."
        else:
            of_weight = WEIGHT.fullmatch(asks)
            assert of_weight, asks
            changed(of_weight, answer, values, (scenario, stdin), token)


def changed(
    asks: re.Match[str],
    answer: str,
    values: dict[str, Any],
    scenario: tuple[str, str],
    token: int,
) -> None:
    symbol, row, column, _, of_result = asks.groups()
    [weights] = [v for a, v in values.items() if OF_WEIGHTS.fullmatch(a) and v["symbol"] == symbol]
    [result] = [v for v in values.values() if weights["address"] in v["operands"]]
    assert result["symbol"] == of_result
    rows, columns = (distinct(axis["labels"]) for axis in weights["axes"])
    doubled = [list(each) for each in weights["data"]]
    doubled[rows.index(row)][columns.index(column)] *= 2
    pinned = f"{weights['address']}={doubled}"
    other = by_address(run_json(scenario[0], "--given", pinned, stdin=scenario[1]))
    labels = distinct(result["axes"][1]["labels"])
    (data, printed), (new_data, new_printed) = (
        (value["data"][token], value["printed"][token])
        for value in (result, other[result["address"]])
    )
    expected = {
        label: (before, after) if before != after else ("", "")
        for label, x, y, before, after in zip(
            *(labels, data, new_data, printed, new_printed), strict=True
        )
        if x != y
    }
    said = CHANGE.findall(answer)
    assert {label: (before, after) for label, before, after, *_ in said} == expected
    for label, _, _, *by in said:
        before, after = (float(row[labels.index(label)]) for row in (data, new_data))
        shown = read("".join(by))
        half_a_unit = 0.5 * 10.0 ** int(shown.as_tuple().exponent)
        assert abs(float(shown) - (after - before)) <= half_a_unit + 1e-12
    assert said or answer == "None of them changes."


UNROUNDED = """
title: t
tokens: [a, b]
embeddings: {{a: [1, 1], b: [1, 1]}}
layers:
  - attention: {{residual: false, heads: [{{W_Q: {0}, W_K: {0}, W_V: {0}}}]}}
rounding: {{decimals: 3, carry: never}}
"""


@pytest.mark.parametrize(
    ("weights", "answers"),
    [
        # 1.0001 becomes 1.0002, or 2.0001: the one prints like 1.0001.
        (
            "[[0.0001, 0.0001], [1, 1]]",
            {"changes by 0.00010.", "changes from 1.000 to 2.000 (by 1.000)."},
        ),
        # 0.6666666 becomes 0.9999999: 1.000 - 0.667 is 0.333, like 0.3333333.
        ("[[0.3333333], [0.3333333]]", {"changes from 0.667 to 1.000 (by 0.333)."}),
        # 0.3333 becomes 0.3335: 0.334 - 0.333 would be 0.001.
        ("[[0.0002], [0.3331]]", {"changes from 0.333 to 0.334 (by 0.00020)."}),
    ],
)
def test_a_change_is_computed_from_unrounded_numbers(weights: str, answers: set[str]) -> None:
    scenario = UNROUNDED.format(weights)
    found = set()
    for seed in range(12):
        sheet = asked_of(traced(scenario), seed)
        judge(sheet, "-", stdin=scenario)
        found |= {answer.partition("` ")[2] for answer in sheet.answers if "change" in answer}
    assert answers <= found


def distinct(names: list[str]) -> list[str]:
    """The texts number names that occur twice."""
    twice = len(set(names)) < len(names)
    return [
        f"{n} ({i})" if twice and names.count(n) > 1 else n for i, n in enumerate(names, start=1)
    ]


def by_address(document: Any) -> dict[str, Any]:
    return {value["address"]: value for value in document["values"]}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["alex", "science"])
def test_bundled_scenarios(name: str, seed: int) -> None:
    found = asked_of(bundled(name), seed)
    assert len(found.asked) == (3 if name == "science" else 2)
    judge(found, name)


def test_the_followed_token_is_the_one_asked_for() -> None:
    found = asked_of(bundled("pizza"), seed=3, token=3)
    assert sum("`la`" in asks for asks in found.asked) >= 1
    judge(found, "pizza", token=3)


# --- where there is nothing to ask ---------------------------------------------------------------

SMALL = """
title: {title}
intro: {intro}
tokens: [a, b, c]
embeddings: {{a: [1, 2], b: [2, 1], c: [1, 3]}}
mask: {mask}
layers: [{{attention: {{heads: [{{W_Q: identity, W_K: identity, W_V: identity}}]}}}}]
vocabulary: [here, there]
unembedding: {{W_U: {columns}}}
summary: |
  It comes out here.

  It is all over.
"""


def small(
    title: str = "t", intro: str = "i", mask: str = "causal", columns: str = "[[1, 0], [2, 1]]"
) -> Trace:
    return traced(SMALL.format(title=title, intro=intro, mask=mask, columns=columns))


def kinds_of(of: Trace) -> str:
    """m for the mask, w for a word, d for a doubled weight."""
    starts = {"Which tokens": "m", "Which word w": "w", "Suppose that": "d"}
    return "".join(sorted(starts[asks[:12]] for asks in asked_of(of).asked))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "dmw"),
        ({"columns": "[[1, 1], [2, 2]]"}, "dm"),
        ({"mask": "[[0, -inf, 0], [0, 0, 0], [0, 0, 0]]"}, "dw"),
        ({"mask": "none"}, "dw"),
        ({"mask": "{window: 1}"}, "dmw"),
        ({"title": "Why here"}, "dm"),
    ],
)
def test_what_has_an_answer_is_asked(changed: dict[str, str], expected: str) -> None:
    assert kinds_of(small(**changed)) == expected


# --- many ----------------------------------------------------------------------------------------

MANY = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = scenarios(names=words(), epsilons=("0.1",), max_layers=1, max_tokens=4, all_digits=True)


@MANY
@given(scenario=KINDS, seed=st.integers(0, 9))
def test_random_answers(scenario: Scenario, seed: int) -> None:
    judge(asked_of(traced_or_rejected(scenario), seed), "-", to_yaml(scenario))
