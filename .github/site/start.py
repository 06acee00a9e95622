"""The start page: a living page of alex."""

from __future__ import annotations

from pages import MARKDOWN, Page

from tests.helpers.command import printed

TEXT = """# decoder-trace

`decoder-trace` computes a transformer decoder step by step and prints each step with its formula, numbers, result and
reason. Every printed equation is true: you can check each line with a calculator. Below is Alex, who listens to his
friends before he decides where to eat: click a number to see how it is computed, or drag an underlined one.

<iframe class="living" src="alex.html" title="A living page: Alex decides where to eat"></iframe>

[Open this page alone](alex.html){ .md-button .md-button--primary } [Learn](learn/two-words.md){ .md-button }
[Write a scenario](guides/scenarios.md){ .md-button } [Mistakes in print](mistakes.md){ .md-button }
"""  # noqa: E501


def pages() -> list[Page]:
    """The page that a reader sees first."""
    return [Page("Start", "Start", "index.md", start)]


def start() -> str:
    """Write the living page beside the start page."""
    printed("page", "alex", "-o", str(MARKDOWN / "alex.html"), "--force")
    return TEXT
