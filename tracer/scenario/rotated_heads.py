"""Checks of rotary positions: widths of heads, factors, and settings of single layers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from tracer.names import count
from tracer.scenario.expected import Size
from tracer.scenario.part import scenario_parts
from tracer.scenario.reader import YamlPath
from tracer.scenario.sizes import SizeChecker


def check_rotary(counted: SizeChecker, tower: YamlPath, widths: Mapping[YamlPath, Size]) -> None:
    """Check that all rotated heads have the same width, and pairs of rotated columns.

    `widths` are the columns of the weights of queries, or of typed queries.
    """
    shared: YamlPath = (*tower, "positions", "rotary")
    is_rotary = isinstance(counted.part(*shared), dict)
    rotated = {name for part in scenario_parts() for name in part.rotated}
    settings, first = [shared], 0
    for number, _ in enumerate(counted.entries(*tower, "layers")):
        layer: YamlPath = (*tower, "layers", number)
        own: YamlPath = (*layer, "attention", "rotary")
        _check_use(counted, layer, is_rotary=is_rotary)
        if not is_rotary or counted.part(*own) == "none":
            continue
        share = _share(counted, own, shared)
        of_heads = {at: width for at, width in widths.items() if at[:-3] == own[:-1]}
        instead = [at for at in of_heads if at[-1] in rotated]
        for matrix in instead or [at for at in of_heads if at[-1] in ("W_Q", "Q")]:
            if width := of_heads[matrix]:
                first = first or width
                _check_width(counted, matrix, width, share, first)
        settings.append(own)
    for place in settings if first else ():
        _check_factors(counted, place, shared, first)


def _check_use(counted: SizeChecker, layer: YamlPath, *, is_rotary: bool) -> None:
    """Report settings of a layer that nothing is rotated by."""
    crossed: YamlPath = (*layer, "cross_attention", "rotary")
    own: YamlPath = (*layer, "attention", "rotary")
    if counted.has(*crossed):
        counted.report(crossed, "cross-attention has no rotary positions, expected no rotary")
    if counted.has(*own) and not is_rotary:
        form = "positions: {rotary: {…}}"
        counted.report(own, f"there are no rotary positions to change, expected {form}")


def _share(counted: SizeChecker, own: YamlPath, shared: YamlPath) -> Decimal:
    """Return the share of columns that are rotated: that of a layer, or of `positions`."""
    shares = (counted.positive(*at, "share") for at in (own, shared))
    return next((share for share in shares if share), Decimal(1))


def _check_width(
    counted: SizeChecker, matrix: YamlPath, width: int, share: Decimal, first: int
) -> None:
    rotated = width * share
    found, expected = count(width, "column"), ""
    if rotated % 2:
        found += f", of which {rotated.normalize():f} are rotated" * (share != 1)
        expected = "an even number of them (rotary positions rotate pairs)"
    elif width != first:
        expected = f"{first} (rotary positions: as many as in the first head)"
    if expected:
        counted.report(matrix, f"{found}, expected {expected}")


def _check_factors(counted: SizeChecker, own: YamlPath, shared: YamlPath, width: int) -> None:
    """Check that each pair has a factor: those of a layer, or of `positions`."""
    share = _share(counted, own, shared)
    pairs = width * share / 2
    if pairs != int(pairs):
        return
    meaning = "one per pair of rotated columns"
    counted.length((*own, "factors"), int(pairs), meaning, "number")
    has_others = counted.has(*shared, "factors") and not counted.has(*own, "factors")
    if has_others and share != _share(counted, shared, shared):
        found = "another share with the factors of positions.rotary"
        counted.report(own, f"{found}, expected factors: {count(int(pairs), 'number')} ({meaning})")
