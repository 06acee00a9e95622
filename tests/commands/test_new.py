"""`new`: a scenario to begin with, which never takes the place of another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command import printed, problems, run


def test_it_writes_a_scenario_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert printed("new", "my.yaml") == "my.yaml is written; now: decoder-trace run my.yaml\n"
    assert printed("run", "my.yaml").startswith("My decoder\n")
    first, _, rest = Path("my.yaml").read_text(encoding="utf-8").partition("\n")
    assert first.startswith("# yaml-language-server: $schema=file:")
    assert "layers:" in rest
    assert [path.name for path in tmp_path.iterdir()] == ["my.yaml"]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("two words.yaml", "'two words.yaml'"),
        ("-x.yaml", "./-x.yaml"),
        ("x\x1b.yaml", "'x\\x1b.yaml'"),
    ],
)
def test_what_to_type_next_is_one_word_and_no_option(
    name: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert printed("new", "--", name).endswith(f" is written; now: decoder-trace run {typed}\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("there", ["a file", "a folder", "a dangling link"])
def test_what_is_there_stays(tmp_path: Path, there: str) -> None:
    path = tmp_path / "my.yaml"
    match there:
        case "a file":
            path.write_text("mine")
        case "a folder":
            path.mkdir()
        case _:
            path.symlink_to("nowhere")
    before = sorted(tmp_path.iterdir())
    ran = run("new", str(path))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"{path}: ")
    assert len(ran.stderr.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before
    assert not path.is_file() or path.read_text() == "mine"


@pytest.mark.parametrize("name", ["", "-", "none/my.yaml", "x" * 300])
def test_where_nothing_can_be_written_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("new", name)
    assert (ran.exit_code, ran.stdout, len(problems(ran))) == (2, "", 1)
    assert list(tmp_path.iterdir()) == []
