"""Where the site is built, and what its pages have in common."""

from __future__ import annotations

import html
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

BUILD = ROOT / "build" / "site"
MARKDOWN, HTML = BUILD / "markdown", BUILD / "html"
STORED = HERE / "stored"
CONTENTS = tomllib.loads((HERE / "contents.toml").read_text(encoding="utf-8"))

SHORT = 24
"""The most lines of an output that a page shows unfolded."""


def folded(text: str) -> str:
    """Return an output as code, folded away if it is long. The search leaves it out."""
    lines = html.escape(text.rstrip("\n"), quote=False).splitlines()
    code = '<pre tabindex="0" data-search-exclude><code>' + "\n".join(lines) + "\n</code></pre>"
    if len(lines) <= SHORT:
        return f'<div class="output">{code}</div>\n'
    summary = f"<summary>It prints {len(lines):,} lines</summary>"
    return f'<details class="output">{summary}{code}</details>\n'


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown; a cell has no line breaks and no bars."""
    lines = [head, ("---",) * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
