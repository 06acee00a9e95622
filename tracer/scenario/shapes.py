"""Whether the parts of a scenario fit together: every row, column and label counted.

What is counted is the plain data, so that a wrong part keeps no other from being looked at. A part
that is missing, or of another kind, has no size: what would follow from it is not told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tracer.errors import Problem
from tracer.names import closest, count
from tracer.scenario.fields import Random
from tracer.scenario.model import NO_TARGET
from tracer.scenario.reader import Data, Place, Source

Size: TypeAlias = int | None
"""How many rows, columns or entries; None where it is not known."""

LARGEST_FORM = 250_000
"""Numbers that one word may stand for: a short file is not to fill the memory."""

AS_THE_OTHERS = "as many as in the other rows"


@dataclass
class Shapes:
    """What is wrong with the sizes of a scenario, and those that its short forms are to have."""

    problems: list[Problem] = field(default_factory=list)
    wanted: dict[Place, tuple[int, int]] = field(default_factory=dict)
    """Rows and columns of each `identity` and `random`."""


def shapes(source: Source) -> Shapes:
    """Count all that can be counted."""
    counted = _Counted(source)
    if isinstance(source.data, dict):
        counted.scenario()
    return counted.found


def address(place: Place) -> str:
    """The address of a place: ("layers", 0, "ffn", "W_1", 2) → layer1.ffn.W_1 row 3."""
    parts: list[str] = []
    indices: list[int] = []
    for part in place:
        if isinstance(part, str):
            parts.append(part)
        elif parts[-1] in _NUMBERED and not indices:
            parts[-1] = f"{_NUMBERED[parts[-1]]}{part + 1}"
        else:
            indices.append(part + 1)
    words = [".".join(parts)]
    if indices:
        of_one_row = len(indices) == 1 and parts[-1] not in _MATRICES
        names = ("entry",) if of_one_row else ("row", "column")
        words += [f"{name} {index}" for name, index in zip(names, indices, strict=False)]
    return " ".join(words)


_NUMBERED = {"layers": "layer", "heads": "head", "training": "training", "batch": "batch"}
_MATRICES = {
    *("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_3", "W_U"),
    *("mask", "table", "embeddings", "vectors", "transposed"),
}


def words_of(data: Data | None) -> list[Data] | None:
    """The words of a list or a sentence."""
    if isinstance(data, str):
        return list(data.split())
    return data if isinstance(data, list) else None


def part(data: Data | None, place: Place) -> Data | None:
    """What stands at a place; None if nothing does."""
    for step in place:
        match data, step:
            case dict(), str() if step in data:
                data = data[step]
            case list(), int() if step < len(data):
                data = data[step]
            case _:
                return None
    return data


@dataclass
class _Counted:
    source: Source
    found: Shapes = field(default_factory=Shapes)
    widths: dict[Place, Size] = field(default_factory=dict)
    """How many columns the query, key and value weights have."""

    def scenario(self) -> None:
        tokens = self.words("tokens") if self.has("tokens") else self.words("batch", 0)
        number = None if tokens is None else len(tokens)
        tokens_meaning = "one per token"
        self.length(("token_ids",), number, tokens_meaning)
        width = self.embeddings(tokens)
        feature = "one per feature of the embedding"
        self.length(("features",), width, feature)
        self.table(number, width, feature)
        self.mask(number)
        memory = self.encoder()
        for layer, _ in enumerate(self.entries("layers")):
            width = self.layer(("layers", layer), width, memory)
        self.norm((), "final_norm", width)
        self.rotary()
        self.unembedding(width)
        self.targets(number)
        self.training()
        self.batch()
        self.generation()

    # --- what goes in ----------------------------------------------------------------------------

    def embeddings(self, tokens: Sequence[Data] | None) -> Size:
        place: Place = ("embeddings",)
        rows: dict[int | str, Data] = {}
        match self.part(*place):
            case {"random": dict() as form}:
                return self.random_embeddings(form)
            case dict() as table:
                place_of_tokens = ("tokens",) if self.has("tokens") else ("batch", 0)
                self.have_embeddings(place_of_tokens)
                rows = dict(table.items())
            case list() as table:
                if tokens is not None and len(table) != len(tokens):
                    found = count(len(table), "row")
                    self.tell(place, f"{found}, expected {len(tokens)} (one per token)")
                rows = dict(enumerate(table))
        width = _usual(rows.values())
        if width == 0:
            self.tell((*place, next(iter(rows))), "no numbers, expected one per feature")
            return None
        for key in rows:
            meaning = "as many as in the other embeddings"
            self.length((*place, key), width, meaning, "number")
        return width

    def random_embeddings(self, form: dict[str, Data]) -> Size:
        width = _whole(form.get("columns")) or self.size("features")
        if width is None:
            self.tell(
                ("embeddings",), "how many features? expected {random: {columns: 4}} or features"
            )
        else:
            self.want(("embeddings",), len(self.words("vocabulary") or ()) + 1, width)
        return width

    def table(self, tokens: Size, width: Size, feature: str) -> None:
        place: Place = ("positions", "table")
        table = self.part(*place)
        if not isinstance(table, list):
            return
        if tokens is not None and 0 < len(table) < tokens:
            found = count(len(table), "row")
            self.tell(place, f"{found}, expected {tokens} (one per token)")
        self.rectangle(place, table, None, "", width, feature)

    def mask(self, tokens: Size) -> None:
        rows = self.part("mask")
        if not isinstance(rows, list) or tokens is None:
            return
        if len(rows) < tokens:
            found = count(len(rows), "row")
            self.tell(("mask",), f"{found}, expected {tokens} (one per token)")
        for i, row in enumerate(rows):
            if isinstance(row, list) and len(row) < tokens:
                found = count(len(row), "entry")
                self.tell(("mask", i), f"{found}, expected {tokens} (one per token)")

    def rotary(self) -> None:
        """Queries of all heads are turned by the same angles, a pair of columns by each."""
        if not isinstance(self.part("positions", "rotary"), dict):
            return
        widths: dict[Place, int] = {}
        for layer, _ in enumerate(self.entries("layers")):
            for head, _ in enumerate(self.entries("layers", layer, "attention", "heads")):
                place: Place = ("layers", layer, "attention", "heads", head, "W_Q")
                if width := self.widths.get(place):
                    widths[place] = width
        first = next(iter(widths.values()), 0)
        for place, width in widths.items():
            if width % 2:
                self.tell(
                    place,
                    f"{count(width, 'column')}, expected an even number of them "
                    "(rotary positions turn pairs)",
                )
            elif width != first:
                self.tell(
                    place,
                    f"{count(width, 'column')}, expected {first} "
                    "(rotary positions: as many as in the first head)",
                )

    def encoder(self) -> Size:
        place: Place = ("encoder", "vectors")
        vectors, tokens = self.part(*place), self.words("encoder", "tokens")
        if not isinstance(vectors, list):
            return None
        rows = None if tokens is None else len(tokens)
        meaning = "one per token of the encoder"
        _, width = self.rectangle(place, vectors, rows, meaning, None, AS_THE_OTHERS)
        self.length(("encoder", "features"), width, "one per column of the vectors")
        return width

    # --- layers ----------------------------------------------------------------------------------

    def layer(self, layer: Place, width: Size, memory: Size) -> Size:
        """The width behind a layer; `memory` is that of the encoder's vectors."""
        for name in ("attention", "cross_attention", "ffn"):
            place: Place = (*layer, name)
            if not isinstance(self.part(*place), dict):
                continue
            if name == "ffn":
                out = self.ffn(place, width)
            else:
                out = self.attention(place, width, memory if name == "cross_attention" else width)
            if name == "cross_attention" and not self.has("encoder"):
                self.tell(
                    place,
                    "cross-attention without an encoder, "
                    "expected encoder: {tokens: […], vectors: [[…], …]}",
                )
            self.residual(place, width, out)
            # A norm is written with its sub-layer, or for the layer as a whole.
            at = place if self.has(*place, "norm") else layer
            before = self.part(*at, "norm", "placement") == "pre"
            self.norm(at, "norm", width if before else out)
            width = out
        return width

    def attention(self, place: Place, width: Size, source: Size) -> Size:
        """`source` is the width of what keys and values are made of."""
        heads = self.entries(*place, "heads")
        even = None if width is None or not heads else max(1, width // len(heads))
        widths = [self.head((*place, "heads"), i, width, source, even) for i in range(len(heads))]
        known = [each for each in widths if each is not None]
        concat = sum(known) if known and len(known) == len(widths) else None
        if not self.has(*place, "W_O"):
            if self.has(*place, "b_O"):
                self.tell((*place, "b_O"), "a bias without W_O")
            return concat
        meaning = "one per dimension of the concatenated heads"
        out = self.matrix((*place, "W_O"), concat, meaning, guess=width)
        self.length((*place, "b_O"), out, "one per column of W_O", "number")
        return out

    def head(self, heads: Place, number: int, width: Size, source: Size, even: Size) -> Size:
        """The width of a head's values; `even` is that of heads which share the features evenly."""
        place: Place = (*heads, number)
        crossed = "cross_attention" in place
        d_k = self.of_shared_head(heads, number, "W_K")
        columns = None
        for letter, label in (("Q", "query"), ("K", "key"), ("V", "value")):
            name, labels, bias = f"W_{letter}", (*place, "labels", label), (*place, f"b_{letter}")
            if letter != "Q" and not self.has(*place, name):
                columns = self.of_shared_head(heads, number, name)
                if not self.has(*place, "shares"):
                    self.tell((*place, name), f"missing, expected {name} or shares: 1")
                continue
            of_encoder = crossed and letter != "Q"
            feature = f"one per feature of the {'encoder' if of_encoder else 'input'}"
            typed = self.columns(*place, "W_K") if letter == "Q" else None
            columns = self.matrix(
                (*place, name),
                width if letter == "Q" else source,
                feature,
                None if letter == "V" else d_k,
                "as many as W_Q has" if letter == "K" else "as many as the keys have",
                guess=self.size(*labels) or self.size(*bias) or typed or even,
            )
            self.widths[*place, name] = columns
            d_k = columns if letter == "Q" else d_k
            per_column = f"one per column of {name}"
            self.length(bias, columns, per_column, "number")
            self.length(labels, columns, per_column)
        return columns

    def of_shared_head(self, heads: Place, number: int, name: str) -> Size:
        """The columns of the weights of the head whose keys and values a head shares, if it does.

        Such a head has no keys and values of its own.
        """
        shared = _whole(self.part(*heads, number, "shares"))
        if shared is None:
            return None
        if name == "W_V":
            return self.widths.get((*heads, shared - 1, name))
        if not 1 <= shared <= number:
            message = f"{shared}, expected an earlier head"
            self.tell((*heads, number, "shares"), message + (f": 1 to {number}" * (number > 0)))
        elif self.has(*heads, shared - 1, "shares"):
            message = f"head {shared} has no keys and values of its own"
            self.tell((*heads, number, "shares"), message)
        for own in ("W_K", "W_V", "b_K", "b_V"):
            if self.has(*heads, number, own):
                self.tell((*heads, number, own), f"beside shares: {shared}, expected one of both")
        return self.widths.get((*heads, shared - 1, name))

    def ffn(self, place: Place, width: Size) -> Size:
        labels, bias = (*place, "labels"), (*place, "b_1")
        guess = self.size(*labels) or self.size(*bias) or self.size(*place, "W_2")
        four_times = None if width is None else 4 * width
        feature, unit = "one per feature of the input", "one per column of W_1"
        hidden = self.matrix((*place, "W_1"), width, feature, guess=guess or four_times)
        self.length(labels, hidden, unit)
        self.length(bias, hidden, unit, "number")
        if self.has(*place, "W_3"):
            self.matrix((*place, "W_3"), width, feature, hidden, "as many as W_1 has")
            self.length((*place, "b_3"), hidden, "one per column of W_3", "number")
        elif self.has(*place, "b_3"):
            self.tell((*place, "b_3"), "a bias without W_3")
        out = self.matrix((*place, "W_2"), hidden, unit, guess=width)
        self.length((*place, "b_2"), out, "one per column of W_2", "number")
        return out

    def residual(self, place: Place, width: Size, out: Size) -> None:
        off = str(self.part(*place, "residual")).lower() in ("false", "no", "off", "f", "n", "0")
        if not off and None not in (width, out) and width != out:
            self.tell(
                place,
                f"{count(out or 0, 'output')} cannot be added to {count(width or 0, 'input')}; "
                "expected as many, or residual: false",
            )

    def norm(self, place: Place, name: str, width: Size) -> None:
        """γ and β; and a sample of one number has no deviation."""
        at: Place = (*place, name)
        for parameter in ("gain", "shift"):
            self.length((*at, parameter), width, "one per feature", "number")
        if width == 1 and self.part(*at, "deviation") == "sample":
            self.tell((*at, "deviation"), "the deviation of a sample needs two features")

    # --- words -----------------------------------------------------------------------------------

    def unembedding(self, width: Size) -> None:
        words, projection = self.words("vocabulary"), self.part("unembedding")
        if self.has("vocabulary") and projection is None:
            self.tell(
                ("vocabulary",),
                "a vocabulary without unembedding, expected unembedding: {W_U: [[…], …]} or tied",
            )
        elif projection is not None and not self.has("vocabulary"):
            self.tell(
                ("unembedding",), "unembedding without a vocabulary, expected vocabulary: […]"
            )
        columns = None if words is None else len(words)
        if projection == "tied":
            self.tied()
        if isinstance(projection, dict):
            place: Place = ("unembedding", "W_U")
            feature, word = "one per feature of the output", "one per word of the vocabulary"
            found = self.matrix(place, width, feature, columns, word)
            self.length(("unembedding", "b_U"), found, "one per column of W_U", "number")

    def tied(self) -> None:
        """Every word of the vocabulary has an embedding, where the projection is made of them."""
        table = self.part("embeddings")
        if isinstance(table, list):
            self.tell(("unembedding",), "tied needs embeddings by word, {big: [0.9, 0.1], …}")
        elif isinstance(table, dict) and not self.random("embeddings"):
            self.are_in(table, ("vocabulary",), "word")

    def targets(self, tokens: Size) -> None:
        place: Place = ("targets",)
        if not self.has(*place):
            return
        self.length(place, tokens, "one per token")
        if not self.has("vocabulary"):
            self.tell(place, "targets without a vocabulary, expected vocabulary: […]")
        self.are_words(place)

    def training(self) -> None:
        for i, _ in enumerate(self.entries("training")):
            place: Place = ("training", i)
            self.have_embeddings((*place, "tokens"))
            self.length((*place, "targets"), self.size(*place, "tokens"), "one per token")
            self.are_words((*place, "targets"))

    def batch(self) -> None:
        first = self.size("batch", 0)
        for i, _ in enumerate(self.entries("batch")):
            if i or self.has("tokens"):  # else these are the tokens
                self.have_embeddings(("batch", i))
            meaning = "as many as in the first sequence"
            self.length(("batch", i), first, meaning, "token")

    def generation(self) -> None:
        words, table = self.words("vocabulary"), self.part("embeddings")
        end, start = self.part("generation", "end"), self.part("generation", "start")
        if isinstance(end, str) and words is not None and end not in words:
            message = f"{end!r} is not in the vocabulary{_near(end, words)}"
            self.tell(("generation", "end"), message)
        if not isinstance(table, dict) or self.random("embeddings"):
            return
        if isinstance(start, str) and start not in table:
            self.unknown(("generation", "start"), start, table)

    def are_words(self, place: Place) -> None:
        """Targets are words of the vocabulary."""
        known = self.words("vocabulary")
        if known is None:
            return
        for i, word in enumerate(self.words(*place) or ()):
            if isinstance(word, str) and word not in (*known, self.part("padding"), NO_TARGET):
                message = f"{word!r} is not in the vocabulary{_near(word, known)}"
                self.tell((*place, i), message)

    def have_embeddings(self, place: Place) -> None:
        """Other tokens than the scenario's own are looked up by their text."""
        table = self.part("embeddings")
        if isinstance(table, list):
            self.tell(place, "other tokens need embeddings by word, {big: [0.9, 0.1], …}")
        elif isinstance(table, dict) and not self.random("embeddings"):
            self.are_in(table, place)

    def are_in(self, table: dict[str, Data], place: Place, noun: str = "token") -> None:
        told = set[str]()
        for i, word in enumerate(self.words(*place) or ()):
            if isinstance(word, str) and word not in table and word not in told:
                self.unknown((*place, i), word, table, noun)
                told.add(word)

    # --- counting --------------------------------------------------------------------------------

    def matrix(
        self,
        place: Place,
        rows: Size,
        row_meaning: str,
        columns: Size = None,
        column_meaning: str = AS_THE_OTHERS,
        guess: Size = None,
    ) -> Size:
        """The columns of a matrix; `guess` is how many a random one has if nothing says it."""
        match self.part(*place):
            case "identity":
                if rows is not None and columns not in (None, rows):
                    found = f"identity has {count(rows, 'column')} here"
                    self.tell(place, f"{found}, expected {columns} ({column_meaning})")
                return self.want(place, rows, rows)
            case {"random": dict() as form}:
                stated = _whole(form.get("columns"))
                if stated and columns not in (None, stated):
                    message = f"{stated}, expected {columns} ({column_meaning})"
                    self.tell((*place, "random", "columns"), message)
                return self.want(place, rows, columns or stated or guess)
            case {"transposed": list() as turned}:
                at: Place = (*place, "transposed")
                found_columns, _ = self.rectangle(
                    at, turned, columns, column_meaning, rows, row_meaning
                )
                return found_columns
            case list() as typed:
                return self.rectangle(place, typed, rows, row_meaning, columns, column_meaning)[1]
            case _:
                return columns

    def want(self, place: Place, rows: Size, columns: Size) -> Size:
        """A matrix to be written out in this size."""
        if rows is None or columns is None:
            return columns
        if rows * columns > LARGEST_FORM:
            message = f"{rows} × {columns} numbers, expected at most {LARGEST_FORM} in a short form"
            self.tell(place, message)
        else:
            self.found.wanted[place] = (rows, columns)
        return columns

    def rectangle(
        self,
        place: Place,
        typed: list[Data],
        rows: Size,
        row_meaning: str,
        columns: Size,
        column_meaning: str,
    ) -> tuple[Size, Size]:
        """The size that typed rows have, or ought to have."""
        usual = _usual(typed)
        if not typed or usual is None:
            return rows, columns
        if rows not in (None, len(typed)):
            found = count(len(typed), "row")
            self.tell(place, f"{found}, expected {rows} ({row_meaning})")
        if usual == 0:
            self.tell((*place, 0), "an empty row")
            return rows, columns
        expected, meaning = columns, column_meaning
        lengths = {len(row) for row in typed if isinstance(row, list)}
        if len(typed) > 1 and lengths == {usual} and usual != (expected or usual):
            found = count(usual, "column")
            self.tell(place, f"{found}, expected {expected} ({meaning})")
        else:
            for index, row in enumerate(typed):
                if isinstance(row, list) and len(row) != (expected or usual):
                    found = count(len(row), "column")
                    expectation = f"{expected or usual} ({meaning if expected else AS_THE_OTHERS})"
                    self.tell((*place, index), f"{found}, expected {expectation}")
        return rows or len(typed), columns or usual

    def length(self, place: Place, expected: Size, meaning: str, noun: str = "entry") -> None:
        found = self.size(*place)
        if found is not None and expected is not None and found != expected:
            self.tell(place, f"{count(found, noun)}, expected {expected} ({meaning})")

    # --- the data --------------------------------------------------------------------------------

    def part(self, *place: int | str) -> Data | None:
        return part(self.source.data, place)

    def has(self, *place: int | str) -> bool:
        return self.part(*place) is not None

    def entries(self, *place: int | str) -> Sequence[Data]:
        found = self.part(*place)
        return found if isinstance(found, list) else ()

    def words(self, *place: int | str) -> list[Data] | None:
        return words_of(self.part(*place))

    def size(self, *place: int | str) -> Size:
        """How many entries a list or words a sentence has."""
        words = self.words(*place)
        return None if words is None else len(words)

    def columns(self, *place: int | str) -> Size:
        """How many columns a typed matrix has."""
        if turned := self.entries(*place, "transposed"):
            return len(turned)
        return _usual(self.entries(*place))

    def random(self, *place: int | str) -> bool:
        return isinstance(self.part(*place, "random"), dict)

    def unknown(self, place: Place, word: str, table: Iterable[str], noun: str = "token") -> None:
        near = closest(word, table)
        form = "" if near else f", expected {word}: [0.9, 0.1] in embeddings"
        self.tell(place, f"no embedding for the {noun} {word!r}{near}{form}")

    def tell(self, place: Place, message: str) -> None:
        self.found.problems.append(self.source.problem(place, message, address(place)))


def _usual(rows: Iterable[Data]) -> Size:
    """The length that most rows have; of several the first, of none None."""
    lengths = Counter(len(row) for row in rows if isinstance(row, list))
    return max(lengths, key=lengths.__getitem__) if lengths else None


def _whole(text: Data | None) -> Size:
    """The columns that a random matrix states, if it states them right."""
    try:
        return Random.model_validate({"columns": text}).columns if text else None
    except ValueError:
        return None


def _near(word: str, known: Iterable[Data]) -> str:
    return closest(word, [name for name in known if isinstance(name, str)])
