"""What other repositories use: the hooks of pre-commit, and the GitHub Action."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.audit.conftest import Write
from tests.helpers.command import run
from tracer.audit.reading.texts import ENDINGS

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
ACTION = ROOT / ".github" / "actions" / "audit"
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def hooked(hook: str, *files: str) -> int:
    _, *words = shlex.split(HOOKS[hook]["entry"])
    return run(*words, *files).exit_code


def test_the_audit_reads_what_the_command_reads() -> None:
    pattern = re.compile(HOOKS["decoder-trace-audit"]["files"])
    assert all(pattern.search(f"docs/a{ending}") for ending in ENDINGS)
    (endings,) = re.findall(r"\(([a-z|]+)\)", pattern.pattern)
    assert {f".{ending}" for ending in endings.split("|")} == set(ENDINGS)
    assert not pattern.search("md/a.yaml")


def test_the_hooks_are_commands_that_fail_as_they_should(write: Write) -> None:
    write("false.md", "drafts/false.md")
    write("true.md", content="2 + 2 = 4\n")
    write("pyproject.toml", content="[tool.decoder-trace.audit]\nexclude = ['drafts']\n")
    assert hooked("decoder-trace-audit", "true.md", "drafts/false.md") == 0
    assert hooked("decoder-trace-audit", "true.md", "false.md") == 1
    assert hooked("decoder-trace-weave", "true.md") == 0


def step(name: str, known: dict[str, str], **environment: str) -> tuple[int, str]:
    """Run a step of the action in the working directory, with values for its expressions."""
    steps: list[dict[str, Any]] = yaml.safe_load((ACTION / "action.yml").read_text())["runs"][
        "steps"
    ]
    (wanted,) = (each for each in steps if each.get("name") == name)
    values = {
        key: re.sub(r"\$\{\{ (.*?) \}\}", lambda m: known[m[1]], value)
        for key, value in wanted["env"].items()
    }
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", wanted["run"]],
        env={**os.environ, "GITHUB_ACTION_PATH": str(ACTION), **environment, **values},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def expressions(paths: str = ".", arguments: str = "") -> dict[str, str]:
    return {
        "inputs.paths": paths,
        "inputs.arguments": arguments,
        "steps.python.outputs.python-path": sys.executable,
    }


@needs_bash
def test_the_action_annotates_lines(write: Write, tmp_path: Path) -> None:
    write("docs/a.md", "tracer/__init__.py", "-c.md")
    Path("temp").mkdir()
    Path("temp/decoder-trace").symlink_to(ROOT)
    there = {"RUNNER_TEMP": str(tmp_path / "temp")}
    code, told = step("Audit", expressions("docs\n-c.md", "--select A01 --strict"), **there)
    assert (code, told.count("::error file=")) == (1, 2), told
    assert told.startswith("::error file=docs/a.md,line=1,")


@pytest.mark.fuzz  # installs the program, which needs the package registry
def test_pre_commit_runs_the_hooks(
    write: Write, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path_factory.mktemp("hooks")))
    pytest.importorskip("pre_commit")
    write("false.md", "drafts/false.md")
    write("pyproject.toml", content="[tool.decoder-trace.audit]\nexclude = ['drafts']\n")

    def git(*words: str) -> None:
        subprocess.run(["git", *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")

    def tried() -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "--all-files"]
        return subprocess.run(words, capture_output=True, encoding="utf-8", check=False)

    ran = tried()
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ran.stdout.count("A01 false") == 1
    assert re.search(r"decoder-trace weave\.+Passed", ran.stdout)
    write("false.md", content="2 + 2 = 4\n")
    assert tried().returncode == 0
