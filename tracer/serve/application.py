"""The pages and questions of a session over HTTP.

Whoever knows the key may look and edit. Any other request is refused before it is read: one with
another key, for another host (DNS rebinding), from another site, with another path or method.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tracer.errors import TracerError, format_problems
from tracer.serve.session import Session

MOST_BYTES = 16_384
"""The largest body of a request."""
SECONDS_BETWEEN_SIGNS = 15
"""How long an open stream of events may be silent."""

HTTP = 80
"""The port that browsers leave out."""

POLICY = "frame-ancestors 'self'"
"""What the policy inside a page cannot say."""

HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": POLICY,
}


class Application:
    """A session for any number of browsers; edits are made one after the other."""

    def __init__(self, session: Session, key: str) -> None:
        self.session, self.key = session, key
        self.one_at_a_time = asyncio.Lock()
        self.changed = asyncio.Condition()
        self.ending = asyncio.Event()
        self.port = 0

    def asgi(self) -> ASGIApp:
        """The application as a server runs it."""
        get, post = ["GET"], ["POST"]
        routes = [
            Route("/", self.page, methods=get),
            Route("/first", self.first_page, methods=get),
            Route("/trace.json", self.trace, methods=get),
            Route("/scenario.yaml", self.scenario, methods=get),
            Route("/events", self.events, methods=get),
            Route("/edit", self.edit, methods=post),
            Route("/apply-kept", self.apply_kept, methods=post),
            Route("/undo", self.undo, methods=post),
            Route("/reset", self.reset, methods=post),
        ]
        return AccessGuard(Starlette(routes=routes), self)

    async def page(self, request: Request) -> Response:
        """The page of the present state."""
        return _html(self.session.html)

    async def first_page(self, request: Request) -> Response:
        """The page of the text of the file."""
        async with self.one_at_a_time:
            return _html(await asyncio.to_thread(lambda: self.session.first_page))

    async def trace(self, request: Request) -> Response:
        """The present state, as `run --format json` prints it."""
        async with self.one_at_a_time:
            text = await asyncio.to_thread(lambda: self.session.state.trace_json)
        return Response(text, media_type="application/json")

    async def scenario(self, request: Request) -> Response:
        """The present text."""
        name = quote(f"{self.session.origin.name}.yaml", safe="")
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        text = self.session.state.text.encode()
        return Response(text, media_type="application/yaml", headers=headers)

    async def events(self, request: Request) -> Response:
        """The version of the page whenever there is a new one."""
        return StreamingResponse(self._versions(), media_type="text/event-stream")

    async def _versions(self) -> AsyncIterator[str]:
        seen = None
        while not self.ending.is_set():
            if seen != self.session.version:
                seen = self.session.version
                yield f"data: {seen}\n\n"
                continue
            try:
                async with asyncio.timeout(SECONDS_BETWEEN_SIGNS), self.changed:
                    await self.changed.wait()
            except TimeoutError:
                yield ": \n\n"  # a browser that has gone is noticed

    async def edit(self, request: Request) -> Response:
        """Make an edit, given as JSON; answer with the new page, or 400 and the problems."""
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return _refusal(413, f"the edit is too large, expected at most {MOST_BYTES} bytes")
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            return _refusal(400, "the edit is not JSON")
        return await self.change(request, lambda: self.session.edit(asked))

    async def apply_kept(self, request: Request) -> Response:
        """Make the edits again that a change of the file took away."""
        return await self.change(request, self.session.apply_kept)

    async def undo(self, request: Request) -> Response:
        """Return to the text before the last edit."""
        return await self.change(request, self.session.undo)

    async def reset(self, request: Request) -> Response:
        """Return to the text of the file."""
        return await self.change(request, self.session.reset)

    async def change(self, request: Request, make: Callable[[], None]) -> Response:
        """Change the session, and tell all browsers; nothing changes for one that has left."""
        async with self.one_at_a_time:
            if await request.is_disconnected():
                return Response()
            try:
                await asyncio.to_thread(make)
            except TracerError as error:
                return _refusal(400, "\n".join(format_problems(error.problems)))
            page = _html(self.session.html)
        await self.tell()
        return page

    async def tell(self) -> None:
        """Wake whoever waits for a change."""
        async with self.changed:
            self.changed.notify_all()

    async def end(self) -> None:
        """End the streams of events, and whatever waits."""
        self.ending.set()
        await self.tell()


class AccessGuard:
    """Refuses what does not come from the page of a browser that knows the key."""

    def __init__(self, inner: ASGIApp, application: Application) -> None:
        self.inner, self.application = inner, application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        has_started = False

        async def send_with_headers(message: dict[str, object]) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                headers = message["headers"]
                assert isinstance(headers, list)
                headers += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        refused = self.refusal(Request(scope))
        answer: Callable[..., Awaitable[None]] = refused or self.inner
        answering = asyncio.ensure_future(answer(scope, receive, send_with_headers))
        ending = asyncio.create_task(self.application.ending.wait())
        await asyncio.wait((answering, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if has_started or answering.done():
            await answering
        else:  # it waits for others, or computes
            answering.cancel()
            await _refusal(503, "the server ends")(scope, receive, send)

    def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused, if it is."""
        port, headers = self.application.port, request.headers
        names = ("127.0.0.1", "localhost")
        hosts = {f"{name}:{port}" for name in names} | {*(names if port == HTTP else ())}
        if headers.get("host") not in hosts:
            return _refusal(421, "unknown host")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return _refusal(403, "a request from another site")
        key = request.query_params.get("key", "")
        if not secrets.compare_digest(key.encode(), self.application.key.encode()):
            return _refusal(
                403, "the key is missing or wrong; use the URL that the program printed"
            )
        if int(headers.get("content-length") or 0) > MOST_BYTES:
            return _refusal(413, f"too large, expected at most {MOST_BYTES} bytes")
        return None


def _html(page: str) -> Response:
    return Response(page.encode(), media_type="text/html")


def _refusal(status: int, message: str) -> Response:
    return PlainTextResponse(f"{message}\n", status)
