"""What if …: each change is the program's, each answer is true, and nothing tells it before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pytest
import yaml

from tests.helpers.browser import focused, opened, violations
from tests.helpers.bundled import TYPED
from tests.helpers.evaluated import loaded, printed
from tests.helpers.judge import exact
from tests.renderers.page.conftest import SIZE, Saved
from tracer.decoder import roles
from tracer.decoder.forward import Trace
from tracer.names import distinct

QUESTION = {
    "exchange": r"What if (the encoder's )?“.*” and “.*” exchange their (embeddings|vectors)\?",
    "double": r"What if \S+\[.*\]( in .*)? is doubled\?",
    "silence": r"What if .* outputs only zeros\?",
    "unmask": r"What if there is no mask\?",
}
SUBJECT = {
    "weight": r"The weight that “(.*)” gives to (?:the encoder's )?“(.*?)”(?: in .*)?",
    "output": r"“(?P<column>.*)” of “(?P<row>.*)” at the output",
    "word": r"The next word after “(.*)”",
}
NUMBER = r"(-?\d+(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"
MOVES = rf"(?:(rise|fall)s from {NUMBER} to {NUMBER}|stays {NUMBER}( with the digits shown)?)"
WITHOUT_ATTENTION = "experts"
IN_EACH_RUN = ("alex", "pizza")

STATE = """() => {
  const { tape } = JSON.parse(document.getElementById("data").textContent);
  const numbers = tape.values.map(({ address }) => [address, decoderTrace.printed(address).flat()]);
  return { printed: Object.fromEntries(numbers), text: decoderTrace.scenario() };
}"""
ASKED = """() => {
  const { tape, what_if, token } = JSON.parse(document.getElementById("data").textContent);
  const place = (of) => [tape.values[of.split(":")[0]].address, of.split(":")[1]];
  const chosen = document.getElementById("token")?.value ?? token;
  return what_if[chosen].map((each) => ({
    ...each, changed: each.changed.map(place), watched: place(each.watched) }));
}"""
"""The questions in the page's data, with addresses."""
PICTURE = """[...document.querySelectorAll("#picture :is(path[data-of], .bars rect)")]
  .filter((mark) => mark.checkVisibility())
  .map((mark) => ["stroke-width", "x", "width"].map((name) => mark.getAttribute(name))).join()"""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in IN_EACH_RUN else pytest.mark.fuzz)
        for name in TYPED
        if name != WITHOUT_ATTENTION
    ],
)
def asking(request: pytest.FixtureRequest, browser: Any, saved: Saved) -> Iterator[Any]:
    with opened(browser, saved(request.param), viewport=SIZE, everything=False) as page:
        yield page


@pytest.fixture
def alex(browser: Any, saved: Saved) -> Iterator[Any]:
    with opened(browser, saved("alex"), viewport=SIZE, everything=False) as page:
        yield page


class Asked:
    """A question of a page."""

    def __init__(self, page: Any, place: Any) -> None:
        self.page, self.place = page, place
        self.press, self.said = place.locator("button"), place.locator("p")
        self.asks = place.locator("summary").text_content()
        self.kind = next(kind for kind, form in QUESTION.items() if re.fullmatch(form, self.asks))
        (self.data,) = (each for each in page.evaluate(ASKED) if each["change"] == self.kind)
        self.open()
        self.subject = (
            place.locator("legend").text_content().removesuffix(" …").partition(" will")[0]
        )
        self.choices = [each.strip() for each in place.locator("label").all_text_contents()]

    def open(self) -> None:
        if not self.place.evaluate("details => details.open"):
            self.place.locator("summary").click()

    def see(self, choice: str | None = None) -> tuple[bool, str]:
        """Whether a choice is correct, the first if none is named; and the answer."""
        self.open()
        self.place.get_by_label(choice or self.choices[0], exact=True).check()
        assert self.press.text_content() == "See"
        self.click()
        assert self.press.text_content() == "Put it back"
        verdict, _, answer = self.said.text_content().partition(" ")
        assert verdict in ("Correct.", "Wrong.")
        return verdict == "Correct.", answer

    def click(self) -> None:
        self.open()
        self.press.click()

    def put_back(self) -> None:
        self.click()
        assert self.is_open_again()

    def is_open_again(self) -> bool:
        return (self.press.text_content(), self.said.text_content()) == ("See", "")


def questions(page: Any) -> list[Asked]:
    return [Asked(page, each) for each in page.locator("#what-if > details").all()]


def about(page: Any, kind: str) -> Asked:
    return next(each for each in questions(page) if each.kind == kind)


Numbers: TypeAlias = Mapping[str, list[Any]]
"""Decimals, or words, by address."""


def as_number(text: str) -> Decimal | str:
    try:
        return exact(text)
    except ArithmeticError:
        return text  # a word


def numbers(shown: Mapping[str, list[str]]) -> Numbers:
    return {address: list(map(as_number, each)) for address, each in shown.items()}


def state(page: Any) -> tuple[Numbers, str]:
    """Every number of the page, and its scenario."""
    found = page.evaluate(STATE)
    return numbers(found["printed"]), found["text"]


def leaves(tree: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Everything that is typed in a scenario, by its path."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for key, each in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(each, *path, key)


def groups(form: str, text: str) -> list[str]:
    """The groups of a text that has a form."""
    found = re.fullmatch(form, text)
    assert found, text
    return [*found.groups()]


def assert_is_changed(asked: Asked, before: str, after: str, run: Trace) -> None:
    """The scenario has the change that the question names, and no other."""
    old, new = (dict(leaves(yaml.load(text, yaml.BaseLoader))) for text in (before, after))
    changed = {path for path in {*old, *new} if old.get(path) != new.get(path)}
    match asked.kind:
        case "exchange":
            one, other = sorted({path[:-1] for path in changed})
            rows = [
                [[tree[p] for p in old if p[:-1] == row] for row in (one, other)]
                for tree in (old, new)
            ]
            assert rows[0] == rows[1][::-1]
        case "double":
            (path,) = changed
            assert Decimal(new[path]) == 2 * Decimal(old[path])
        case "silence":
            assert {new[path] for path in changed} == {"0"}
            address, _ = asked.data["changed"][0]
            output = run[address.rpartition(".")[0] + ".output"]
            assert set(output.numbers.ravel().tolist()) == {0}
        case _:
            assert changed == {("mask",)}
            assert new["mask",] == "none"


def assert_is_answered(asked: Asked, answer: str, before: Numbers, run: Trace) -> str:
    """The answer is true of the numbers that are printed; return the right choice."""
    address, at = asked.data["watched"]
    place = tuple(map(int, at.split(",")))
    value, now = run[address], numbers(printed(run))
    flat = int(np.ravel_multi_index(place, value.shape))
    labels = [distinct(axis.labels)[i] for axis, i in zip(value.axes, place, strict=True)]
    if value.role is roles.PREDICTION:
        assert groups(SUBJECT["word"], asked.subject) == labels
        return assert_word(asked, answer, before, now, flat)
    kind = "output" if value.role is roles.OUTPUT else "weight"
    assert groups(SUBJECT[kind], asked.subject) == (labels[::-1] if kind == "output" else labels)
    said = groups(rf"{re.escape(asked.subject)} {MOVES}\.", answer)
    return assert_moves(said, before[address][flat], now[address][flat])


def assert_word(asked: Asked, answer: str, before: Numbers, now: Numbers, row: int) -> str:
    words = [each["prediction"][row] for each in (before, now)]
    vocabulary = probabilities_of(asked.page)
    place = [len(vocabulary) * row + vocabulary.index(word) for word in words]
    if words[0] == words[1]:
        form = rf"{re.escape(asked.subject)} is still “(.*)”\. Its probability {MOVES}\."
        word, *moves = groups(form, answer)
        assert word == words[0]
        assert_moves(moves, *(each["probabilities"][place[0]] for each in (before, now)))
    else:
        share = rf"“(.*)” \({NUMBER}\)\."
        form = rf"{re.escape(asked.subject)} is {share} Before, it was {share}"
        is_now, its, was, earlier = groups(form, answer)
        assert [was, is_now] == words
        assert exact(its) == now["probabilities"][place[1]]
        assert exact(earlier) == before["probabilities"][place[0]]
    return str(words[1]) if words[1] in asked.choices else "another word"


def assert_moves(said: Sequence[str], before: Decimal, now: Decimal) -> str:
    """A number rises, falls or stays as it is said."""
    way, was, is_now, stays, _ = said
    if stays:
        assert before == now == exact(stays)
        return "stay the same"
    assert (exact(was), exact(is_now)) == (before, now)
    assert way == ("rise" if now > before else "fall")
    assert now != before
    return way


def probabilities_of(page: Any) -> list[str]:
    labels: list[str] = page.evaluate("""() => {
      const { tape } = JSON.parse(document.getElementById("data").textContent);
      return tape.values.find(({ address }) => address === "probabilities").labels[1];
    }""")
    return labels


def assert_is_true(page: Any, asked: Asked) -> None:
    """The change is the program's, the answer is true, and the page can be put back."""
    assert asked.is_open_again()
    before, text = state(page)
    drawn = page.evaluate(PICTURE)
    correct, answer = asked.see()
    after, changed = state(page)
    run = loaded(changed)[1]
    assert_is_changed(asked, text, changed, run)
    program = numbers(printed(run))
    there = program.keys() & after.keys()  # without a mask, some steps are left out
    assert {a: after[a] for a in there} == {a: program[a] for a in there}
    assert there == program.keys() or asked.kind == "unmask"
    right = assert_is_answered(asked, answer, before, run)
    assert correct == (right == asked.choices[0])
    assert "stays" in answer or drawn != page.evaluate(PICTURE)
    asked.put_back()
    assert state(page) == (before, text)
    assert page.evaluate(PICTURE) == drawn
    if not correct:
        assert asked.see(right) == (True, answer)
        asked.put_back()


def test_each_answer_is_that_of_the_program(asking: Any) -> None:
    asked = questions(asking)
    for each in asked:
        assert_is_true(asking, each)
    assert "unmask" in {each.kind for each in asked}


def test_questions_are_about_the_followed_token(alex: Any) -> None:
    """The first token sees only itself: its attention stays, until there is no mask."""
    alex.select_option("#token", "0")
    for asked in questions(alex):
        assert "“Frank”" in asked.subject
        assert_is_true(alex, asked)
    _, answer = about(alex, "unmask").see()
    assert answer.startswith("The weight that “Frank” gives to “Frank” in head 1 falls from 1")


def test_nothing_is_told_before_a_choice(alex: Any) -> None:
    """Neither on the page nor in its data; without a choice nothing happens."""
    keys = {"change", "changed", "watched", "head"}
    assert all({*each} == keys for each in alex.evaluate(ASKED))
    before = state(alex)
    for asked in questions(alex):
        asked.click()
        assert asked.said.text_content() == "Choose one."
        assert asked.choices == ["rise", "fall", "stay the same"]
    assert state(alex) == before
    assert alex.locator(".changed").count() == 0


def test_a_question_is_about_numbers_that_a_reader_has_changed(alex: Any) -> None:
    """Putting back the change of a question leaves all others."""
    edit = "([row, number]) => decoderTrace.edit('embedding', row, 'spicy', number)"
    alex.evaluate(edit, ["Frank", "0.5"])
    edited = state(alex)
    asked = about(alex, "double")
    assert_is_true(alex, asked)
    asked.see()
    alex.evaluate(edit, ["Emma", "0.3"])
    assert asked.said.text_content() == ""  # it was about other numbers
    asked.put_back()
    alex.evaluate("decoderTrace.undo(), decoderTrace.undo(), decoderTrace.undo()")
    assert state(alex) == edited
    asked.see()
    alex.evaluate("decoderTrace.undo()")
    assert asked.is_open_again()
    assert state(alex) == edited


def test_one_change_takes_the_place_of_another(alex: Any) -> None:
    first, *others = questions(alex)
    before = state(alex)
    answers = [asked.see() for asked in others]
    first.see()
    for asked, answer in zip(others, answers, strict=True):
        assert asked.see() == answer
    assert first.is_open_again()
    asked.put_back()
    assert state(alex) == before


def test_a_change_without_a_result_is_not_made(alex: Any) -> None:
    ((address, at),) = about(alex, "double").data["changed"]
    place = [address, *(int(each) + 1 for each in at.split(","))]
    until_refused = """(place) => {
      for (let number = 1; ; number *= 2) {
        try { decoderTrace.edit(...place, String(number)); } catch { return; }
      }
    }"""
    alex.evaluate(until_refused, place)
    asked = about(alex, "double")
    before = state(alex)
    asked.open()
    asked.place.get_by_label("rise").check()
    asked.click()
    assert asked.said.text_content().startswith("No result: ")
    assert asked.press.text_content() == "See"
    assert state(alex) == before


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_by_keyboard_and_for_all_readers(alex: Any, width: int, scheme: str) -> None:
    alex.set_viewport_size({"width": width, "height": 800})
    alex.emulate_media(color_scheme=scheme)
    alex.locator("#what-if summary").first.focus()
    alex.keyboard.press("Tab")
    alex.keyboard.press("Space")
    alex.keyboard.press("Tab")
    assert focused(alex) == "See"
    top = alex.evaluate("document.activeElement.getBoundingClientRect().top")
    alex.keyboard.press("Enter")
    assert focused(alex) == "Put it back"
    assert abs(alex.evaluate("document.activeElement.getBoundingClientRect().top") - top) < 2
    answer = alex.locator("#what-if p").first.text_content()
    assert alex.locator("#spoken").text_content() == answer
    assert violations(alex, "#what-if") == []
    assert alex.evaluate("document.documentElement.scrollWidth") <= width
    alex.keyboard.press("Enter")
    assert focused(alex) == "See"


def test_paper_has_the_questions_alone(alex: Any) -> None:
    alex.emulate_media(media="print")
    assert alex.locator("#what-if summary").first.is_visible()
    assert not alex.locator("#what-if fieldset").first.is_visible()


def test_what_cannot_be_changed_is_not_asked(saved: Saved) -> None:
    pages = [saved(WITHOUT_ATTENTION), saved("alex", "--head", "1"), saved("gpt2-small")]
    assert not any('id="what-if"' in page.read_text(encoding="utf-8") for page in pages)
