"""Commands that ask for the same pass, in this process, compute it once.

The program keeps passes for all marks of a text in the same way. A text and its JSON, or all steps
of a bundled scenario, then show one computed pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from tracer.decoder.training import Training
from tracer.requests import request
from tracer.requests.resolve import Computed, Engine, Subject
from tracer.scenario.loading import STANDARD_INPUT, Loaded, bundled
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.sizes import data_at

T = TypeVar("T")

NAMES = frozenset(bundled())

KEPT: dict[Hashable, Any] = {}
"""What was read and computed, the oldest first."""
MOST = 100
"""The results that are kept."""


@contextmanager
def shared_passes() -> Iterator[None]:
    """Share what commands read and compute in this context, and in earlier ones."""
    with mock.patch.object(request, "Engine", SharingEngine):
        yield


class SharingEngine(Engine):
    """An engine that keeps what it computes for later commands.

    It keeps nothing of a scenario that is a file or reads another file, which may change, nor of
    one whose numbers are drawn.
    """

    def _read(self, scenario: str, folder: Path) -> Loaded:
        key = _text(scenario, folder)
        if ("read", key) not in KEPT:
            found = super()._read(scenario, folder)
            if key is None or _reads_files(found):
                return found
            KEPT["read", key] = found
        kept: Loaded = _kept(("read", key))
        return kept

    def _load(self, subject: Subject) -> Loaded:
        return self._once((subject, "load"), super()._load, subject)

    def _compute(self, subject: Subject) -> Computed:
        return self._once((subject, "compute"), super()._compute, subject)

    def train(
        self, subject: Subject, steps: int | None = None, optimizer: Optimizer | None = None
    ) -> Training:
        """Return the same as an engine that computes it."""
        asked = (subject, steps, repr(optimizer))
        return self._once(asked, super().train, subject, steps, optimizer)

    def _once(self, asked: Hashable, make: Callable[..., T], subject: Subject, *more: Any) -> T:
        text = _text(subject.scenario, subject.folder)
        if (text, asked) not in KEPT:
            loaded = self.read(subject.scenario, subject.folder)
            is_drawn = subject.vary is not None or subject.easy is not None
            if text is None or is_drawn or subject.values or _reads_files(loaded):
                return make(subject, *more)
            KEPT[text, asked] = make(subject, *more)
        found: T = _kept((text, asked))
        return found


def _kept(key: Hashable) -> Any:
    """A kept result, which is now the newest."""
    found = KEPT[key] = KEPT.pop(key)
    while len(KEPT) > MOST:
        del KEPT[next(iter(KEPT))]
    return found


def _text(scenario: str, folder: Path) -> str | bytes | None:
    """What a scenario's name means, if it is standard input or bundled."""
    if scenario == STANDARD_INPUT:
        buffer = sys.stdin.buffer
        return buffer.getvalue() if isinstance(buffer, BytesIO) else None
    is_file = (folder / scenario).exists()
    return scenario if scenario in NAMES and not is_file else None


def _reads_files(loaded: Loaded) -> bool:
    given = data_at(loaded.source.data, ("given",))
    return "checkpoint" in loaded.source.data or isinstance(given, str)
