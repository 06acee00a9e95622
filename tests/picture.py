"""The pictures of the README: a step on a terminal, a tutorial, a page in a browser.

`python -m tests.picture` writes them; the page needs playwright and Chromium.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import re
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.helpers.browser import launched, opened
from tests.helpers.command import printed, run

FOLDER = Path(__file__).parent.parent / ".github" / "docs" / "pictures"
STEP, TUTORIAL, PAGE = (FOLDER / name for name in ("step.svg", "tutorial.svg", "page.webp"))
COMMAND = ("step", "scores", "--head", "1")
WIDTH = 80
GREYS = [(229, 229, 229)] * 8
BLACK = TerminalTheme((0, 0, 0), GREYS[0], GREYS, GREYS)
"""The hues are of the 256 colors, which a theme does not change."""


# --- a step on a terminal -----------------------------------------------------------------------


def step() -> str:
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


# --- a tutorial ---------------------------------------------------------------------------------

SANS, MONO = "system-ui, sans-serif", "ui-monospace, monospace"
MARGIN, COLUMN = 24, 440
LETTERS = 58
"""The letters of a line, so that it fits into its column in the font of any system."""


def columns_of_tutorial(text: str) -> tuple[list[str], list[str]]:
    """Blocks of Markdown: on the left, the beginning and two pictures; on the right, a step."""
    blocks = re.sub(r'<a id="[^"]*"></a>\n+', "", text).split("\n\n")
    beginning = itertools.takewhile(lambda block: not re.match(r"\||- |!|##", block), blocks)
    arcs = next(block for block in blocks if ".head1.weights.arcs.svg" in block)
    profile = next(block for block in blocks if ".profile.svg" in block)
    softmax = next(n for n, block in enumerate(blocks) if re.match("##.*Softmax", block))
    after = itertools.takewhile(lambda block: not block.startswith("#"), blocks[softmax + 1 :])
    step = [blocks[softmax], *after]
    return (
        [*(block for block in beginning if not block.endswith(":")), arcs, profile],
        [block for block in step if not re.match(r"\||!", block)],
    )


def lines_of(block: str) -> tuple[list[str], str]:
    """The lines of a block of words, and their font."""
    if block.startswith("```"):
        return block.splitlines()[1:-1], f"12px/18px {MONO}"
    words = re.sub(r"\[(.*?)\]\(.*?\)|\*\*|`", r"\1", block).lstrip("#> ")
    if block.startswith(">"):
        return [words], f"italic 13px/18px {MONO}"
    size = {"# ": "bold 20px", "##": "bold 17px", "**": "bold 13px"}.get(block[:2], "13px")
    return textwrap.wrap(words, LETTERS), f"{size}/20px {SANS}"


def drawn_column(blocks: list[str], folder: Path, x: int) -> tuple[str, int]:
    """The blocks, one below the other, and where they end."""
    drawn, y = [], MARGIN
    for block in blocks:
        if block.startswith("!"):
            svg = (folder / block.rpartition("/")[2].rstrip(")")).read_text(encoding="utf-8")
            drawn.append(svg.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1))
            y += int(float(re.findall(r' height="(.*?)"', svg)[0]))
            continue
        lines, font = lines_of(block)
        for line in lines:
            y += int(re.findall(r"/(\d+)px", font)[0])
            style = f'class="ink" style="font: {font}; white-space: pre"'
            drawn.append(f'<text {style} x="{x}" y="{y}">{html.escape(line, quote=False)}</text>')
        y += 12
    return "\n".join(drawn), y


def tutorial() -> str:
    """The beginning of a tutorial beside one of its steps, as SVG."""
    with TemporaryDirectory() as name:
        text = printed("tutorial", "alex", "--figures", name)
        left, right = columns_of_tutorial(text)
        beginning, middle = drawn_column(left, Path(name), MARGIN)
        step, end = drawn_column(right, Path(name), COLUMN + 2 * MARGIN)
    width, height = 2 * COLUMN + 3 * MARGIN, max(middle, end) + MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    paper = f'<rect class="page" style="stroke: #d0d7de" width="{width}" height="{height}"/>'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join((picture, paper, beginning, step, "</svg>\n"))


# --- a page -------------------------------------------------------------------------------------


def page() -> bytes:
    """A page in a browser that shows how an attention weight is computed, as WebP."""
    with TemporaryDirectory() as name, launched() as browser:
        file = Path(name) / "alex.html"
        printed("page", "alex", "-o", str(file))
        size = {"width": 1320, "height": 640}
        with opened(browser, file, "#step-10", everything=False, viewport=size) as shown:
            weight = shown.locator("#step-10 .working:visible .work .number").first
            weight.hover()
            weight.click()
            shown.wait_for_timeout(500)  # it scrolls to where the number is computed
            how = {"format": "webp", "quality": 90}
            taken = shown.context.new_cdp_session(shown).send("Page.captureScreenshot", how)
    return base64.b64decode(taken["data"])


if __name__ == "__main__":
    STEP.write_text(step(), encoding="utf-8")
    TUTORIAL.write_text(tutorial(), encoding="utf-8")
    PAGE.write_bytes(page())
