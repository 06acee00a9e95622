"""A text → its passages, as what it is written in has them."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.audit import html, latex, markdown, restructured
from tracer.audit.passage import Passage, paragraphs
from tracer.audit.texts import Markup, Text


def passages(text: Text) -> Iterator[Passage]:
    """The passages of a text, in its order."""
    return paragraphs(_passages(text))


def _passages(text: Text) -> Iterator[Passage]:
    match text.markup:
        case Markup.MARKDOWN:
            return markdown.passages(text.content)
        case Markup.LATEX:
            return latex.passages(text.content)
        case Markup.RESTRUCTURED:
            return restructured.passages(text.content)
        case Markup.HTML:
            return html.passages(text.content)
        case Markup.PLAIN | Markup.NOTEBOOK:
            return markdown.plain(text.content)
