"""The pages of .github/docs and of pages/, with links to pages of the site, and outputs."""

from __future__ import annotations

import posixpath
import re
from itertools import zip_longest

from common import CONTENTS, HERE
from outputs import with_outputs

from tests.helpers.examples import DOCS, text_of

OWN = HERE / "pages"
MESSAGES = "reference/messages.md"
WITH_PYTHON = ("reference/library.md",)
"""The pages whose examples in Python run; those for PyTorch need a model of the reader."""


def place(name: str) -> str:
    """Return the file of a page of the docs."""
    return f"{'reference' if name in CONTENTS['reference'] else 'guides'}/{name}.md"


def text(file: str) -> str:
    """Return the Markdown of a page, with the outputs of its examples."""
    own = OWN / file
    source = own if own.exists() else DOCS / posixpath.basename(file)
    languages = ("sh", "python") if file in WITH_PYTHON else ("sh",)
    code = 2 if file == MESSAGES else None
    return with_outputs(relinked(unmarked(text_of(source)), file), file, languages, code)


def unmarked(markdown: str) -> str:
    """Return the text without the marks of `weave`, at which MkDocs would end a paragraph."""
    fenced = re.split(r"(^(`{3,}).*?^\2$)", markdown, flags=re.MULTILINE | re.DOTALL)
    between = (re.sub(r"<!-- /?decoder-trace.*?-->", "", part) for part in fenced[::3])
    return "".join(map("".join, zip_longest(between, fenced[1::3], fillvalue="")))


def relinked(markdown: str, file: str) -> str:
    """Return the text with links to the site's pages; what the site lacks is only named."""

    def link(found: re.Match[str]) -> str:
        mark, shown, target, anchor = found.groups()
        if "docs/" in target:
            target = target.rpartition("docs/")[2]
        elif "://" in target or not target or (OWN / file).exists():
            return found[0]
        if not (DOCS / target).is_file() or (not mark and "/" in target):
            return str(shown)
        to = f"guides/{target}" if mark else place(target.removesuffix(".md"))
        return f"{mark}[{shown}]({posixpath.relpath(to, posixpath.dirname(file))}{anchor or ''})"

    return re.sub(r"(!?)\[([^\]\n]*)\]\(([^)#\s]*)(#[^)\s]*)?\)", link, markdown)
