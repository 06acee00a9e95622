"""A session on 127.0.0.1, until Ctrl-C."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from webbrowser import open as open_in_browser

import uvicorn

from tracer.errors import Problem, TracerError
from tracer.serve.application import Application
from tracer.serve.protocol import PunctualProtocol
from tracer.serve.session import Session
from tracer.serve.watching import watch

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 100


def run(session: Session, file: Path | None, bound: socket.socket, *, opens: bool) -> None:
    """Serve a session until Ctrl-C, and follow its file; print the URL, and open it if asked to."""
    asyncio.run(_run(session, file, bound, opens=opens))


def listening(port: int | None) -> socket.socket:
    """Return a socket at a port, or at a free one.

    Raises:
        TracerError: the port cannot be used.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # On Windows, SO_REUSEADDR would let another program listen at the same port.
        exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
        option = socket.SO_REUSEADDR if exclusive is None else exclusive
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
        bound.bind((ADDRESS, port or 0))
    except OSError as error:
        bound.close()
        message = f"{port} cannot be used: {error.strerror or error}"
        raise TracerError(Problem(message, address="--port")) from None
    return bound


async def _run(session: Session, file: Path | None, bound: socket.socket, *, opens: bool) -> None:
    application = Application(session, secrets.token_urlsafe(24))
    application.port = bound.getsockname()[1]
    url = f"http://{ADDRESS}:{application.port}/?key={application.key}"
    settings = uvicorn.Config(
        application.asgi(),
        http=PunctualProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    server = _Server(settings, application, url, opens=opens)
    watching = asyncio.create_task(watch(application, file)) if file else None
    try:
        await server.serve(sockets=[bound])
    finally:
        if watching:
            watching.cancel()


class _Server(uvicorn.Server):
    """Says where it is, and ends at Ctrl-C."""

    def __init__(
        self, config: uvicorn.Config, application: Application, url: str, *, opens: bool
    ) -> None:
        super().__init__(config)
        self.application, self.url, self.opens = application, url, opens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen; then print the URL."""
        await super().startup(sockets)
        sys.stdout.write(f"{self.url}\nCtrl-C ends it.\n")
        sys.stdout.flush()
        if self.opens:
            open_in_browser(self.url)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End the server at a signal; the program goes on to its own end."""
        before = {
            each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams of events, which would go on for ever, then the server."""
        await self.application.end()
        await super().shutdown(sockets)
