"""Run a function for many arguments, in several processes if that is worth it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tracer.errors import Problem, TracerError

Argument = TypeVar("Argument")
Value = TypeVar("Value")

WORTH_IT = 3_000_000
"""From so many bytes of text on, several processes save more time than it takes to start them."""

MOST_PROCESSES = 8
"""More would need more memory than they save time."""

AT_ONCE = 16
"""A process takes up to this many arguments at a time."""


def in_order(
    function: Callable[[Argument], Value], arguments: Sequence[Argument], size: int
) -> Iterator[Value]:
    """Yield the function of each argument, in order; `size` is that of all their texts in bytes.

    Raises:
        TracerError: a process was ended from outside.
    """
    count = min(_cores(), MOST_PROCESSES, len(arguments))
    if count < 2 or size < WORTH_IT:
        yield from map(function, arguments)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    chunk = max(1, min(AT_ONCE, len(arguments) // (count * AT_ONCE)))
    try:
        with _interruptions_for_parent_only():
            # A fork would copy the thread that shows progress, and its locks.
            executor = ProcessPoolExecutor(count, get_context("spawn"), _end_with_parent)
            values = executor.map(function, arguments, chunksize=chunk)
        is_done = False
        try:
            yield from values
            is_done = True
        finally:
            # Idle processes end at once. If this one ended first, it might wake them through a
            # pipe that is closed meanwhile, and print a traceback.
            executor.shutdown(wait=is_done, cancel_futures=True)
    except BrokenProcessPool:
        message = "cannot go on: a process was ended, perhaps because memory is short"
        raise TracerError(Problem(message, address="audit")) from None


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _interruptions_for_parent_only() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach; it ends the parent, and with it all others."""
    if sys.platform == "win32":
        yield
        return
    import signal  # which is not everywhere that a page is computed
    from multiprocessing import resource_tracker

    # Before, because it lets signals through when it starts. Without warnings, because it would
    # print one if the parent ends before it has cleared up, which it then does in its place.
    sys.warnoptions.append("ignore")
    resource_tracker.ensure_running()
    sys.warnoptions.pop()
    before: Any = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process when its parent has ended, however that came about."""
    import signal
    from multiprocessing import parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
