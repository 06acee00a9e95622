"""How a program rounds: where the text rounds, and to as many digits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

import numpy as np

from tracer.decoder import operations as op
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import RoundingRule
from tracer.decoder.tape import Record
from tracer.decoder.value import Form, Value
from tracer.lesson.code.snippet import Snippet, called
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import Digits

NOISE = Decimal("1e-12")
"""A program prints a smaller number as 0, unless the trace has such a number at that place."""

_MOVED = get_args(op.Moved)


@dataclass(frozen=True)
class Rounded:
    """A call of a function that rounds, with the arguments behind the number."""

    function: str = "rounded"
    arguments: tuple[str, ...] = ()

    def around(self, of: Snippet) -> Snippet:
        """rounded(a, 5)."""
        return called(self.function, of, *self.arguments)


@dataclass(frozen=True)
class ProgramRounding:
    """The rounding of a pass in its program."""

    pencil: Pencil

    def result(self, record: Record, row: Snippet | None = None) -> Rounded | None:
        """Return how the result of a record is rounded, if it is.

        Exponentials have the decimals of their row; `row` is that of their sum.
        """
        value, pencil = record.output, self.pencil
        if value.role.words or not pencil.rounds:
            return None
        chosen = pencil.chosen_for(value.role, value.base_address)
        rule = value.role.rounding_rule
        if isinstance(record.operation, _MOVED):
            is_printed = rule not in (RoundingRule.EXACT, RoundingRule.WHOLE)
            return self._to(chosen, value) if chosen and is_printed else None
        if rule is RoundingRule.WHOLE:
            return None
        if rule is RoundingRule.ALL:
            return self._to(None, value) if _differs(value) else None
        if (least := value.role.significant) and not chosen:
            arguments = (str(pencil.rounding.decimals), f"significant={least}")
            return Rounded(arguments=(*arguments, *["noise=0"] * _has_tiny(value.numbers)))
        if chosen or pencil.carry is Carry.LINE:
            return self._to(chosen, value)
        match rule:
            case RoundingRule.EXACT:
                return None
            case RoundingRule.RESULT:
                return self._to(None, value)
            case RoundingRule.WORKING:
                rounding = pencil.rounding
                return self._to(Digits(decimals=rounding.decimals + rounding.working), value)
            case RoundingRule.SHARED:
                of_row = len(value.shape) < 2 and row
                return Rounded("shared", (row.text,) if of_row and row else ())

    def part(self, record: Record) -> Rounded | None:
        """Return how the intermediate numbers of a record's lines are rounded, if they are."""
        pencil = self.pencil
        if pencil.carry is not Carry.LINE:
            return None
        chosen, usual = pencil.chosen(record.output.base_address), pencil.rounding.decimals
        if chosen is None:
            return Rounded()
        arguments = [str(usual)]
        if chosen.significant is not None:
            arguments.append(f"significant={chosen.significant}")
        elif chosen.decimals != usual:
            arguments.append(str(chosen.decimals))
        return Rounded(arguments=tuple(arguments) if len(arguments) > 1 else ())

    def printed(self, value: Value) -> Rounded | None:
        """Return how a value is rounded to be printed, if it was not rounded before."""
        if value.role.words or value.form is Form.AS_THEY_ARE:
            return None
        return self._to(self.pencil.chosen_for(value.role, value.base_address), value)

    def _to(self, digits: Digits | None, value: Value) -> Rounded:
        arguments: list[str] = []
        if digits and digits.significant is not None:
            arguments.append(f"significant={digits.significant}")
        elif digits and digits.decimals != self.pencil.rounding.decimals:
            arguments.append(str(digits.decimals))
        if _has_tiny(value.numbers):
            arguments.append("noise=0")
        return Rounded(arguments=tuple(arguments))


def _differs(value: Value) -> bool:
    """Whether rounding has changed a number."""
    return not np.array_equal(value.numbers, value.computed)


def _has_tiny(numbers: Any) -> bool:
    return any(entry and abs(entry) < NOISE for entry in np.asarray(numbers).flat)
