"""Links of a built site: each leads to a file and an anchor of the site."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKING = {"href", "src"}
NOT_FILES = {"https", "http", "mailto", "data", "javascript"}
WRITTEN_BY_SCRIPT = ("#__", "#step-", "#try")
"""Anchors that a script knows: those of the theme, and of a living page."""


class Read(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag links to, and how it can be linked."""
        for name, value in attrs:
            if name in LINKING and value:
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


@cache
def read(page: Path) -> Read:
    """The links and the anchors of a file."""
    found = Read()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def has_anchor(page: Path, anchor: str) -> bool:
    """Whether a page has an anchor, or none is asked."""
    return not anchor or anchor in read(page).anchors


def broken(folder: Path) -> list[str]:
    """Say of each link within a folder of pages that leads nowhere where it is."""
    found = []
    for page in sorted(folder.rglob("*.html")):
        for link in dict.fromkeys(read(page).links):
            parts = urlsplit(link)
            if parts.scheme in NOT_FILES or link.startswith(("//", *WRITTEN_BY_SCRIPT)):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            where = f"{page.relative_to(folder)}: {link}"
            if parts.path.startswith("/") or not target.is_relative_to(folder.resolve()):
                found.append(f"{where}: leads out of the site")
            elif not target.is_file():
                found.append(f"{where}: no such file")
            elif target.suffix == ".html" and not has_anchor(target, unquote(parts.fragment)):
                found.append(f"{where}: no such anchor")
    return found
