"""Print every step of the forward pass, worked for one token."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracer.lesson.code.library import Library
from tracer.lesson.detail import Detail
from tracer.lesson.working.sums import Terms
from tracer.requests import options
from tracer.requests.passes import ForwardRequest


@dataclass(kw_only=True)
class Run(options.Illustrated, ForwardRequest):
    examples = ("run alex.yaml", "run science --token like")
    prints_arrays = True

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    layer: int | None = options.LAYER
    head: int | None = options.HEAD
    sequence: int | None = options.SEQUENCE
    no_mask: bool = options.NO_MASK
    terms: Terms | None = options.TERMS
    code: Library | None = options.CODE
    given: tuple[str, ...] = options.GIVEN
    values: Path | None = options.VALUES
    vary: int | None = options.VARY
    detail: Detail = options.DETAIL
