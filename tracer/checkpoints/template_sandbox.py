"""Jinja's sandbox with a budget: a chat template that computes for very long is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import Template, nodes
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_STEPS = 100_000
"""The most passes through loops and calls of functions together."""
MOST_REPEATED, MOST_BITS = 100_000, 10_000
"""The longest repeated text, and the bits of the largest power."""
_COUNTED = "counted"


class BudgetError(Exception):
    """A template computes for too long."""


class BudgetSandbox(ImmutableSandboxedEnvironment):
    """A sandbox that counts the steps of the templates that it renders."""

    intercepted_binops = frozenset(("*", "**"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters[_COUNTED] = self.counted
        self.steps = 0

    def template(self, source: str) -> Template:
        """Return the template of a source, whose loops are counted."""
        tree = self.parse(source)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno)
        tree.set_environment(self)
        return self.from_string(tree)

    def counted(self, values: Iterable[Any]) -> Iterator[Any]:
        """Yield the values of a loop.

        Raises:
            BudgetError: there are too many.
        """
        for value in values:
            self.step()
            yield value

    def step(self) -> None:
        """Count a step.

        Raises:
            BudgetError: there are too many.
        """
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise BudgetError(f"more than {MOST_STEPS:,} steps")

    def call(self, context: Context, function: Any, /, *args: Any, **options: Any) -> Any:
        """Call a function of a template, which can be a macro or a loop that calls itself."""
        self.step()
        if isinstance(function, LoopContext) and args:
            args = (self.counted(args[0]), *args[1:])
        return super().call(context, function, *args, **options)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return a product or a power.

        Raises:
            BudgetError: it would be very large.
        """
        sizes = [len(each) for each in (left, right) if hasattr(each, "__len__")]
        numbers = [each for each in (left, right) if isinstance(each, int)]
        if operator == "*" and sizes and numbers and sizes[0] * numbers[0] > MOST_REPEATED:
            raise BudgetError(f"a text of more than {MOST_REPEATED:,} characters")
        if operator == "**" and len(numbers) == 2 and left.bit_length() * right > MOST_BITS:
            raise BudgetError(f"a number of more than {MOST_BITS:,} bits")
        return super().call_binop(context, operator, left, right)
