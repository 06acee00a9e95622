"""The mean of a value's rows, which can replace them (mean ablation, Wang et al. 2023)."""

from __future__ import annotations

import numpy as np

from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.operations import Mean
from tracer.decoder.results import result
from tracer.decoder.value import Value, has_token_rows
from tracer.formula.arithmetic import Array, no_rounding


def column_means(value: Value, found: Trace) -> Array | None:
    """Return the mean of each column over the tokens: (n, d) → (d,), (n,) → one number.

    It is rounded like the value's own numbers. None if the value has no row for each token.
    """
    if value.role.words or not has_token_rows(value) or value.axes[0].positions is not None:
        return None
    arithmetic = arithmetic_of(found.scenario)
    columns = np.atleast_2d(value.numbers.T)
    with arithmetic.context():
        means = result(arithmetic, Mean(), [columns], value.axes[1:], no_rounding)
    kept = found.pencil.kept(value.role, value.base_address, means[np.newaxis], None)
    means = means if kept is None else kept[0]
    return means if value.axes[1:] else means[0]
