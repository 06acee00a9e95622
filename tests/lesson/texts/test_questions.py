"""The answers in a worksheet's key are right, and the sheet itself does not give them away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.helpers.command import run, run_json
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml, words
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tests.helpers.worksheets import read, told
from tracer.decoder.forward import Trace
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.texts.questions import with_questions
from tracer.node import found
from tracer.renderers import Format, render

MASK = re.compile(r"Which tokens does the mask hide from `(.*)`\? Answer before you read on\.")
WORD = re.compile(r"Which word will be the most probable one after `(.*)`\? .* calls it `\[A\]`\.")
WEIGHT = re.compile(
    r"Suppose that the weight of (\S+) in row `(.*)` and column `(.*)` is doubled\. Which of the "
    r"numbers of `(.*)` in (\S+) change, and by how much\?"
)
CHANGE = re.compile(r"`(.+?)` changes(?: from (\S+) to (\S+) \(by (\S+)\)| by ([^\s,]+\d))")
OF_WEIGHTS = re.compile(r"layer1\.attention\.head1\.W_[QKV]|layer1\.ffn\.W_1|unembedding\.W_U")


class Sheet(NamedTuple):
    """A worksheet's questions and its key's answers, in the order of the text."""

    asked: list[str]
    answers: list[str]


def sheet_of(folder: Path, scenario: str, *options: str, stdin: str = "") -> Sheet:
    key = folder / "key.txt"
    how = ("--blanks", "--key", str(key), "--force", *options)
    ran = run("tutorial", scenario, *how, stdin=stdin)
    if "nothing to leave out" in ran.stderr:
        reject()
    assert ran.exit_code == 0, ran.stderr
    return Sheet(numbered(ran.stdout), numbered(key.read_text(encoding="utf-8")))


def numbered(text: str) -> list[str]:
    """What begins with Q1., Q2. and so on."""
    each = re.findall(r"^\*\*Q(\d+)\.\*\* (.*)$", text, re.MULTILINE)
    assert [int(number) for number, _ in each] == list(range(1, len(each) + 1))
    return [said for _, said in each]


# --- a judge, from the JSON of two passes --------------------------------------------------------


def judge(sheet: Sheet, scenario: str, stdin: str = "", token: int = -1) -> None:
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
            assert answer == f"`[A]` is `{values['prediction']['data'][token]}`."
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
def test_a_change_is_computed_from_unrounded_numbers(
    weights: str, answers: set[str], tmp_path: Path
) -> None:
    scenario = UNROUNDED.format(weights)
    found = set()
    for seed in range(12):
        sheet = sheet_of(tmp_path, "-", "--seed", str(seed), stdin=scenario)
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
def test_bundled_scenarios(name: str, seed: int, tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, name, "--seed", str(seed), "--level", str(seed))
    assert len(sheet.asked) == (3 if name == "science" else 2)
    judge(sheet, name)


def test_the_followed_token_is_the_one_asked_for(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, "pizza", "--token", "la", "--seed", "3")
    assert sum("`la`" in asks for asks in sheet.asked) >= 1
    judge(sheet, "pizza", token=3)


# --- nothing gives an answer away ----------------------------------------------------------------


def sheet_with(of: Trace, seed: int = 1) -> doc.Document:
    return with_questions(told(of), of, len(of.tokens) - 1, seed)


def questions(part: object) -> list[doc.Question]:
    return list(found(part, doc.Question))


def prediction(sheet: doc.Document) -> str | None:
    """The word that a question asks for."""
    answers = [q.answer for q in questions(sheet) if doc.Name("[A]") in q.parts]
    return next(
        (name.text for a in answers for name in found(a, doc.Name) if name.text != "[A]"), None
    )


def hides(sheet: doc.Document, of: Trace) -> None:
    """No sentence and no cell of a table says the predicted word, or who is hidden from whom."""
    word = prediction(sheet)
    masked = [first_and_all((q.parts, q.answer)) for q in questions(sheet) if "mask" in str(q)]
    axes = [axis for value in of.values.values() for axis in value.axes if axis.name != "word"]
    also = {label for axis in axes for label in axis.labels}
    for block in blocks(sheet):
        if isinstance(block, doc.Paragraph):
            said = block.parts[2:] if block.parts[0] == "After " else block.parts
            assert "mask" not in str(said) or first_and_all(block) not in masked
            if word and (word not in also or said != block.parts):
                assert word not in names_in(said), block
                assert not by_author(block, word) or all_words(block, of), block
                assert "Correct predictions" not in str(said)
        elif isinstance(block, doc.Table) and word:
            for row in block.rows:
                cells = zip(block.header, row, strict=True)
                assert doc.Name(word) not in [c for header, c in cells if header in PREDICTED]


def first_and_all(part: object) -> tuple[set[str], set[str]]:
    names = [name.text for name in found(part, doc.Name)]
    return {*names[:1]}, {*names}


def names_in(part: object) -> set[str]:
    return {name.text for name in found(part, doc.Name)}


PREDICTED = ("comes", "prediction", "output")


def blocks(sheet: doc.Document) -> Iterator[doc.Block]:
    for part in (sheet.introduction, *(section.blocks for section in sheet.sections)):
        for block in part:
            if not isinstance(block, doc.Question):
                yield block


def by_author(block: doc.Paragraph, word: str) -> bool:
    said = " ".join(plain.text for plain in found(block, doc.Plain))
    return re.search(rf"\b{re.escape(word)}\b", said) is not None


def all_words(block: doc.Paragraph, of: Trace) -> bool:
    return all(by_author(block, word) for word in of.scenario.vocabulary or ())


@pytest.mark.parametrize("name", ["alex", "science", "pizza"])
def test_bundled_sheets_do_not_tell(name: str) -> None:
    of = bundled(name)
    for seed in range(3):
        hides(sheet_with(of, seed), of)


def test_questions_stand_in_sections_of_their_own() -> None:
    for seed in range(8):
        sheet = sheet_with(bundled("alex"), seed)
        each = [len(questions(section)) for section in sheet.sections]
        assert max(each) == 1 and sum(each) == 2


def test_the_mask_is_asked_about_before_it_is_shown() -> None:
    sheet = sheet_with(bundled("alex"))
    section = next(s for s in sheet.sections if s.title == "Head 1 · Mask")
    kinds = [type(block).__name__ for block in section.blocks]
    assert kinds.index("Question") < kinds.index("Matrix")
    matrices = [
        m for s in sheet.sections[: sheet.sections.index(section)] for m in found(s, doc.Matrix)
    ]
    assert not any(number.value == float("-inf") for m in matrices for number in found(m, Number))


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
    return "".join(sorted(starts[str(q.parts[2])[:12]] for q in questions(sheet_with(of))))


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


def test_an_author_may_name_all_words_but_not_the_predicted_one() -> None:
    text = render(sheet_with(small(intro="It is here or there.")), Format.TERMINAL, width=200)
    assert "It is here or there." in text
    assert "It is all over." in text
    assert "comes out" not in text
    assert "comes out" in render(sheet_with(small(title="Why here")), Format.TERMINAL, width=200)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (Format.TERMINAL, "Q1. "),
        (Format.MARKDOWN, "**Q1.** "),
        (Format.LATEX, r"\textbf{Q1.} "),
    ],
)
def test_every_format_has_them(form: Format, expected: str) -> None:
    assert expected in render(sheet_with(small()), form)


# --- many ----------------------------------------------------------------------------------------

MANY = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = scenarios(names=words(), epsilons=("0.1",), max_layers=1, max_tokens=4, all_digits=True)


@MANY
@given(scenario=KINDS, seed=st.integers(0, 9))
def test_random_answers(scenario: Scenario, seed: int, tmp_path: Path) -> None:
    traced_or_rejected(scenario)
    yaml = to_yaml(scenario)
    judge(sheet_of(tmp_path, "-", "--seed", str(seed), stdin=yaml), "-", yaml)


@MANY
@given(scenario=KINDS, seed=st.integers(0, 9))
def test_random_sheets_do_not_tell(scenario: Scenario, seed: int) -> None:
    of = traced_or_rejected(scenario)
    hides(sheet_with(of, seed), of)
