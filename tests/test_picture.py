"""The picture for the README shows what the program shows now."""

from __future__ import annotations

from tests.helpers.command import printed
from tests.picture import COMMAND, FILE, picture, pieces


def words(text: str) -> str:
    return "".join(text.split())


def test_it_is_fresh() -> None:
    """If not: `python -m tests.picture`."""
    assert pieces(FILE.read_text(encoding="utf-8")) == pieces(picture())


def test_it_shows_every_word_in_several_hues() -> None:
    found = pieces(FILE.read_text(encoding="utf-8"))
    assert words(printed(*COMMAND)) in words("".join(word for word, _ in found))
    assert len({style for _, style in found}) > 5


def test_another_digit_is_seen() -> None:
    drawn = FILE.read_text(encoding="utf-8")
    assert drawn.count("11.563") == 3
    assert pieces(drawn.replace("11.563", "11.564")) != pieces(picture())
