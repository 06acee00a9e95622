"""Units and words for powers of ten behind a number, and what they convert."""

from __future__ import annotations

import re
from decimal import Decimal

from tracer.audit.judging.judgement import Verdict
from tracer.audit.judging.magnitudes import is_of_sizes
from tracer.audit.judging.pairs import Pair
from tracer.audit.reading import expression as ex

_MARKUP = r"(?:[\s~$*_{}`\0]|\\[,;:! )]|\\(?:text|mathrm|textrm|mbox|hbox|rm|unit|si)\b|</?\w+>)*"
_WORD_BEHIND = re.compile(_MARKUP + r"(\\(?:mu|Omega|micro|milli|kilo|mega|giga)|[^\W\d_]+|[%‰¢°])")
_PREFIXED = r"(?:[pfnumcdhkKMGTPEZµμ]|[KMGTPE]i)?"
_SYMBOLS = (
    "s B b bit bits byte bytes A V W Wh F H Ω S m g J eV Pa mol L l N bps Hz h FLOP FLOPs FLOPS"
    " Gy Sv Bq T lm lx cd C Å rad"
)
_NAMES = """
sec secs second seconds min mins minute minutes hr hrs hour hours day days week weeks month months
year years yr yrs rpm fps inch inches ft feet mile miles lb oz ton tons cal kcal bar atm cent cents
lakh crore dozen k K M T bn mn tn tys juta ribu
percent pp points percentage bp page pages degrees kilobytes megabytes gigabytes terabytes
per micrometers micrometres microns
Sekunden Minuten Stunden Tage Wochen Monate Jahre Prozent Cent Grad Dutzend Tsd
secondes heures jours semaines mois ans pour centimes milliers douzaines
segundos minutos horas días semanas meses años ciento grados céntimos
secondi minuti ore giorni settimane mesi anni percento
"""
_POWER_OF_TEN = re.compile(
    r"(?:(?:pico|nano|micro|milli|kilo|mega|giga|tera)\w*|thousand|tausend|mille?\b|mil|bil|tril|mrd|mio|мил|млн|млрд|тыс)"
    r"|\w+illi(?:on|ard)|[百千万萬亿億兆천만억]",
    re.IGNORECASE,
)
_CHINESE = (
    r"[秒分时時天年月度米克元个倍角]\w*"
    r"|(?:小时|公里|百分|美元|千米|字节|比特|ビット|バイト)\w*"
)
_LOGARITHMIC = ("dB", "dBm", "dBi", "dBV", "pH")
_UNIT = re.compile(
    f"{'|'.join(_LOGARITHMIC)}|"
    f"{_PREFIXED}(?:{'|'.join(_SYMBOLS.split())})|{'|'.join(_NAMES.split())}|{_CHINESE}"
    r"|\\\w+|[%‰¢°]"
)
_MISSPELT = re.compile(f"{_PREFIXED}(?:hz|wh|ev|pa|bps|kg|mol|bit|byte)s?", re.IGNORECASE)
_BYTES = re.compile(r"[KMGTPkmgt]i?(?:B|b|bit|byte)s?|(?:kilo|mega|giga|tera)bytes")


def unit(after: str) -> str | None:
    """Return the unit, or the word for a power of ten, with which a text begins."""
    word = _WORD_BEHIND.match(after)
    if word and len(word[1]) == 1 and "\n" in word[0]:
        return None
    if word and (_UNIT.fullmatch(word[1]) or _POWER_OF_TEN.match(word[1])):
        return word[1]
    return word[1] if word and _MISSPELT.fullmatch(word[1]) else None


_CONVERTED = Decimal("1.5")
"""A factor this large may convert units."""

_KIBI = [Decimal("1.024") ** power for power in (1, 2, 3, 4, -1, -2, -3, -4)]
"""The factors between KB and KiB, MB and MiB, …"""

_CLOSE, _ROUGH = Decimal("0.005"), Decimal("0.025")
"""What is converted differs from such a factor by less than this share, behind = and behind ≈."""

_POWERS_OF_1024 = [Decimal(1024) ** power for power in (1, 2, 3, 4, 5, 6)]

_TIMES = (60, 3600, 86400, 7, 12, 24, 30, 365, 1440, 8760, 604800, 31536000, 31557600)
_LENGTHS = ("12", "3", "5280", "2.54", "1.609", "0.3048", "3.6")
_WEIGHTS = ("16", "0.4536", "2.205")


def _digits(number: Decimal) -> Decimal:
    """Return a number without its power of ten, between 1 and 10."""
    return number.scaleb(-number.adjusted())


def _both_ways(*factors: str | int | Decimal) -> list[Decimal]:
    """Return the digits of powers of ten, and of factors and their reciprocals."""
    numbers = list(map(Decimal, factors))
    both = (each for number in numbers for each in (number, 1 / number))
    return [Decimal(1), Decimal(10), *map(_digits, both)]


_OF_TIME = (
    r"[smh]|se[cg]s?\w*|min\w*|h(?:ou)?rs?|heures?|hor[ae]s?|Stunden|Se[ck]\w+|Min\w+|days?|d[ií]as"
    r"|Tage|jours|giorni|w(?:ee)?ks?|Wochen|semaines|semanas|settimane|months?|Monate|mois|meses"
    r"|mesi|y(?:ea)?rs?|Jahre|ans|años|anni|per|rpm|fps|Hz|[秒分时時天年月小].*"
)
_CONVERTED_BY: tuple[tuple[re.Pattern[str], list[Decimal]], ...] = (
    (re.compile(_OF_TIME), _both_ways(*_TIMES)),
    (
        re.compile(rf"{_PREFIXED}(?:[Bb]|[Bb]its?|[Bb]ytes?|bps)"),
        _both_ways(8, 3600, 86400, *_KIBI),
    ),
    (re.compile(r"in(?:ch|ches)?|ft|feet|miles?|[kcm]?m|米|公里|千米"), _both_ways(*_LENGTHS)),
    (re.compile(r"lb|oz|tons?|[kmµ]?g"), _both_ways(*_WEIGHTS)),
    (re.compile(r"°|\\circ|degrees|Grad"), _both_ways("57.29578")),
    (re.compile(r"[^%]*"), _both_ways(86400, 3600)),
)
"""What units may be converted by: days to weeks, bytes to bits, inches to cm, degrees to 1, …"""

_QUANTITY = re.compile(rf"{_OF_TIME}|{_PREFIXED}(?:{'|'.join(_SYMBOLS.split())})(?<![kKMGT])")
"""Units of quantities, with which a number that a word such as K multiplies has none."""
_BEHIND = 12
"""A unit is written so near behind a number."""


def may_convert(pair: Pair) -> bool:
    """Return whether a unit follows, and the sides differ by what may convert units."""
    ratio, found, name = pair.ratio, pair.found, unit(pair.behind)
    if name in _LOGARITHMIC:
        return True
    if is_of_sizes(pair.left, pair.right):
        return False  # which are compared under all of their conversions
    if found.verdict is Verdict.SCALE and _may_have_a_prefix(pair):
        return True
    if ratio is None or ratio <= 0 or name is None:
        return False
    digits = found.unit / abs(found.printed) / 2 if found.printed else Decimal(0)
    tolerance = max(digits, _ROUGH if pair.is_approximate else _CLOSE)
    if _BYTES.fullmatch(name):
        kibis = (*_KIBI, *(1 / power for power in _POWERS_OF_1024))
        if any(_is_near(ratio, each, tolerance) for each in kibis):
            return True
    if max(ratio, 1 / ratio) < _CONVERTED:
        return False
    factors = next((by for names, by in _CONVERTED_BY if names.fullmatch(name)), [])
    return any(_is_near(_digits(ratio), each, tolerance) for each in factors)


def _may_have_a_prefix(pair: Pair) -> bool:
    """Return whether a number has a unit, or the formula ends with a short word: 7 nC."""
    if any(_has_unit(pair, number) for number in pair.numbers):
        return True
    behind = pair.behind
    if pair.following is not None and (result := _RESULT.match(pair.after)):
        behind = pair.after[result.end() :]
    is_of_a_prefix = not Decimal("0.001") < pair.found.factor < 1000
    return is_of_a_prefix and _ROMAN.match(behind) is not None


_RESULT = re.compile(r"\s*=\s*[-−]?[\d.,]+")
_ROMAN = re.compile(
    r"(?:[\s~]|\\[,;:! ])*\\(?:text|mathrm|textrm|mbox|rm)\b[\s{~\\]*[^\W\d_]{1,3}\s*\}"
)


def _has_unit(pair: Pair, number: ex.Number) -> bool:
    """Return whether a unit of a quantity follows a number, no % or million."""
    name = unit(pair.text.content[number.end : number.end + _BEHIND])
    return name is not None and _QUANTITY.fullmatch(name) is not None


def _is_near(ratio: Decimal, factor: Decimal, tolerance: Decimal) -> bool:
    return abs(ratio / factor - 1) <= tolerance
