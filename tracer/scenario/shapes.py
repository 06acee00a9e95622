"""Whether the parts of a scenario fit together: every row, column and label counted."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tracer.errors import Problem
from tracer.names import closest, count
from tracer.scenario.model import (
    FFN,
    Attention,
    Encoder,
    Head,
    Matrix,
    Names,
    Norm,
    Row,
    Scenario,
    SubLayer,
)
from tracer.scenario.reader import Place, Source

Counted: TypeAlias = Generator[Problem, None, int]
"""Yields problems and returns the width of what comes out."""


def problems(scenario: Scenario, source: Source) -> list[Problem]:
    """Every misfit in the scenario, in the order of the file's meaning."""
    return list(_Checker(scenario, source).scenario_problems())


def address(place: Place) -> str:
    """The address of a place: ("layers", 0, "ffn", "W_1", 2) → layer1.ffn.W_1 row 3."""
    parts: list[str] = []
    indices: list[int] = []
    for part in place:
        if isinstance(part, str):
            parts.append(part)
        elif place[0] == "layers" and parts[-1] in ("layers", "heads"):
            parts[-1] = f"{parts[-1][:-1]}{part + 1}"
        else:
            indices.append(part + 1)
    words = [".".join(parts)]
    if indices:
        of_one_row = len(indices) == 1 and parts[-1] not in _MATRICES
        names = ("entry",) if of_one_row else ("row", "column")
        words += [f"{name} {index}" for name, index in zip(names, indices, strict=False)]
    return " ".join(words)


_MATRICES = {
    *("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_U"),
    *("table", "embeddings", "vectors"),
}


@dataclass(frozen=True)
class _Checker:
    scenario: Scenario
    source: Source

    def scenario_problems(self) -> Iterator[Problem]:
        scenario = self.scenario
        tokens = count(len(scenario.tokens), "token")
        if scenario.token_ids is not None:
            yield from self.length(("token_ids",), scenario.token_ids, len(scenario.tokens), tokens)
        width = yield from self.embeddings()
        if not width:
            return
        feature = "one per feature of the embedding"
        if scenario.features is not None:
            yield from self.length(("features",), scenario.features, width, feature)
        if scenario.positions and (table := scenario.positions.table):
            place: Place = ("positions", "table")
            if len(table) < len(scenario.tokens):
                found, expected = count(len(table), "row"), len(scenario.tokens)
                yield self.problem(place, f"{found}, expected {expected} (one per token)")
            yield from self.matrix(place, table, None, width, feature)
        encoder = scenario.encoder
        if encoder:
            yield from self.encoder(encoder)
        for number, layer in enumerate(scenario.layers):
            place = ("layers", number)
            if part := layer.attention:
                at: Place = (*place, "attention")
                out = yield from self.attention(at, part, width, width)
                yield from self.norm(
                    self.norm_place(place, at, part), layer.norm_of(part), width, out
                )
                width = out
            if part := layer.cross_attention:
                at = (*place, "cross_attention")
                if encoder is None:
                    yield self.problem(at, "cross-attention without an encoder")
                else:
                    out = yield from self.attention(at, part, width, len(encoder.vectors[0]))
                    yield from self.norm(
                        self.norm_place(place, at, part), layer.norm_of(part), width, out
                    )
                    width = out
            if network := layer.ffn:
                at = (*place, "ffn")
                out = yield from self.ffn(at, network, width)
                yield from self.norm(
                    self.norm_place(place, at, network), layer.norm_of(network), width, out
                )
                width = out
        yield from self.unembedding(width)
        yield from self.words()

    def embeddings(self) -> Counted:
        """Yields problems, returns the width of the embedding (0: none of the rows is there)."""
        scenario, table = self.scenario, self.scenario.embeddings
        place: Place = ("embeddings",)
        if isinstance(table, dict):
            # What could not be read is told already, and is not missing.
            typed = self.source.data["embeddings"] if isinstance(self.source.data, dict) else ()
            there = (*table, *typed)
            missing = [token for token in dict.fromkeys(scenario.tokens) if token not in there]
            for token in missing:
                hint = closest(token, table)
                at: Place = ("tokens", scenario.tokens.index(token))
                yield self.problem(at, f"no embedding for the token {token!r}{hint}")
            rows: dict[int | str, Row] = dict(table.items())
        else:
            if len(table) != len(scenario.tokens):
                found, expected = count(len(table), "row"), len(scenario.tokens)
                yield self.problem(place, f"{found}, expected {expected} (one per token)")
            rows = dict(enumerate(table))
        if not rows:
            return 0
        first, width = next(iter(rows)), len(next(iter(rows.values())))
        if not width:
            yield self.problem((*place, first), "no numbers, expected one per feature")
        for key, row in rows.items():
            meaning = "as many as in the first embedding"
            yield from self.length((*place, key), row, width, meaning, "number")
        return width

    def encoder(self, encoder: Encoder) -> Iterator[Problem]:
        place: Place = ("encoder", "vectors")
        rows = len(encoder.tokens)
        meaning = "one per token of the encoder"
        yield from self.matrix(place, encoder.vectors, rows, None, row_meaning=meaning)
        if encoder.features is not None:
            at: Place = ("encoder", "features")
            width = len(encoder.vectors[0])
            yield from self.length(at, encoder.features, width, "one per column of the vectors")

    def attention(self, place: Place, attention: Attention, width: int, source: int) -> Counted:
        """`source` is the width of what keys and values are made of."""
        heads_width = 0
        for number, head in enumerate(attention.heads):
            yield from self.head((*place, "heads", number), head, width, source)
            heads_width += len(head.W_V[0])
        out = heads_width
        if attention.W_O is not None:
            at, meaning = (*place, "W_O"), "one per dimension of the concatenated heads"
            yield from self.matrix(at, attention.W_O, heads_width, None, row_meaning=meaning)
            out = len(attention.W_O[0])
            if attention.b_O is not None:
                meaning = "one per column of W_O"
                yield from self.length((*place, "b_O"), attention.b_O, out, meaning, "number")
        elif attention.b_O is not None:
            yield self.problem((*place, "b_O"), "a bias without W_O")
        yield from self.residual(place, attention.residual, width, out)
        return out

    def head(self, place: Place, head: Head, width: int, source: int) -> Iterator[Problem]:
        labels = head.labels
        for matrix, bias, names in (
            ("W_Q", "b_Q", labels.query),
            ("W_K", "b_K", labels.key),
            ("W_V", "b_V", labels.value),
        ):
            rows: Matrix = getattr(head, matrix)
            columns = None
            meaning = ""
            if matrix == "W_K":
                columns, meaning = len(head.W_Q[0]), "as many as W_Q has"
            expected = width if matrix == "W_Q" else source
            crossed = matrix != "W_Q" and "cross_attention" in place
            feature = f"one per feature of the {'encoder' if crossed else 'input'}"
            yield from self.matrix((*place, matrix), rows, expected, columns, meaning, feature)
            numbers: Row | None = getattr(head, bias)
            per_column = f"one per column of {matrix}"
            if numbers is not None:
                yield from self.length((*place, bias), numbers, len(rows[0]), per_column, "number")
            if names is not None:
                at = (*place, "labels", {"W_Q": "query", "W_K": "key", "W_V": "value"}[matrix])
                yield from self.length(at, names, len(rows[0]), per_column)

    def ffn(self, place: Place, ffn: FFN, width: int) -> Counted:
        hidden, out = len(ffn.W_1[0]), len(ffn.W_2[0])
        feature, unit = "one per feature of the input", "one per column of W_1"
        yield from self.matrix((*place, "W_1"), ffn.W_1, width, None, row_meaning=feature)
        yield from self.matrix((*place, "W_2"), ffn.W_2, hidden, None, row_meaning=unit)
        if ffn.labels is not None:
            yield from self.length((*place, "labels"), ffn.labels, hidden, unit)
        if ffn.b_1 is not None:
            yield from self.length((*place, "b_1"), ffn.b_1, hidden, unit, "number")
        if ffn.b_2 is not None:
            meaning = "one per column of W_2"
            yield from self.length((*place, "b_2"), ffn.b_2, out, meaning, "number")
        yield from self.residual(place, ffn.residual, width, out)
        return out

    def residual(self, place: Place, on: bool, width: int, out: int) -> Iterator[Problem]:
        if on and out != width:
            message = (
                f"{count(out, 'output')} cannot be added to {count(width, 'input')}; "
                "expected as many, or residual: false"
            )
            yield self.problem(place, message)

    def norm_place(self, layer: Place, at: Place, part: SubLayer) -> Place:
        """Where a sub-layer's norm is written: with it, or for the layer as a whole."""
        return (*at, "norm") if "norm" in part.model_fields_set else (*layer, "norm")

    def norm(self, place: Place, norm: Norm | None, width: int, out: int) -> Iterator[Problem]:
        width = width if norm and norm.placement == "pre" else out
        for name in ("gain", "shift"):
            numbers: Row | None = getattr(norm, name, None)
            if numbers is not None:
                meaning = "one per feature"
                yield from self.length((*place, name), numbers, width, meaning, "number")

    def unembedding(self, width: int) -> Iterator[Problem]:
        words, projection = self.scenario.vocabulary, self.scenario.unembedding
        if projection is None:
            if words is not None:
                yield self.problem(("vocabulary",), "a vocabulary without unembedding")
            return
        place: Place = ("unembedding", "W_U")
        feature, word = "one per feature of the output", "one per word of the vocabulary"
        columns = len(words) if words is not None else None
        if words is None:
            yield self.problem(("unembedding",), "unembedding without a vocabulary")
        yield from self.matrix(place, projection.W_U, width, columns, word, feature)
        if projection.b_U is not None:
            meaning = "one per column of W_U"
            found = projection.b_U
            at: Place = ("unembedding", "b_U")
            yield from self.length(at, found, len(projection.W_U[0]), meaning, "number")

    def words(self) -> Iterator[Problem]:
        """Targets are words of the vocabulary, one for each token."""
        scenario = self.scenario
        known = scenario.vocabulary
        if scenario.targets is not None:
            tokens = "one per token"
            yield from self.length(("targets",), scenario.targets, len(scenario.tokens), tokens)
            if known is None:
                yield self.problem(("targets",), "targets without a vocabulary")
            for i, word in enumerate(scenario.targets):
                if known is not None and word not in known and word != scenario.padding:
                    message = f"{word!r} is not in the vocabulary{closest(word, known)}"
                    yield self.problem(("targets", i), message)
        for i, example in enumerate(scenario.training):
            place: Place = ("training", i)
            yield from self.known((*place, "tokens"), example.tokens)
            meaning = "one per token"
            targets: Place = (*place, "targets")
            yield from self.length(targets, example.targets, len(example.tokens), meaning)
            for j, word in enumerate(example.targets):
                if known is not None and word not in known and word != scenario.padding:
                    message = f"{word!r} is not in the vocabulary{closest(word, known)}"
                    yield self.problem((*targets, j), message)
        for i, sequence in enumerate(scenario.batch):
            yield from self.known(("batch", i), sequence)
            meaning = "as many as in the first sequence"
            yield from self.length(("batch", i), sequence, len(scenario.batch[0]), meaning, "token")
        end = scenario.generation.end
        if end is not None and known is not None and end not in known:
            message = f"{end!r} is not in the vocabulary{closest(end, known)}"
            yield self.problem(("generation", "end"), message)

    def known(self, place: Place, tokens: Names) -> Iterator[Problem]:
        """Other tokens than the scenario's own are looked up by their text."""
        table = self.scenario.embeddings
        if not isinstance(table, dict):
            yield self.problem(place, "other tokens need embeddings by token")
            return
        for i, token in enumerate(tokens):
            if token not in table:
                message = f"no embedding for the token {token!r}{closest(token, table)}"
                yield self.problem((*place, i), message)

    def matrix(
        self,
        place: Place,
        matrix: Matrix,
        rows: int | None,
        columns: int | None,
        column_meaning: str = "",
        row_meaning: str = "",
    ) -> Iterator[Problem]:
        """The number of rows; then each row's length, against the first row's if none is set."""
        if rows is not None and len(matrix) != rows:
            found = count(len(matrix), "row")
            yield self.problem(place, f"{found}, expected {rows} ({row_meaning})")
        if not matrix[0]:
            yield self.problem((*place, 0), "an empty row")
            return
        expected, meaning = columns, column_meaning
        if expected is None:
            expected, meaning = len(matrix[0]), "as many as in the first row"
        for index, row in enumerate(matrix):
            if len(row) != expected:
                found = count(len(row), "column")
                message = f"{found}, expected {expected} ({meaning})"
                yield self.problem((*place, index), message)

    def length(
        self,
        place: Place,
        values: Row | Names | tuple[int, ...],
        expected: int,
        meaning: str,
        noun: str = "entry",
    ) -> Iterator[Problem]:
        if len(values) != expected:
            found = count(len(values), noun)
            yield self.problem(place, f"{found}, expected {expected} ({meaning})")

    def problem(self, place: Place, message: str) -> Problem:
        return self.source.problem(place, message, address(place))
