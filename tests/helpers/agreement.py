"""An independent judge of agreement: does a worked line end with the number of its matrix?

A worked line `label: … = … ≈ result` is about one entry of the matrix whose symbol its formula, or
the line itself, names. The judge finds that entry by the label and by the marked row, and asks that
it shows the result with the very same digits. It shares no code with the program: it reads blocks
(see `terminal_page` and `other_pages`), whatever format they were printed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from tests.helpers import terminal_page
from tests.helpers.judge import told_apart
from tests.helpers.truth import Worked


class Disagreement(NamedTuple):
    """A line that ends with another number than its matrix shows."""

    step: str
    line: str
    entry: str  # `symbol[row, column]`
    shown: str  # in the matrix


@dataclass(frozen=True)
class Judged:
    """What was found on a page."""

    compared: int  # lines held against a matrix
    disagreements: tuple[Disagreement, ...]
    unplaced: tuple[str, ...]  # lines whose matrix stands in their step, but without their entry


class Result(NamedTuple):
    """What a worked line comes to, and of which value."""

    symbol: str
    label: str
    number: str
    text: str
    first: str  # what its first side is: a sum, `sin`, …


def disagreements(blocks: Sequence[terminal_page.Block]) -> list[Disagreement]:
    """Where a line and its matrix, or a sentence on the loss, show different numbers."""
    return list(judged(blocks).disagreements)


def judged(blocks: Sequence[terminal_page.Block]) -> Judged:
    """Each worked line held against the matrix of its step that has its symbol."""
    compared, wrong, unplaced = 0, [], []
    for step in terminal_page.split_steps(list(blocks)):
        for result, table in _pairs(step):
            entries = entries_of(result.label, table)
            if not entries:
                unplaced.append(f"{terminal_page.title_of(step)}: {result.text}")
                continue
            compared += 1
            shortened = "…" in result.label  # then it may mean several
            if shortened and result.number in (shown for _, shown in entries):
                continue
            wrong += [
                Disagreement(
                    terminal_page.title_of(step), result.text, f"{table.symbol}[{where}]", shown
                )
                for where, shown in entries
                if shown != result.number
            ]
    said = list(_said_of_the_loss(blocks))
    wrong += [each for each in said if each.line != each.shown]
    return Judged(compared + len(said), tuple(wrong), tuple(unplaced))


_LOSS = re.compile(rf"\bloss [`$]*L\b[`$]*(?! by [`$]*[0-9])[^0-9]*?({terminal_page.NUMBER})")


def _said_of_the_loss(blocks: Sequence[terminal_page.Block]) -> Iterator[Disagreement]:
    """What sentences say the loss L is, beside what the first line comes to that works it out."""
    steps = terminal_page.split_steps(list(blocks))
    worked = (
        result.number for step in steps for _, result in results(step) if result.symbol == "L"
    )
    first = next(worked, "")
    for step in steps:
        for block in step:
            said = _LOSS.search(block.text) if isinstance(block, terminal_page.Prose) else None
            if said and first:
                yield Disagreement(terminal_page.title_of(step), first, "L", said[1])


def results(step: Iterable[terminal_page.Block]) -> Iterator[tuple[int, Result]]:
    """What the lines of a step come to, each with its place among the blocks.

    A line belongs to the symbol that it begins with; without one, to that of the last formula, or
    of the heading where a sentence stands between.
    """
    symbol = headed = ""
    for place, block in enumerate(step):
        match block:
            case terminal_page.Heading(formula=formula):
                symbol = headed = formula.left if formula else ""
            case terminal_page.Formula(left=left):
                symbol = left
            case terminal_page.Prose():
                symbol = headed
            case terminal_page.Lines(lines=lines):
                for line in lines:
                    yield place, _result(line, symbol)
            case terminal_page.Table():
                pass


def _result(line: Worked, symbol: str) -> Result:
    """What a line comes to; of the symbol over it, if it does not begin with one."""
    first, last = line.sides[0], line.sides[-1]
    return Result(
        line.names[0] if line.names else symbol, line.label, last.text, line.text, first.kind
    )


def _pairs(step: Sequence[terminal_page.Block]) -> Iterator[tuple[Result, terminal_page.Table]]:
    """The results of a step with their matrices: the next of that symbol, else the last before.

    Lines without a symbol (`S + M`, whose formula is a sentence) are about the next matrix that
    has all their labels, or, if they are the sines and cosines of positions, about its columns in
    turn.
    """
    tables = [(i, block) for i, block in enumerate(step) if isinstance(block, terminal_page.Table)]
    nameless: list[list[Result]] = []
    for place, group in groupby(results(step), key=lambda each: each[0]):
        found = [result for _, result in group]
        behind = [table for i, table in tables if i > place]
        before = [table for i, table in tables if i < place]
        for result in found:
            named = [t for t in behind if t.symbol == result.symbol] or [
                t for t in reversed(before) if t.symbol == result.symbol
            ]
            if named:
                yield result, named[0]
        if found[0].symbol:
            continue
        nameless.append(found)
        below = next(
            (block for block in step[place + 1 :] if not isinstance(block, terminal_page.Prose)),
            None,
        )
        if not isinstance(below, terminal_page.Table):
            continue
        wave = re.compile(rf"{found[0].first}\(?θ")  # both matrices stand below the lines of both
        turned = [table for table in behind if wave.match(table.symbol)]
        if turned:
            yield from ((result, turned[0]) for result in found)
        elif {result.label for result in found} <= set(below.columns):
            yield from ((result, below) for result in found)
        elif below.symbol.removesuffix(terminal_page.OF_ENCODER) == "P" and len(nameless) > 1:
            waves = [each for pair in zip(*nameless[-2:], strict=True) for each in pair]
            for column, wave in zip(below.columns, waves, strict=False):
                yield wave._replace(label=column), below


def entries_of(label: str, table: terminal_page.Table) -> list[tuple[str, str]]:
    """The entries of a matrix that a label means: where they are, and what they show.

    `column` is in the marked row, or in the only one; `row` in the only column; `row, column`
    says both. Without a label, all entries of the marked row are meant, or the only row's.
    """
    rows = [
        (
            name,
            dict(zip(table.columns, numbers, strict=False)) if table.columns else {"": numbers[0]},
        )
        for name, numbers in table.rows
        if numbers
    ]
    followed = [rows[table.followed]] if table.followed is not None else rows[: len(rows) == 1]
    if not label:
        return [(name, n) for name, row in followed for n in dict.fromkeys(row.values())]
    found = [
        (f"{name}, {column}", number)
        for name, row in followed
        for column, number in row.items()
        if means(label, column)
    ]
    return found or [
        (f"{name}, {column}", number)
        for name, row in rows
        for column, number in row.items()
        if means(label, f"{name}, {column}") or (len(row) == 1 and means(label, name))
    ]


def means(label: str, name: str) -> bool:
    """Whether a label is the name; of a long one, only its beginning and end may be shown."""
    beginning, *end = label.replace(" ", "").split("…")
    pattern = ".*".join(map(re.escape, [beginning, *end]))
    return re.fullmatch(pattern, name.replace(" ", ""), re.DOTALL) is not None


# --- values as JSON ------------------------------------------------------------------------------


def against_values(
    blocks: Sequence[terminal_page.Block],
    values: Iterable[Mapping[str, Any]],
    *,
    bare: Callable[[str], str],
) -> list[Disagreement]:
    """The lines and matrices of a page that no printed value of that symbol has.

    Several values may share a symbol, one in each layer; `bare` makes symbols and labels alike.
    """
    by_symbol: dict[str, list[terminal_page.Table]] = {}
    for value in values:
        by_symbol.setdefault(bare(value["symbol"]), []).append(_as_table(value, bare))
    found: list[Disagreement] = []
    for step in terminal_page.split_steps(list(blocks)):
        for block in step:
            if isinstance(block, terminal_page.Table):
                known = by_symbol.get(bare(block.symbol), [])
                if known and not any(_is_part(block, table, bare) for table in known):
                    found.append(
                        Disagreement(
                            terminal_page.title_of(step), block.symbol, str(block.rows), ""
                        )
                    )
        for (_, symbol), group in groupby(
            results(step), key=lambda each: (each[0], each[1].symbol)
        ):
            known = by_symbol.get(bare(symbol), [])
            wanted = [(bare(result.label), result.number) for _, result in group]
            alone = len(dict(wanted)) < len(wanted)  # a line for each of several values
            for some in [{each} for each in wanted] if alone else [set(wanted)]:
                if known and not any(_has(table, some) for table in known):
                    found.append(Disagreement(terminal_page.title_of(step), symbol, str(some), ""))
    return found


def _as_table(value: Mapping[str, Any], bare: Callable[[str], str]) -> terminal_page.Table:
    """A value of the JSON as a matrix: a vector is one row, a number one entry."""
    labels = [list(map(bare, told_apart(axis["labels"]))) for axis in value["axes"]]
    printed = value["printed"]
    while len(labels) < 2:
        labels, printed = [[""], *labels], [printed]
    rows = tuple(zip(labels[0], map(tuple, printed), strict=True))
    return terminal_page.Table(bare(value["symbol"]), tuple(labels[1]), rows)


def _has(table: terminal_page.Table, wanted: set[tuple[str, str]]) -> bool:
    """Whether a row, or all entries, of the value are what the lines say, each by its label."""
    rows = [{(c, n) for c, n in zip(table.columns, row, strict=True)} for _, row in table.rows]
    by_both = {
        (f"{name},{column}", number)
        for name, row in table.rows
        for column, number in zip(table.columns, row, strict=True)
    }
    alone = [{("", number) for number in row} for _, row in table.rows]
    return any(_said(wanted, each) for each in (*rows, *alone, by_both))


def _said(wanted: set[tuple[str, str]], entries: set[tuple[str, str]]) -> bool:
    """Whether each label that is wanted has its number; a long label may be shortened."""
    return all(
        any(number == n and means(label, name) for name, n in entries) for label, number in wanted
    )


def _is_part(
    part: terminal_page.Table, whole: terminal_page.Table, bare: Callable[[str], str]
) -> bool:
    """Whether all that a matrix shows is in the value, under the same labels.

    The value may have the followed token's row alone.
    """
    entries = {
        (name, column, number)
        for name, row in whole.rows
        for column, number in zip(whole.columns, row, strict=True)
    }
    turned = {(column, name, number) for name, column, number in entries}
    of_whole = {name for name, _ in whole.rows}
    names = [(bare(name), row) for name, row in part.rows]
    shown = {
        (name, column, number)
        for name, row in [each for each in names if each[0] in of_whole] or names
        for column, number in zip(map(bare, part.columns or ("",)), row, strict=False)
    }
    vector = {("", column, number) for _, column, number in shown}
    return any(_all_in(each, known) for each in (shown, vector) for known in (entries, turned))


def _all_in(shown: set[tuple[str, str, str]], known: set[tuple[str, str, str]]) -> bool:
    """Whether each entry is one of those that are known; a long label may be shortened."""
    return all(
        any(n == number and means(row, name) and means(column, c) for name, c, n in known)
        for row, column, number in shown - known
    )
