"""What given values change: the predictions, or the output, without and with them."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder import roles
from tracer.decoder.comparison import predicted
from tracer.decoder.forward import Trace
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, listed
from tracer.lesson.entries import number
from tracer.lesson.texts.answers import SIGNS, side_by_side, word_of, worked
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct, name_text, position_of
from tracer.scenario.given import GivenRows, Repeated

WITHOUT, WITH = "without", "with"


def what_changes(plain: Trace, found: Trace, token: int) -> doc.Section:
    """Return the predictions after a token (counted from 0) with and without given values.

    Without a vocabulary, the output of the token. `plain` is the pass without them.
    """
    blocks = [doc.Paragraph(said) for said in _given(plain, found)]
    show = _predictions if predicted(found) and predicted(plain) else _outputs
    return doc.Section(None, "What the given values change", (*blocks, *show(plain, found, token)))


def _given(plain: Trace, found: Trace) -> Iterator[doc.Sentence]:
    """Name the values and rows, and those that are means."""
    sites: dict[str, bool] = {}
    for address, numbers in found.scenario.given.items():
        if plain.scenario.given.get(address) is numbers:
            continue
        rows = numbers.rows if isinstance(numbers, GivenRows) else {None: numbers}
        for token, own in rows.items():
            sites[_site(found[address], token)] = isinstance(own, Repeated) and own.is_mean
    are = "is" if len(sites) == 1 else "are"
    yield (*listed(list(sites)), f" {are} given, not computed.")
    if means := [site for site, is_mean in sites.items() if is_mean]:
        are = "is the mean" if len(means) == 1 else "are means"
        what = "of what the model computes there without --given."
        yield (*listed(means), f" {are} over all tokens, per column, {what}")


def _site(value: Value, token: str | None) -> str:
    """`layer1.attention.output`, or with the token of a row `layer1.attention.output[Alex]`."""
    if token is None:
        return value.address
    labels = value.axes[0].labels
    return f"{value.address}[{name_text(distinct(labels)[position_of(token, labels)])}]"


def _predictions(plain: Trace, found: Trace, token: int) -> Iterator[doc.Block]:
    before, after = predicted(plain, token), predicted(found, token)
    assert before and after
    own, new = doc.Name(word_of(before)), doc.Name(word_of(after))
    name = doc.Name(distinct(found.tokens)[token])
    said: doc.Sentence = ("After ", name, ", the model predicts ", own)
    if own == new:
        said = (*said, " without and with the given values. ")
    else:
        said = (*said, " without the given values, and ", new, " with them. ")
    yield doc.Paragraph((*said, SIGNS))
    yield side_by_side([(WITHOUT, plain, before), (WITH, found, after)])
    lines = tuple(
        _change(plain, found, entry.at) for entry in {before.at: before, after.at: after}.values()
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
    return worked(f"z({name_text(word)})", write, found)


def _outputs(plain: Trace, found: Trace, token: int) -> Iterator[doc.Block]:
    """The token's row of the output without and with the given values."""
    ctx = LessonContext(found, token, symbols(found.records))
    value, before = found[roles.OUTPUT.name], plain[roles.OUTPUT.name]
    labels, row = distinct(value.axes[1].labels), ctx.row(value)
    rows: list[tuple[str | ex.Number, ...]] = [
        (labels[j], *(number(found.pencil, each, (row, j)) for each in (before, value)))
        for j in ctx.columns(value)
    ]
    yield doc.Paragraph(("The output for ", ctx.name, ":"))
    yield doc.Table.of(("feature", WITHOUT, WITH), rows)
