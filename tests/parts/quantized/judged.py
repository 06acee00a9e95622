"""Quantized weights, computed a second time."""

from __future__ import annotations

from tests.helpers.judged_part import JudgedPart
from tests.helpers.quantized import dequantized

PART = JudgedPart(
    weights={"of": lambda keys: dequantized(dict(keys))},
    phrases={"The numbers that quantized weights stand for.": r"W_\w(\.frozen)?"},
)
