"""Given values: which numbers are not computed."""

from __future__ import annotations

from tracer.decoder import operations as op
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import listed
from tracer.names import distinct

MEAN = (
    " Each given row is the mean over all tokens, per column, of what the model computes here "
    "without --given."
)


def not_computed(value: Value, operation: op.Pinned, symbol: ex.Expression) -> doc.Sentence:
    """Say that a value, or some of its rows, are given."""
    said: doc.Sentence = (symbol, " is given, not computed.")
    if operation.given_rows is not None:
        names = distinct(value.axes[0].labels)
        tokens = listed([names[row] for row in operation.given_rows])
        rows, are = ("The row", "is") if len(operation.given_rows) == 1 else ("The rows", "are")
        said = (f"{rows} of ", *tokens, " in ", symbol, f" {are} given, not computed.")
    return (*said, MEAN) if operation.is_mean else said
