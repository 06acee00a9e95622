"""The windows of attention that a config.json describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tracer.checkpoints.settings import CheckpointSettings

Windows: TypeAlias = list[int | None]
"""For each layer, the number of tokens that each token attends to; None for all before it."""
ReadWindows: TypeAlias = Callable[[CheckpointSettings, int], Windows]
"""Reads them from a configuration and the number of layers."""

FULL, SLIDING = "full_attention", "sliding_attention"
WINDOW = "sliding_window"


def no_windows(settings: CheckpointSettings, layers: int) -> Windows:
    """Read nothing: no layer of the family has a window."""
    return [None] * layers


def full_attention(settings: CheckpointSettings, layers: int) -> Windows:
    """Check that no layer has a window."""
    return by_kind(settings, [FULL] * layers, None)


def one_window(settings: CheckpointSettings, layers: int) -> Windows:
    """Read the window of all layers."""
    return [None if settings.get(WINDOW) is None else settings.whole(WINDOW)] * layers


def windows_but_every(
    pattern: int, key: str | None = "sliding_window_pattern", missing: int = 4096
) -> ReadWindows:
    """Return a reader of windows in all layers but every `pattern`th.

    `key`: the key of another number, which counts without `layer_types`. `missing`: the window if
    its key is missing.
    """

    def read(settings: CheckpointSettings, layers: int) -> Windows:
        own = pattern
        if key and settings.get(key) and settings.get("layer_types") is None:
            own = settings.whole(key)
        kinds = [SLIDING if layer % own else FULL for layer in range(1, layers + 1)]
        if settings.get(WINDOW, missing) is None:
            settings.wrong(WINDOW, "expected a whole number")
        return by_kind(settings, kinds, settings.whole(WINDOW, missing))

    return read


def by_kind(settings: CheckpointSettings, kinds: list[str], window: int | None) -> Windows:
    """Return the window of each layer; `layer_types` says otherwise than the default `kinds`."""
    if settings.get("layer_types") is not None:
        known = (FULL, SLIDING) if window else (FULL,)
        said = settings.entries("layer_types", str, len(kinds))
        if any(kind not in known for kind in said):
            settings.wrong("layer_types", f"supported are {' and '.join(known)} here")
        kinds = said or kinds
    return [window if kind == SLIDING else None for kind in kinds]
