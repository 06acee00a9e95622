"""A passage → its tokens: numbers with their digits, signs, names, ends of expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from tracer.audit.reading.expression import Measure
from tracer.audit.reading.passages import CUT, Kind, Passage
from tracer.audit.reading.sizes import end_of_name
from tracer.audit.reading.units import product, unit
from tracer.audit.reading.vocabulary import (
    CJK,
    FUNCTIONS,
    ITEMS,
    NUMERALS,
    SIZES,
    Is,
    command,
    environment,
    is_row,
    name,
    plain_number,
    said,
)

MOST = 200_000
"""A passage is read up to this many tokens and spaces."""


class Token(NamedTuple):
    """A token; `text` is its plain form in any notation."""

    kind: Is
    text: str
    start: int
    end: int
    gap: int
    """The number of spaces before it."""
    measure: Measure = ()
    """The unit of a number."""


END = Token(Is.BREAK, "\n", 0, 0, 0)
"""Stands for the token after the last one."""

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_SPACES = {"\\ ": 1, "\\;": 1, "\\:": 1, "&": 2}
"""The markup that sets operands apart, as that many spaces do."""

_TEXT = "text|textbf|textit|textrm|emph|[mh]box"
_TOKEN = rf"""
      (?P<space>[ \t\r\0\f\u200b\ufeff]+|\u00a0|\u2009|\u202f)
    | (?P<line>\n[ \t\0]*|<br[ ]?/?>)
    | (?=[A-Za-z])(?:
        (?P<prose>[A-Za-z]{{2,}}(?:[ ][A-Za-z]{{2,}})*(?=[ ][A-Za-z]{{2}}))
      | (?P<address>(?:(?:https?|ftp)://|mailto:)\S+|\b[\w.]{{1,40}}+@[\w-]{{1,40}}\.[A-Za-z]+)
      | (?P<times>
          (?:(?<=\d)[xX](?=\d)|(?:(?<=[\d)\]%][ ])|(?<=\d[KMBTk][ ]))[xX](?=[ ]{{1,3}}[\d($\[-])))
      | (?P<fold>(?<=\d)x(?=\s(?:more|fewer|less|faster|slower|smaller|larger|bigger|cheaper
          |better|speedup|reduction)\b))
      )
    | (?=\d)(?P<opaque>
        0[xXbBoO][0-9a-fA-F_]+
      | \d{{4}}-\d\d?-\d\d?(?![\d]) | \d\d?/\d\d?/\d{{2,4}}(?!\d)
      | VERSION\d+(?:\.\d+){{2,}} | (?!\d{{1,3}}(?:_\d{{3}})+\b)\d+(?:_\d+)+
      | \d+\.(?=[.])| \d+:\d+(?::\d+)*
      )
    | (?=[\d.])(?P<number>(?:NUMBER|(?<![\w)\].…])\.\d+)(?:[eE][+-]?\d{{1,3}}(?![\w.]))?)
    | (?P<assigned>==+>?|[:+\-*/|^<>!~≠]=+|=>|=~(?!\d)|=<(?=\s)|<<+|>>+|\+\++|--+(?!>)|//+)
    | (?P<relation>=\ ?~(?=\d)|[=＝≈≃≅])
    | (?P<arrow>-+>)
    | (?P<power>\*\*)
    | (?=[\^_ᵀ°{{])(?:
        (?P<subscript>_\{{[^{{}}\n]{{0,80}}\}}|(?<=\d)_10\b|_\w)
      | (?P<transpose>\^\{{?\s?(?:T|\\top|\\intercal|\\mathsf\s?\{{?T\}}?)(?![A-Za-z])\s?\}}?|ᵀ)
      | (?P<degrees>°|\^\s?(?:\\circ(?![A-Za-z])|\{{\s?\\circ\s?\}}))
      | \{{(?P<lone>[-+])\}}
      )
    | (?P<operator>[+\-−*/·×⋅∙÷⊙∗^√%@!＋－％–])
    | \[\d+\ more:\ (?P<rest>-?\d+(?:\.\d+)?(?:×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?)\]
    | (?P<open>[(\[{{⌊⌈])
    | (?P<close>[)\]}}⌋⌉])
    | (?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
    | (?P<cjk>[{CJK}]+)
    | (?P<name>(?:e(?=[⁰¹²³⁴⁵⁶⁷⁸⁹⁻^])|[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹½¼¾⅓⅔](?:[\w'′]|\.(?=[^\W\d]))*))
    | (?=\\)(?:
        (?:\\\\\*?(?:\[[^\]\n]{{0,12}}\])?(?P<row>(?:[\s&]|\\q?quad(?![A-Za-z]))*))+
      | \\llap\s?\{{\$ | \\(?:{_TEXT})(?=\s?\{{\s?\\?\$?[-.]?\d)
      | \\(?:{_TEXT})\s?\{{\s?(?P<text>[^\d\s{{}}\\$][^{{}}\\]{{0,200}})\}}
      | \\(?:mathrm|operatorname\*?|mathbf|mathit)\s?\{{\s?(?P<symbol>[A-Za-z][^{{}}\\]{{0,200}})\}}
      | \\(?P<environment>begin|end)\s?\{{(?P<which>[A-Za-z]{{1,20}})\*?\}}
          (?:\{{[lcr|@{{}}]*\}}|\[[lcr]\])*
      | \\(?P<command>[A-Za-z]+|[^A-Za-z])
      )
    | \$\}} | (?P<money>[$€£¥₹])
    | (?P<cells>\|{{2,}}(?=[\0$])|(?<=[\0$])\|{{2,}}|\|{{3,}})
    | (?P<norm>\|\||‖)
    | (?P<comma>[,;](?=.?))
    | (?P<ellipsis>\.\.\.+|…)
    | (?P<break><-+(?=\s)|[:.?→←↔⇒⟹<>≤≥≠—|&\#{CUT}，。、；：！？（）【】《》•∎\ufe0f]
        |[\u2500-\u257f\u25a0-\u25ff\u2600-\u2714\u2720-\u274b\u2798-\u27bf\U0001f300-\U0001faff])
    | (?P<mark>["'`“”‘’«»「」『』]|_(?![\w{{\\]))
    | (?P<other>.)
"""
_TOKENS = {
    sign: re.compile(
        _TOKEN.replace("NUMBER", number).replace(
            "VERSION", r"(?!\d{1,3}(?:\.\d{3})+(?![\d.]))" if sign == "," else ""
        ),
        re.VERBOSE | re.DOTALL,
    )
    for sign, number in NUMERALS.items()
}

_KINDS = {
    "operator": Is.OPERATOR,
    "open": Is.OPEN,
    "close": Is.CLOSE,
    "address": Is.MARK,
    "mark": Is.MARK,
    "subscript": Is.WORD,
    "prose": Is.WORD,
    "break": Is.BREAK,
    "cells": Is.BREAK,
    "arrow": Is.BREAK,
}
"""Kinds of matches that are their own plain form; matches of other kinds are not understood."""

_PLAIN = {"−": "-", "·": "*", "×": "*", "⋅": "*", "∙": "*", "⊙": "*", "∗": "*", "÷": "/"}
_PLAIN |= {"＋": "+", "－": "-", "％": "%"}

_SUBSCRIPT = re.compile(r"_(?!\{10\}|10\b|[^\w{\\]|\Z)")
"""A base other than 10, not the end of _emphasis_."""

_BEHIND_NUMBERS = frozenset("+-*/×·÷−=≈()[]{},;:.|&%^\n")
"""No unit begins with these; looking for one would take time."""

_NAMES = frozenset(" \u2009\u202f/\\层头个维字参卡")
"""The name of a size begins with these."""


def tokens(passage: Passage) -> list[Token]:
    """Return the tokens of a passage, in order, with positions in the whole text."""
    return _Scanner(passage).found


class _Scanner:
    def __init__(self, passage: Passage) -> None:
        self.text, self.start, self.decimal = passage.text, passage.start, passage.decimal
        self.in_math = passage.kind is Kind.MATH
        self.found: list[Token] = []
        self.brackets: list[tuple[bool, int]] = []  # whether a row may follow, and the index
        self.money = ""
        gap = until = 0
        for number, match in enumerate(_TOKENS[passage.decimal].finditer(passage.text)):
            if number == MOST:  # the last expression may be incomplete
                self.add(Is.UNREAD, "", *match.span(), 0)
                break
            if match.start() < until:
                continue  # the unit of the number before it
            group = match.lastgroup
            if group == "space":
                text = match[0]
                gap += 1 if text == " " else _width(text)
            elif group == "number":
                until = self.number(match, gap)
                gap = 0
            elif (read := self.read(match, group)) is None:  # markup without meaning
                gap = 0 if match["command"] in SIZES else gap + _SPACES.get(match[0], 0)
            else:
                kind, plain = read
                start, end = match.span()
                gap = gap or int(kind is Is.TEXT)
                self.add(kind, plain, start, end, gap)
                gap = 0
                if kind is Is.OPEN:
                    is_row = _takes_a_row(*self.found[-2:]) and passage.text[end : end + 1] != '"'
                    self.brackets.append((is_row, len(self.found) - 1))
                elif kind is Is.CLOSE and self.brackets:
                    _, opened = self.brackets.pop()
                    if plain == "}" and self.found[opened - 1].text == "^":
                        until = self.measured(opened - 2, match.end())
                elif group == "superscript":
                    until = self.measured(len(self.found) - 2, match.end())

    def add(self, kind: Is, plain: str, at: int, end: int, gap: int, unit: Measure = ()) -> None:
        self.found.append(Token(kind, plain, self.start + at, self.start + end, gap, unit))

    def number(self, match: re.Match[str], gap: int) -> int:
        """Append a number with its unit, or a row such as [100,200]; return where it ends."""
        written, (start, end) = match[0], match.span()
        money, self.money = self.money, ""
        if self.brackets and self.brackets[-1][0] and is_row(match):
            self.row(written, start, gap)
            return end
        if _SUBSCRIPT.match(self.text, end):
            self.add(Is.OTHER, written, start, end, gap)
            return end
        kind, plain = plain_number(written, self.decimal)
        measure: Measure = ((money, 1),) if money else ()
        stop = end
        has_none = self.text[end : end + 2].lstrip(" ")[:1] in _BEHIND_NUMBERS and not measure
        is_known = kind is Is.NUMBER and not has_none
        found = unit(self.text, end, in_math=self.in_math, per=bool(measure)) if is_known else None
        if found:
            end = found.end
            measure = product(measure, found.powers)
            if found.zeros:  # final zeros of a whole number are no digits: 6700 万
                digits = Decimal(plain) if "." in plain else Decimal(plain).normalize()
                plain = f"{digits.scaleb(found.zeros):e}"
            stop = end if found.zeros else stop
        self.add(kind, plain, start, stop, gap, measure)
        return end_of_name(self.text, start, end) if self.text[end : end + 1] in _NAMES else end

    def measured(self, at: int, end: int) -> int:
        """Add the unit after a power of ten to its base; return where it ends."""
        base = self.found[at] if at >= 0 else None
        found = unit(self.text, end, in_math=self.in_math) if base and base.text == "10" else None
        if base is None or found is None or found.zeros:
            return end
        self.found[at] = base._replace(measure=product(base.measure, found.powers))
        return end_of_name(self.text, end, found.end)

    def row(self, written: str, at: int, gap: int) -> None:
        """Append the numbers and commas of a row such as [100,200], where commas separate."""
        for part in ITEMS.finditer(written):
            kind, plain = (Is.COMMA, ",") if part[0] == "," else plain_number(part[0], ".")
            start, end = part.span()
            self.add(kind, plain, at + start, at + end, 0 if start else gap)

    def read(self, match: re.Match[str], group: str | None) -> tuple[Is, str] | None:
        """Return the kind and plain form of a match; None if it has no meaning."""
        text = match[0]
        match group:  # the most frequent first
            case "operator" | "open" | "close":
                return _KINDS[group], _PLAIN.get(text, text)
            case "name":
                return self.name(match)
            case "relation":
                return Is.RELATION, "=" if text in "=＝" else "≈"
            case "line":
                return None if self.in_math else (Is.LINE, "" if text[0] == "<" else text[1:])
            case "row":
                return Is.LINE, "\\&" if "&" in match["row"] else "\\"
            case "cjk":
                return Is.TEXT, text
            case "rest":
                digits, _, power = match["rest"].partition("×10")
                scale = f"e{power.translate(SUPERSCRIPTS)}" if power else ""
                return plain_number(digits + scale, ".")
            case "text":
                return said(match["text"])
            case "symbol":
                kind, word = said(match["symbol"])
                return kind if kind is Is.NAME else Is.WORD, word
            case "which":
                return environment(match["which"], begins=match["environment"] == "begin")
            case "command" if match["command"] != "$":
                return command(match["command"])
            case "money" | "command":
                return self.currency(match)
            case "times" | "power" | "norm" | "lone" | "transpose":
                plain = {"times": "x", "power": "^", "norm": "‖", "transpose": "ᵀ"}
                return Is.OPERATOR, plain.get(group, match["lone"])
            case "superscript":
                return Is.OPERATOR, "^" + text.translate(SUPERSCRIPTS)
            case "subscript" if self.found and self.found[-1].text == "log":
                base = text.strip("_{}")
                log = {"2": "log2", "10": "log10", "e": "ln"}.get(base)
                kind = Is.NAME if log else Is.OTHER
                self.found[-1] = self.found[-1]._replace(kind=kind, text=log or base)
                return None
            case "subscript" if (
                text in ("_{10}", "_10") and self.found and self.found[-1].kind is Is.NUMBER
            ):
                return None  # a number to the base 10
            case "comma" if self.decimal == ",":
                return Is.COMMA, ","  # max(0,5; 1)
            case "comma":
                return _comma(match, self.brackets)
            case "ellipsis":
                return Is.OTHER, "…"
            case "assigned" if self.in_math and text in ("|=", "!="):  # |A| = 3, 3! = 6
                sign = Is.OPERATOR if text[0] == "!" else Is.OTHER
                self.add(sign, text[0], match.start(), match.start() + 1, 0)
                return Is.RELATION, "="
            case "break" if self.in_math and text in "&|":
                return None if text == "&" else (Is.OTHER, text)
            case "fold" | None:  # 6x more, or \llap{$ and $}
                return None
            case _:
                return _KINDS.get(group, Is.OTHER), text

    def name(self, match: re.Match[str]) -> tuple[Is, str]:
        """Return a function or a word; "the sum 2 + 3" has no function."""
        behind = self.text[match.end() : match.end() + 2]
        if match[0] == "C" and behind[:1] == "(":
            return Is.NAME, "choose"
        kind, plain = name(match[0])
        is_applied = behind.lstrip()[:1] in ("(", "[", "{", "\\")
        return (Is.WORD, match[0]) if plain in _OF_ROWS and not is_applied else (kind, plain)

    def currency(self, match: re.Match[str]) -> tuple[Is, str] | None:
        """Remember the currency of the number that follows; else it is not understood."""
        sign = match[0].lstrip("\\")
        if not self.text[match.end() : match.end() + 1].isdigit():
            return Is.OTHER, sign
        self.money = sign
        return None


def _width(space: str) -> int:
    """Return the number of spaces; a tab counts as two, other spaces as one."""
    wide = sum(space.count(each) for each in "\u00a0\u2009\u202f")
    return space.count(" ") + 2 * space.count("\t") + wide


_OF_ROWS = frozenset(("softmax", "max", "min", "mean", "sum", "norm", "choose"))


def _takes_a_row(*tokens: Token) -> bool:
    """Return whether a bracket, the last token, may hold numbers that commas separate."""
    name, bracket = tokens[0], tokens[-1]
    is_named = name.kind in (Is.NAME, Is.WORD)
    is_applied = is_named and bracket.text == "(" and not bracket.gap
    is_of_one_number = name.text in FUNCTIONS - _OF_ROWS
    return bracket.text == "[" or (is_applied and not is_of_one_number)


def _comma(match: re.Match[str], brackets: Sequence[object]) -> tuple[Is, str]:
    """Read a comma between digits; outside of brackets it may be a decimal comma."""
    around = match.string[max(0, match.start() - 1) : match.end() + 1]
    if not brackets and match[0] == "," and len(around) == 3 and (around[0] + around[2]).isdigit():
        return Is.OTHER, ","
    return Is.COMMA, match[0]
