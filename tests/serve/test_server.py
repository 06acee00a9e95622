"""Who may ask what; and that nothing is written."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.bundled import TYPED
from tests.helpers.command import run
from tests.helpers.server import Server, served
from tracer.scenario.loading import text_of
from tracer.serve.session import Session

SCIENCE = TYPED["science"]
EDIT = {"address": "unembedding.W_U", "row": 1, "column": "field", "number": "0.25"}


def test_the_untouched_text_is_that_of_the_file(server: Server) -> None:
    answer = server.ask("GET", "/scenario.yaml")
    assert answer.text.encode() == SCIENCE.read_bytes()
    assert "science.yaml" in answer.headers["content-disposition"]


def test_an_edit_changes_one_number_and_undo_takes_it_back(server: Server) -> None:
    first = server.get("/")
    answer = server.edit(**EDIT)
    assert answer.status == 200
    assert answer.text == server.get("/") != first
    before, after = (
        SCIENCE.read_text("utf-8").splitlines(),
        server.get("/scenario.yaml").splitlines(),
    )
    different = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert len(different) == 1
    assert different[0][1].count("0.25") == 1
    assert server.ask("POST", "/undo").status == 200
    assert server.get("/scenario.yaml").encode() == SCIENCE.read_bytes()
    assert server.ask("POST", "/undo").status == 200  # there is nothing to take back


def test_edits_that_continue_are_taken_back_together(server: Server) -> None:
    for number in ("0.1", "0.2", "0.3"):
        assert server.edit(**{**EDIT, "number": number, "continues": number != "0.1"}).status == 200
    server.ask("POST", "/undo")
    assert server.get("/scenario.yaml").encode() == SCIENCE.read_bytes()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"number": "0.2.5"}, "science:72:11: unembedding.W_U row 1 column 2:"),
        ({"number": "0.2.5"}, "expected a number, got '0.2.5'"),
        ({"number": "1, 2"}, "expected a number, got '1, 2'"),
        ({"number": "1]\nmask: none #"}, "expected a number, got"),
        ({"number": "1e30"}, "expected a number of at most 10^12"),
        ({"number": "9" * 61}, "expected a number, got"),
        ({"number": None}, "expected address, row, column and number"),
        ({"address": "unembedding.W_X"}, "no such value; did you mean 'unembedding.W_U'"),
        ({"address": "prediction", "row": 1, "column": None}, "no such value"),
        ({"row": 3}, "no feature 3, expected 1 to 2"),
        ({"column": "fields"}, "no word 'fields'; did you mean 'field'?"),
        ({"column": None}, "expected feature and word"),
        ({"address": "logits", "column": 1}, "logits: computed, not typed"),
        ({"address": "mask", "column": 1}, "type all: mask: [[…], …]"),
        ({"further": 1}, "expected address, row, column and number"),
    ],
)
def test_a_wrong_edit_changes_nothing(edit: dict[str, Any], said: str, server: Server) -> None:
    answer = server.edit(**{**EDIT, **edit})
    assert answer.status == 400
    assert said in answer.text
    assert server.get("/scenario.yaml").encode() == SCIENCE.read_bytes()


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"key": ""}, 403),
        ({"key": "x" * 32}, 403),
        ({"key": "%C3%A9"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"path": "/edits"}, 404),
        ({"path": "/../etc/passwd"}, 404),
        ({"method": "GET"}, 405),
        ({"method": "DELETE"}, 405),
        ({"method": "OPTIONS"}, 405),
        ({"body": "{"}, 400),
        ({"body": "[" * 5_000}, 400),
        ({"body": "x" * 20_000}, 413),
    ],
)
def test_a_request_that_is_refused(how: dict[str, str], status: int, server: Server) -> None:
    how = dict(how)
    method, path = how.pop("method", "POST"), how.pop("path", "/edit")
    answer = server.ask(method, path, how.pop("body", EDIT), **how)
    assert answer.status == status
    assert server.get("/scenario.yaml").encode() == SCIENCE.read_bytes()


@pytest.mark.parametrize(("port", "status"), [(80, None), (8080, 403)])
def test_port_80_is_left_out_by_browsers(port: int, status: int | None) -> None:
    pytest.importorskip("starlette")
    from starlette.requests import Request

    from tracer.serve.application import AccessGuard, Application

    application = Application(Session.of(*text_of("science")), "key")
    application.port = port
    said = {"host": f"localhost:{port}".removesuffix(":80"), "origin": "http://localhost"}
    headers = [(name.encode(), value.encode()) for name, value in said.items()]
    request = Request({"type": "http", "headers": headers, "query_string": b"key=key"})
    refused = AccessGuard(application.asgi(), application).refusal(request)
    assert (refused and refused.status_code) == status


def test_what_no_browser_may_do_with_an_answer(server: Server) -> None:
    answer = server.ask("GET", "/")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "frame-ancestors 'self'"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers
    policy = answer.text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "connect-src &#39;self&#39;" in policy or "connect-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_body_without_a_length_is_cut_off(server: Server) -> None:
    head = (
        f"POST /edit?key={server.key} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(head.encode() + b"4000\r\n" + b"x" * 0x4000 + b"\r\n10\r\n" + b"x" * 16)
        assert client.recv(20).startswith(b"HTTP/1.1 413")


@pytest.mark.fuzz
@pytest.mark.parametrize("sent", ["", "GET / HT", "POST /edit?key={key} HTTP/1.1\r\nHost: x\r\n"])
def test_a_slow_client_is_cut_off(sent: str, server: Server) -> None:
    """Also one that sends a little now and then, and one whose second request is slow."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(sent.format(key=server.key).encode())
        while time.monotonic() - begin < 30:
            client.settimeout(1)
            try:
                if client.recv(1) == b"":
                    break
            except TimeoutError:
                client.sendall(b"x" if sent else b"")
            except ConnectionResetError:
                break
    assert 5 < time.monotonic() - begin < 15


def test_idle_clients_keep_nobody_away(server: Server) -> None:
    """Whether they never ask, or have had an answer; those that wait for news are kept."""
    head = f"Host: 127.0.0.1:{server.port}\r\n\r\n"
    with ExitStack() as open_:
        address = ("127.0.0.1", server.port)
        clients = [open_.enter_context(socket.create_connection(address)) for _ in range(150)]
        assert server.ask("GET", "/").status == 200
        streams = clients[-10:]
        for client in streams:
            client.sendall(f"GET /events?key={server.key} HTTP/1.1\r\n{head}".encode())
        for _ in range(150):
            client = open_.enter_context(socket.create_connection(address))
            client.sendall(f"GET /?key=x HTTP/1.1\r\n{head}".encode())
            assert client.recv(20).startswith(b"HTTP/1.1 403")
        assert server.ask("GET", "/").status == 200
        for client in streams:
            assert client.recv(20).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("leave", [False, True])
def test_edits_that_wait_end_with_the_server(leave: bool) -> None:
    """Ctrl-C, or a client that leaves: what nobody waits for is not computed."""
    body = json.dumps({**EDIT, "address": "embedding", "column": 1}).encode()
    with served("comics") as server, ExitStack() as open_:
        head = f"POST /edit?key={server.key} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        for _ in range(40):
            client = open_.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(0.3)
        if leave:
            open_.close()
            assert server.ask("GET", "/trace.json").status == 200  # it waits for its turn, too
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
                client.sendall(f"{head.replace('POST /edit', 'GET /events')}\r\n".encode())
                versions = re.findall("data: ([0-9]+)", _until(client, "data: "))
            assert int(versions[0]) < 20


def _until(client: socket.socket, sign: str) -> str:
    """What a client receives until a line with a sign has arrived."""
    with client.makefile("r", encoding="utf-8") as lines:
        return next(line for line in lines if sign in line)


def test_it_listens_to_this_computer_alone(server: Server) -> None:
    others = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in others - {"127.0.0.1", "127.0.1.1", "::1"}:
        with pytest.raises(OSError), socket.create_connection((address, server.port), timeout=1):
            pass


def test_a_port_that_is_taken(server: Server) -> None:
    ran = run("serve", "science", "--port", str(server.port))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == f"--port: {server.port} cannot be used: Address already in use\n"


def test_no_port() -> None:
    ran = run("serve", "science", "--port", "99999")
    assert ran.exit_code == 2
    assert "'--port': got '99999', expected a whole number from 1 to 65535" in ran.stderr


def test_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for module in ("server", "protocol", "application", "watching"):
        monkeypatch.delitem(sys.modules, f"tracer.serve.{module}", raising=False)
    ran = run("serve", "science")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("serve: needs uvicorn, which is not installed: pip install ")


def test_a_bad_scenario_is_not_served() -> None:
    ran = run("serve", "-", stdin="tokens: [a]\nembedings: {a: [1]}\n")
    assert ran.exit_code == 2
    assert "embedings: unknown key; did you mean 'embeddings' or" in ran.stderr


def test_the_page_follows_the_file(tmp_path: Path) -> None:
    """With a problem in it the last good state stays; what was written there is not changed."""
    file = tmp_path / "my.yaml"
    text = SCIENCE.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    with served(file) as server:
        server.edit(**EDIT)
        assert file.read_text(encoding="utf-8") == text
        changed = text.replace("title: ", "# by hand\ntitle: ")
        file.write_text(changed, encoding="utf-8")
        wait(lambda: server.get("/scenario.yaml") == changed)
        broken = changed.replace("tokens:", "tokans:")
        moved = tmp_path / "new"
        moved.write_text(broken, encoding="utf-8")
        moved.replace(file)
        wait(lambda: "tokans: unknown key" in server.get("/"))
        assert server.get("/scenario.yaml") == changed
        file.write_text(text, encoding="utf-8")
        wait(lambda: server.get("/scenario.yaml") == text)
        assert "tokans" not in server.get("/")
        assert sorted(tmp_path.iterdir()) == [file]
    assert file.read_text(encoding="utf-8") == text


def wait(holds: Any) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
