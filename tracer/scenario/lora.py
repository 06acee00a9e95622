"""Check the shapes of weights with LoRA: frozen (d, k), A (d, r), B (r, k)."""

from __future__ import annotations

from tracer.scenario.parts import FROZEN
from tracer.scenario.reader import YamlPath
from tracer.scenario.sizes import Expected, Size, SizeChecker, usual_length

AS_FROZEN = "as many as frozen has"


def path_of_rows(scenario: SizeChecker, place: YamlPath) -> YamlPath:
    """Return the path of the rows of some weights: with LoRA, that of the frozen ones."""
    return (*place, FROZEN) if scenario.has(*place, FROZEN) else place


def weights(
    scenario: SizeChecker, place: YamlPath, rows: Expected, columns: Expected, guess: Size
) -> Size:
    """Return the columns of weights with or without LoRA; check A and B if there are any."""
    at = path_of_rows(scenario, place)
    found = scenario.matrix(at, rows, columns, guess)
    if at == place:
        return found
    typed = len(scenario.entries(*at, "transposed", 0) or scenario.entries(*at))
    a, b = (*place, "A"), (*place, "B")
    turned = usual_length(scenario.entries(*b, "transposed"))
    of_b = turned or len(scenario.entries(*b)) or None
    rank = scenario.matrix(a, Expected(rows.size or typed or None, AS_FROZEN), Expected(), of_b)
    if rank is None and scenario.has(*a, "random"):
        scenario.report(a, "how many columns? expected {random: {columns: 2}}")
    scenario.matrix(b, Expected(rank, "one per column of A"), Expected(found, AS_FROZEN), found)
    return found
