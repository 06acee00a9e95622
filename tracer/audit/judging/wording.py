"""The words around an equation: what they say about its numbers."""

from __future__ import annotations

import re

NEAR = 300
"""Words up to this many characters before an equation, and half as many after it, are near it."""

_FALSE = re.compile(
    r"(?=[✗✘❌↯⚡\\acdefimnpstuwyно错誤误不矛假反間틀잘г])(?:"
    r"\bfalse\b(?! (?:positive|negative|discovery|alarm))"
    r"|\bwrong|\bincorrect|\bfallac|\bcounter-?example|\bnot true|\buntrue|\bnonsense"
    r"|\babsurd|\bparadox|\bmistake|\bmisconception|\berroneous|\bwhat if\b|\btypos?\b"
    r"|\bcorrected\b|\bimposs?ible|\bunmöglich|不可能|\bcommon error|\bcreer que"
    r"|\berror (?:muy )?(?:frecuente|común|habitual|típico)"
    r"|\berror in\b|\berror:|\\lightning|[✗✘❌↯⚡]|\bcontradict"
    r"|\bnot independent|\bnicht unabhängig"
    r"|\bis not (?:right|correct|true|equal|exact)|\bis not[.;]|\binstead of\b|\bdisagree"
    r"|\bfalsch|\bfehlerhaft|\bstimmt nicht|\bwiderspruch|\bunwahr|\birrtum"
    r"|\bfaux\b|\bfausse|\berreur|\bfals[oa]s?\b|\bequivocad|\berróne"
    r"|\berrore\b|\bsbagliat|\berrad[oa]|\byanlış|\bневерн|\bошиб|\bгрешн"
    r"|错|誤|误(?!差)|不正确|不正確|不对|矛盾|假命题|反例|間違|틀린|잘못)"
)
_STATED = re.compile(
    r"\binequalit|\bUngleichung|\binégalité|\bdesigualdad|\bdisuguaglianz|不等式"
    r"|\bpropositions?\b|\bstatements?\b|\bcontradict|\bof course\b|\bAussagen?\b|\bproposición"
    r"|\bénoncé|\bassertion|\bmệnh đề|\bпредложени|\bвысказыван|\bönerme|命题|命題|명제",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[\s$`*)]*[?？]|[^=≈.\n]{0,25}[?？]|[^=≈]{0,40}(?:≠|\\neq?(?![a-z])|!=)")
_TESTED = re.compile(r"\\(?:stackrel|overset)\{\s*[!?]\s*\}.{0,60}\Z", re.DOTALL)
_QUOTED = (
    re.compile(r"""["“„«][\s$*\\(]*\Z"""),
    re.compile(r"""[^"“”»\n]{0,20}["”“»]"""),
)
_SENTENCE_END = re.compile(r"(?<!\bej)(?<!\be\.g)(?<!\bz\.B)(?<!\bex)[.!?]\s|\n\s*\n")


def is_questioned(before: str, after: str) -> bool:
    """Return whether what stands between is quoted or asked."""
    opens, closes = _QUOTED
    is_quoted = opens.search(before) and closes.match(after)
    return bool(is_quoted or _ASKED.match(after) or _TESTED.search(before))


_CORRECTED = re.compile(r"[\s$`*)]*(?:which |that |it )?should (?:be|read|have)\b")


def is_corrected(after: str) -> bool:
    """Return whether a text begins with what an equation should be."""
    return _CORRECTED.match(after) is not None


_UNEQUAL = re.compile(r"≠|\\neq?(?![a-z])")


def refutes(after: str, printed: str) -> bool:
    """Return whether a text compares a result with what it should be: check 156 + 68 ≠ 214."""
    line = after[:_CHECK].partition("\n")[0]
    found = _UNEQUAL.search(line)
    return found is not None and bool(printed) and printed in line[: found.start()]


_CHECK = 80
"""A check of a result is so near behind it."""


def calls_false(before: str, after: str, near: int) -> bool:
    """Return whether words, at most so many characters away, speak of errors."""
    *others, sentence = _SENTENCE_END.split(before[-near:])
    if others and not re.search(r"\w", sentence):
        sentence = others[-1]  # a heading, or a sentence before a displayed formula
    rest = after[:near].partition("\n\n")[0]
    return bool(_FALSE.search(sentence.lower()) or _FALSE.search(rest.lower()))


def states(before: str, after: str) -> bool:
    """Return whether the words around are about statements, which may be false."""
    return bool(_STATED.search(before) or _STATED.search(after))


_CLOSE = 120
"""Other words are at most this many characters away."""


_RIDDLE = re.compile(r"[\d)]\s*=[\s$]*[?？]")


def is_a_riddle(before: str, after: str) -> bool:
    """Return whether another equation near leaves its result to the reader: 2 + 3 = ?."""
    return bool(_RIDDLE.search(before[-_CLOSE:]) or _RIDDLE.search(after[:_CLOSE]))


_ESTIMATED = re.compile(
    r"(?=[acdfloprtwnàgb近大约粗])(?:"
    r"\blineari[sz]|\blinear approx|\btangent line|\bdifferential|\btaylor|\bfirst[- ]order"
    r"|\bwe approximate|\brule of thumb|\broughly|\border of magnitude|\bballpark"
    r"|\bd[xy]\s*=\s*-?[\d.]|\bnäherung|\bgrob\b|\bapproximativement|\bà peu près|\baproximad"
    r"|近似|大约|约等于|粗略)"
)
_APPROXIMATED = re.compile(
    r"\berrors?\b|\bapproximat|\bexpansion\b|\bfehler|\berreur|\bpolynom|\bseries\b|\bterms\b"
    r"|\btruncat|\binterpolat|\breihe\b|\bsérie|\bserie\b"
)


_ROUNDED = re.compile(
    r"[\s$`*)(,→-]*(?:rounded|cap(?:s|ped)\b|clamp|clip|truncat|limited|aufgerundet|abgerundet|gerundet|arrondi|redonde|四舍五入|取整|반올림|올림)"
)


def rounds(after: str) -> bool:
    """Return whether a text begins with a word for rounding."""
    return _ROUNDED.match(after) is not None


def estimates(before: str, after: str) -> bool:
    """Return whether the words around tell of an estimate."""
    return bool(_ESTIMATED.search(f"{before} {after}".lower()))


def approximates(before: str, after: str) -> bool:
    """Return whether the words around tell of a formula in place of another one."""
    around = f"{before} {after}".lower()
    return bool(_ESTIMATED.search(around) or _APPROXIMATED.search(around))
