"""The words around an equation: what they say about its numbers."""

from __future__ import annotations

import re

NEAR = 300
"""Words up to this many characters before an equation, and half as many after it, are near it."""

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


def is_questioned(before: str, after: str) -> bool:
    """Return whether what stands between is quoted, asked or corrected."""
    is_quoted = _OPENS.search(before) and _CLOSES.match(after)
    return bool(is_quoted or _ASKED.match(after))


def calls_false(before: str, after: str, *, is_long: bool) -> bool:
    """Return whether words near an equation speak of errors; nearer, if it is a long one."""
    near = 40 if is_long else 120
    *others, sentence = _SENTENCE_END.split(before[-near:])
    if others and not re.search(r"\w", sentence):
        sentence = others[-1]  # a heading, or a sentence before a displayed formula
    rest = after[:near].partition("\n\n")[0]
    return bool(_FALSE.search(sentence.lower()) or _FALSE.search(rest.lower()))


_ROUNDED = re.compile(
    r"[\s$`*)(,→-]*(?:rounded|cap(?:s|ped)\b|clamp|clip|truncat|limited|(?:auf|ab)?gerundet|arrondi"
    r"|redonde|四舍五入|取整|반올림|올림)"
)


def rounds(after: str) -> bool:
    """Return whether a text begins with a word for rounding."""
    return _ROUNDED.match(after) is not None
