"""The words around an equation: what they say about its numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from tracer.audit.texts import Text
from tracer.dataclass import frozen

NEAR = 300
"""Words up to this many characters before an equation, and half as many after it, are near it."""

CHAPTER = 5000
"""The characters before and after an equation in which a subject is looked for."""

SUBJECT = 6
"""A chapter with this many words of number systems is about them."""

FURTHEST = 2000
"""So is a text if there is on average one such word for this many characters."""


@frozen
class Around:
    """A text, and where it speaks of number systems."""

    text: Text

    @cached_property
    def _systems(self) -> list[int]:
        return [found.start() for found in _SYSTEMS.finditer(self.text.content)]

    def is_about_a_number_system(self, start: int, end: int) -> bool:
        """Return whether a word near a stretch names a number system, or the chapter is on one."""
        near = self._words(start - NEAR, end + NEAR // 2)
        in_chapter = self._words(start - CHAPTER, end + CHAPTER)
        return near > 0 or in_chapter >= SUBJECT or self._is_whole_text

    @cached_property
    def _is_whole_text(self) -> bool:
        count = len(self._systems)
        return count >= SUBJECT and count * FURTHEST >= len(self.text.content)

    def _words(self, start: int, end: int) -> int:
        return bisect_left(self._systems, end) - bisect_left(self._systems, start)


_SYSTEMS = re.compile(
    r"""
      \bbinary\b(?![ -](?:tree|search|class|cross|file|choice|outcome|label|variable|option))
    | \b(?:one|two|nine|ten|[129]|10)['’]?s?['’]?[ -]complement | \bBoole | \bboolean | \bbitwise
    | \boctal | \bhex(?:adecimal)?\b | \bbase[ -](?!10\b)(?:\d|two|eight|sixteen)
    | \bXOR\b | \bxor\b | ⊕ | \\oplus | \bcarry\ (?:1|the|out|bit) | \boverflow
    | \bfinite\ field | \bprime\ field | \bGalois | \bGF\s?\(
    | \bmod(?:ulo|ular\ arithmetic|ulus)?\b
    | ≡ | \\equiv | \\[bp]?mod\b | [ℤ𝔽] | \\(?:mathbb|mathbf|Bbb)\s?\{?[FZ]\}?\s?_
    | \\[FZ][FZ]?\s?_ | \b[ZF]_\{?\d
    """,
    re.VERBOSE,
)


# --- units ---------------------------------------------------------------------------------------

_MARKUP = r"(?:[\s~$*_{}\0]|\\[,;:! )]|\\(?:text|mathrm|textrm|mbox|hbox|rm|unit|si)\b|</?\w+>)*"
_WORD_BEHIND = re.compile(_MARKUP + r"(\\(?:mu|Omega|micro|milli|kilo|mega|giga)|[^\W\d_]+|[%‰¢°])")
_PREFIXED = r"(?:[pfnumcdhkKMGTPµμ]|[KMGT]i)?"
_SYMBOLS = (
    "s B b bit bits byte bytes A V W Wh F H Ω m g J eV Pa mol L l N bps Hz h FLOP FLOPs FLOPS"
)
_NAMES = """
sec secs second seconds min mins minute minutes hr hrs hour hours day days week weeks month months
year years yr yrs rpm fps inch inches ft feet mile miles lb oz ton tons cal kcal bar atm cent cents
thousand million millions billion billions trillion trillions lakh crore dozen k K M bn mn
percent pp points percentage bp page pages degrees kilobytes megabytes gigabytes terabytes
"""
_UNIT = re.compile(
    f"{_PREFIXED}(?:{'|'.join(_SYMBOLS.split())})|{'|'.join(_NAMES.split())}|\\\\\\w+|[%‰¢°]"
)
_BYTES = re.compile(r"[KMGTkmgt]i?(?:B|b|bit|byte)s?|(?:kilo|mega|giga|tera)bytes")


def unit(after: str) -> str | None:
    """Return the unit, or the word for a power of ten, with which a text begins."""
    word = _WORD_BEHIND.match(after)
    return word[1] if word and _UNIT.fullmatch(word[1]) else None


def is_of_bytes(unit: str) -> bool:
    """Return whether it counts bits or bytes, of which 1024 may be a thousand."""
    return bool(_BYTES.fullmatch(unit))


# --- sentences -----------------------------------------------------------------------------------

_OWNER = re.compile(
    r"\b(?:of|for|at|with|from|to|by|per|than|in|on|row|step|section|page|chapter|figure|table"
    r"|exercise|question|problem|day|level|version|equation)[\s$~(]*\Z",
    re.IGNORECASE,
)


def owns(before: str) -> bool:
    """Return whether the last word of a text belongs to the number after it: complement of."""
    return bool(_OWNER.search(before))


_FALSE = re.compile(
    r"\bfalse\b(?! (?:positive|negative|discovery|alarm))"
    r"|\bwrong|\bincorrect|\bfallac|\bcounter-?example|\bnot true|\buntrue|\bnonsense"
    r"|\babsurd|\bparadox|\bmistake|\bmisconception|\berroneous|\bwhat if\b|\btypo\b",
    re.IGNORECASE,
)
_STATED = re.compile(r"\bpropositions?\b|\bstatements?\b|\bcontradict|\bof course\b", re.IGNORECASE)
_QUOTED = (
    re.compile(r"""["“„«][\s$*\\(]*\Z"""),
    re.compile(r"""[^"“”»\n]{0,20}["”“»]"""),
)
_SENTENCE_END = re.compile(r"[.!?]\s|\n\s*\n")
_CLOSE = 120
"""Words that call an equation false are at most this many characters away."""


def calls_false(before: str, after: str) -> bool:
    """Return whether what stands between is quoted, or words close to it speak of errors."""
    opens, closes = _QUOTED
    is_quoted = opens.search(before) and closes.match(after)
    sentence = _SENTENCE_END.split(before[-_CLOSE:])[-1]
    rest = after[:_CLOSE].partition("\n\n")[0]
    return bool(is_quoted or _FALSE.search(sentence) or _FALSE.search(rest))


def states(before: str, after: str) -> bool:
    """Return whether the words around are about statements, which may be false."""
    return bool(_STATED.search(before) or _STATED.search(after))


_ESTIMATED = re.compile(
    r"\blineari[sz]|\blinear approx|\btangent line|\bdifferential|\bTaylor|\bfirst[- ]order"
    r"|\bwe approximate|\brule of thumb|\broughly|\border of magnitude|\bballpark"
    r"|\bd[xy]\s*=\s*-?[\d.]",
    re.IGNORECASE,
)


def estimates(before: str, after: str) -> bool:
    """Return whether the words around tell of an estimate."""
    return bool(_ESTIMATED.search(before) or _ESTIMATED.search(after))
