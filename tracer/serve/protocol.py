"""HTTP for a single reader: a request that does not arrive in time is cut off."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""How long a request, its body included, may take to arrive."""


class PunctualProtocol(H11Protocol):
    """HTTP/1.1 in which a client may not keep the server waiting."""

    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._expect()

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
