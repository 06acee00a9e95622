"""A page as one self-contained HTML file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, partial
from hashlib import sha256
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from tracer.lesson.document import Block, Picture, Section
from tracer.lesson.texts.page import NumberNames, Page, PageTape
from tracer.names import name_text
from tracer.renderers import links
from tracer.renderers.page.blocks import Blocks
from tracer.renderers.page.lines import data as data_of
from tracer.renderers.page.live import LiveState

HERE = Path(__file__).parent
STYLE = (
    *("colors", "layout", "text", "tables", "bars", "plots", "first", "lines"),
    *("diagram", "choosing", "pointing", "practice", "guided", "embedded", "media"),
)
"""The files of the style, in the order in which they are put together."""
SCRIPT = (
    *("numbers", "pointing", "walking", "matrices", "choosing"),
    *("diagram", "staging", "board", "guided", "judging", "score", "trying"),
    *("state", "frame", "start"),
)
"""The files of the script, in the order in which they are put together; they share one scope."""
ON_TAPE = (
    *("decimal", "functions", "normal", "pencil", "tape", "typed", "tokens"),
    *("operations", "formulas", "expressions", "notation", "sides", "lines"),
)
"""What computes the numbers of a page that has its tape, before all others."""
CHANGING_STYLE = ("live",)
CHANGING = ("editing", "redrawing", "dragging", "living", "fields", "renaming")
"""What changes numbers, behind the others, but before the start."""
ASKING = "what_if"
"""The style and the script of questions what a change would do, which need no server."""
OF_SERVER = ("server", "replacing", "settings")
"""The same of a page that asks the server that sent it."""


class Theme(StrEnum):
    """The colors of a page; auto: those that the reader prefers."""

    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"


def render(
    page: Page,
    live: LiveState | None = None,
    *,
    key: str = "",
    embedded: bool = False,
    theme: Theme = Theme.AUTO,
) -> str:
    """The page; the template escapes all text, and only its own script runs.

    If it is `live`, its numbers can be changed, and it asks the server that sent it. With the `key`
    of its pass, a browser keeps the reader's score. If it is `embedded` in another page, it shows
    only its text.
    """
    templates = _templates()
    macros = templates.get_template("blocks.html.jinja").module
    numbers = NumberNames(page)
    blocks = Blocks(macros, page, numbers)
    text = _Text(page, blocks)
    introduction = text.blocks([document.introduction for document in page.documents], -1)
    attention = text.blocks([each.attention for each in page.pictures], -1)
    sentence = text.blocks([each.sentence for each in page.pictures], -1)
    bars = text.blocks([each.bars for each in page.pictures], -1)
    first_numbers = [numbers.name(each.number) for each in page.pictures]
    parts = text.parts()
    styles, scripts = list(STYLE), list(SCRIPT)
    data: dict[str, Any] = {"values": data_of(numbers), "token": page.followed, "key": key}
    if page.tape:
        data["tape"] = page.tape.data
    if live or page.tape:
        styles += CHANGING_STYLE
        scripts = [*scripts[:-1], *CHANGING, scripts[-1]]
    asks = any(picture.questions for picture in page.pictures) and not live
    if page.tape and asks:
        data["what_if"] = _questions(page, page.tape)
        styles, scripts = [*styles, ASKING], [*scripts[:-1], ASKING, scripts[-1]]
    if live:
        scripts = [*scripts[:-1], *OF_SERVER, scripts[-1]]
        data["live"] = live.data
    if page.tape:
        scripts = [*ON_TAPE, *scripts]
    settings = page.tape.data["settings"] if page.tape and not live else ()
    # No element may have a style of its own.
    widest = f":root {{ --drawing: {blocks.widest:.0f}px }}"
    style = "\n".join([widest, *(_read(f"style/{name}.css") for name in styles)])
    script = "\n".join(_read(f"script/{name}.js") for name in scripts)
    return templates.get_template("page.html.jinja").render(
        title=name_text(page.document.title),
        tokens=list(map(name_text, page.tokens)),
        followed=page.followed,
        choices=_choices(page.document.sections),
        levels=LEVELS if any(text.levels) else (),
        without_mask=bool(page.without_mask),
        introduction=introduction,
        attention=attention,
        sentence=sentence,
        bars=bars,
        first_numbers=first_numbers,
        asks=asks,
        stops=text.stops(),
        beside=bool(blocks.widest),
        contents=text.contents(),
        parts=parts,
        data=htmlsafe_json_dumps(data, ensure_ascii=False, separators=(",", ":")),
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        live=live,
        changes=bool(live or page.tape),
        settings=[each for each in settings if each["kind"] != "tokens"],
        tokens_change=any(each["kind"] == "tokens" for each in settings),
        embedded=embedded,
        theme=theme,
    )


FRAME = (
    '<iframe class="decoder-trace" title="The calculation" srcdoc="{}" sandbox="allow-scripts" '
    'allow="fullscreen" style="width: 100%; height: 40em; max-height: {}; border: 0"></iframe>'
    "<script>{}</script>"
)


def framed(page: Page, *, whole: bool) -> str:
    """The page in a frame for a notebook: it takes its theme, and grows to the height of its steps.

    A whole text is too long for that: it scrolls.
    """
    text, most = escape(render(page, embedded=not whole)), "85vh" if whole else "none"
    return FRAME.format(text, most, _read("script/notebook.js"))


@cache
def _templates() -> Environment:
    """The templates, which are compiled once."""
    templates = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, undefined=StrictUndefined
    )
    templates.filters["name_text"] = name_text
    return templates


@cache
def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which the content policy allows a script or a style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _questions(page: Page, tape: PageTape) -> list[list[dict[str, Any]]]:
    """The questions about each token, with the names of their numbers."""
    return [
        [
            {
                **vars(each),
                "changed": list(map(tape.name, each.changed)),
                "watched": tape.name(each.watched),
            }
            for each in picture.questions
        ]
        for picture in page.pictures
    ]


def _choices(sections: Sequence[Section]) -> dict[str, list[int]]:
    """The layers and heads of the sections."""
    layers = {section.layer for section in sections if section.layer}
    heads = {section.head for section in sections if section.head}
    return {"layer": sorted(layers), "head": sorted(heads)}


LEVELS = "Overview", "One head", "Everything"
"""How much of the text a reader sees; each level adds sections to those before."""


class _Text:
    """The sections of a page, each with what it is for every token."""

    def __init__(self, page: Page, blocks: Blocks) -> None:
        self.page, self.writer = page, blocks
        self.outline = links.Outline(page.document)
        self.anchors = {
            heading: name.partition(".")[2] for heading, name in self.outline.anchors.items()
        }
        self.linked = links.of_sections(self.anchors)
        self.levels = page.levels

    def contents(self) -> list[Any]:
        """The headings that each level adds."""
        return [
            [
                SimpleNamespace(level=h.level, title=h.title, anchor=self.anchors[h])
                for h in self.outline.contents
                if h.section not in self.page.without_mask and self.levels[h.section] == level
            ]
            for level in sorted(set(self.levels))
        ]

    def parts(self) -> list[Any]:
        """The parts with their sections; a section without a part is one of its own."""
        found: list[Any] = []
        for i, section in enumerate(self.page.document.sections):
            *opening, own = self.outline.over[i]
            if opening:
                title, anchor = opening[0].title, self.anchors[opening[0]]
                found.append(SimpleNamespace(title=title, anchor=anchor, sections=[]))
            elif own.level == 1 or not found:
                found.append(SimpleNamespace(title=None, anchor=None, sections=[]))
            found[-1].sections.append(self.section(i, section, own))
        return found

    def section(self, i: int, section: Section, heading: links.Heading) -> Any:
        documents = self.page.documents
        texts = [d.sections[i].blocks if i < len(d.sections) else None for d in documents]
        fold = next((f for f in self.outline.folds.values() if i in f.sections), None)
        return SimpleNamespace(
            opens=fold.title if fold and fold.sections[0] == i else None,
            closes=bool(fold and fold.sections[-1] == i),
            anchor=self.anchors[heading],
            level=heading.level + 1,
            title=heading.title,
            others=[f"step-{number}" for number in section.steps[1:]],
            layer=section.layer,
            head=section.head,
            from_level=self.levels[i],
            without_mask=i in self.page.without_mask,
            blocks=self.blocks(texts, i),
        )

    def blocks(self, texts: Sequence[Sequence[Block] | None], section: int) -> list[Any]:
        """The blocks of a section, or of the introduction (-1), for each token, merged."""
        end, followed = len(self.page.document.sections), self.page.followed
        document = self.page.document
        title = document.title if section < 0 else document.sections[section].title
        anchor, of_all = (
            partial(self.anchor, here) for here in (section if section >= 0 else end, end)
        )

        def written(token: int) -> list[str]:
            shown, blocks = token == followed, texts[token] or ()
            return [
                self.writer.written(
                    block,
                    of_all if isinstance(block, Picture) else anchor,
                    token,
                    shown=shown,
                    title=name_text(title),
                )
                for block in blocks
            ]

        there = [token for token, blocks in enumerate(texts) if blocks is not None]
        # The followed one comes first: its order is that of the page.
        there.sort(key=lambda token: token != followed)
        variants = merged([(token, written(token)) for token in there])
        return [
            SimpleNamespace(
                written=Markup(variant.written),
                tokens=None if len(variant.tokens) == len(there) else variant.tokens,
            )
            for variant in variants
        ]

    def stops(self) -> list[list[Any]]:
        """The stops of a walk for each token, as far as the text has their steps."""
        of_all = partial(self.anchor, len(self.page.document.sections))
        return [
            [
                SimpleNamespace(
                    step=stop.step,
                    title=stop.title,
                    goal=[self.writer.inline(part, of_all) for part in stop.goal],
                    section=anchor,
                    of=self.writer.numbers.name(stop.number),
                )
                for stop in stops
                if (anchor := of_all(stop.step))
            ]
            for stops in self.page.stops
        ]

    def anchor(self, section: int, number: int) -> str | None:
        """The anchor of a step, as seen from a section."""
        return self.linked.get(self.outline.meant(section, number))


@dataclass(eq=False)
class Variant:
    """A written block, and the tokens (counted from 0) that it is for."""

    written: str
    tokens: list[int]


def merged(texts: Sequence[tuple[int, Sequence[str]]]) -> list[Variant]:
    """The blocks written for each token, merged in an order that keeps each of theirs."""
    # Blocks for some tokens only are inserted between the shared ones.
    found: list[Variant] = []
    for token, written in texts:
        there = [variant.written for variant in found]
        changes = SequenceMatcher(None, there, written, autojunk=False).get_opcodes()
        together: list[Variant] = []
        for _, start, end, first, last in changes:
            same = there[start:end] == list(written[first:last])
            together += found[start:end]
            if same:
                for variant in found[start:end]:
                    variant.tokens.append(token)
            else:
                together += [Variant(each, [token]) for each in written[first:last]]
        found = together
    return found
