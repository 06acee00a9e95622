"""The reasons for which an equation that does not hold is not reported."""

from __future__ import annotations

from enum import StrEnum


class Doubt(StrEnum):
    """A reason, in the words of the report."""

    # found while the equation is read
    AFTER = "it may continue in the text after it"
    BEFORE = "it may continue the text before it"
    COLUMNS = "numbers side by side may be columns"
    FUNCTION = "may be another function"
    MIXED = "may be a mixed number"
    ORDER = "may be computed in another order"
    PERCENT = "a percentage may be of the number before it"
    RANGE = "may be a range"
    REMARK = "parentheses may hold a remark"
    SHAPE = "may be a size or a shape"
    # number systems
    BINARY = "may be binary numbers"
    # digits
    FEW_DIGITS = "numbers with few digits may be rounded"
    FLOAT = "the last digits may be a float's rounding error"
    TWICE = "the formula may stand there twice, as on a copied page"
    # what is meant
    STEPS = "may be computed step by step"
    APART = "may be two different numbers"
    APPROXIMATION = "may be an approximation on purpose"
    DELIBERATE = "may be false on purpose"
    WHOLE_QUOTIENT = "a quotient may be rounded to a whole number"
    MAGNITUDE = "a power of ten may be an order of magnitude"
    UNIT = "a unit follows"
    NOTATION = "few equations of the text hold, so its notation may be another one"
    WEAK = "only weak evidence confirms that it is read as it is meant (--all reports it)"
    UNCONFIRMED = (
        "it is off by more than a slip, and nothing confirms that it is read as it is meant"
    )
