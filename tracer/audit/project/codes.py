"""The codes of findings, and their selection by prefixes, as in ruff."""

from __future__ import annotations

from collections.abc import Collection

from tracer.audit.judging.finding import CODES
from tracer.names import closest

ALL = tuple(sorted(code for code, _, _ in CODES.values()))

UNROUNDED = "A08"
"""Reported only with `strict`, or if this very code is selected."""


def unknown(prefix: str) -> str | None:
    """Return what is wrong with a prefix of codes; None if at least one code begins with it."""
    if prefix and any(code.startswith(prefix) for code in ALL):
        return None
    expected = f"{ALL[0]} to {ALL[-1]}, or a prefix such as {ALL[0][:2]}"
    return f"unknown code {prefix!r}, expected {expected}{closest(prefix, ALL)}"


def chosen(select: Collection[str], ignore: Collection[str], *, strict: bool) -> frozenset[str]:
    """Return the codes that are selected and not ignored; of two prefixes, the longer one counts.

    If nothing is selected, everything is.
    """
    usual = frozenset(code for code in ALL if strict or code != UNROUNDED or code in select)
    return frozenset(
        code for code in usual if _longest(select or ("A",), code) > _longest(ignore, code)
    )


def matching(prefixes: Collection[str]) -> frozenset[str]:
    """Return the codes that begin with any of the prefixes."""
    return frozenset(code for code in ALL if _longest(prefixes, code))


def _longest(prefixes: Collection[str], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)
