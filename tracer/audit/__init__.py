"""Find false arithmetic in text: files → passages → equations → verdicts → a report."""

from __future__ import annotations

from enum import StrEnum


class Report(StrEnum):
    """The format of a report."""

    TERMINAL = "terminal"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
