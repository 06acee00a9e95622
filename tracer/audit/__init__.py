"""False arithmetic in any text: files → passages → equations → verdicts → a report."""

from __future__ import annotations

from enum import StrEnum


class Report(StrEnum):
    """How what was found is written."""

    TERMINAL = "terminal"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
