"""The short forms of a scenario, written out: what stands for tokens, rows and columns; a text.

They become plain data, as if somebody had typed it: every number is shown with its digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random as Generator

from pydantic import ValidationError

from tracer.errors import Problem
from tracer.names import closest
from tracer.scenario.fields import Random, pair_of
from tracer.scenario.parts import address, with_part
from tracer.scenario.reader import Data, Source, YamlPath
from tracer.scenario.sizes import Counting, part, words_of
from tracer.tokenization.typed import encode

Rows = list[Data]


def written_out(source: Data, counted: Counting) -> tuple[dict[str, Data], set[YamlPath]]:
    """The data with its short forms written out, where their size is known; and which they are.

    What is wrong in a form, or has no size, stays as it is.
    """
    data: Data = source
    filled = set[YamlPath]()

    def fill(place: YamlPath, new: Data | None) -> None:
        nonlocal data
        if new is not None:
            data = with_part(data, place, new)
            filled.add(place)

    if part(data, ("tokens",)) is None:
        fill(("tokens",), part(data, ("batch", 0)))
    for place, (rows, columns) in counted.wanted.items():
        if place[-1] == "embeddings":
            fill(place, _embeddings(data, place, columns))
        else:
            fill(place, _matrix(part(data, place), place, rows, columns))
    if part(data, ("unembedding",)) == "tied":
        fill(("unembedding",), _tied(data))
    assert isinstance(data, dict)
    return data, filled


def _matrix(form: Data | None, place: YamlPath, rows: int, columns: int) -> Data | None:
    if form == "identity":
        return [["1" if i == j else "0" for j in range(columns)] for i in range(rows)]
    return _random(form, address(place), rows, columns)


def _random(form: Data | None, name: str, rows: int, columns: int) -> Rows | None:
    """Short decimals, another sequence for each seed and name; None if the form is wrong."""
    try:
        asked = Random.model_validate(part(form, ("random",)))
    except ValidationError:
        return None
    # `random()` alone is promised to give the same numbers in every version of Python.
    drawn = Generator(f"{asked.seed} {name}").random
    largest = float(asked.largest)
    return [
        [f"{(2 * drawn() - 1) * largest:.{asked.decimals}f}" for _ in range(columns)]
        for _ in range(rows)
    ]


def _embeddings(data: Data, place: YamlPath, width: int) -> Data | None:
    """A random row for every word that the scenario names, or the encoder reads."""
    form = part(data, place)
    of_encoder = words_of(part(data, (*place[:-1], "tokens"))) or ()
    words = of_encoder if place[:-1] else _words(data)
    names = dict.fromkeys(word for word in words if isinstance(word, str))
    rows = {name: _random(form, f"{address(place)} {name}", 1, width) for name in names}
    table: dict[str, Data] = {name: row[0] for name, row in rows.items() if row}
    return table if len(table) == len(rows) else None


def _words(data: Data) -> Iterable[Data]:
    """Every word that can become a token."""
    places: list[YamlPath] = [("tokens",), ("vocabulary",)]
    for name, *rest in (("batch",), ("training", "tokens")):
        entries = part(data, (name,))
        numbers = range(len(entries)) if isinstance(entries, list) else ()
        places += [(name, i, *rest) for i in numbers]
    for place in places:
        yield from words_of(part(data, place)) or ()
    yield from filter(None, (part(data, ("generation", name)) for name in ("start", "end")))


def _tied(data: Data) -> Data | None:
    """W_U is the embeddings of the vocabulary's words, a column each."""
    words = words_of(part(data, ("vocabulary",))) or ()
    columns = [part(data, ("embeddings", word)) for word in words if isinstance(word, str)]
    rows = [column for column in columns if isinstance(column, list)]
    if not rows or len(rows) < len(words):
        return None
    turned: Data = {"transposed": [*rows]}
    return {"W_U": turned}


# --- a text with merges --------------------------------------------------------------------------


def with_tokens(source: Source) -> Source:
    """With the tokens of its text; and their ids, where the vocabulary has all of them.

    Where something is wrong with the text, or there is none, it stays as it is.
    """
    text, pairs = part(source.data, ("text",)), _pairs(source.data)
    if not isinstance(text, str) or pairs is None or any(_faults(source.data)):
        return source
    tokens: list[Data] = [token.text for token in encode(text, pairs).tokens]
    words = words_of(part(source.data, ("vocabulary",))) or []
    if part(source.data, ("token_ids",)) is None and all(token in words for token in tokens):
        source = source.at("text", "token_ids", [str(words.index(each)) for each in tokens])
    return source.at("text", "tokens", tokens)


def wrong(source: Source) -> list[Problem]:
    """What is wrong with the text and its merges, but for what each of them is by itself."""
    found = _faults(source.data)
    return [source.problem(place, message, address(place)) for place, message in found]


def _faults(data: Data) -> Iterator[tuple[YamlPath, str]]:
    has_text, has_merges = (part(data, (name,)) is not None for name in ("text", "merges"))
    if has_text and part(data, ("tokens",)) is not None:
        yield ("text",), "beside tokens, expected one of both"
    if has_text and not has_merges:
        form = "merges: [[l, o], [lo, w]], or tokens in place of the text"
        yield ("text",), f"a text without merges, expected {form}"
    if has_merges and not has_text:
        yield ("merges",), "merges without a text, expected text: low lower lowest"
    yield from _unknown_symbols(_pairs(data) or [])


def _unknown_symbols(pairs: list[tuple[str, str]]) -> Iterator[tuple[YamlPath, str]]:
    """What is joined has to be there by then."""
    made, joined = set[str](), dict[tuple[str, str], int]()
    for i, pair in enumerate(pairs):
        if pair in joined:
            yield ("merges", i), f"the same as entry {joined[pair] + 1}"
        for symbol in dict.fromkeys(pair):
            if len(symbol) > 1 and symbol not in made:
                message = f"{symbol!r} is no character, and no merge before makes it"
                yield ("merges", i), message + closest(symbol, made)
        made.add("".join(pair))
        joined.setdefault(pair, i)


def _pairs(data: Data) -> list[tuple[str, str]] | None:
    """The merges; None where they are none."""
    merges = part(data, ("merges",))
    pairs = list(map(pair_of, merges)) if isinstance(merges, list) else [None]
    known = [pair for pair in pairs if pair]
    return known if len(known) == len(pairs) else None
