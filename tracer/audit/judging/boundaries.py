"""Where an equation begins and ends: whether the text before or after it belongs to it, too."""

from __future__ import annotations

import re

_SHORT = 80
"""What tells is at most this many characters away."""

_SPACE = (
    r"(?:[\s&*`_$~\0]|\\[,;:! ]|\\(?:q?quad|left|displaystyle|[bB]igg?l?)\b|</?\w+[^<>\n]{0,40}>)"
)
_BLANK_BEFORE, _BLANK_AFTER = re.compile(rf"{_SPACE}*\Z"), re.compile(rf"{_SPACE}*")
_CELL = re.compile(r"&\s*(?:\$|\\\()\s*\Z")
"""A formula at the beginning of a table's cell."""
_COMPUTES = re.compile(
    r"\d\S*\s[×*·÷]\s(?=[^\W\d_])[^=≈:;|\n→]*\Z"  # 50 × the price of
    r"|\s[×*·÷]\s+[^\W\d_]\w*=\Z"  # 1,024 B × RF=
    r"|[\d)\]]\s+[-−+]\s+[^\W\d_][\w-]*\Z"  # [3, 0] + west
)
_CONTINUES = re.compile(
    r"[+×·÷^√∑∏∫±∓⋅∙/]\Z|[\d)\]}][^\S\n]*[-−–]{1,2}\Z|[^\W\d_]\(\Z"
    r"|(?:[\^_]|\\(?:sqrt|[dt]?frac))\s*\{\Z|[\d°]\s+:\Z"
    r"|\b(?i:minus|plus|times|divided by|over|mal|durch|fois|por|menos|más|mod|div)\Z"
    r"|\b(?:OR|AND|NOT|XOR)\Z"
    r"|(?:\A|[^\\\w])\\(?!(?:implies|Rightarrow|rightarrow|Longrightarrow|to|iff|Leftrightarrow"
    r"|therefore|hline|item|text|newline|par|noindent|because|[lc]?dots|approx(?:eq)?|simeq|sim"
    r"|equiv|cong|doteq|[gl]eq?|[gl]eqslant|[gl]t|neq?|propto|coloneqq|mathbf|mathrm|boldsymbol"
    r"|color|small|large)\Z)[a-zA-Z]+\Z"
)
_LABEL = re.compile(
    r"(?:\A|\n)[\s>*-]*[(\[]?(?:\w|\d\d|[ivx]+)[)\]]\Z"  # (a), 2) or [iv] begins a line
    r"|[(\[][^()\[\]]*[^\W\d_]{2}[^()\[\]]*[)\]]\Z"  # words in parentheses
)
_TEXT = re.compile(
    r"\\(?:text\w*|mathrm|mbox|hbox|operatorname|begin|item|label|tag)\*?\s*\{[^{}]*\}\Z"
)


def begins_within(before: str, side: str) -> bool:
    """Return whether a text ends within an expression that the side after it belongs to."""
    text = before[-_SHORT:]
    gap = _BLANK_BEFORE.search(text)
    if gap is None or not gap.start() or _CELL.search(text):
        return False
    blank, text = gap[0], text[: gap.start()]
    if side[:1] == "+" or _COMPUTES.search(text) or _CONTINUES.search(text):
        return True
    if side[:1] in "-−" and "&" in blank and re.search(r"\\\\[\s>]*\Z", text):
        return True
    if side[:1] == "\\" and not blank and re.search(r"[\w)\]}]\.\Z", text):
        return True  # 10.\frac{1}{3}
    if text[-1].isdigit() or text[-1] in ")]":
        return "\n" not in blank and not _LABEL.search(text)
    return text[-1] == "}" and "\n\n" not in blank and not _TEXT.search(text)


_GOES_ON = re.compile(
    r"(?:\\left\s*)?\((?=[^()\n]*[-+*/^])(?![^()\n]*(?<![\\\w])[^\W\d_]{3})[^()\n]+\)"
    r"|[+×·÷^±∓⋅√∑∏∫][ ]*[\w(\\]|[-−*/][ ]*[\d(\\]|[-−][ ]*\w\b"
    r"|\\(?:times|cdot|div|pm|mp|sqrt|[dt]?frac|sum|int|prod|log|ln|sin|cos|tan|exp|pi|alpha|beta"
    r"|gamma|lambda|sigma|theta|binom)\b|[a-zA-Z]_[\w{]|[,'’]\d{3}|:\d"
    r"|\.\\(?:[dt]?frac|sqrt|sin|cos|tan|pi)\b"
)
_CLOSES = re.compile(r"[ ]?(?:\\right[ ]?)?[)\]][ ]?(?:[-+*/×·^]|\\(?:cdot|times|frac))")
"""A bracket that closes, and an operator: the side began within the bracket, or was cut by it."""
_NEXT_LINE = re.compile(
    r"[ \t]*\n[ \t]*(?:[+×·÷][ \t]*[\w(\\]|\\(?:times|cdot|div)\b"
    r"|[-−][ \t]*[\d.]*[ \t]*\\(?:left|begin|[dt]?frac|sqrt)\b)|[ \t]*\\left\b"
)


def ends_within(after: str) -> bool:
    """Return whether a text begins within an expression that what precedes it belongs to."""
    if _NEXT_LINE.match(after) or _CLOSES.match(after):
        return True
    gap = _BLANK_AFTER.match(after)
    if gap is None or "\n\n" in gap[0] or "$" in gap[0]:
        return False
    is_row = "\n" in gap[0] and "&" not in gap[0]
    return not is_row and _GOES_ON.match(after, gap.end()) is not None


_NEXT_ROW = re.compile(r"\s*&?\s*[-−]?[\d.,{}]+\s*\\\\(?:\[[^\]\n]*\])?\s*&*\s*[-−+]")
_NEXT_TERM = re.compile(r"\s*[-−]?[\d.,]+%?[ \t]*\n[ \t]*[-−+×*·][ \t]")


def adds_rows(source: str) -> bool:
    """Return whether a side is a result, and a further term in the next row or line."""
    return (_NEXT_ROW if "\\\\" in source else _NEXT_TERM).match(source) is not None
