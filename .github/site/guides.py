"""The pages of .github/docs, with links that lead to pages of the site, and outputs."""

from __future__ import annotations

import posixpath
import re

from outputs import with_outputs
from pages import Page

from tests.helpers.examples import DOCS, text_of

GUIDES = (
    ("scenarios", "Write a scenario"),
    ("calculations", "Look at a calculation"),
    ("tutorials", "Write a tutorial"),
    ("weaving", "Weave it into your text"),
    ("own-text", "Check your figures"),
    ("teaching", "Pages, steps, worksheets"),
    ("audit", "Audit a text, also in CI"),
    ("debugging", "Debug a PyTorch model"),
    ("trained-models", "Explain a checkpoint"),
    ("attribution", "Find the cause of a prediction"),
    ("training", "Train a model"),
    ("generation", "Generate a text"),
)
REFERENCE = (
    ("commands", "All commands"),
    ("rounding", "Rounding"),
    ("models", "Trained models"),
    ("library", "Use in Python"),
)
PICTURES = "pictures"


def pages() -> list[Page]:
    """The pages of the docs that explain."""
    return [Page("Guides", title, place(name), guide, (name,)) for name, title in GUIDES]


def reference_pages() -> list[Page]:
    """The pages of the docs that list."""
    return [Page("Reference", title, place(name), guide, (name,)) for name, title in REFERENCE]


def place(name: str) -> str:
    """The file of a page of the docs."""
    return f"{'reference' if name in dict(REFERENCE) else 'guides'}/{name}.md"


def guide(name: str) -> str:
    """A page of the docs, with the outputs of its examples."""
    text = relinked(text_of(DOCS / f"{name}.md"), place(name))
    # The examples for PyTorch need a model of the reader.
    languages = ("sh", "python") if name == "library" else ("sh",)
    return with_outputs(text, place(name), languages)


def relinked(text: str, file: str) -> str:
    """The text with links to the site's pages; what the site does not have is only named."""

    def link(found: re.Match[str]) -> str:
        mark, shown, target, anchor = found.groups()
        if target.startswith("https://") or not target:
            return found[0]
        if target.startswith(f"{PICTURES}/"):
            return f"{mark}[{shown}]({relative(f'guides/{target}', file)})"
        name = target.removesuffix(".md")
        if not (DOCS / target).is_file() or "/" in target:
            return shown
        return f"[{shown}]({relative(place(name), file)}{anchor or ''})"

    return re.sub(r"(!?)\[([^\]\n]*)\]\(([^)#\s]*)(#[^)\s]*)?\)", link, text)


def relative(target: str, file: str) -> str:  # noqa: D103
    return posixpath.relpath(target, posixpath.dirname(file))
