"""What given values change: the predictions or the output, steps, and single numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tracer.decoder import roles
from tracer.decoder.attribution import Attribution, attributed
from tracer.decoder.comparison import predicted
from tracer.decoder.forward import Trace
from tracer.decoder.value import Entry, Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, after, listed
from tracer.lesson.entries import name, number
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.answers import SIGNS, side_by_side, word_of, worked_line
from tracer.lesson.texts.attribution_pictures import subject
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct, name_text, position_of
from tracer.scenario.given import GivenRows, Repeated

WITHOUT, WITH = "without", "with"


def what_changes(plain: Trace, found: Trace, token: int) -> doc.Section:
    """Return the predictions after a token (counted from 0) with and without given values.

    Without a vocabulary, the output of the token. `plain` is the pass without them.
    """
    show = _predictions if predicted(found) and predicted(plain) else _outputs
    return _section(plain, found, show(plain, found, token))


def what_changes_in(
    chosen: Sequence[Step], plain: Trace, found: Trace, tokens: tuple[int, int]
) -> doc.Section:
    """Return the results of some steps for a token, with and without given values.

    `tokens` are those that are followed in the decoder and in the encoder, counted from 0. Of a
    result without a row for the token, and of words, nothing is said.
    """
    ctx = LessonContext(found, tokens[0], symbols(found.records), tokens[1])
    shown = [blocks for step in chosen if (blocks := _result(plain, ctx, step)) is not None]
    blocks = [block for of_step in shown for block in of_step]
    if shown and not blocks:
        of, result = ctx.at(chosen[0].place).name, chosen[-1].last.output
        said: doc.Sentence = ("For ", of, ", the results above are the same")
        if not result.axes:
            said = (ctx.symbols[result.address], " is the same")
        blocks = [doc.Paragraph((*said, " without the given values."))]
    return _section(plain, found, blocks)


def without_given(plain: Trace, entry: Entry) -> doc.Sentence | None:
    """Say what an entry is without given values; None if it belongs to another token there."""
    before = counterpart(plain, entry.value)
    if before is None:
        return None
    if before.role.words:
        return _without_given_values(name(entry), doc.Name(str(before.read(entry.at))))
    return _without_given_values(name(entry), number(plain.pencil, before, entry.at))


def attributed_without_given(plain: Trace, found: Attribution) -> doc.Sentence | None:
    """Say what an attributed number is without given values; None if it is not there."""
    before = counterpart(plain, found.entry.value)
    if before is None:
        return None
    value = attributed(plain, Entry(before, found.entry.at), found.other)
    return _without_given_values(subject(found), number(plain.pencil, value, ()))


def _without_given_values(what: str, shown: doc.Name | ex.Number) -> doc.Sentence:
    return ("Without the given values, ", doc.Name(what), " is ", shown, ".")


def counterpart(plain: Trace, value: Value) -> Value | None:
    """Return the value in the pass without given values, if it has the same axes."""
    before = plain.values.get(value.address)
    return before if before and before.axes == value.axes else None


def _section(plain: Trace, found: Trace, changes: Iterable[doc.Block]) -> doc.Section:
    blocks = [doc.Paragraph(said) for said in _given(plain, found)]
    return doc.Section(None, "What the given values change", (*blocks, *changes))


def _result(plain: Trace, ctx: LessonContext, step: Step) -> list[doc.Block] | None:
    """The followed row of a step's result, without and with given values; none if it is the same.

    None if there is nothing to compare.
    """
    value, ctx = step.last.output, ctx.at(step.place)
    before = counterpart(plain, value)
    if before is None or value.role.words or len(value.axes) > 2:
        return None
    if value.axes and not (value.per_token and ctx.follows(value)):
        return None
    row = ctx.row(value) if value.axes else 0
    at = (row,) if value.axes else ()
    if np.array_equal(before.read(at), value.read(at)):
        return []
    of: doc.Sentence = (" of ", ctx.name) if value.axes else ()
    if len(value.axes) < 2:
        own, new = (number(ctx.trace.pencil, each, at) for each in (before, value))
        is_without: doc.Sentence = (" is ", own, " without the given values, and ", new)
        return [doc.Paragraph((ctx.symbols[value.address], *of, *is_without, " with them."))]
    return [
        doc.Paragraph((ctx.symbols[value.address], *of, ":")),
        _table(before, value, row, ctx),
    ]


def _table(before: Value, value: Value, row: int, ctx: LessonContext) -> doc.Table:
    """A row without and with the given values."""
    labels, pencil = distinct(value.axes[1].labels), ctx.trace.pencil
    rows: list[tuple[str | ex.Number, ...]] = [
        (labels[j], *(number(pencil, each, (row, j)) for each in (before, value)))
        for j in ctx.columns(value)
    ]
    return doc.Table.of((value.axes[1].name, WITHOUT, WITH), rows)


def _given(plain: Trace, found: Trace) -> Iterator[doc.Sentence]:
    """Name the values and rows, and those that are means."""
    sites: dict[str, bool] = {}
    for address, numbers in found.scenario.given.items():
        if plain.scenario.given.get(address) is numbers:
            continue
        rows = numbers.rows if isinstance(numbers, GivenRows) else {None: numbers}
        for token, own in rows.items():
            sites[_address_of_row(found[address], token)] = (
                isinstance(own, Repeated) and own.is_mean
            )
    are = "is" if len(sites) == 1 else "are"
    yield (*listed(list(sites)), f" {are} given, not computed.")
    if means := [site for site, is_mean in sites.items() if is_mean]:
        are = "is the mean" if len(means) == 1 else "are means"
        what = "of what the model computes there without --given."
        yield (*listed(means), f" {are} over all tokens, per column, {what}")


def _address_of_row(value: Value, token: str | None) -> str:
    """`layer1.attention.output`, or with the token of a row `layer1.attention.output[Alex]`."""
    if token is None:
        return value.address
    labels = value.axes[0].labels
    return f"{value.address}[{name_text(distinct(labels)[position_of(token, labels)])}]"


def _predictions(plain: Trace, found: Trace, token: int) -> Iterator[doc.Block]:
    before, now = predicted(plain, token), predicted(found, token)
    assert before and now
    own, new = doc.Name(word_of(before)), doc.Name(word_of(now))
    name = doc.Name(distinct(found.tokens)[token])
    at = after(found.scenario).capitalize()
    said: doc.Sentence = (f"{at} ", name, ", the model predicts ", own)
    if own == new:
        said = (*said, " without and with the given values. ")
    else:
        said = (*said, " without the given values, and ", new, " with them. ")
    yield doc.Paragraph((*said, SIGNS))
    yield side_by_side([(WITHOUT, plain, before), (WITH, found, now)])
    lines = tuple(
        _change(plain, found, entry.at) for entry in {before.at: before, now.at: now}.values()
    )
    yield doc.Paragraph(("The change of each logit, with − without:",))
    yield doc.Working(lines)


def _change(plain: Trace, found: Trace, at: tuple[int, ...]) -> doc.Line:
    """The line of the change of a logit."""

    def write(guard: int) -> ex.Expression:
        after, before = (
            number(run.pencil, run[roles.LOGITS.name], at, guard) for run in (found, plain)
        )
        return ex.Difference(after, before)

    word = found[roles.LOGITS.name].axes[1].labels[at[1]]
    return worked_line(f"z({name_text(word)})", write, found)


def _outputs(plain: Trace, found: Trace, token: int) -> Iterator[doc.Block]:
    """The token's row of the output without and with the given values."""
    ctx = LessonContext(found, token, symbols(found.records))
    value, before = found[roles.OUTPUT.name], plain[roles.OUTPUT.name]
    yield doc.Paragraph(("The output for ", ctx.name, ":"))
    yield _table(before, value, ctx.row(value), ctx)
