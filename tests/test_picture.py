"""The pictures of the README show what the program shows now. If not: `python -m tests.picture`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.command import printed
from tests.helpers.truth import false_equations
from tests.picture import COMMAND, FOLDER, PAGE, STEP, TUTORIAL, pieces, step, tutorial

README = Path(__file__).parent.parent / "README.md"


def words(text: str) -> str:
    return "".join(text.split())


def alternative(picture: Path) -> str:
    """What the README says of a picture to those who do not see it."""
    text = README.read_text(encoding="utf-8")
    (found,) = re.findall(rf"!\[(.*)\]\(.*/{re.escape(picture.name)}\)", text)
    return str(found)


@pytest.mark.parametrize("picture", [STEP, TUTORIAL, PAGE])
def test_it_is_small_and_the_readme_shows_it(picture: Path) -> None:
    assert picture.stat().st_size < 100_000
    assert alternative(picture)


def test_there_are_no_others() -> None:
    assert set(FOLDER.iterdir()) == {STEP, TUTORIAL, PAGE}


# --- a step -------------------------------------------------------------------------------------


def test_step_is_fresh() -> None:
    assert pieces(STEP.read_text(encoding="utf-8")) == pieces(step())


def test_step_shows_every_word_in_several_hues() -> None:
    found = pieces(STEP.read_text(encoding="utf-8"))
    assert words(printed(*COMMAND)) in words("".join(word for word, _ in found))
    assert len({style for _, style in found}) > 5


def test_another_digit_is_seen() -> None:
    drawn = STEP.read_text(encoding="utf-8")
    assert drawn.count("11.563") == 3
    assert pieces(drawn.replace("11.563", "11.564")) != pieces(step())


# --- a tutorial ---------------------------------------------------------------------------------


def test_tutorial_is_fresh() -> None:
    assert TUTORIAL.read_text(encoding="utf-8") == tutorial()


def test_tutorial_shows_a_question_true_lines_and_two_pictures() -> None:
    drawn = TUTORIAL.read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"<text class=\"ink\" style.*?>(.*?)</text>", drawn))
    assert "How does one decoder layer change Alex" in shown
    assert shown.count(" ≈ ") > 4
    assert false_equations(shown) == []
    assert drawn.count("<svg ") == 3


# --- a page -------------------------------------------------------------------------------------


def test_the_line_that_the_page_shows_is_the_programs() -> None:
    (line,) = re.findall(r"\S+ / \S+ ≈ \d\.\d+", alternative(PAGE))
    assert words(line) in words(printed("step", "softmax", "--head", "1"))
