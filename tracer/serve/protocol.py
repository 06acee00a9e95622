"""HTTP for a single reader: a request that does not arrive in time is cut off."""

from __future__ import annotations

import asyncio
import math

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""How long a request, its body included, may take to arrive."""


class PunctualProtocol(H11Protocol):
    """HTTP/1.1 in which clients may neither keep the server waiting nor occupy it."""

    deadline: asyncio.TimerHandle | None = None
    since = 0.0
    """When the connection was made."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; where there are too many connections, cut off an idle one."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._expect()
        others = [each for each in self.connections if isinstance(each, PunctualProtocol)]
        there = [each for each in others if not each.transport.is_closing()]
        idle = [each for each in there if each.is_idle and each is not self]
        if idle and len(there) >= (self.limit_concurrency or math.inf):
            min(idle, key=lambda each: each.since).transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.deadline is not None or self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        self._expect()
        super().data_received(data)
        cycle = self.cycle
        if cycle is not None and not cycle.more_body and not cycle.response_complete:
            self._stop_waiting()  # it has arrived, and is being answered

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the request."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect(self) -> None:
        """Wait for a request, unless one is waited for already."""
        if self.deadline is None:
            self.deadline = self.loop.call_later(SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
