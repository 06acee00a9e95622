"""The blocks of a Markdown file, as CommonMark defines them, and its marked blocks.

A line ends with "\\n" alone, as in an author's file; a "\\r" before it is a space.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, fence, html_block
from markdown_it.token import Token

from tracer.weave.below import MATH, Below, between_signs
from tracer.weave.tags import END, START, tags

DEEPEST = 20
"""Deeper nesting of block quotes and lists is not read."""
MARKED = "marked"
"""The type of a marked block; its `meta` says whether its fences end inside it."""
ABOVE = "above"
"""The type of a start above code or a formula, without an end; its `meta` says what is `below`."""
NO_END = "no_end"
"""The type of a block's start whose end is missing."""

_START_ALONE = re.compile(rf"{START.pattern}(?:(?!-->).)*+-->[ \t]*+")
_END_ALONE = re.compile(rf"{END.pattern}[ \t]*+")
_INDENTS = re.compile(r"(?:!!!|\?\?\?\+?|===\+?)[ \t]+\S.*")
"""The title of an admonition or a tab in MkDocs, whose content is indented."""
_NOT_OF_THE_PAGE = ("<!", "<?")
"""The start of HTML in which a comment is not a comment."""


def blocks(text: str) -> list[Token]:
    """Return the blocks of a text with their lines; paragraphs and headings are `inline` tokens."""
    found: list[Token] = []
    # The parser reads past the end of an empty line, and a fence's content has whole lines.
    source = re.sub(r"\r$", " ", text, flags=re.MULTILINE) + "\n\n"
    _parser().block.parse(source, _parser(), {}, found)
    return found


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST})
    parser.disable("reference")  # reference definitions are read as paragraphs
    rules = parser.block.ruler
    interrupts: RuleOptionsType = {"alt": ["paragraph", "blockquote"]}
    rules.at("html_block", _html, interrupts)
    rules.before("fence", MARKED, _marked, interrupts)
    rules.before("code", "admonition", _admonition)
    return parser


def _marked(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parser rule: a start alone on its line, and everything up to its end."""
    if not _is_alone(state, start, _START_ALONE):
        return False
    if not silent:
        found, stop = _end_of_block(state, start + 1, end)
        below = None if found else _below(state, start + 1, stop)
        last, whole = found or (start, None)
        if below:
            last = next(line for line in range(start, stop) if state.eMarks[line] >= below.end)
        token = state.push(MARKED if found else ABOVE if below else NO_END, "", 0)
        token.map = [start, last + 1]
        token.meta = {"whole": whole, "below": below}
        state.line = last + 1
    return True


def _end_of_block(state: StateBlock, begin: int, end: int) -> tuple[tuple[int, bool] | None, int]:
    """Return the line of a block's end and whether all fences before it end; None without an end.

    Behind it is the line at which the search stops. The end is the first one outside of fences; an
    unclosed fence hides no end. Another start or end before it, even in a fence, ends the search: a
    block without its end must not extend into the author's text.
    """
    ends = []
    stop = begin
    while stop < end and (state.isEmpty(stop) or state.sCount[stop] >= state.blkIndent):
        if _is_alone(state, stop, _END_ALONE):
            ends.append(stop)
        elif any(tags(_line(state, stop), in_html=False)):
            break
        stop += 1
    if not ends:
        return None, stop
    closed: dict[int, bool] = {}
    for token in _read(state, begin, stop):
        if token.type == "fence" and token.map:
            is_closed = token.map[1] - token.map[0] == token.content.count("\n") + 2
            closed |= dict.fromkeys(range(*token.map), is_closed)
    for line in ends:
        if line not in closed:  # not in a fence
            return (line, True), stop
    return next(((line, False) for line in ends if not closed[line]), None), stop


def _below(state: StateBlock, line: int, stop: int) -> Below | None:
    """Return the fence or the formula that begins behind empty lines, and ends before `stop`."""
    while line < stop and state.isEmpty(line):
        line += 1
    if line >= stop or state.is_code_block(line):
        return None
    at = state.bMarks[line] + state.tShift[line]
    found = between_signs(state.src, at, state.eMarks[stop - 1], (MATH,))
    if found is None and fence(state, line, stop, False):
        read = state.tokens.pop()
        last = state.line - 1
        if last - line == read.content.count("\n") + 1:  # else nothing closes it
            language, *_ = *read.info.split(), "text"
            inner = slice(state.eMarks[line], state.bMarks[last] + state.tShift[last])
            found = Below(language.strip("{}"), at, inner, state.eMarks[last])
    return found


def _read(state: StateBlock, begin: int, end: int) -> list[Token]:
    """Parse some lines in the same containers, separately from the other lines."""
    before = state.tokens, state.line, state.lineMax, state.parentType, state.tight
    state.tokens, state.lineMax = [], end
    state.md.block.tokenize(state, begin, end)
    found = state.tokens
    state.tokens, state.line, state.lineMax, state.parentType, state.tight = before
    return found


def _admonition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parser rule: an indented admonition or tab, whose content is text and no code."""
    indent, stop = state.sCount[start] + 4, start + 1
    while stop < end and (state.isEmpty(stop) or state.sCount[stop] >= indent):
        stop += 1
    if silent or not _is_alone(state, start, _INDENTS) or stop == start + 1:
        return False
    state.push("list_item_open", "", 1).map = [start, stop]
    state.push("inline", "", 0).map = [start, start + 1]
    before = state.blkIndent, state.lineMax
    state.blkIndent, state.lineMax = indent, stop
    state.md.block.tokenize(state, start + 1, stop)
    state.blkIndent, state.lineMax = before
    state.push("list_item_close", "", -1)
    state.line = stop
    return True


def _html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parser rule for HTML; a marked block ends it if comments are comments in it."""
    is_html = html_block(state, start, end, silent)
    if is_html and not silent and not _line(state, start).startswith(_NOT_OF_THE_PAGE):
        for line in range(start + 1, state.line):
            if _is_alone(state, line, _START_ALONE):
                state.line = line
                state.tokens[-1].map = [start, line]
                break
    return is_html


def _is_alone(state: StateBlock, line: int, tag: re.Pattern[str]) -> bool:
    return bool(tag.fullmatch(_line(state, line))) and not state.is_code_block(line)


def _line(state: StateBlock, line: int) -> str:
    """Return the text of a line after its containers and its indentation."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
