"""What a LaTeX engine makes of a text: errors, lines that are too wide, words on other words."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

PDFLATEX, LUALATEX = shutil.which("pdflatex"), shutil.which("lualatex")
PDFTOTEXT = shutil.which("pdftotext")

needs_pdflatex = pytest.mark.skipif(PDFLATEX is None, reason="pdflatex is not installed")
needs_lualatex = pytest.mark.skipif(
    LUALATEX is None or not shutil.which("luaotfload-tool"),
    reason="lualatex is not installed, or not what loads its fonts",
)
needs_pdftotext = pytest.mark.skipif(
    PDFLATEX is None or PDFTOTEXT is None, reason="pdflatex or pdftotext is not installed"
)

MOST_OVERFULL = 1.0
"""Points by which a line may be too wide."""

TOUCH, SHARED = 1.0, 0.45
"""Points by which boxes of words may overlap in width; the share of a box's height."""

WORD = re.compile(r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*)</word>')


def typeset(folder: Path, latex: str, engine: str | None = PDFLATEX, passes: int = 1) -> str:
    """What an engine says of a document, which it must be able to set."""
    assert engine
    (folder / "a.tex").write_text(latex, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    for _ in range(passes):
        ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
        log = (folder / "a.log").read_text(encoding="utf-8", errors="replace")
        assert ran.returncode == 0, re.findall("^!.*", log, re.MULTILINE)
    assert "Undefined control sequence" not in log
    assert "Missing character" not in log
    return log


def overfull(log: str) -> list[float]:
    """By how much lines are too wide, in points."""
    widths = map(float, re.findall(r"Overfull \\hbox \(([0-9.]+)pt too wide\)", log))
    return [width for width in widths if width > MOST_OVERFULL]


@dataclass(frozen=True)
class Box:
    """The place of a word on a page; y is counted downward."""

    page: int
    left: float
    top: float
    right: float
    bottom: float
    word: str

    def overlaps(self, other: Box) -> bool:
        """Whether it is printed over another word; an index only touches the line above."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        lower = min(self.bottom - self.top, other.bottom - other.top)
        return across > TOUCH and down > SHARED * lower


def overlaps(folder: Path) -> list[str]:
    """The words of a typeset document that are printed over each other."""
    pages: dict[int, list[Box]] = {}
    for box in _boxes(folder):
        pages.setdefault(box.page, []).append(box)
    return [
        f"page {page}: {a.word} over {b.word}"
        for page, boxes in pages.items()
        for a, b in combinations(boxes, 2)
        if a.overlaps(b)
    ]


def _boxes(folder: Path) -> Iterator[Box]:
    assert PDFTOTEXT
    command = [PDFTOTEXT, "-bbox", "a.pdf", "-"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=True, encoding="utf-8")
    page = 0
    for line in ran.stdout.splitlines():
        page += "<page " in line
        if found := WORD.search(line):
            left, top, right, bottom = map(float, found.groups()[:4])
            word = html.unescape(found[5])
            # The box of a root sign is that of a letter, which the sign itself hangs below.
            if word != "√":
                yield Box(page, left, top, right, bottom, word)
