"""What nobody else can use is not committed: paths of one machine, and hosts of package indexes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

OF_A_MACHINE = re.compile(
    rb"(?<![\w./])/(?:root|work|home|Users|opt)/\w"
    rb"|(?<![\w.])[A-Z]:\\{1,2}Users\\"
    rb"|\b(?:pypi|test\.pypi|npmjs|pythonhosted|crates|anaconda)\.(?:org|com|io)\b"
    rb"|\bregistry\.\w+\.\w+|\bdeb\.\w+\.org\b"
    rb"|file://(?!\{)[\w/]|--(?:extra-)?index-url|--find-[l]inks"
)
FOREIGN = {"tests/checkpoints/popular_models.json"}
"""Public configurations, as their authors wrote them."""


def named(content: bytes) -> list[bytes]:
    """Return the paths and hosts in a file."""
    return [found[0] for found in OF_A_MACHINE.finditer(content)]


def test_no_file_names_a_machine_or_an_index() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = {name.decode() for name in listed.stdout.split(b"\0") if name} - FOREIGN
    assert "README.md" in names
    files = {name: ROOT / name for name in names if (ROOT / name).is_file()}
    found = {name: named(file.read_bytes()) for name, file in files.items()}
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "text",
    [
        "cd /{}/me/decoder-trace".format("home"),
        "'/{}/trees'".format("work"),
        "https://{}.org/simple".format("pypi"),
        "https://files.{}.org".format("pythonhosted"),
        "pip install --{}-url x".format("index"),
        r"C:\{}\me".format("Users"),
    ],
)
def test_they_are_recognized(text: str) -> None:
    assert len(named(text.encode())) == 1


@pytest.mark.parametrize(
    "text", ["a/home/b", "uses: pypa/gh-action-pypi-publish@v1", "docs/work/text.md", "/dev/null"]
)
def test_others_are_not(text: str) -> None:
    assert named(text.encode()) == []
