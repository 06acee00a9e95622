"""Declare options, and parse their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import typer

from tracer.errors import short
from tracer.names import closest
from tracer.requests import completion

if TYPE_CHECKING:
    from tracer.lesson.working.sums import Terms

Reader: TypeAlias = Callable[[str], Any]
Choice = TypeVar("Choice", bound=StrEnum)

MOST_DIGITS = 18
# Python also reads 1_0, ٣, 1e3 and nan as numbers; they are probably mistakes.
WHOLE = re.compile(f"[+-]?[0-9]{{1,{MOST_DIGITS}}}")
MOST_TERMS = 100_000
NOT_WRITTEN = (".pdf", ".docx", ".odt", ".epub", ".png", ".jpg")
"""Endings of files that no command writes."""
WRITTEN = "text, Markdown, LaTeX, JSON, HTML or arrays; for a PDF, compile -f latex --standalone"
NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})")


def reader(expected: str, fits: Callable[[str], bool], read: Reader = str) -> Reader:
    """Return a parser for values that fit; it refuses others."""

    def read_typed(typed: str) -> Any:
        if not fits(typed):
            refuse(typed, expected)
        return read(typed)

    return read_typed


def whole(least: int | None = None, most: int | None = None) -> Reader:
    """Return a parser for a whole number in ASCII digits, between inclusive bounds."""

    def fits(typed: str) -> bool:
        if not WHOLE.fullmatch(typed):
            return False
        return (least is None or int(typed) >= least) and (most is None or int(typed) <= most)

    return reader(f"a whole number{_between(least, most)}", fits, int)


def number(expected: str, fits: Callable[[Decimal], bool]) -> Reader:
    """Return a parser for a decimal number that keeps the typed digits."""
    return reader(expected, lambda t: bool(NUMBER.fullmatch(t)) and fits(Decimal(t)), Decimal)


def one_of(choices: type[Choice]) -> Callable[[str], Choice]:
    """Return a parser for one of a few words."""
    known = list(map(str, choices))
    expected = f"{', '.join(known[:-1])} or {known[-1]}"

    def read(typed: str) -> Choice:
        if typed not in known:
            refuse(typed, f"{expected}{closest(typed, known)}")
        return choices(typed)

    return read


def some(expected: str, read: Reader = str) -> Reader:
    """Return a parser for any text that is not empty."""
    return reader(expected, bool, read)


def file_name(typed: str) -> Path:
    """Parse the name of a file to write; `-` is refused, since elsewhere it is standard input."""
    if typed in ("", "-"):
        refuse(typed, "the name of a file")
    if typed.lower().endswith(NOT_WRITTEN):
        refuse(typed, f"a file for {WRITTEN}")
    return Path(typed)


def terms(typed: str) -> Terms:
    """Parse the number of terms to print of a long sum, or `largest`."""
    from tracer.lesson.working.sums import Terms

    if typed == "largest":
        return Terms(largest=True)
    if not WHOLE.fullmatch(typed) or not 1 <= int(typed) <= MOST_TERMS:
        refuse(typed, f"a whole number from 1 to {MOST_TERMS}, or largest")
    return Terms(shown=int(typed), most=int(typed))


def refuse(typed: str, expected: str) -> NoReturn:
    """Raise an error with what came and what was expected; the command line adds the option."""
    came = f"got {short(repr(typed))}" if typed else "empty"
    raise typer.BadParameter(f"{came}, expected {expected}")


# --- declaring an option -------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A condition without which an option would change nothing."""

    works_with: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Option:
    """An option of the command line: its help, the placeholder for its value, and its parser.

    A flag takes no value. The name is the field's: `learning_rate` is `--learning-rate`.
    """

    help: str
    takes: str = ""
    reads: Reader | None = None
    short: str = ""
    name: str = ""
    """Replaces the field's name."""
    offers: completion.Completer | None = None
    variable: str | None = None
    """An environment variable with another default."""
    rule: Rule | None = None
    is_argument: bool = False
    is_several: bool = False
    """Whether it can be repeated."""


def option(help: str, takes: str, reads: Reader | None, default: Any = None, **how: Any) -> Any:
    """Declare an option with a value, or with several if the default is ()."""
    how = {"is_several": default == (), **how}
    return field(default=default, metadata={"option": Option(help, takes, reads, **how)})


def argument(help: str, takes: str, reads: Reader | None = None, **how: Any) -> Any:
    """Declare a word without a name, which is required if it has no default."""
    return option(help, takes, reads, how.pop("default", MISSING), is_argument=True, **how)


def flag(help: str, **how: Any) -> Any:
    """Declare an option without a value."""
    return field(default=False, metadata={"option": Option(help, **how)})


def count(help: str, least: int | None = 1, most: int | None = None, **how: Any) -> Any:
    """Declare an option with a whole number."""
    return option(help, how.pop("takes", "N"), whole(least, most), **how)


def choice(help: str, takes: str, choices: type[StrEnum], **how: Any) -> Any:
    """Declare an option with one of a few words, which the shell completes."""
    return option(help, takes, one_of(choices), offers=completion.choices(choices), **how)


def _between(least: int | None, most: int | None) -> str:
    match least, most:
        case None, None:
            return f" of at most {MOST_DIGITS} digits"
        case _, None:
            return f", at least {least}"
        case _:
            return f" from {least} to {most}"
