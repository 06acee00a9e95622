"""The text around an equation: whether it belongs to it, and what its words say about it."""

from __future__ import annotations

import re

from tracer.audit.judging.pairs import Pair

_FALSE = re.compile(
    r"\bfalse\b(?! (?:positive|negative|discovery|alarm))|\bwrong|\bincorrect|\bfallac"
    r"|\bcounter-?example|\bnot true|\buntrue|\bnonsense|\babsurd|\bparadox|\bmistake"
    r"|\bmisconception|\berroneous|\bwhat if\b|\btypos?\b|\bcorrected\b|\bimposs?ible"
    r"|\bcommon error|\berror(?: in\b|:)|\bcontradict|\binstead of\b|\bdisagree"
    r"|\\lightning|[✗✘❌↯⚡]"
    r"|\bis not (?:right|correct|true|equal|exact)|\bis not[.;]"
    r"|\bfalsch|\bfehlerhaft|\bstimmt nicht|\bwiderspruch|\birrtum|\bunmöglich|\bfaux\b|\bfausse"
    r"|\berreur|\bfals[oa]s?\b|\bequivocad|\berróne|\bsbagliat|\berrad[oa]|\bневерн|\bошиб|\bгрешн"
    r"|错|誤|误(?!差)|不正确|不正確|不对|不可能|矛盾|反例|間違|틀린|잘못"
)
_ASKED = re.compile(
    r"[^=≈.\n]{0,25}[?？]|[^=≈]{0,40}(?:≠|\\neq?(?![a-z])|!=)"
    r"|[\s$`*)]*(?:which |that |it )?should (?:be|read|have)\b"
)
_OPENS, _CLOSES = re.compile(r"""["“„«][\s$*\\(]*\Z"""), re.compile(r"""[^"“”»\n]{0,20}["”“»]""")
_SENTENCE_END = re.compile(r"(?<!\bej)(?<!\be\.g)(?<!\bz\.B)(?<!\bex)[.!?]\s|\n\s*\n")


def is_deliberate(pair: Pair) -> bool:
    """Return whether it is quoted, asked or corrected, or words near it speak of what is false."""
    is_quoted = _OPENS.search(pair.before) and _CLOSES.match(pair.after)
    if is_quoted or _ASKED.match(pair.after):
        return True
    is_long = len(pair.numbers) > _STATEMENT or not pair.is_whole
    near = _NEAR_A_LONG_ONE if is_long else _NEAR
    *others, sentence = _SENTENCE_END.split(pair.before[-near:])
    if others and not re.search(r"\w", sentence):
        sentence = others[-1]  # a heading, or a sentence before a displayed formula
    rest = pair.after[:near].partition("\n\n")[0]
    return bool(_FALSE.search(sentence.lower()) or _FALSE.search(rest.lower()))


_STATEMENT, _NEAR, _NEAR_A_LONG_ONE = 4, 120, 40
"""What is false on purpose has seldom more numbers than this, or decimals; words that say so are at
most so many characters away, and nearer if it is longer."""
_ROUNDED = re.compile(
    r"[\s$`*)(,→-]*(?:rounded|cap(?:s|ped)\b|clamp|clip|truncat|limited|(?:auf|ab)?gerundet|arrondi"
    r"|redonde|四舍五入|取整|반올림|올림)"
)


def is_rounded(pair: Pair) -> bool:
    """Return whether a word for rounding follows: 5/4 = 1.0, capped."""
    return _ROUNDED.match(pair.after) is not None


_SHORT = 80
"""Words explain an equation from at most this many characters away."""

_SPACE = (
    r"(?:[\s&*`_$~\0]|\\[,;:! ]|\\(?:q?quad|left|displaystyle|[bB]igg?l?)\b|</?\w+[^<>\n]{0,40}>)"
)
_BLANK_BEFORE = re.compile(rf"{_SPACE}*\Z")
_CELL = re.compile(r"&\s*(?:\$|\\\()\s*\Z")
"""A formula at the beginning of a table's cell."""
_COMPUTES = re.compile(
    r"\d\S*\s[×*·÷]\s(?=[^\W\d_])[^=≈:;|\n→]*\Z"  # 50 × the price of
    r"|\s[×*·÷]\s+[^\W\d_]\w*=\Z"  # 1,024 B × RF=
    r"|[\d)\]]\s+[-−+]\s+[^\W\d_][\w-]*\Z"  # [3, 0] + west
)
_CONTINUES = re.compile(
    r"[+×·÷^√∑∏∫±∓⋅∙/]\Z|[\d)\]}][^\S\n]*[-−–]{1,2}\Z|[^\W\d_]\(\Z|[\d°]\s+:\Z"
    r"|(?:[\^_]|\\(?:sqrt|[dt]?frac))\s*\{\Z|(?:\A|[^\\])\\(?!(?:\w*[Rr]ightarrow|implies|to|iff|therefore"
    r"|hline|item|text|newline|par|noindent|because|\w*dots\w*|approx(?:eq)?|sim(?:eq)?|equiv|cong|doteq"
    r"|[gl](?:e|t|eq|eqslant)|neq?|propto|mathbf|mathrm|boldsymbol|color|small|large)\Z)[a-zA-Z]+\Z"
    r"|\b(?i:minus|plus|times|divided by|over|mal|durch|fois|por|menos|más|mod|div)\Z"
    r"|\b(?:OR|AND|NOT|XOR)\Z"
)
_LABEL = re.compile(
    r"(?:\A|\n)[\s>*-]*[(\[]?(?:\w|\d\d|[ivx]+)[)\]]\Z"  # (a), 2) or [iv] begins a line
    r"|[(\[][^()\[\]]*[^\W\d_]{2}[^()\[\]]*[)\]]\Z"  # words in parentheses
    r"|\\(?:text\w*|mathrm|mbox|hbox|operatorname|begin|item|label|tag)\*?\s*\{[^{}]*\}\Z"
)


_ARGUMENT = re.compile(r"\s*\([^()]*\)[\s$]*")  # of f(-3)
_VERB = re.compile(r"\b(?:is|are|was|be|gives?|get|equals?|have|has|ist|sind|est|es|son)\Z")


def begins_within(pair: Pair) -> bool:
    """Return whether the text before ends within an expression that the left side belongs to."""
    text, side = pair.before[-_SHORT:], pair.sources[0]
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
    if text[-1].isalpha() and "\n" not in blank and _ARGUMENT.fullmatch(side):
        return not _VERB.search(text)
    is_operand = text[-1].isdigit() or text[-1] in ")]}"
    ends = "\n\n" if text[-1] == "}" else "\n"
    return is_operand and ends not in blank and not _LABEL.search(text)


_NEXT_ROW = re.compile(r"\s*&?\s*[-−]?[\d.,{}]+\s*\\\\(?:\[[^\]\n]*\])?\s*&*\s*[-−+]")
_NEXT_TERM = re.compile(r"\s*[-−]?[\d.,]+%?[ \t]*\n[ \t]*[-−+×*·][ \t]")


def adds_rows(source: str) -> bool:
    """Return whether a side is a result, and a further term in the next row or line."""
    return (_NEXT_ROW if "\\\\" in source else _NEXT_TERM).match(source) is not None
