"""What can be read, and what is said of what cannot."""

from __future__ import annotations

import io
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from tracer.errors import TracerError
from tracer.files import reading
from tracer.files.reading import read_file, read_standard_input


def refused(path: Path) -> str:
    with pytest.raises(TracerError) as caught:
        read_file(path, "x")
    return str(caught.value)


def test_a_text_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes("\ufeffa\r\n\u2028日\r".encode())
    assert read_file(file) == "\ufeffa\r\n\u2028日\r"


@pytest.mark.parametrize(
    ("content", "place"),
    [(b"\xff", "1:1"), (b"ab\n\xc3\xa9\xff", "2:2"), (b"\xef\xbb\xbfa\xff", "1:2")],
)
def test_what_is_not_utf_8_has_its_place(content: bytes, place: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert refused(tmp_path / "x") == f"x:{place}: not UTF-8: byte 0xFF"


def test_what_cannot_be_read_is_told_with_its_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, told in {
        tmp_path / "none": "No such file or directory",
        tmp_path: "Is a directory",
        loop: "Too many levels of symbolic links",
        tmp_path / ("x" * 256): "File name too long",
        tmp_path / "a\0b": "embedded null byte",
    }.items():
        assert refused(path) == f"x: cannot be read: {told}"


def test_a_file_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 2**20)
    file = tmp_path / "x"
    file.write_bytes(b"a" * 2**20)
    assert len(read_file(file)) == 2**20
    file.write_bytes(b"a" * (2**20 + 1))
    assert refused(file) == "x: cannot be read: more than 1 MB, expected less"


def test_a_file_takes_memory_by_its_own_size(tmp_path: Path) -> None:
    file = tmp_path / "x"
    for size in (0, 100, 10**6):
        file.write_bytes(b"a" * size)
        tracemalloc.start()
        try:
            assert len(read_file(file)) == size
            assert tracemalloc.get_traced_memory()[1] < 4 * size + 300_000
        finally:
            tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_and_a_device_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        assert refused(path) == "x: cannot be read: expected a regular file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_an_endless_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 2**20)
    with Path("/dev/zero").open(encoding="utf-8") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        with pytest.raises(TracerError, match=r"^<stdin>: cannot be read: more than 1 MB"):
            read_standard_input("<stdin>")


def test_standard_input_may_be_closed_or_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TracerError, match="standard input is closed"):
        read_standard_input("<stdin>")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xfe")))
    with pytest.raises(TracerError, match=r"^<stdin>:2:1: not UTF-8: byte 0xFE"):
        read_standard_input("<stdin>")
