"""Build the site: python .github/site/build.py → build/site/html.

The program writes all pages as Markdown; MkDocs with Material makes the site of them (Zensical,
its successor, has no strict check of links yet). A broken link or anchor is an error.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import guides
import learn
import mistakes
import reference
import start
import stored
from links import broken
from pages import BUILD, HERE, HTML, MARKDOWN, Page


def pages() -> list[Page]:
    """All pages, in the order of the navigation."""
    return [*start.pages(), *learn.pages(), *guides.pages(), *reference.pages(), *mistakes.pages()]


def navigation(found: list[Page]) -> list[dict[str, object]]:
    """The pages of each section; a section without a name is one page."""
    sections: dict[str, list[dict[str, str]]] = {}
    for page in found:
        sections.setdefault(page.section, []).append({page.title: page.file})
    return [
        {title: inside if len(inside) > 1 else next(iter(inside[0].values()))}
        for title, inside in sections.items()
    ]


def main() -> None:
    """Write the pages, make the site of them, and check its links."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    began = time.monotonic()
    if found := stored.quick_problems():
        sys.exit("Stored outputs are stale, see .github/site/stored.py:\n" + "\n".join(found))
    shutil.rmtree(BUILD, ignore_errors=True)
    MARKDOWN.mkdir(parents=True)
    written = pages()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(page.write) for page in written]:
            done.result()
    shutil.copytree(guides.DOCS / guides.PICTURES, MARKDOWN / "guides" / guides.PICTURES)
    build(load_config(str(HERE / "mkdocs.yml"), nav=navigation(written)))
    (HTML / "404.html").unlink()  # its links begin at the root of a server
    if found := broken(HTML):
        sys.exit("\n".join(found))
    sys.stdout.write(f"{HTML}: {len(written)} pages, {time.monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main()
