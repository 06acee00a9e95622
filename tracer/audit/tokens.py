"""A passage → its tokens: numbers with their digits, signs, names, ends of expressions."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from tracer.audit.passages import CUT, Kind, Passage

MOST = 200_000
"""A passage is read up to this many tokens and spaces."""

MOST_DIGITS = 40
"""A longer number is not read."""


class Is(Enum):
    """The kind of a token."""

    NUMBER = auto()
    NAME = auto()
    """A known function or constant, by its plain name."""
    WORD = auto()
    """Any other letters: a symbol, a unit, prose."""
    OPERATOR = auto()
    RELATION = auto()
    OPEN = auto()
    CLOSE = auto()
    COMMA = auto()
    LINE = auto()
    """The end of a line, or of a row of mathematics."""
    BREAK = auto()
    """An expression ends here: a colon, a full stop, an arrow."""
    MARK = auto()
    """An expression may be adjacent to it: a quotation mark, a backtick."""
    OTHER = auto()
    """A part that is not understood; the expression around it is not read."""
    UNREAD = auto()
    """The first token beyond the limit; always the last of the list."""


class Token(NamedTuple):
    """A token; `text` is its plain form in any notation."""

    kind: Is
    text: str
    start: int
    end: int
    gap: int
    """The number of spaces before it."""


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_FUNCTIONS = "exp ln log sqrt sin cos tan tanh sigmoid softmax relu gelu max min mean sum abs norm"
FUNCTIONS = frozenset(_FUNCTIONS.split())
_OTHER_NAMES = {"log10": "log10", "lg": "log10", "log2": "log2", "lb": "log2", "avg": "mean"}
_OTHER_NAMES |= {"log₁₀": "log10", "log₂": "log2", "log_10": "log10", "log_2": "log2"}
_OTHER_NAMES |= {"average": "mean", "logistic": "sigmoid", "π": "π", "pi": "π", "mod": "mod"}
_OTHER_NAMES |= {"σ": "σ", "sigma": "σ", "e": "e"}

_COMMANDS: dict[str, tuple[Is, str]] = {
    **dict.fromkeys(("times", "cdot", "ast", "odot"), (Is.OPERATOR, "*")),
    **dict.fromkeys(("approx", "simeq", "doteq", "approxeq"), (Is.RELATION, "≈")),
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), (Is.NAME, "frac")),
    **dict.fromkeys(("lVert", "rVert", "Vert"), (Is.OPERATOR, "‖")),
    **dict.fromkeys(("quad", "qquad", "newline", "hline", "item"), (Is.BREAK, " ")),
    **dict.fromkeys(("to", "rightarrow", "Rightarrow", "implies", "iff"), (Is.BREAK, "→")),
    **dict.fromkeys(("le", "leq", "ge", "geq", "ne", "neq", "lt", "gt"), (Is.BREAK, "<")),
    **dict.fromkeys(("ldots", "dots", "cdots", "pm", "mp"), (Is.OTHER, "…")),
    **dict.fromkeys(("ll", "gg", "oplus", "otimes", "ominus", "wedge", "vee"), (Is.OTHER, "⊕")),
    **dict.fromkeys(("land", "lor", "cap", "cup", "bmod", "star"), (Is.OTHER, "⊕")),
    **dict.fromkeys(("equiv", "sim", "propto", "cong"), (Is.BREAK, "≡")),
    "div": (Is.OPERATOR, "/"),
    "%": (Is.OPERATOR, "%"),
    "*": (Is.OPERATOR, "*"),
    "|": (Is.OPERATOR, "‖"),
    "_": (Is.WORD, "_"),
    "{": (Is.OTHER, "{"),
    "}": (Is.OTHER, "}"),
}
_SIZES = "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr small large limits"
_FACES = "displaystyle textstyle mathbf boldsymbol bm boxed mathrm mathit mathsf nonumber notag"
_NOTHING = frozenset(f"{_SIZES} {_FACES}".split()) | set(",;:![]() \n")
_SPACES = {"\\ ": 1, "\\;": 1, "\\:": 1, "&": 2}
"""The markup that sets operands apart, as that many spaces do."""

_MATRICES = frozenset(("matrix", "bmatrix", "pmatrix", "vmatrix", "smallmatrix", "array"))

_NUMBER = r"(?:\d{1,3}(?:(?:,|\{,\}|\\,|[\u202f\u2009\u00a0])\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_TOKEN = re.compile(
    rf"""
      (?P<line>\n[ \t\0]*)
    | (?P<space>[ \t\r\0\f]+|\u00a0|\u2009|\u202f)
    | (?P<address>(?:(?:https?|ftp)://|mailto:)\S+|\b[A-Za-z][\w.]{{0,40}}@[\w-]{{1,40}}\.[A-Za-z]+)
    | (?P<opaque>
        0[xXbBoO][0-9a-fA-F_]+
      | \d{{4}}-\d\d?-\d\d?(?![\d]) | \d\d?/\d\d?/\d{{2,4}}(?!\d)
      | \d+(?:\.\d+){{2,}} | \d+(?:_\d+)+ | \d+\.(?=[.])| \d+:\d+(?::\d+)*
      )
    | \[\d+\ more:\ (?P<rest>-?\d+(?:\.\d+)?(?:×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?)\]
    | (?P<number>(?:{_NUMBER}|(?<![\w)\].…])\.\d+)(?:[eE][+-]?\d{{1,3}}(?![\w.]))?)
    | \\\\\*?(?:\[[^\]\n]{{0,12}}\])?(?P<row>(?:[\s&]|\\q?quad(?![A-Za-z]))*)
    | \\llap\s?\{{\$ | \$\}}
    | \\(?:text|textbf|mathrm|textrm|[mh]box|operatorname\*?|mathbf|mathit)\s?
        \{{\s?(?P<said>[A-Za-z][^{{}}\\]{{0,200}})\}}
    | \\(?P<environment>begin|end)\s?\{{(?P<which>[A-Za-z]{{1,20}})\*?\}}
        (?:\{{[lcr|@{{}}]*\}}|\[[lcr]\])*
    | \\(?P<command>[A-Za-z]+|[^A-Za-z])
    | (?P<subscript>_\{{[^{{}}\n]{{0,80}}\}}|_\w)
    | (?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
    | \{{(?P<lone>[-+])\}}
    | (?P<times>(?<=\d)[xX](?=\d)|(?<=[\d)\]][ ])[xX](?=[ ][\d(\[-]))
    | (?P<name>(?:e(?=[⁰¹²³⁴⁵⁶⁷⁸⁹⁻^])|[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹½¼¾⅓⅔](?:[\w'′]|\.(?=[^\W\d]))*))
    | (?P<power>\*\*)
    | (?P<assigned>==+>?|[:+\-*/|^<>!~≠]=+|=[>~]|=<(?=\s)|<<+|>>+|\+\++|--+|//+|->)
    | (?P<relation>=|≈|≃|≅)
    | (?P<norm>\|\||‖)
    | (?P<operator>[+\-−*/·×⋅∙÷⊙∗^√∛%°@!])
    | (?P<open>[(\[{{])
    | (?P<close>[)\]}}])
    | (?P<comma>[,;](?=.?))
    | (?P<ellipsis>\.\.\.+|…|[±∓$€£¥~–])
    | (?P<break>[:.?→←↔⇒⟹<>≤≥≠—|&\#{CUT}])
    | (?P<mark>["'`“”‘’«»])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_KINDS = {
    "open": Is.OPEN,
    "close": Is.CLOSE,
    "address": Is.MARK,
    "mark": Is.MARK,
    "subscript": Is.WORD,
    "break": Is.BREAK,
}
"""Kinds of matches that are their own plain form; matches of other kinds are not understood."""

_SEPARATOR = re.compile(r"\{,\}|\\,|[,\u202f\u2009\u00a0]")
_ITEMS = re.compile(r"(?<![{\\]),|(?:\{,\}|\\,|[^,{\\])+")
"""The numbers and commas of a row without spaces; the commas of LaTeX's {,} do not count."""
_PLAIN = {"−": "-", "·": "*", "×": "*", "⋅": "*", "∙": "*", "⊙": "*", "∗": "*", "÷": "/"}


def tokens(passage: Passage) -> list[Token]:
    """Return the tokens of a passage, in order, with positions in the whole text."""
    found: list[Token] = []
    brackets: list[bool] = []  # whether each open bracket may hold a row
    gap = 0
    in_math = passage.kind is Kind.MATH
    for number, match in enumerate(_TOKEN.finditer(passage.text)):
        if number == MOST:  # the last expression may be incomplete
            start, end = match.span()
            found.append(Token(Is.UNREAD, "", passage.start + start, passage.start + end, 0))
            break
        group = match.lastgroup
        if group == "space":
            text = match[0]
            gap += 1 if text == " " else text.count(" ") + 2 * text.count("\t") + (text > "\x7f")
            continue
        if group == "subscript" and found and found[-1].text == "log":
            found[-1] = _with_base(found[-1], match[0].strip("_{}"))
            continue
        read = _read(match, group, brackets, in_math=in_math)
        if group == "said":
            gap = max(gap, 1)  # words always have a gap before them
        if read is None:  # markup without meaning, or space
            gap += _SPACES.get(match[0], 0)
            continue
        kind, plain = read
        if group == "number" and brackets and brackets[-1] and _is_separated(match):
            found += _separated(match, passage.start, gap)  # [100,200] has two numbers
        else:
            start, end = match.span()
            found.append(Token(kind, plain, passage.start + start, passage.start + end, gap))
        if kind is Is.OPEN:
            brackets.append(_takes_a_row(*found[-2:]))
        elif kind is Is.CLOSE and brackets:
            brackets.pop()
        gap = 0
    return found


def _with_base(log: Token, base: str) -> Token:
    """Return a logarithm with its base."""
    name = {"2": "log2", "10": "log10", "e": "ln"}.get(base)
    return log._replace(kind=Is.NAME if name else Is.OTHER, text=name or base)


_OF_ROWS = frozenset(("softmax", "max", "min", "mean", "sum", "norm"))


def _takes_a_row(*tokens: Token) -> bool:
    """Return whether a bracket, the last token, may hold numbers that commas separate."""
    name, bracket = tokens[0], tokens[-1]
    is_named = name.kind in (Is.NAME, Is.WORD)
    is_applied = is_named and bracket.text == "(" and not bracket.gap
    is_of_one_number = name.text in FUNCTIONS - _OF_ROWS
    return bracket.text == "[" or (is_applied and not is_of_one_number)


_AROUND = 40
_LAST_BRACKET = re.compile(r".*[\[\](){}]", re.DOTALL)
_FIRST_BRACKET = re.compile(r"[\[\](){}].*", re.DOTALL)


def _is_separated(match: re.Match[str]) -> bool:
    """Return whether the commas in a number separate entries: not in (2, 10,000)."""
    start, end = match.span()
    before = _LAST_BRACKET.sub("", match.string[max(0, start - _AROUND) : start])
    after = _FIRST_BRACKET.sub("", match.string[end : end + _AROUND])
    return "," in match[0] and ", " not in before + after


def _separated(match: re.Match[str], at: int, gap: int) -> list[Token]:
    """Return the numbers and commas of a row such as [100,200], where commas separate entries."""
    parts: list[Token] = []
    for part in _ITEMS.finditer(match[0]):
        read = (Is.COMMA, ",") if part[0] == "," else _number(part[0])
        start = at + match.start() + part.start()
        parts.append(Token(*read, start, start + len(part[0]), 0 if parts else gap))
    return parts


def _number(written: str) -> tuple[Is, str]:
    """Return the kind and plain form of a number, without its thousands separators."""
    separated = "," in written or not written.isascii()
    plain = _SEPARATOR.sub("", written) if separated else written
    return (Is.NUMBER, plain) if len(plain) <= MOST_DIGITS else (Is.OTHER, written)


def _read(
    match: re.Match[str], group: str | None, brackets: list[bool], *, in_math: bool
) -> tuple[Is, str] | None:
    """Return the kind and plain form of a match; None if it has no meaning."""
    text = match[0]
    match group:  # the most frequent first
        case "number":
            is_name = match.string.startswith("_", match.end())
            return (Is.OTHER, text) if is_name else _number(text)
        case "operator":
            return Is.OPERATOR, _PLAIN.get(text, text)
        case "name":
            return _name(text)
        case "relation":
            return Is.RELATION, "=" if text == "=" else "≈"
        case "line":
            return None if in_math else (Is.LINE, text[1:])
        case "row":
            return Is.LINE, "\\&" if "&" in match["row"] else "\\"
        case "rest":
            digits, _, power = match["rest"].partition("×10")
            scale = f"e{power.translate(SUPERSCRIPTS)}" if power else ""
            return _number(digits + scale)
        case "said":
            word = match["said"].strip().lower()
            return (Is.NAME, word) if word in FUNCTIONS else (Is.WORD, match["said"])
        case "which":
            return _environment(match)
        case "command":
            name = match["command"]
            return None if name in _NOTHING else _COMMANDS.get(name) or _name(name)
        case "times" | "power" | "norm" | "lone":
            plain = {"times": "x", "power": "^", "norm": "‖"}.get(group, match["lone"])
            return Is.OPERATOR, plain
        case "superscript":
            return Is.OPERATOR, "^" + text.translate(SUPERSCRIPTS)
        case "comma":
            return _comma(match, brackets)
        case "break" if in_math and text in "&|":
            return None if text == "&" else (Is.OTHER, text)
        case None:  # \llap{$ and $}
            return None
        case _:
            return _KINDS.get(group, Is.OTHER), text


def _comma(match: re.Match[str], brackets: list[bool]) -> tuple[Is, str]:
    """Read a comma between digits; outside of brackets it may be a decimal comma."""
    around = match.string[max(0, match.start() - 1) : match.end() + 1]
    if not brackets and match[0] == "," and len(around) == 3 and (around[0] + around[2]).isdigit():
        return Is.OTHER, ","
    return Is.COMMA, match[0]


def _environment(match: re.Match[str]) -> tuple[Is, str]:
    if match["which"] in _MATRICES:
        return (Is.OPEN, "matrix") if match["environment"] == "begin" else (Is.CLOSE, "matrix")
    return Is.BREAK, match["which"]


def _name(text: str) -> tuple[Is, str]:
    plain = text.lower() if len(text) > 2 else text  # PI is something else
    known = plain if plain in FUNCTIONS else _OTHER_NAMES.get(plain)
    return (Is.NAME, known) if known else (Is.WORD, text)
