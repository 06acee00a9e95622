"""Which files of a folder are read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.audit.conftest import Write, found
from tests.helpers.command import run

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(*words: str) -> None:
    mine = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(["git", *words], check=True, capture_output=True, env=mine)


def read(*words: str) -> list[str]:
    return [each.split(":")[0] for each in found(*words)]


@needs_git
def test_what_git_ignores_is_not_read_unless_it_is_named(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", "build/b.md", "docs/c.md", "docs/made.md", "é.md", ".hidden/d.md", "gone.md")
    write(".gitignore", content="build/\n")
    write("docs/.gitignore", content="made.*\n")
    git("init", "-q")
    git("add", ".")
    Path("gone.md").unlink()
    write("new.md")
    assert read(".") == ["a.md", "docs/c.md", "new.md", "é.md"]
    assert read("docs", "docs/made.md") == ["docs/c.md", "docs/made.md"]
    assert read("build") == ["build/b.md"]
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as in a hook
    assert read("docs") == ["docs/c.md"]
    monkeypatch.setenv("PATH", "")
    assert read(".") == ["a.md", "build/b.md", "docs/c.md", "docs/made.md", "new.md", "é.md"]


@needs_git
def test_repositories_in_a_repository_are_read(write: Write) -> None:
    write("a.md", "inner/b.md", "inner/c.md")
    write("inner/.gitignore", content="c.md")
    git("init", "-q")
    git("-C", "inner", "init", "-q")
    assert read(".") == ["a.md", "inner/b.md"]


@pytest.mark.parametrize("has_git", [False, pytest.param(True, marks=needs_git)])
def test_links_lead_to_each_file_once_and_in_no_circle(write: Write, has_git: bool) -> None:
    write("docs/a.md")
    if has_git:
        git("init", "-q")
    Path("docs/again.md").symlink_to("a.md")
    Path("docs/up").symlink_to("..")
    Path("docs/circle.md").symlink_to("circle.md")
    ran = run("audit", ".", "docs/../docs/a.md")
    assert ran.stdout.count("A01") == 1
    assert ran.stderr == "docs/circle.md: cannot be read: Too many levels of symbolic links\n"


def test_a_folder_in_which_all_is_excluded_is_told(write: Write) -> None:
    write("docs/a.md")
    ran = run("audit", "docs", "--exclude", "*.md")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("docs: a folder without texts that are not excluded, expected .md")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("é: 2 × 2 = 5".encode("latin-1"), "é"),
        ("–: 2 × 2 = 5".encode("cp1252"), "–"),
        ("é: 2 × 2 = 5".encode("utf-16"), "é"),
        (b"\x81: 2 \xd7 2 = 5", ""),
    ],
)
@pytest.mark.usefixtures("here")
def test_other_encodings_are_read(content: bytes, word: str) -> None:
    Path("a.md").write_bytes(content)
    shown = run("audit", "a.md").stdout
    assert f"{word}: 2 × 2 = 5" in shown


@pytest.mark.usefixtures("here")
def test_a_binary_file_in_a_folder_is_only_counted() -> None:
    Path("a.txt").write_bytes(b"2 + 2 = 5\0")
    ran = run("audit", ".")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert ran.stdout == "0 equations read: 0 hold; 0 signs not read; 1 binary file skipped\n"
