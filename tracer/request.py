"""What a command asks for. It is read by the command line, or from a mark in an author's text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from tracer.renderers import Format
from tracer.scenario.carry import Carry

DEFAULT_SCENARIO = "alex"

Command: TypeAlias = Literal["run", "step", "loss", "generate", "tutorial", "value", "why"]


@dataclass(frozen=True)
class Request:
    """A command with its options; those that it does not have are at their defaults."""

    command: Command
    scenario: str = DEFAULT_SCENARIO
    name: str | None = None
    """A step, a group of steps or an address."""
    entry: tuple[str, ...] = ()
    """The words of ADDRESS[ROW,COLUMN] as percent."""
    token: str | None = None
    layer: int | None = None
    head: int | None = None
    sequence: int | None = None
    example: int | None = None
    depth: int | None = None
    no_mask: bool = False
    given: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    max_tokens: int | None = None
    worked: bool = False
    kv_cache: bool = False
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int | None = None
    format: Format = Format.TERMINAL
    math: bool = False
    standalone: bool = False
    figures: Path | None = None
    output: Path | None = None
    decimals: int | None = None
    carry: Carry | None = None
