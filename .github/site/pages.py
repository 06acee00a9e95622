"""Where the site is built, and how its pages are written."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

BUILD = ROOT / "build" / "site"
MARKDOWN, HTML = BUILD / "markdown", BUILD / "html"
STORED = HERE / "stored"

SHORT = 24
"""The most lines of an output that a page shows unfolded."""


@dataclass(frozen=True)
class Page:
    """A page of the site: its section and title in the navigation, its file, and what writes it."""

    section: str
    title: str
    file: str
    text: Callable[..., str]
    arguments: tuple[Any, ...] = ()

    def write(self) -> None:
        """Write the page as Markdown."""
        path = MARKDOWN / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(*self.arguments), encoding="utf-8")


def plural(number: int, noun: str) -> str:  # noqa: D103
    return f"{number:,} {noun}" + ("s" if number != 1 else "")


def folded(title: str, text: str, language: str = "text") -> str:
    """An output: code, folded away if it is long. The search leaves it out."""
    lines = text.rstrip("\n").splitlines()
    code = f'<pre tabindex="0" data-search-exclude><code class="language-{language}">'
    code += html.escape("\n".join(lines), quote=False) + "\n</code></pre>"
    if len(lines) <= SHORT:
        return f'<div class="output">{code}</div>\n'
    return (
        f'<details class="output"><summary>{title}: {plural(len(lines), "line")}</summary>'
        f"{code}</details>\n"
    )


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown; a cell has no line breaks and no bars."""
    lines = [head, ("---",) * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
