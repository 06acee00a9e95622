"""What signs, names, commands and numerals mean in an equation."""

from __future__ import annotations

import re
from enum import Enum, auto

CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters that are written without spaces between words."""


SIGN = re.compile(
    r"[=＝≈≃≅\\&](?<![=:+\-*/|^<!~≠]=)(?<![^/]>=)"
    r"(?:(?<=\\)(?:approx(?:eq)?|simeq|doteq)(?![a-zA-Z])|(?<=&)(?:asymp|approx|equals);"
    r"|(?<![\\&])(?![=>]))"
)
"""The signs between two sides, in any markup; whatever else they mean is found out later."""


class Is(Enum):
    """The kind of a token."""

    NUMBER = auto()
    NAME = auto()
    """A known function or constant, by its plain name."""
    WORD = auto()
    """Any other letters: a symbol, a unit, prose."""
    TEXT = auto()
    """Words set as text within mathematics, which are no symbols."""
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


_FUNCTIONS = """
exp ln log sqrt sin cos tan tanh sigmoid softmax relu gelu max min mean sum abs norm floor ceil
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
_OTHER_NAMES = {"log10": "log10", "lg": "log", "log2": "log2", "lb": "log2", "avg": "mean"}
_OTHER_NAMES |= {"log₁₀": "log10", "log₂": "log2", "log_10": "log10", "log_2": "log2"}
_OTHER_NAMES |= {"average": "mean", "logistic": "sigmoid", "π": "π", "pi": "π", "mod": "mod"}
_OTHER_NAMES |= {"σ": "σ", "sigma": "σ", "e": "e"}

NAMES = sorted({*FUNCTIONS, *_OTHER_NAMES}, key=len, reverse=True)
"""The functions and constants that a side may begin with."""

_COMMANDS: dict[str, tuple[Is, str]] = {
    **dict.fromkeys(("times", "cdot", "ast", "odot"), (Is.OPERATOR, "*")),
    **dict.fromkeys(("approx", "simeq", "doteq", "approxeq"), (Is.RELATION, "≈")),
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), (Is.NAME, "frac")),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), (Is.NAME, "binom")),
    **dict.fromkeys(("lVert", "rVert", "Vert"), (Is.OPERATOR, "‖")),
    **dict.fromkeys(("quad", "qquad", "newline", "hline", "item"), (Is.BREAK, " ")),
    **dict.fromkeys(("to", "rightarrow", "Rightarrow", "implies", "iff"), (Is.BREAK, "→")),
    **dict.fromkeys(("checkmark", "qed", "square", "blacksquare", "bullet"), (Is.BREAK, "✓")),
    **dict.fromkeys(("le", "leq", "ge", "geq", "ne", "neq", "lt", "gt"), (Is.BREAK, "<")),
    **dict.fromkeys(("ldots", "dots", "cdots"), (Is.OTHER, "…")),
    **dict.fromkeys(("pm", "mp"), (Is.OTHER, "±")),
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
    "lfloor": (Is.OPEN, "⌊"),
    "rfloor": (Is.CLOSE, "⌋"),
    "lceil": (Is.OPEN, "⌈"),
    "rceil": (Is.CLOSE, "⌉"),
}
_SIZES = "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr small large limits"
OF_ANGLES = frozenset(("sin", "cos", "tan"))
"""The functions of an angle."""

SIZES = frozenset(_SIZES.split())
"""The commands that set the size of the bracket after them."""
_FACES = "displaystyle textstyle mathbf boldsymbol bm boxed mathrm mathit mathsf nonumber notag"
_NOTHING = SIZES | set(_FACES.split()) | set(",;:![]() \n")
_MATRICES = frozenset(("matrix", "bmatrix", "pmatrix", "vmatrix", "smallmatrix", "array"))


def name(text: str) -> tuple[Is, str]:
    """Return the kind and plain form of letters."""
    plain = text.lower() if len(text) > 2 else text  # PI is something else
    known = plain if plain in FUNCTIONS else _OTHER_NAMES.get(plain)
    return (Is.NAME, known) if known else (Is.WORD, text)


def command(text: str) -> tuple[Is, str] | None:
    """Return the kind and plain form of a LaTeX command; None if it has no meaning."""
    return None if text in _NOTHING else _COMMANDS.get(text) or name(text)


def environment(which: str, *, begins: bool) -> tuple[Is, str]:
    """Return a bracket for the begin or end of a matrix, a break for other environments."""
    if which in _MATRICES:
        return (Is.OPEN if begins else Is.CLOSE), "matrix"
    return Is.BREAK, "begin" if begins else "end"


def said(words: str) -> tuple[Is, str]:
    r"""Return the kind and plain form of \text{…}: a function, or words."""
    word = words.strip()
    _, known = name(word)
    return (Is.NAME, known) if known in FUNCTIONS else (Is.TEXT, word)


MOST_DIGITS = 40
"""A longer number is not read."""

_GROUPS = r"(?:,|\{,\}|\\,|_|[\u202f\u2009\u00a0])"
NUMERALS = {
    ".": rf"(?:\d{{1,3}}(?:{_GROUPS}\d{{3}})+(?!\d)|\d+)(?:\.\d+|\{{,\}}(?:\d\d?|\d{{4,}})(?!\d))?",
    ",": rf"\d{{1,3}}(?:{_GROUPS}\d{{3}})*{_GROUPS}000(?!\d)"
    r"|(?:[1-9]\d{0,2}(?:(?:\.|\\,|[\u202f\u2009\u00a0])\d{3})+(?!\d)|\d+)(?:(?:[,.]|\{,\})\d+)?",
}
"""The regular expressions of numbers, by the decimal sign of the text."""

_SEPARATOR = re.compile(r"\{,\}|\\,|[,_\u202f\u2009\u00a0]")
_DECIMAL = re.compile(r"\{,\}(?=(?:\d\d?|\d{4,})(?:[eE]|\Z))")
_ROUND = re.compile(r"\d{1,3}(?:(?:,|\{,\})\d{3})*(?:,|\{,\})000")
_THOUSANDS = re.compile(r"(?<!\b0)\.(?=\d{3}(?!\d))|\\,|[\u202f\u2009\u00a0]")
ITEMS = re.compile(r"(?<![{\\]),|(?:\{,\}|\\,|[^,{\\])+")
"""The numbers and commas of a row without spaces; the commas of LaTeX's {,} do not count."""


_AROUND = 40
_LAST_BRACKET = re.compile(r".*[\[\](){}]", re.DOTALL)
_FIRST_BRACKET = re.compile(r"[\[\](){}].*", re.DOTALL)


def is_row(match: re.Match[str]) -> bool:
    """Return whether the commas in a number separate entries: not in (2, 10,000)."""
    if "," not in match[0]:
        return False
    start, end = match.span()
    before = _LAST_BRACKET.sub("", match.string[max(0, start - _AROUND) : start])
    after = _FIRST_BRACKET.sub("", match.string[end : end + _AROUND])
    around = before + after
    return ", " not in around and ";" not in around


def plain_number(written: str, decimal: str) -> tuple[Is, str]:
    """Return the kind and plain form of a number, without its thousands separators."""
    digits = written
    if decimal == "," and not _ROUND.fullmatch(written):
        digits = _THOUSANDS.sub("", written.replace("{,}", ",")).replace(",", ".")
    elif "," in written or "_" in written or "\\" in written or not written.isascii():
        digits = _SEPARATOR.sub("", _DECIMAL.sub(".", written))
    return (Is.NUMBER, digits) if len(digits) <= MOST_DIGITS else (Is.OTHER, written)
