"""The program as a server in a process of its own, asked without a browser."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.helpers.process import started


@dataclass(frozen=True)
class Answer:
    """Status, headers and text of an answer."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass(frozen=True)
class Server:
    """Where it listens, and the key that it printed."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 0)

    @property
    def key(self) -> str:
        return parse_qs(urlsplit(self.url).query)["key"][0]

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        **headers: str,
    ) -> Answer:
        """One request on a connection of its own; a body that is no text is sent as JSON."""
        sent = body if isinstance(body, str | None) else json.dumps(body)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        key = self.key if key is None else key
        connection.request(method, f"{path}?key={key}", sent and sent.encode(), named)
        answer = connection.getresponse()
        found = Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        connection.close()
        return found

    def get(self, path: str) -> str:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.text
        return answer.text

    def edit(self, **edit: Any) -> Answer:
        return self.ask("POST", "/edit", edit)


@contextmanager
def served(scenario: str | Path, *options: str) -> Iterator[Server]:
    """A server until the block ends; then Ctrl-C ends it without a word."""
    for library in ("starlette", "uvicorn", "watchfiles"):
        pytest.importorskip(library)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("serve", str(scenario), *options, **pipes) as process:
        assert process.stdout and process.stderr
        url = process.stdout.readline().strip()
        try:
            assert url, process.stderr.read()
            yield Server(url, process)
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait(timeout=20)
        assert (code, process.stderr.read()) == (0, "")
