"""What several tests of `audit` need."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.helpers.command import run
from tracer.audit.judging.findings import Audit, audit
from tracer.audit.reading.texts import Markup, Text

Write: TypeAlias = Callable[..., None]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(here: Path) -> Write:
    """Write files by their names, of which `docs/a.md` may be in folders that do not exist yet."""

    def written(*names: str, content: str = "2 + 2 = 5\n") -> None:
        for name in names:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(content, encoding="utf-8")

    return written


def found(*words: str, stdin: str = "") -> list[str]:
    """Where something is reported: `a.md:1 A01`."""
    told = json.loads(run("audit", *words, "--format", "json", stdin=stdin).stdout)["findings"]
    return [f"{each['file']}:{each['line']} {each['code']}" for each in told]


def audited(content: str, markup: Markup = Markup.MARKDOWN) -> Audit:
    return audit(Text("text", content, markup))
