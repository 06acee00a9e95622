"""Which terms of a long sum are written out."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from tracer.formula.arithmetic import Array
from tracer.frozen import frozen


@frozen
class Terms:
    """Which terms of a long sum are written out; what the rest comes to stands behind them.

    A sum of at most so many is written out whole.
    """

    shown: int = 12
    most: int = 16
    largest: bool = False
    """Whether they are the largest, in the order of their size, rather than the first."""

    def of(self, terms: Array) -> list[int]:
        """Where they stand, counted from 0."""
        if len(terms) <= self.most:
            return list(range(len(terms)))
        order = np.argsort(-abs(terms), kind="stable") if self.largest else range(len(terms))
        return [int(at) for at in order[: self.shown]]

    def of_row(self, terms: Array) -> list[int]:
        """The same of a row that stands in a table, of which only the largest may be shown."""
        if len(terms) <= self.most or isinstance(terms.flat[0], Decimal):
            return self.of(terms)
        return [int(at) for at in np.argsort(-terms, kind="stable")[: self.shown]]
