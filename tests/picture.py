"""The picture for the top of the README: a step as a terminal shows it, in color.

`python -m tests.picture` writes it anew.
"""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.helpers.command import run

COMMAND = ("step", "scores", "--head", "1")
FILE = Path(__file__).parent.parent / "snapshots" / "terminal.svg"
WIDTH = 80
GREYS = [(229, 229, 229)] * 8
BLACK = TerminalTheme((0, 0, 0), GREYS[0], GREYS, GREYS)
"""The hues are of the 256 colors, which a theme does not change."""


def picture() -> str:
    """What the command shows, as SVG; letters are those of the reader's own system."""
    colors = {"FORCE_COLOR": "1", "NO_COLOR": "", "TERM": "xterm-256color"}
    shown = run(*COMMAND, width=WIDTH, **colors).stdout
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="256")
    console.print(Text.from_ansi(shown.rstrip("\n")))
    title = " ".join(("decoder-trace", *COMMAND))
    drawn = console.export_svg(title=title, unique_id="step", theme=BLACK)
    return re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)


def pieces(drawn: str) -> list[tuple[str, str]]:
    """The words of a picture, each with how it looks: what is seen, however it is written."""
    styles = dict(re.findall(r"\.([\w-]+) \{ ?(.*?);? ?\}", drawn))
    return [
        (html.unescape(words).replace("\xa0", " "), styles[name])
        for name, words in re.findall(r'<text class="([\w-]+)".*?>(.*?)</text>', drawn)
        if name in styles
    ]


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
