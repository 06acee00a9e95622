"""The units behind numbers, and the units of sums, products and powers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from tracer.audit.reading import expression as ex
from tracer.audit.reading.expression import Measure
from tracer.audit.reading.vocabulary import CJK

_UNITS = """
s sec secs second seconds, min mins minute minutes, h hr hrs hour hours, day days, week weeks,
month months, yr yrs year years, ns, us µs μs, ms, fs, ps, m meter meters metre metres, km, cm,
mm, nm, µm μm um, mi mile miles, ft foot feet, g, kg, mg, µg μg, lb lbs, J, kJ, MJ, eV, meV,
keV, MeV, GeV, cal, kcal, W, kW, MW, GW, mW, Wh, kWh, MWh, V, mV, kV, A, mA, µA μA, Ω ohm ohms,
kΩ, MΩ, F, µF μF, nF, pF, H, mH, N, kN, Pa, kPa, MPa, GPa, atm, bar, K, mol, mmol,
L liter liters litre litres, mL ml, Hz, kHz, MHz, GHz, B, byte bytes Byte Bytes, KB kB, MB, GB,
TB, PB, KiB, MiB, GiB, TiB, PiB, bit bits, kb Kb Kbit kbit, Mb Mbit, Gb Gbit, Tb Tbit,
kbps Kbps, Mbps, Gbps, Tbps, GBps, MBps, FLOP FLOPs FLOPS, M, T, G, P, Ki, Mi, Gi, Ti,
$ USD dollars, € EUR euros, £, ¥, ₹, ¢ cents, 元
"""
_SPELLINGS = [names.split() for names in _UNITS.split(",")]
_SPELLINGS += [[f"{prefix}{name}" for name in ("FLOP", "FLOPs", "FLOPS")] for prefix in "KMGTPEZ"]
_CANONICAL = {name: names[0] for names in _SPELLINGS for name in names}

MULTIPLIERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12} | dict.fromkeys("万萬", 4)
MULTIPLIERS |= {name.capitalize(): zeros for name, zeros in MULTIPLIERS.items()}
MULTIPLIERS |= dict.fromkeys("亿億", 8) | dict.fromkeys(("万亿", "萬億"), 12)
"""The words that multiply the number before them by a power of ten."""

_PREFIXES = frozenset("$£¥₹")
"""The currencies that are written before a number only; a $ behind it may end mathematics."""

_NAMES = "|".join(
    re.escape(name)
    for name in sorted({*_CANONICAL, *MULTIPLIERS} - _PREFIXES, key=len, reverse=True)
)
_POWER = r"(?:⁻?[¹²³]|\^-?[123]|\^\{-?[123]\})?"
_ONE = rf"(?:{_NAMES}){_POWER}(?:/(?:{_NAMES}){_POWER})?"
_END = rf"(?!(?![{CJK}])\w|['’({{\[^°⁻]|\.\w|-[A-Za-z]|\\\w)"
_SPACE = r"(?:[ ~\0\u00a0\u2009\u202f]|\\[,;:!\ ]){0,4}"
_UNIT = re.compile(
    rf"""
      {_SPACE}
      (?:
        \\(?:text|textrm|mathrm|mathsf|mbox|hbox|rm|unit|si)\s?
          \{{{_SPACE}(?P<said>{_ONE})[\s~]?\}}(?P<power>{_POWER})(?!\^)
      | (?P<bare>{_ONE}){_END}
      | (?P<counted>万亿|萬億|[万萬亿億元])
      )
    """,
    re.VERBOSE,
)
_JOINED = re.compile(rf"{_SPACE}(?:\\cdot(?![A-Za-z])|[·⋅/])?(?={_SPACE}\\(?:text|mathrm))|[·⋅]")
"""What joins two units, of which the second one is set as text or adjacent."""
_PART = re.compile(rf"(/?)({_NAMES})(?:\^?\{{?([⁻-]?[¹²³123])\}}?)?")
_DIGITS = str.maketrans("⁻¹²³", "-123")


class Unit(NamedTuple):
    """What follows a number: its unit, or a word that multiplies it."""

    powers: Measure
    zeros: int
    """The exponent of the power of ten that a word such as million stands for."""
    end: int


def unit(text: str, at: int, *, in_math: bool, per: bool = False) -> Unit | None:
    """Return the unit that begins at a position, where a number ends.

    In mathematics, single letters are symbols. With `per`, it may be that of a price: €3/h.
    """
    if per and text.startswith("/", at) and (found := _one(text, at + 1, in_math=in_math)):
        return None if found.zeros else found._replace(powers=power(found.powers, -1))
    found = _one(text, at, in_math=in_math)
    while found and found.powers and (joined := _JOINED.match(text, found.end)):
        following = _one(text, joined.end(), in_math=in_math)
        if following is None or not following.powers:
            break
        powers = power(following.powers, -1 if "/" in joined[0] else 1)
        found = Unit(product(found.powers, powers), 0, following.end)
    return found


def _one(text: str, at: int, *, in_math: bool) -> Unit | None:
    found = _UNIT.match(text, at)
    if found is None:
        return None
    said = found["said"] and found["said"] + found["power"]
    written = said or found["bare"] or found["counted"]
    if in_math and found["bare"] and len(written) == 1 and written.isalpha():
        return None
    if written in MULTIPLIERS:
        return Unit((), MULTIPLIERS[written], found.end())
    powers = Counter[str]()
    for per, name, exponent in _PART.findall(written):
        if name in MULTIPLIERS:
            return None  # $10/million
        times = int(exponent.translate(_DIGITS) or 1)
        powers[_CANONICAL[name]] += -times if per else times
    return Unit(_sorted(powers), 0, found.end())


def product(*measures: Measure) -> Measure:
    """Return the unit of a product; units that cancel are left out."""
    powers = Counter[str]()
    for name, exponent in chain(*measures):
        powers[name] += exponent
    return _sorted(powers)


def power(measure: Measure, exponent: int) -> Measure:
    """Return the unit of a power."""
    return _sorted({name: each * exponent for name, each in measure})


def _sorted(powers: Mapping[str, int]) -> Measure:
    return tuple(sorted(each for each in powers.items() if each[1]))


class MixedUnitsError(Exception):
    """The expression adds or compares numbers of different units, or the unit is not known."""


def measure(expression: ex.Expression) -> Measure:
    """Return the unit of an expression.

    Raises:
        MixedUnitsError: it has none.
    """
    match expression:
        case ex.Number():
            return expression.measure
        case ex.Constant():
            return ()
        case ex.Negative(of):
            return measure(of)
        case ex.Product(factors):
            return product(*(power(measure(of), -1 if sign == "/" else 1) for sign, of in factors))
        case ex.Power(base, ex.Number() as exponent) if exponent.is_whole and not exponent.measure:
            return power(measure(base), int(exponent.value))
        case ex.Sum() | ex.Vector() | ex.Power() | ex.Call():
            found = {measure(part) for part in ex.parts(expression)}
            is_linear = isinstance(expression, ex.Sum | ex.Vector) or found == {()}
            if len(found) == 1 and is_linear:
                return found.pop()
    raise MixedUnitsError


def agree(left: ex.Expression, right: ex.Expression) -> bool | None:
    """Return whether two sides have the same unit; None if only the right one lacks it."""
    try:
        one, other = measure(left), measure(right)
    except MixedUnitsError:
        return False
    if one == other or not one:
        return True
    return False if other else None
