"""Whether every word that a scenario looks up is there: tokens, targets, how a text begins."""

from __future__ import annotations

from collections.abc import Iterable

from tracer.names import closest
from tracer.scenario.counting import Counting
from tracer.scenario.model import NO_TARGET
from tracer.scenario.reader import Data, Place


def look_up(scenario: Counting) -> None:
    """Tell what is not there."""
    table = scenario.part("embeddings")
    if isinstance(table, dict):
        _have_embeddings(scenario, ("tokens",) if scenario.has("tokens") else ("batch", 0))
    read = scenario.part("encoder", "embeddings")
    if isinstance(read, dict) and not scenario.random("encoder", "embeddings"):
        _are_in(scenario, read, ("encoder", "tokens"))
    if scenario.part("unembedding") == "tied":
        _tied(scenario)
    _targets(scenario)
    for i, _ in enumerate(scenario.entries("training")):
        _have_embeddings(scenario, ("training", i, "tokens"))
        _are_words(scenario, ("training", i, "targets"))
    for i, _ in enumerate(scenario.entries("batch")):
        if i or scenario.has("tokens"):  # else these are the tokens
            _have_embeddings(scenario, ("batch", i))
    _generation(scenario)


def _tied(scenario: Counting) -> None:
    """Every word of the vocabulary has an embedding, where the projection is made of them."""
    table = scenario.part("embeddings")
    if isinstance(table, list):
        scenario.tell(("unembedding",), "tied needs embeddings by word, {big: [0.9, 0.1], …}")
    elif isinstance(table, dict) and not scenario.random("embeddings"):
        _are_in(scenario, table, ("vocabulary",), "word")


def _targets(scenario: Counting) -> None:
    place: Place = ("targets",)
    if scenario.has(*place) and not scenario.has("vocabulary"):
        scenario.tell(place, "targets without a vocabulary, expected vocabulary: […]")
    _are_words(scenario, place)


def _generation(scenario: Counting) -> None:
    words, table = scenario.words("vocabulary"), scenario.part("embeddings")
    end, start = scenario.part("generation", "end"), scenario.part("generation", "start")
    if isinstance(end, str) and words is not None and end not in words:
        message = f"{end!r} is not in the vocabulary{_near(end, words)}"
        scenario.tell(("generation", "end"), message)
    if not isinstance(table, dict) or scenario.random("embeddings"):
        return
    if isinstance(start, str) and start not in table:
        _unknown(scenario, ("generation", "start"), start, table)


def _are_words(scenario: Counting, place: Place) -> None:
    """Targets are words of the vocabulary."""
    known = scenario.words("vocabulary")
    if known is None:
        return
    for i, word in enumerate(scenario.words(*place) or ()):
        if isinstance(word, str) and word not in (*known, scenario.part("padding"), NO_TARGET):
            message = f"{word!r} is not in the vocabulary{_near(word, known)}"
            scenario.tell((*place, i), message)


def _have_embeddings(scenario: Counting, place: Place) -> None:
    """Other tokens than the scenario's own are looked up by their text."""
    table = scenario.part("embeddings")
    if isinstance(table, list):
        scenario.tell(place, "other tokens need embeddings by word, {big: [0.9, 0.1], …}")
    elif isinstance(table, dict) and not scenario.random("embeddings"):
        _are_in(scenario, table, place)


def _are_in(scenario: Counting, table: dict[str, Data], place: Place, noun: str = "token") -> None:
    told = set[str]()
    for i, word in enumerate(scenario.words(*place) or ()):
        if isinstance(word, str) and word not in table and word not in told:
            _unknown(scenario, (*place, i), word, table, noun)
            told.add(word)


def _unknown(
    scenario: Counting, place: Place, word: str, table: Iterable[str], noun: str = "token"
) -> None:
    near = closest(word, table)
    form = "" if near else f", expected {word}: [0.9, 0.1] in embeddings"
    scenario.tell(place, f"no embedding for the {noun} {word!r}{near}{form}")


def _near(word: str, known: Iterable[Data]) -> str:
    return closest(word, [name for name in known if isinstance(name, str)])
