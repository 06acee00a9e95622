"""Build the site: python .github/site/build.py → build/site/html.

The program writes all pages as Markdown; MkDocs with Material makes the site of them. Their
successor, Zensical, reads the same mkdocs.yml. A broken link or anchor is an error.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import learn
import reference
import stored
import texts
from common import BUILD, CONTENTS, HERE, HTML, MARKDOWN
from links import broken

Page = tuple[str, str, Callable[[], str]]
"""The title of a page, its file, and what returns its Markdown."""


def pages() -> dict[str, list[Page]]:
    """Return the pages of each section, in the order of the navigation."""

    def of_text(title: str, file: str) -> Page:
        return title, file, partial(texts.text, file)

    def listed(name: str, title: str) -> Page:
        written = reference.WRITTEN.get(name)
        file = f"reference/{name}.md"
        return (title, file, written) if written else of_text(title, file)

    chapters = [
        (each.pop("title"), f"learn/{each['name']}.md", partial(learn.tutorial, **each))
        for each in map(dict, CONTENTS["learn"])
    ]
    commands = [
        (name, f"reference/command-{name}.md", partial(reference.command, name))
        for name in reference.NAMES
    ]
    return {
        "Start": [of_text("Start", "index.md")],
        "Learn": chapters,
        "Guides": [
            of_text(title, f"guides/{name}.md") for name, title in CONTENTS["guides"].items()
        ],
        "Reference": [listed(*each) for each in CONTENTS["reference"].items()],
        "Commands": commands,
        "Mistakes": [of_text("Mistakes in print", "mistakes.md")],
    }


def write(file: str, text: Callable[[], str]) -> None:
    """Write a page."""
    (MARKDOWN / file).parent.mkdir(parents=True, exist_ok=True)
    (MARKDOWN / file).write_text(text(), encoding="utf-8")


def main() -> None:
    """Write the pages, make the site of them, and check its links."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    began = time.monotonic()
    if found := stored.quick_problems():
        sys.exit("Stored outputs are stale, see .github/site/stored.py:\n" + "\n".join(found))
    shutil.rmtree(BUILD, ignore_errors=True)
    sections = pages()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(write, *page[1:]) for each in sections.values() for page in each]
        for job in jobs:
            job.result()
    shutil.copytree(texts.DOCS / "pictures", MARKDOWN / "guides" / "pictures")
    navigation = [
        {section: [{title: file} for title, file, _ in inside] if inside[1:] else inside[0][1]}
        for section, inside in sections.items()
    ]
    build(load_config(str(HERE / "mkdocs.yml"), nav=navigation))
    (HTML / "404.html").unlink()  # its links begin at the root of a server
    if found := broken(HTML):
        sys.exit("\n".join(found))
    sys.stdout.write(f"{HTML}: {len(jobs)} pages, {time.monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main()
