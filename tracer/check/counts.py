"""Compare shapes and numbers of parameters, as texts write them, with those of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tracer.check.figures import CheckedFigure, parameters
from tracer.decoder.forward import Trace
from tracer.decoder.value import Value
from tracer.names import shape_text

MOST_TOKENS = 1_000_000

Shape = tuple[int | Decimal, ...]


@dataclass(frozen=True)
class CountVerdict:
    """Whether a figure agrees, and what is right; for `tokens` tokens it would be right."""

    agrees: bool
    right: str
    tokens: int | None = None


def count_of(figure: CheckedFigure) -> CountVerdict:
    """Compare a printed shape or number of parameters with the counted one."""
    assert figure.within
    trace = figure.within.trace
    if figure.listed.part == "parameters":
        number = parameters(trace, str(figure.listed.address))
        assert figure.printed
        return CountVerdict(figure.printed.rounds(Decimal(number)), f"{number:,}")
    assert figure.entry
    value, printed = figure.entry.value, [n.value if n else None for n in figure.listed.rows[0]]
    forms = list(_forms(trace, value, len(trace.tokens)))
    if any(_fits(printed, form) for form in forms):
        return CountVerdict(True, shape_text(value.shape, "1"))
    like = [form for form in forms if len(form) == len(printed)]
    right = shape_text(like[0] if like else value.shape, "1")
    counts = [n for n in printed if n and 0 < n <= MOST_TOKENS and n == n.to_integral_value()]
    for tokens in dict.fromkeys(counts):
        if any(_fits(printed, form) for form in _forms(trace, value, tokens)):
            return CountVerdict(False, right, int(tokens))
    return CountVerdict(False, right)


def _forms(trace: Trace, value: Value, tokens: int | Decimal) -> Iterator[Shape]:
    """Yield a value's shape as texts write it, for some number of tokens.

    That is its own shape, with a leading batch of one, with an axis for all heads, or with the
    heads' columns side by side.
    """
    names = trace.tokens
    own = tuple(tokens if axis.labels == names else len(axis.labels) for axis in value.axes)
    yield own
    yield (1, *own)
    if value.place.head and len(own) == 2:
        heads = _heads(trace, value)
        yield (heads, *own)
        yield (1, heads, *own)
        yield (own[0], heads * own[1])


def _heads(trace: Trace, value: Value) -> int:
    """Return the number of heads with a value of this role and shape."""
    place = value.place
    return sum(
        other.role is value.role
        and other.shape == value.shape
        and (other.place.layer, other.place.sub_layer) == (place.layer, place.sub_layer)
        for other in trace.values.values()
    )


def _fits(printed: Sequence[Decimal | None], form: Shape) -> bool:
    return len(printed) == len(form) and all(
        n is None or n == length for n, length in zip(printed, form, strict=True)
    )
