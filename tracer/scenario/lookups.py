"""Check that every word that a scenario looks up exists: tokens, targets, start of a text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, islice

from tracer.names import closest
from tracer.scenario.model import NO_TARGET
from tracer.scenario.reader import Data, YamlPath
from tracer.scenario.sizes import SizeChecker, is_tied, usual_length

MOST_SHOWN = 6
"""The most numbers of an embedding in a message."""


def look_up(scenario: SizeChecker) -> None:
    """Report the words that do not exist."""
    _are_in(scenario, (), ("tokens",) if scenario.has("tokens") else ("batch", 0))
    _are_in(scenario, ("encoder",), ("encoder", "tokens"))
    if is_tied(scenario.source.data):
        # Every word of the vocabulary has an embedding, which is its column.
        _by_word(scenario, ("unembedding",), "tied needs")
        _are_in(scenario, (), ("vocabulary",), "word")
    _targets(scenario)
    for i, _ in enumerate(scenario.entries("training")):
        _have_embeddings(scenario, ("training", i, "tokens"))
        _are_words(scenario, ("training", i, "targets"))
    for i, _ in enumerate(scenario.entries("batch")):
        if i or scenario.has("tokens"):  # else these are the tokens
            _have_embeddings(scenario, ("batch", i))
    _generation(scenario)


def _targets(scenario: SizeChecker) -> None:
    place: YamlPath = ("targets",)
    if scenario.has(*place) and not scenario.has("vocabulary"):
        scenario.report(place, "targets without a vocabulary, expected vocabulary: […]")
    _are_words(scenario, place)


def _generation(scenario: SizeChecker) -> None:
    words, table = scenario.words("vocabulary"), _table(scenario, ())
    end, start = scenario.part("generation", "end"), scenario.part("generation", "start")
    if isinstance(end, str) and words is not None and end not in words:
        _not_a_word(scenario, ("generation", "end"), end, words)
    if isinstance(start, list):
        _are_in(scenario, (), ("generation", "start"))
    elif isinstance(start, str) and table is not None and start not in table:
        _unknown(scenario, ("generation", "start"), start, table)


def _are_words(scenario: SizeChecker, place: YamlPath) -> None:
    """Report targets that are not in the vocabulary."""
    known = scenario.words("vocabulary")
    if known is None:
        return
    for i, word in enumerate(scenario.words(*place) or ()):
        if isinstance(word, str) and word not in (*known, scenario.part("padding"), NO_TARGET):
            _not_a_word(scenario, (*place, i), word, known)


def _not_a_word(scenario: SizeChecker, place: YamlPath, word: str, known: Iterable[Data]) -> None:
    near = closest(word, [name for name in known if isinstance(name, str)])
    scenario.report(place, f"{word!r} is not in the vocabulary{near}")


def _have_embeddings(scenario: SizeChecker, place: YamlPath) -> None:
    """Report tokens without an embedding, besides the scenario's own."""
    _by_word(scenario, place, "other tokens need")
    _are_in(scenario, (), place)


def _by_word(scenario: SizeChecker, place: YamlPath, needs: str) -> None:
    if isinstance(scenario.part("embeddings"), list):
        scenario.report(place, f"{needs} embeddings by word, {{big: [0.9, 0.1], …}}")


def _table(scenario: SizeChecker, tower: YamlPath) -> dict[str, Data] | None:
    """Return the typed embeddings by word, if any; random ones have every word."""
    table = scenario.part(*tower, "embeddings")
    drawn = isinstance(scenario.part(*tower, "embeddings", "random"), dict)
    return table if isinstance(table, dict) and not drawn else None


def _are_in(scenario: SizeChecker, tower: YamlPath, place: YamlPath, noun: str = "token") -> None:
    table, told = _table(scenario, tower), set[str]()
    if table is None:
        return
    for i, word in enumerate(scenario.words(*place) or ()):
        if isinstance(word, str) and word not in table and word not in told:
            _unknown(scenario, (*place, i), word, table, noun)
            told.add(word)


def _example(width: int) -> str:
    """Return an embedding with so many numbers; of many, only the first are shown."""
    numbers = [*islice(cycle(("0.9", "0.1", "0.4")), min(width, MOST_SHOWN))]
    more = f", … {width} numbers" if width > MOST_SHOWN else ""
    return f"[{', '.join(numbers)}{more}]"


def _unknown(
    scenario: SizeChecker, place: YamlPath, word: str, table: Iterable[str], noun: str = "token"
) -> None:
    near = closest(word, table)
    rows = table.values() if isinstance(table, dict) else ()
    form = "" if near else f", expected {word}: {_example(usual_length(rows) or 2)} in embeddings"
    scenario.report(place, f"no embedding for the {noun} {word!r}{near}{form}")
