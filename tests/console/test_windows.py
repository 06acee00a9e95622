"""What differs on Windows, acted out where it can be: its streams, its files and its names."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PosixPath
from typing import Any

import pytest

from tests.helpers.command import problems, run
from tests.helpers.small_scenario import SMALL
from tracer.audit import auditing
from tracer.console import pager, streams
from tracer.errors import TracerError
from tracer.files.reading import read_file

CODE_PAGES = ("cp1252", "cp437", "cp932")

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows itself has it")


class Bytes(io.BytesIO):
    """A file or a terminal that keeps what it gets; with `error`, it fails."""

    def __init__(self, *, terminal: bool, error: OSError | None = None) -> None:
        super().__init__()
        self.terminal, self.error = terminal, error

    def isatty(self) -> bool:
        return self.terminal

    def write(self, given: Any) -> int:
        if self.error:
            raise self.error
        return super().write(given)

    def fileno(self) -> int:
        return os.open(os.devnull, os.O_WRONLY)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Bytes]:
    """Return what makes standard output ready on Windows; it gets the bytes that are written."""

    def prepare(encoding: str, *, terminal: bool, error: OSError | None = None) -> Bytes:
        written = Bytes(terminal=terminal, error=error)
        monkeypatch.setattr(sys, "platform", "win32")
        for name, there in (("stdout", written), ("stderr", Bytes(terminal=terminal))):
            stream = io.TextIOWrapper(there, encoding)
            monkeypatch.setattr(sys, name, stream)
            monkeypatch.setattr(sys, f"__{name}__", stream)
        streams.prepare()
        return written

    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    return prepare


# --- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", CODE_PAGES)
def test_redirected_output_is_utf_8_with_line_feeds(
    page: str, prepared: Callable[..., Bytes]
) -> None:
    written = prepared(page, terminal=False)
    sys.stdout.write("≈ √2\nW₁\n")
    sys.stdout.flush()
    assert written.getvalue() == "≈ √2\nW₁\n".encode()


def test_another_encoding_of_redirected_output_can_be_set(
    prepared: Callable[..., Bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp437")
    written = prepared("cp437", terminal=False)
    sys.stdout.write("√≈⇒\n")  # the code page has the first two
    sys.stdout.flush()
    assert written.getvalue() == b"\xfb\xf7\\u21d2\n"


@pytest.mark.parametrize("page", CODE_PAGES)
def test_a_console_escapes_what_its_code_page_lacks(
    page: str, prepared: Callable[..., Bytes]
) -> None:
    written = prepared(page, terminal=True)
    for text in ("W₁ ⇒ 𝜂\n", "é\n"):
        sys.stdout.write(text)
        sys.stderr.write(text)
    sys.stdout.flush()
    assert b"W\\u2081" in written.getvalue()


def test_a_console_for_unicode_gets_the_signs(prepared: Callable[..., Bytes]) -> None:
    written = prepared("utf-8", terminal=True)
    sys.stdout.write("W₁ ⇒ 𝜂")
    sys.stdout.flush()
    assert written.getvalue().decode() == "W₁ ⇒ 𝜂"


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EPIPE])
def test_a_reader_that_has_gone_is_no_error(number: int, prepared: Callable[..., Bytes]) -> None:
    prepared("cp1252", terminal=False, error=OSError(number, "gone"))
    sys.stdout.write("text\n")
    sys.stdout.flush()


def test_an_output_that_cannot_be_written_is_an_error(prepared: Callable[..., Bytes]) -> None:
    prepared("cp1252", terminal=False, error=OSError(errno.ENOSPC, "No space left on device"))
    sys.stdout.write("text\n")
    with pytest.raises(Exception, match="standard output: cannot be written: No space left"):
        sys.stdout.flush()


@pytest.mark.parametrize("page", CODE_PAGES)
@pytest.mark.parametrize("arguments", [("run", "alex"), ("check", "no.yaml"), ("--help",)])
def test_no_character_stops_the_program(
    page: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    outer = {name: value for name, value in os.environ.items() if name != "PYTHONUTF8"}
    command = [sys.executable, "-m", "tracer", *arguments]
    variables = {**outer, "PYTHONIOENCODING": page, "PYTHONPATH": str(Path.cwd())}
    ran = subprocess.run(command, env=variables, capture_output=True, check=False)
    assert ran.returncode == (2 if "no.yaml" in arguments else 0)
    assert b"Error" not in ran.stderr
    assert ran.stdout.decode(page) or ran.stderr.decode(page)


# --- the terminal -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "command"),
    [
        (r'"C:\Program Files\Git\less.exe" -R', [r"C:\Program Files\Git\less.exe", "-R"]),
        (r"C:\tools\less.exe", [r"C:\tools\less.exe"]),
    ],
)
def test_a_pager_may_lie_in_a_folder_with_spaces(
    named: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setenv("DECODER_TRACE_PAGER", named)
    assert pager._command() == command


def test_without_a_pager_the_text_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert not pager.page("line\n" * 1000)


def test_a_terminal_need_not_tell_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> os.terminal_size:
        raise OSError("no console")

    monkeypatch.setattr(os, "get_terminal_size", refuse)
    ran = run("shapes", "alex")
    assert (ran.exit_code, ran.stderr) == (0, "")


def test_a_terminal_without_colors_gets_no_escapes() -> None:
    ran = run("audit", "-", stdin="1 + 1 = 3\n", TERM="dumb")
    assert ran.exit_code == 1
    assert "\x1b" not in ran.stdout + ran.stderr


WITHOUT_SIGNALS = """
import signal, sys
for name in ("SIGHUP", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGALRM", "pthread_sigmask"):
    vars(signal).pop(name, None)
for module in ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty"):
    sys.modules[module] = None
import os
for name in ("O_NONBLOCK", "fork", "getuid", "sched_getaffinity", "geteuid", "mkfifo"):
    vars(os).pop(name, None)
sys.argv[0] = "decoder-trace"
# What the libraries ask of Python is answered before, because it does not come from Windows.
import sysconfig; sysconfig.get_config_vars()
import zoneinfo, numpy, pydantic, rich.console, tracer.cli
sys.platform = "win32"
from tracer.__main__ import main
main()
"""


@posix
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("step", "query", "-o", "query.md"), 0),
        (("audit", "wrong.md", "-f", "json", "-o", "found.json"), 1),
        (("run", "nothing"), 2),
    ],
)
def test_the_program_needs_nothing_that_windows_lacks(
    arguments: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    (tmp_path / "wrong.md").write_text("1 + 1 = 3\n")
    command = [sys.executable, "-c", WITHOUT_SIGNALS, *arguments]
    variables = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    ran = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, check=False)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (code, False), ran.stderr.decode()
    assert code == 2 or ran.stderr == b""


# --- files --------------------------------------------------------------------------------------


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program has a file open, so that Windows does not replace it."""

    def refuse(self: Path, target: Path) -> Path:
        error = PermissionError(errno.EACCES, "The process cannot access the file", str(target))
        raise error

    monkeypatch.setattr(Path, "replace", refuse)


def test_a_file_that_is_open_elsewhere_stays_as_it_is(tmp_path: Path, held: None) -> None:
    file = tmp_path / "text.md"
    file.write_text("old\n")
    ran = run("step", "query", "-o", str(file), "--force")
    assert ran.exit_code == 2
    assert problems(ran) == [f"{file}: cannot be written: The process cannot access the file"]
    assert file.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_is_open_elsewhere_keeps_all_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    replace, second = Path.replace, "softmax"

    def refuse_pictures(self: Path, target: Path) -> Path:
        if Path(target).suffix == ".svg" and self.name == "new":
            raise PermissionError(errno.EACCES, "The process cannot access the file")
        return replace(self, target)

    assert run("step", second, "--head", "1", "-o", "text.md", "--figures", "p").exit_code == 0
    before = {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()}
    monkeypatch.setattr(Path, "replace", refuse_pictures)
    ran = run("step", second, "--head", "2", "-o", "text.md", "--figures", "p", "--force")
    assert (ran.exit_code, len(problems(ran))) == (2, 1)
    assert {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()} == before


def test_a_file_that_is_locked_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(SMALL)

    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    ran = run("run", str(file))
    assert (ran.exit_code, problems(ran)) == (2, [f"{file}: cannot be read: Permission denied"])


def test_a_folder_in_place_of_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to open it."""

    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(TracerError) as raised:
        read_file(tmp_path, "text.md")
    assert str(raised.value) == "text.md: cannot be read: expected a regular file"


def test_what_is_sent_to_a_device_keeps_its_line_feeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the flag for bytes, Windows would write two characters for each."""
    monkeypatch.setattr(os, "O_BINARY", 0x8000, raising=False)
    opened: list[int] = []

    def record(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        if Path(path) == Path(os.devnull):
            opened.append(flags)
        return real(path, flags & ~0x8000, *arguments, **named)

    real = os.open
    monkeypatch.setattr(os, "open", record)
    assert run("step", "query", "-o", os.devnull).exit_code == 0
    assert [bool(flags & 0x8000) for flags in opened] == [True]


def test_files_keep_their_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Input may have those of Windows; a new file has line feeds alone."""
    monkeypatch.chdir(tmp_path)
    for name, end in (("unix", "\n"), ("windows", "\r\n")):
        Path(f"{name}.yaml").write_bytes(SMALL.replace("\n", end).encode())
        assert run("tutorial", f"{name}.yaml", "-o", f"{name}.md").exit_code == 0
    unix, windows = (Path(f"{name}.md").read_bytes() for name in ("unix", "windows"))
    assert b"\r" not in windows
    assert windows.replace(b"windows", b"unix") == unix


def test_a_text_with_the_line_ends_of_windows_is_audited(tmp_path: Path) -> None:
    text = "One line.\n\n2 · 3 = 7\n"
    found = []
    for end in ("\n", "\r\n"):
        file = tmp_path / "text.md"
        file.write_bytes(text.replace("\n", end).encode())
        found.append(json.loads(run("audit", str(file), "--format", "json").stdout)["findings"])
    assert found[0] == found[1]
    assert [finding["line"] for finding in found[0]] == [3]


class PathOfWindows(PosixPath):
    """A path whose name is printed with backslashes; the system still gets slashes."""

    def __str__(self) -> str:
        return super().__str__().replace("/", "\\")

    def __fspath__(self) -> str:
        return super().__str__()

    def as_posix(self) -> str:
        return super().__str__()


@posix
@pytest.mark.parametrize("form", ["terminal", "json", "github", "sarif"])
def test_reports_of_audit_separate_folders_with_slashes(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs/inner").mkdir(parents=True)
    Path("docs/inner/text.md").write_text("1 + 1 = 3\n")
    monkeypatch.setattr(auditing, "Path", PathOfWindows)
    ran = run("audit", "docs", "--format", form)
    assert ran.exit_code == 1
    assert "docs/inner/text.md" in ran.stdout
    assert "\\" not in ran.stdout.replace("\\n", "")


def test_pictures_may_lie_on_another_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Any, start: Any) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(os.path, "relpath", refuse)
    text, figures = tmp_path / "text.md", tmp_path / "pictures"
    arguments = ("step", "softmax", "--head", "1", "-f", "markdown", "-o", str(text))
    ran = run(*arguments, "--figures", str(figures))
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert f"]({figures.as_posix()}/" in text.read_text(encoding="utf-8")


# --- the server ---------------------------------------------------------------------------------


def test_no_other_program_can_listen_at_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    server = pytest.importorskip("tracer.serve.server")
    set_to: list[int] = []

    class Recording(socket.socket):
        def setsockopt(self, level: int, option: Any, value: Any) -> None:  # type: ignore[override]
            set_to.append(option)

    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    monkeypatch.setattr(socket, "socket", Recording)
    server.listening(None).close()
    assert set_to == [-5]


def test_a_server_ends_at_the_signals_that_there_are() -> None:
    """Both exist on Windows; it has no others that a person can send."""
    server = pytest.importorskip("tracer.serve.server")
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    import uvicorn

    made = server._Server(uvicorn.Config("no:application"), None, "", opens=False)
    with suppress(KeyError), made.capture_signals():
        for each in before:
            signal.raise_signal(each)
            assert made.should_exit
    assert {each: signal.getsignal(each) for each in before} == before
