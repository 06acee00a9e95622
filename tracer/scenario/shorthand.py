"""Expand the short forms of a scenario: sentences, random and identity matrices, a text.

The result is plain data as if it had been typed, so every number keeps its digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random as Generator

from pydantic import ValidationError

from tracer.errors import Problem
from tracer.names import closest
from tracer.scenario.fields import Random, pair_of
from tracer.scenario.parts import address
from tracer.scenario.reader import Data, ScenarioSource, YamlPath
from tracer.scenario.sizes import SizeChecker, data_at, is_tied, words_of
from tracer.scenario.typed_heads import number_of_queries
from tracer.tokenization.learning import learn, symbols_to_read
from tracer.tokenization.typed import encode

Rows = list[Data]

MOST_SYMBOLS = 2_000_000
"""The most symbols to read while merges are learned, which takes about a second."""


def written_out(source: Data, counted: SizeChecker) -> tuple[dict[str, Data], set[YamlPath]]:
    """Expand the short forms whose size is known; return the data and their places.

    A wrong form, or one of unknown size, stays unchanged.
    """
    data: Data = source
    filled = set[YamlPath]()

    def fill(place: YamlPath, new: Data | None) -> None:
        nonlocal data
        if new is not None:
            data = _with_part(data, place, new)
            filled.add(place)

    if data_at(data, ("tokens",)) is None:
        queries = number_of_queries(counted)
        numbers: Data | None = [str(n + 1) for n in range(queries)] if queries else None
        fill(("tokens",), numbers or data_at(data, ("batch", 0)))
    for place, (rows, columns) in counted.wanted.items():
        if place[-1] == "embeddings":
            fill(place, _embeddings(data, place, columns))
        else:
            fill(place, _matrix(data_at(data, place), place, rows, columns))
    if is_tied(data) and (w_u := _tied(data)):
        if data_at(data, ("unembedding",)) == "tied":
            fill(("unembedding",), {"W_U": w_u})
        else:
            fill(("unembedding", "W_U"), w_u)
    assert isinstance(data, dict)
    return data, filled


def _with_part(whole: Data, place: YamlPath, new: Data) -> Data:
    """Return plain data with another part at a place; the rest is shared."""
    if not place:
        return new
    step, rest = place[0], place[1:]
    match whole, step:
        case dict(), str():
            return {**whole, step: _with_part(whole.get(step, {}), rest, new)}
        case list(), int():
            return [*whole[:step], _with_part(whole[step], rest, new), *whole[step + 1 :]]
        case _:
            return whole


def _matrix(form: Data | None, place: YamlPath, rows: int, columns: int) -> Data | None:
    if form == "identity":
        return [["1" if i == j else "0" for j in range(columns)] for i in range(rows)]
    return _random(form, address(place), rows, columns)


def _random(form: Data | None, name: str, rows: int, columns: int) -> Rows | None:
    """Return random short decimals, by seed and name; None if the form is wrong."""
    try:
        asked = Random.model_validate(data_at(form, ("random",)))
    except ValidationError:
        return None
    # Python guarantees the same numbers in every version only for `random()`.
    drawn = Generator(f"{asked.seed} {name}").random
    largest = float(asked.largest)
    return [
        [f"{(2 * drawn() - 1) * largest:.{asked.decimals}f}" for _ in range(columns)]
        for _ in range(rows)
    ]


def _embeddings(data: Data, place: YamlPath, width: int) -> Data | None:
    """Return a random row for every word of the scenario or of the encoder."""
    form = data_at(data, place)
    of_encoder = words_of(data_at(data, (*place[:-1], "tokens"))) or ()
    words = of_encoder if place[:-1] else _words(data)
    names = dict.fromkeys(word for word in words if isinstance(word, str))
    rows = {name: _random(form, f"{address(place)} {name}", 1, width) for name in names}
    table: dict[str, Data] = {name: row[0] for name, row in rows.items() if row}
    return table if len(table) == len(rows) else None


def _words(data: Data) -> Iterable[Data]:
    """Yield every word that can be a token."""
    places: list[YamlPath] = [("tokens",), ("vocabulary",)]
    for name, *rest in (("batch",), ("training", "tokens")):
        entries = data_at(data, (name,))
        numbers = range(len(entries)) if isinstance(entries, list) else ()
        places += [(name, i, *rest) for i in numbers]
    for place in places:
        yield from words_of(data_at(data, place)) or ()
    for name in ("start", "end"):
        said = data_at(data, ("generation", name))
        yield from said if isinstance(said, list) else filter(None, [said])


def _tied(data: Data) -> Data | None:
    """Return W_U with the embedding of each word of the vocabulary as a column."""
    words = words_of(data_at(data, ("vocabulary",))) or ()
    columns = [data_at(data, ("embeddings", word)) for word in words if isinstance(word, str)]
    rows = [column for column in columns if isinstance(column, list)]
    if not rows or len(rows) < len(words):
        return None
    return {"transposed": [*rows]}


# --- a text with merges --------------------------------------------------------------------------


def with_tokens(source: ScenarioSource) -> ScenarioSource:
    """Add the merges of the corpus, the tokens of the text, and their ids.

    Ids are added if the vocabulary has all tokens. Without a text, or if it has problems, the data
    stays unchanged.
    """
    text, corpus = data_at(source.data, ("text",)), _corpus(source.data)
    if not isinstance(text, str) or any(_faults(source.data)):
        return source
    if corpus is not None and (number := _number_of_merges(source.data)):
        learned: list[Data] = [[*merge.pair] for merge in learn(corpus, number)]
        source = source.at("merges", "merges", learned)
    if (pairs := _pairs(source.data)) is None:
        return source
    tokens: list[Data] = [token.text for token in encode(text, pairs, corpus).tokens]
    words = words_of(data_at(source.data, ("vocabulary",))) or []
    if data_at(source.data, ("token_ids",)) is None and all(token in words for token in tokens):
        source = source.at("text", "token_ids", [str(words.index(each)) for each in tokens])
    return source.at("text", "tokens", tokens)


def shorthand_problems(source: ScenarioSource) -> list[Problem]:
    """Return the problems of a text together with its merges."""
    found = _faults(source.data)
    return [source.problem(place, message, address(place)) for place, message in found]


def _faults(data: Data) -> Iterator[tuple[YamlPath, str]]:
    has_text, has_merges = (data_at(data, (name,)) is not None for name in ("text", "merges"))
    if has_text and data_at(data, ("tokens",)) is not None:
        yield ("text",), "text and tokens, expected only one of them"
    if has_text and not has_merges:
        form = "merges: [[l, o], [lo, w]], or tokens in place of the text"
        yield ("text",), f"a text without merges, expected {form}"
    if has_merges and not has_text:
        yield ("merges",), "merges without a text, expected text: low lower lowest"
    yield from _faults_of_corpus(data)
    yield from _unknown_symbols(_pairs(data) or [])


def _faults_of_corpus(data: Data) -> Iterator[tuple[YamlPath, str]]:
    typed, number = data_at(data, ("merges",)), _number_of_merges(data)
    if data_at(data, ("corpus",)) is None:
        if number is not None:
            form = "corpus: {hug: 10, pug: 5} or pairs, such as [[l, o], [lo, w]]"
            yield ("merges",), f"a number of merges without a corpus, expected {form}"
        return
    if data_at(data, ("text",)) is None and typed is None:
        yield ("corpus",), "a corpus without a text, expected text: hug pug"
    elif number is None:
        place = "corpus" if typed is None else "merges"
        yield (place,), "with a corpus, expected how many merges to learn, such as merges: 3"
    corpus = _corpus(data)
    for word in corpus or ():
        if " " in word or not word:
            yield ("corpus", word), f"{word!r}, expected a word without spaces"
    if number == 0:
        yield ("merges",), "0, expected at least 1"
    elif number is not None and corpus:
        if symbols_to_read(corpus, number) > MOST_SYMBOLS:
            size, most = f"{sum(map(len, corpus)):,} characters", f"{MOST_SYMBOLS:,}"
            message = f"{number}, times {size} of the corpus, is more than {most}, expected less"
            yield ("merges",), message
            return
        possible = len(learn(corpus, number))
        if number > possible:
            message = (
                f"{number}, expected at most {possible}: no more can be learned from this corpus"
            )
            yield ("merges",), message


def _number_of_merges(data: Data) -> int | None:
    """Return how many merges to learn; None if they are typed or malformed."""
    number = data_at(data, ("merges",))
    return int(number) if isinstance(number, str) and re.fullmatch("[0-9]{1,9}", number) else None


def _corpus(data: Data) -> dict[str, int] | None:
    """Return the words of the corpus and their counts; None if malformed."""
    match data_at(data, ("corpus",)):
        case dict() as typed:
            counts = {
                str(word): int(count)
                for word, count in typed.items()
                if isinstance(count, str) and re.fullmatch("[0-9]{1,10}", count) and int(count)
            }
            return counts if counts and len(counts) == len(typed) else None
        case _:
            return None


def _unknown_symbols(pairs: list[tuple[str, str]]) -> Iterator[tuple[YamlPath, str]]:
    """Yield a problem for each merge of a symbol that no earlier merge makes."""
    made, joined = set[str](), dict[tuple[str, str], int]()
    for i, pair in enumerate(pairs):
        if pair in joined:
            yield ("merges", i), f"the same as entry {joined[pair] + 1}"
        for symbol in dict.fromkeys(pair):
            if len(symbol) > 1 and symbol not in made:
                message = f"{symbol!r} is neither a character nor the result of an earlier merge"
                yield ("merges", i), message + closest(symbol, made)
        made.add("".join(pair))
        joined.setdefault(pair, i)


def _pairs(data: Data) -> list[tuple[str, str]] | None:
    """Return the merges; None if they are malformed."""
    merges = data_at(data, ("merges",))
    pairs = list(map(pair_of, merges)) if isinstance(merges, list) else [None]
    known = [pair for pair in pairs if pair]
    return known if len(known) == len(pairs) else None
