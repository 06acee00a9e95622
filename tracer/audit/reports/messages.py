"""The message of a finding: what is wrong, in a sentence."""

from __future__ import annotations

from tracer.audit.judging.figures import MOST_DIGITS
from tracer.audit.judging.finding import Finding
from tracer.audit.reading.tokens import MOST

SEVERE = ("A01", "A03")
ONLY_UNROUNDED = "A08"

MEANT = {
    "A05": "this value was {} before",
    "A06": "the probabilities sum to {}",
    "A07": "LayerNorm gives mean 0 and standard deviation 1; here the mean is {}",
    "A09": f"this passage has more than {MOST:,} tokens; the rest is not read",
}
"""The messages for rows of numbers and for text that was not read to its end."""


def message(finding: Finding) -> str:
    """Return what is wrong, in a sentence: `false: computed 7.06, printed 7.6; …`."""
    if finding.computed is not None and finding.printed is not None:
        sides = _as_power(finding.computed), _shortened(finding.printed)
        difference = f"computed {sides[0]}, printed {sides[1]}"
    elif finding.code in MEANT:
        difference = MEANT[finding.code].format(finding.computed)
    elif finding.computed is not None:
        sides = _as_power(finding.computed), _as_power(finding.right or "")
        difference = f"the left side is {sides[0]}, the right side {sides[1]}"
    else:
        difference = "the two sides differ"
    why = finding.cause or (finding.certain if finding.code in SEVERE else None)
    if finding.code == ONLY_UNROUNDED:
        why = "holds only if the numbers in it were rounded before they were printed"
    return f"{finding.verdict}: {difference}" + (f"; {why}" if why else "")


def _as_power(number: str) -> str:
    """Write 1.97e+50 as ≈ 1.97×10⁵⁰."""
    digits, _, exponent = number.partition("e")
    return f"≈ {digits}×10{str(int(exponent)).translate(_RAISED)}" if exponent else number


_RAISED = {ord(plain): raised for raised, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}


def _shortened(number: str) -> str:
    """Return a printed number, the digits after the first few as an ellipsis."""
    digits = [i for i, sign in enumerate(number) if sign.isdigit()]
    return number if len(digits) <= MOST_DIGITS else f"{number[: digits[MOST_DIGITS]]}…"
