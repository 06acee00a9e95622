"""Where an equation begins and ends: whether the text before or after it belongs to it, too."""

from __future__ import annotations

import re

_SHORT = 80
"""What tells is at most this many characters away."""

_SPACE = (
    r"(?:[\s&*`_$~\0]|\\[,;:! ]|\\(?:q?quad|left|displaystyle|[bB]igg?l?)\b|</?\w+[^<>\n]{0,40}>)"
)
_BLANK_BEFORE = re.compile(rf"{_SPACE}*\Z")
_BLANK_AFTER = re.compile(rf"{_SPACE}*")

_TEXT = re.compile(
    r"\\(?:text\w*|mathrm|mbox|hbox|operatorname|begin|item|label|tag)\*?\s*\{[^{}]*\}\Z"
)
_COMMANDS = re.compile(
    r"\\(?:implies|Rightarrow|rightarrow|Longrightarrow|to|iff|Leftrightarrow|therefore|hline"
    r"|item|text|newline|par|noindent|because|[lc]?dots|approx|approxeq|simeq|sim|equiv|cong|doteq"
    r"|[gl]eq?|[gl]eqslant|[gl]t|neq?|propto|coloneqq|mathbf|mathrm|boldsymbol|color|small|large)\Z"
)
_LINKED = re.compile(
    r"\b(?i:minus|plus|times|divided by|over|mal|durch|fois|divisé par|por|menos|más|meno|più"
    r"|mod|div|xor|choose)\Z|\b(?:OR|AND|NOT|NAND|NOR|SHL|SHR)\Z"
)
_SYMBOLS = re.compile(r"(?:^|[^\w\\])([^\W\d_]{1,2})\Z")
_FUNCTION = re.compile(
    r"\b(?:[Ss]en|[Tt]g|[Cc]tg|[Cc]ot|[Ss]ec|[Cc]sc|[Aa]rc\w+|Sin|Cos|Tan|Log|Ln|Exp|ggT|kgV|PGCD|PPCM"
    r"|MCD|MCM|mcd|mcm)\Z"
)
_WORD = re.compile(
    r"a[blmnstu]?|b[y]|c|d[aeiou]|e[dglmnrstx]?|go|he|i[eflmnst]?|l[aeo]|m[ey]|no|o[dfknrsu]?"
    r"|s[io]|to|u[mnps]|v[ae]|we|y|z?u"
)
"""Short words, which are not symbols."""


def begins_within(before: str, side: str, *, is_call: bool) -> bool:
    """Return whether a text ends within an expression that the side after it belongs to.

    A function, `is_call`, may be multiplied by the symbol before it: mg sin(30).
    """
    text = before[-_SHORT:]
    if _CELL.search(text):
        return False
    gap = _BLANK_BEFORE.search(text)
    assert gap is not None
    blank, text = gap[0], text[: gap.start()]
    if not text:
        return False
    if side[:1] == "+" or any(each.search(text) for each in (_COMPUTES, _FACTOR, _TERM)):
        return True
    if "\n" not in blank and (phrase := _PHRASE.search(text)):
        return "between" in phrase[1] or not _LINKS.search(phrase[1])
    if side[:1] in "-−" and "&" in blank and re.search(r"\\\\[\s>]*\Z", text):
        return True
    last = text[-1]
    if last == "|" and not blank and is_call:
        return True  # |x|\sqrt{2}
    if last.isalnum() and "\n" not in blank and _IN_BRACKETS.fullmatch(side):
        return not _VERB.search(text)
    if last.isalpha():
        return _word_belongs(text, is_call=is_call)
    if last.isdigit():
        return "\n" not in blank
    if last in "([{":
        return _OPENS_WITHIN.search(text) is not None
    if last == ".":
        if is_call and not blank and re.search(r"\w\.\Z", text):
            return True  # AB.\tan 30°
        is_decimal = bool(re.search(r"\d\.\Z" if not blank else r"[-−+*/=(]\s*\d\.\Z", text))
        is_times = bool(re.search(r"\d\s+\.\Z|[)\]}]\.\Z", text)) and "\n" not in blank
        return is_decimal or is_times
    if last in ",'’":
        return not blank and bool(re.search(r"\d[,'’]\Z", text))
    if last == ":":
        is_joined = not blank and side[:1] == "\\" and text[-2:-1].isdigit()  # 11:\frac{4}{1}
        return is_joined or bool(_RATIO.search(text))
    if last == "\\":
        return not blank and side[:1].isalpha()
    if last == "}":
        return not _TEXT.search(text) and "\n\n" not in blank
    if last in ")]":
        return not _LABEL.search(text) and _is_operand(text, blank)
    if last in "-−–":
        return bool(re.search(r"[\d)\]}][^\S\n]*[-−–]{1,2}\Z", text))
    return last in "+×·÷^√∑∏∫±∓⋅∙/" and bool(re.search(r"[\w)\]}$]\s*.\Z|[√∑∏∫]\Z", text))


_CELL = re.compile(r"&\s*(?:\$|\\\()\s*\Z")
"""A formula at the beginning of a table's cell."""
_OPENS_WITHIN = re.compile(
    r"[^\W\d_]\(\Z|[\w)\]}]\s*[-+*/×·=^]\s*(?:\\left)?[(\[{]\Z|(?:[\^_]|\\(?:sqrt|[dt]?frac))\s*\{\Z"
)
_RATIO = re.compile(
    r"(?:(?:\d|\\degree|°|\\%)\s+|(?:\^\{[^{}]*\}|\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*\})\s*"
    r"|(?:\\(?:cdot|times)|[-+*/])[^()\n]*\)\s*):\Z"
)
"""The first numbers of a proportion, 360° : 2π = 45° : x, or what is divided: 10^{3} : 10^{2}."""
_COMPUTES = re.compile(r"\d\S*\s[×*·÷]\s(?=[^\W\d_])[^=≈:;|\n→]*\Z")
"""A computation with words as operands: 50 × the price of."""
_FACTOR = re.compile(r"\s[×*·÷]\s+[^\W\d_]\w*=\Z")
"""A factor with its name: 1,024 B × RF=3 × 8 =."""
_TERM = re.compile(r"[\d)\]]\s+[-−+]\s+[^\W\d_][\w-]*\Z")
"""A term with its name: [3, 0] + west [0, 2] =."""
_PHRASE = re.compile(r"[=≈][ ]+((?:[\d.%/]*[\d%/][ ]+)*[^\W\d_]{2,}(?:[ ]+[\w%/@]+)*)\Z")
_LINKS = re.compile(
    r"\b(?:and|or|so|then|thus|hence|but|since|because|as|while|when|where|with|if|is|are|was|gives?"
    r"|that|which|also|und|oder|dann|et|donc|y|e|o)\b"
)
"""What a result is of, in words, as in = 2 relevant in the top 5 / 5 =; and what begins anew."""
_LABEL = re.compile(r"(?:\A|\n)[\s>*-]*[(\[]?(?:\w|\d\d|[ivx]+)[)\]]\Z")
"""(a), 2) or [iv] at the beginning of a line."""


_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*")
_VERB = re.compile(r"\b(?:is|are|was|be|gives?|get|equals?|have|has|ist|sind|est|es|son|é)\Z")


def _word_belongs(text: str, *, is_call: bool) -> bool:
    if command := re.search(r"\\[a-zA-Z]+\Z", text):
        return not _COMMANDS.search(command[0])
    if _LINKED.search(text) or _FUNCTION.search(text):
        return True
    symbol = _SYMBOLS.search(text)
    return is_call and symbol is not None and not _WORD.fullmatch(symbol[1].lower())


def _is_operand(text: str, blank: str) -> bool:
    """Return whether a bracket that closes may be a factor: (0.44·0.44)⏎(0.5·2)."""
    if "\n" in blank or not blank:
        return not blank
    held = re.search(r"[(\[]([^()\[\]]*)[)\]]\Z", text)
    return held is None or not re.search(r"[^\W\d_]{2}", held[1])


_GOES_ON = re.compile(
    r"(?:imes|ext|rac|heta)\b"  # \times, read as a tab and imes
    r"|(?:\\left\s*)?\((?=[^()\n]*[-+*/^])(?![^()\n]*(?<![\\\w])[^\W\d_]{3})[^()\n]+\)"
    r"|[+×·÷^±∓⋅√∑∏∫][ ]*[\w(\\]|[-−*/][ ]*[\d(\\]|[-−][ ]*\w\b"
    r"|\\(?:times|cdot|div|pm|mp|sqrt|[dt]?frac|sum|int|prod|log|ln|sin|cos|tan|exp|hat|bar|vec"
    r"|alpha|beta|gamma|lambda|sigma|theta|pi|binom)\b"
    r"|[a-zA-Z]_[\w{]|\|\w\||:\d|(?<=\s):\s\d|[,'’]\d{3}|(?<=\s),\s\d{3}(?!\d)|,(?=_|[^\s\w$)\]}\"'\\])"
    r"|\\(?:phantom|color|cancel|underbrace)\b"
    r"|\.\\(?:[dt]?frac|sqrt|sin|cos|tan|log|ln|pi)\b"
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
    assert gap is not None
    if "\n\n" in gap[0] or "$" in gap[0]:
        return False
    is_row = "\n" in gap[0] and "&" not in gap[0]
    return not is_row and bool(_GOES_ON.match(after, gap.end()))


_BETWEEN_FORMULAS = re.compile(r"(?<!\\)\$\s*\$|\d\s*(?<!\\)\$\s*\\(?:[dt]?frac|sqrt|left)\b")


def joins_formulas(source: str) -> bool:
    """Return whether a side consists of two formulas, or of a word's number and a formula."""
    return "$" in source and bool(_BETWEEN_FORMULAS.search(source))


_NEXT_ROW = re.compile(r"\s*&?\s*[-−]?[\d.,{}]+\s*\\\\(?:\[[^\]\n]*\])?\s*&*\s*[-−+]")


def adds_rows(source: str) -> bool:
    """Return whether a side is a result, and a further term in the next row or line."""
    if "\\\\" in source:
        return _NEXT_ROW.match(source) is not None
    return "\n" in source and _NEXT_TERM.match(source) is not None


_NEXT_TERM = re.compile(r"\s*[-−]?[\d.,]+%?[ \t]*\n[ \t]*[-−+×*·][ \t]")
