"""Figures of a text, as an author writes them, held against a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tracer.check.checking import check_figures
from tracer.check.report import Report
from tracer.scenario.loading import load


def figures_file(folder: Path, figures: Sequence[Mapping[str, Any]]) -> Path:
    """A file of them; JSON is YAML."""
    path = folder / "text.figures.yaml"
    path.write_text(json.dumps({"figures": figures}), encoding="utf-8")
    return path


def checked(folder: Path, scenario: str, *figures: Mapping[str, Any]) -> Report:
    """What is found of figures beside a scenario, given by its YAML text."""
    path = folder / "text.yaml"
    path.write_text(scenario, encoding="utf-8")
    return check_figures(load(str(path)), figures_file(folder, figures))


def verdicts(report: Report) -> list[str]:
    """The verdict of each figure."""
    return [str(finding.verdict) for finding in report.findings]
