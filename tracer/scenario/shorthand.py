"""The short forms of a scenario, written out: what stands for tokens, rows and columns.

They become plain data, as if somebody had typed it: every number is shown with its digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random as Generator

from pydantic import ValidationError

from tracer.scenario.fields import Random
from tracer.scenario.parts import address, with_part
from tracer.scenario.reader import Data, YamlPath
from tracer.scenario.sizes import Shapes, part, words_of

Rows = list[Data]


def written_out(source: Data, shapes: Shapes) -> tuple[dict[str, Data], set[YamlPath]]:
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
    for place, (rows, columns) in shapes.wanted.items():
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
