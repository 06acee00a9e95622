"""Files are written together or not at all, over nothing that would be lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.process import ALONE
from tracer.errors import TracerError
from tracer.files.inputs import registered
from tracer.files.reading import read_file
from tracer.files.targets import check
from tracer.files.writing import create, write

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and pipes with names")

ROUNDS = 200
"""Of each pair of commands that write the same file at once."""


def refused(texts: dict[Path, str], **options: Any) -> str:
    """What is said of a write that is refused; the first file's name is x in it."""
    with pytest.raises(TracerError) as caught:
        write(texts.items(), **options)
    return str(caught.value).replace(str(next(iter(texts))), "x")


def tree(folder: Path) -> dict[str, str | None]:
    """All that is in a folder, files with what they hold."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def fail_at(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Nothing can be put in the place of a name any more."""
    replace = Path.replace

    def failing(self: Path, target: Any) -> Path:
        if Path(target).name == name:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)


# --- together or not at all ----------------------------------------------------------------------


def test_several_files_are_written_with_the_folder_that_they_need(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    figures = tmp_path / "deep" / "figures"
    write({tmp_path / "a": "1\r\n", figures / "b": "é"}.items(), make=figures)
    assert (tmp_path / "a").read_bytes() == b"1\r\n"
    assert (figures / "b").read_bytes() == "é".encode()
    assert sorted(tree(tmp_path)) == ["a", "deep", "deep/figures", "deep/figures/b"]


def test_where_one_fails_all_are_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    figures = tmp_path / "deep" / "figures"
    before = tree(tmp_path)
    fail_at(monkeypatch, "c")
    texts = {tmp_path / "a": "1", figures / "b": "2", figures / "c": "3"}
    with pytest.raises(TracerError, match=r"c: cannot be written: No space left on device$"):
        write(texts.items(), make=figures)
    assert tree(tmp_path) == before
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("bad", ["folder", "none/file", "file/below"])
def test_all_are_looked_at_before_one_is_written(bad: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    before = tree(tmp_path)
    assert "cannot be written: " in refused({tmp_path / "file": "1", tmp_path / bad: "2"})
    assert tree(tmp_path) == before


def test_two_names_of_one_file_are_refused(tmp_path: Path) -> None:
    a, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to(a)
    assert refused({link: "1", a: "2"}) == f"{a}: cannot be written: x is to be written there too"
    a.write_text("old")
    assert refused({link: "1", a: "2"}) == f"{a}: cannot be written: x is to be written there too"
    assert a.read_text() == "old"


AT_A_SIGN = """
import sys, tracer.cli, tracer.files.writing, tracer.commands.tutorial
from tracer.__main__ import main
sys.stdin.readline()
main()
"""


def written_at_once(*commands: str, folder: Path) -> list[tuple[int, str]]:
    """How commands end that begin their work at the same moment, each in its own process."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", AT_A_SIGN, *command.split()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=ALONE,
            cwd=folder,
        )
        for command in commands
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[1] for process in processes]
    return [(process.returncode, said) for process, said in zip(processes, told, strict=True)]


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run alex -o out", "run science -o out"),
        ("page alex -o out", "page alex --token Emma -o out"),
        ("train pizza --steps 1 --save out", "train pizza --steps 2 --save out"),
        ("weave out", "weave out"),
        ("weave out", "run alex -o out"),
    ],
)
def test_of_two_writers_one_has_written_the_file(one: str, other: str, tmp_path: Path) -> None:
    """What is there in the end is one result as a whole, and nothing is left beside it.

    A file that is woven stays as another run has left it meanwhile, be it without marks.
    """
    file = tmp_path / "out"
    marks = "<!-- decoder-trace: run alex -->\n<!-- /decoder-trace -->\n"

    def written(*commands: str) -> tuple[str, list[tuple[int, str]]]:
        file.write_text(marks, encoding="utf-8")
        ends = written_at_once(*commands, folder=tmp_path)
        assert list(tmp_path.iterdir()) == [file]
        return file.read_text(encoding="utf-8"), ends

    wholes = {written(command)[0] for command in (one, other)}
    assert marks not in wholes
    done = (0, "")
    changed = (2, "out: cannot be written: it has changed since it was read\n")
    without_marks = (0, "out: no marks to weave, expected <!-- decoder-trace: … -->\n")
    of_first = {done, changed, without_marks} if "weave" in one else {done}
    for _ in range(ROUNDS):
        found, ends = written(one, other)
        assert found in wholes
        assert done in ends
        assert {*ends} <= of_first


# --- what is not written over --------------------------------------------------------------------


def test_what_is_read_is_not_written_over_by_any_name(tmp_path: Path) -> None:
    scenario, link = tmp_path / "my.yaml", tmp_path / "link.yaml"
    scenario.write_text("old")
    link.symlink_to(scenario)
    for one, other in ((scenario, link), (link, scenario), (scenario, scenario)):
        told = "x: cannot be written: the command reads it"
        hint = " (--force overwrites it)"
        with registered():
            read_file(other)
            assert refused({one: "new"}) == told
            assert refused({one: "new"}, force=False) == told + hint
    assert scenario.read_text() == "old"


def test_what_is_to_be_written_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with registered():
        check([tmp_path / "a"], force=False)
        with pytest.raises(TracerError, match=r"a: cannot be written: the command reads it \(--fo"):
            read_file(tmp_path / "a")
        write({tmp_path / "a": "1"}.items(), force=True)
        assert read_file(tmp_path / "a") == "1"  # a new file


def test_a_text_that_is_replaced_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with registered():
        assert read_file(tmp_path / "a", is_input=False) == "old"
        write({tmp_path / "a": "new"}.items())
        assert read_file(tmp_path / "a") == "new"


def test_what_somebody_has_changed_meanwhile_stays(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("1")
    b.write_text("theirs")
    texts, held = {a: "new", b: "new"}, {a: "1", b: "2"}
    with pytest.raises(TracerError, match=r"b: cannot be written: it has changed since it was rea"):
        write(texts.items(), held=held)
    assert tree(tmp_path) == {"a": "1", "b": "theirs"}
    b.unlink()
    with pytest.raises(TracerError, match="cannot be written: No such file"):
        write(texts.items(), held=held)
    assert tree(tmp_path) == {"a": "1"}


def test_a_file_that_nobody_may_write_stays(tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_text("old")
    a.chmod(0o444)
    assert refused({a: "new"}) == "x: cannot be written: it is read-only"
    assert a.read_text() == "old"
    a.chmod(0o644)


def test_hard_links_are_not_parted(tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_text("old")
    (tmp_path / "b").hardlink_to(a)
    told = "x: cannot be written: 2 hard links lead to it, and a new file would part them"
    assert refused({a: "new"}) == told
    assert tree(tmp_path) == {"a": "old", "b": "old"}


def test_links_are_followed_and_a_loop_is_told(tmp_path: Path) -> None:
    link, loop = tmp_path / "link", tmp_path / "loop"
    (tmp_path / "sub").mkdir()
    link.symlink_to("sub/file")
    write({link: "1"}.items())
    write({link: "2"}.items())
    assert link.is_symlink()
    assert (tmp_path / "sub" / "file").read_text() == "2"
    loop.symlink_to(loop)
    assert refused({loop: "1"}) == "x: cannot be written: Too many levels of symbolic links"


# --- what a file has beside its content ----------------------------------------------------------


@posix
@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_its_mode_stays(mode: int, tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_text("old")
    a.chmod(mode)
    write({a: "new"}.items())
    assert (a.read_text(), a.stat().st_mode & 0o7777) == ("new", mode)


@posix
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "any").write_text("")
    write({tmp_path / "a": "new"}.items())
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    a = tmp_path / ("x" * 255)
    write({a: "1"}.items())
    write({a: "2"}.items())
    assert tree(tmp_path) == {a.name: "2"}


# --- pipes and devices ---------------------------------------------------------------------------


@posix
def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write({pipe: "text", tmp_path / "a": "1"}.items())
    reader.join()
    assert got == ["text"]
    assert pipe.is_fifo()
    assert (tmp_path / "a").read_text() == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
def test_a_device_that_is_full_is_told_and_no_file_written(tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    told = refused({Path("/dev/full"): "text", figures / "a": "1"}, make=figures)
    assert told == "x: cannot be written: No space left on device"
    assert tree(tmp_path) == {}


# --- new files -----------------------------------------------------------------------------------


def test_a_file_is_created_where_nothing_is(tmp_path: Path) -> None:
    create(tmp_path / "a", "1\n")
    assert tree(tmp_path) == {"a": "1\n"}
    with pytest.raises(TracerError, match=r"a: cannot be written: No such file or directory$"):
        create(tmp_path / "none" / "a", "1")


def test_what_is_there_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    before = tree(tmp_path)
    for name in ("file", "folder", "link"):
        with pytest.raises(TracerError, match="it is there already, expected a new file"):
            create(tmp_path / name, "new")
    assert tree(tmp_path) == before


def test_a_new_file_that_cannot_be_filled_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(TracerError, match=r"a: cannot be written: No space left on device$"):
        create(tmp_path / "a", "new")
    assert tree(tmp_path) == {}
    (tmp_path / "b").write_text("old")
    assert refused({tmp_path / "b": "new"}) == "x: cannot be written: No space left on device"
    assert tree(tmp_path) == {"b": "old"}
