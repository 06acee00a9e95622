"""The version is that of the installed distribution, which has it from a tag."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.helpers.process import ALONE, ROOT


def printed_where(packages: Path, *arguments: str) -> str:
    """Return what the program prints where the distributions in a folder are found first."""
    variables = {**ALONE, "PYTHONPATH": os.pathsep.join((str(packages), str(ROOT)))}
    command = [sys.executable, "-m", "tracer", *arguments]
    ran = subprocess.run(command, env=variables, capture_output=True, encoding="utf-8", check=False)
    assert ran.stderr == ""
    return ran.stdout


def installed(folder: Path) -> Path:
    """Make the metadata of version 7.8.9 in a folder."""
    metadata = folder / "decoder_trace-7.8.9.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: decoder-trace\nVersion: 7.8.9\n")
    return folder


def test_the_version_is_that_of_the_distribution(tmp_path: Path) -> None:
    assert printed_where(installed(tmp_path), "--version") == "decoder-trace 7.8.9\n"


def test_a_report_for_services_names_the_version(tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("1 + 1 = 2\n")
    printed = printed_where(installed(tmp_path), "audit", str(text), "--format", "sarif")
    assert json.loads(printed)["runs"][0]["tool"]["driver"]["version"] == "7.8.9"


WITHOUT_METADATA = """
import importlib.metadata
def version(name):
    raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.version = version
import tracer
print(tracer.__version__)
"""


def test_a_folder_that_nobody_installed_has_the_version_of_its_fallback() -> None:
    command = [sys.executable, "-c", WITHOUT_METADATA]
    ran = subprocess.run(command, env=ALONE, capture_output=True, encoding="utf-8", check=True)
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'fallback-version = "{ran.stdout.strip()}"\n' in declared
    assert ran.stdout != "\n"
