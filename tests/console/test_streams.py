"""What is printed arrives, or one line says why it does not, and the exit code is 2."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from tests.helpers.command import Ran, printed, run
from tests.helpers.process import ALONE, ended, in_shell, started
from tests.helpers.small_scenario import SMALL
from tracer import __version__
from tracer.console import streams

posix = pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes streams")
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")

STALE = "<!-- decoder-trace: value input[1,1] -->0<!-- /decoder-trace -->\n"


@full
@pytest.mark.parametrize("arguments", ["--help", "run alex -f json", "weave page.md --check"])
def test_a_full_disk_is_told(arguments: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(STALE)
    told = "standard output: cannot be written: No space left on device\n"
    assert in_shell(f"$PROGRAM {arguments} > /dev/full", tmp_path) == (2, told)


@full
def test_figures_are_not_written_where_the_text_cannot_be(tmp_path: Path) -> None:
    line = "$PROGRAM step softmax --head 1 --figures figures > /dev/full"
    assert in_shell(line, tmp_path)[0] == 2
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_closed_standard_output_is_told(tmp_path: Path) -> None:
    told = "standard output: cannot be written: it is closed\n"
    assert in_shell("$PROGRAM run alex -f json >&-", tmp_path) == (2, told)


@posix
def test_a_closed_standard_output_is_not_needed_for_a_file(tmp_path: Path) -> None:
    assert in_shell("$PROGRAM step query -o out.txt >&- <&-", tmp_path) == (0, "")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == printed("step", "query")


@posix
@pytest.mark.parametrize(
    ("wrong", "closed"), [("run nothing", "2>&-"), pytest.param("rum", "2>/dev/full", marks=full)]
)
def test_where_nothing_can_be_said_the_exit_code_says_it(
    wrong: str, closed: str, tmp_path: Path
) -> None:
    assert in_shell(f"$PROGRAM {wrong} {closed}", tmp_path) == (2, "")


@posix
def test_a_closed_standard_input_is_told(tmp_path: Path) -> None:
    told = "<stdin>: cannot be read: standard input is closed\n"
    assert in_shell("$PROGRAM run - <&-", tmp_path) == (2, told)


@pytest.mark.parametrize(
    ("arguments", "code"), [("run alex", 0), ("check wrong.yaml", 1), ("--help", 0)]
)
def test_a_reader_that_has_gone_changes_nothing(arguments: str, code: int, tmp_path: Path) -> None:
    """As with other programs, `| head` ends quietly; the exit code stays that of the answer."""
    (tmp_path / "wrong.yaml").write_text(SMALL)
    figure = "{line: 1, address: input, row: 1, column: 1, printed: 9}"
    (tmp_path / "wrong.figures.yaml").write_text(f"figures: [{figure}]\n")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(*arguments.split(), cwd=tmp_path, **pipes) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (code, "")


@posix
def test_what_prints_to_a_pipe_can_be_named_as_a_file(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("before\n")
    line = "$PROGRAM value 'input[1,1]' > plain; $PROGRAM step query -o /dev/stdout | cat >> log"
    assert in_shell(line, tmp_path) == (0, "")
    line = "$PROGRAM step query -o /dev/stdout >> log"
    assert in_shell(line, tmp_path) == (0, "")
    query = printed("step", "query")
    assert file.read_text(encoding="utf-8") == f"before\n{query}{query}"


def test_signs_that_the_encoding_lacks_come_out_as_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    bytes_, errors = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(bytes_, "ascii"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(errors, "ascii"))
    monkeypatch.setattr(sys, "__stdout__", sys.stdout)
    monkeypatch.setattr(sys, "__stderr__", sys.stderr)
    streams.prepare()
    sys.stdout.write("≈ 1\n")
    sys.stdout.flush()
    assert bytes_.getvalue() == b"\\u2248 1\n"


class OfSmallParts(io.RawIOBase):
    """What a full disk or a slow pipe may do: it takes a part of what it is given."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, given: Any) -> int:
        self.taken += bytes(given[:10])
        return min(10, len(given))


def test_all_arrives_where_only_parts_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    unbuffered, errors = OfSmallParts(), io.BytesIO()
    # As Python makes it when it is asked not to buffer.
    output = io.TextIOWrapper(cast(Any, unbuffered), "utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(errors))
    monkeypatch.setattr(sys, "__stdout__", sys.stdout)
    monkeypatch.setattr(sys, "__stderr__", sys.stderr)
    streams.prepare()
    sys.stdout.write("ab" * 10_000)
    sys.stdout.flush()
    assert unbuffered.taken == b"ab" * 10_000


@posix
def test_a_disk_that_becomes_full_is_told(tmp_path: Path) -> None:
    line = "ulimit -f 8; PYTHONUNBUFFERED=1 $PROGRAM run alex > out"
    told = "standard output: cannot be written: File too large\n"
    assert in_shell(line, tmp_path) == (2, told)


@posix
def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    line = "mkdir gone; cd gone; rmdir ../gone; $PROGRAM run alex -f markdown --figures /x"
    told = "the current folder: cannot be read: No such file or directory\n"
    assert in_shell(line, tmp_path) == (2, told)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (
            NotADirectoryError(20, "Not a directory", "/dev/null/.zshrc"),
            "/dev/null/.zshrc: cannot go on: Not a directory\n",
        ),
        (MemoryError(), "cannot go on: not enough memory\n"),
    ],
)
def test_what_the_system_refuses_is_told(
    failure: Exception, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"), streams.report_problems():
        raise failure
    assert capsys.readouterr() == ("", told)


@posix
def test_the_size_of_the_terminal_can_be_asked_for() -> None:
    pty, fcntl, struct, termios = map(import_module, ("pty", "fcntl", "struct", "termios"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    code = "import shutil, sys; from tracer.console import streams; streams.prepare(); "
    code += "sys.stderr.write(str(tuple(shutil.get_terminal_size())))"
    outer = {name: value for name, value in ALONE.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-c", code]
    asked = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, env=outer, check=True)
    os.close(ours)
    os.close(theirs)
    assert asked.stderr == b"(100, 50)"


def test_a_process_prints_what_the_tests_see() -> None:
    shown = ended("step", "query", stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert shown == (0, printed("step", "query"), "")
    assert run("--version") == Ran(0, f"decoder-trace {__version__}\n", "")
