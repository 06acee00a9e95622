"""Caches of kinds of attention as a text: a table, what it shows, and how it is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction

from tracer.decoder.forward import Trace
from tracer.formula.expression import Expression, Number
from tracer.formula.numbers import round_half_away
from tracer.lesson import document as doc
from tracer.lesson.steps.part import lesson_parts
from tracer.lesson.texts import cache_kinds as kinds
from tracer.lesson.texts.cache_kinds import CacheKind, Caches
from tracer.lesson.texts.cache_numbers import (
    AttentionLayers,
    CachedNumbers,
    groups_of,
    has_groups,
    latent_widths,
)
from tracer.names import count

NONE = "–"
UNITS = (("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3))
"""Units of bytes, as powers of ten."""

LARGE = 100
"""Larger ratios have no decimals."""

DIGITS = 3
"""The significant digits of a rounded number of bytes."""


def caches_text(found: Caches, trace: Trace) -> doc.Document:
    """Return the text of the caches of a decoder."""
    sections = (
        doc.Section(None, "Side by side", tuple(_side_by_side(found, trace.name))),
        doc.Section(None, "How they are computed", tuple(_computed(found))),
    )
    left_out = (part.not_in_caches for part in lesson_parts() if part.not_in_caches)
    said = (each(trace.scenario) for each in left_out)
    introduction = doc.paragraphs(*_introduction(found), *filter(None, said))
    return doc.Document(trace.name, trace.scenario.title, introduction, sections)


def _introduction(found: Caches) -> Iterator[doc.Sentence]:
    yield (
        "A cache keeps what attention reads of earlier tokens, so that it is not computed again "
        "for each generated token. This text compares what kinds of attention keep, with the "
        "dimensions of this model.",
    )
    yield from map(_dimensions, found.layers)
    size = count(found.bytes_of_number, "byte")
    like = "like the weights in the file" if found.is_stored else "as float16 or bfloat16"
    yield (f"Each number takes {size}, {like}.",)


def _dimensions(each: AttentionLayers) -> doc.Sentence:
    """Say what the heads of some layers are."""
    has = "has" if each.number == 1 else "have"
    said = f"{count(each.number, 'layer')} {has} attention with {count(len(each.heads), 'head')}"
    if each.states:
        said += ", each of which keeps a state"
    elif each.in_place:
        rows = " and ".join(f"{width:,}" for width in each.in_place)
        said += f", which share cached rows of {rows} numbers for each token"
    elif len(each.owners) < len(each.heads):
        own = "has keys and values of its own"
        if len(each.owners) > 1:
            own = "have keys and values of their own"
        said += f", of which {len(each.owners)} {own}"
    if each.window is not None:
        said += f"; the window is {_tokens(each.window)}"
    if each.alike is None:
        return (f"{said}. The heads have different widths, so they cannot share keys and values.",)
    d_k, d_v = each.alike
    return (f"{said}. A key has {count(d_k, 'number')}, a value {d_v:,}.",)


# --- side by side --------------------------------------------------------------------------------


def _side_by_side(found: Caches, name: str) -> Iterator[doc.Block]:
    size, names = found.bytes_of_number, [kind.name for kind in found.kinds]
    lengths = [_tokens(length) for length in found.lengths]
    rows = [
        (
            kind.name,
            *((f"{n:,}" if n else NONE) for n in (kind.per_token, kind.per_token * size)),
            *(f"{kind.of(length) * size:,}" for length in found.lengths),
        )
        for kind in found.kinds
    ]
    header = ("cache", "numbers/token", "bytes/token", *lengths)
    yield doc.Paragraph((f"Bytes for each token, and for {' and '.join(lengths)}:",))
    yield doc.Table.of(header, rows, names.index(found.own))
    yield doc.Paragraph(("The marked row is the cache of this model itself.",))
    yield from _bars(found, name)
    yield from doc.paragraphs(*_comparisons(found))


def _bars(found: Caches, name: str) -> Iterator[doc.Block]:
    """The bytes of the longest text, as bars."""
    longest = found.lengths[-1]
    unit, numbers = _in_one_unit([each.of(longest) * found.bytes_of_number for each in found.kinds])
    if unit is None:
        return
    title = f"{unit} for {_tokens(longest)}"
    bars = (doc.Bar(kind.name, n) for kind, n in zip(found.kinds, numbers, strict=True))
    yield doc.Paragraph((f"{title}, where 1 {unit} is {10 ** dict(UNITS)[unit]:,} bytes:",))
    yield doc.Bars(tuple(bars), doc.Figure(f"{name}.caches", title))


def _in_one_unit(numbers: list[int]) -> tuple[str | None, list[Number]]:
    """Return the unit of the largest number of bytes, and all in it, with three digits."""
    largest = max(numbers)
    unit, power = next((u for u in UNITS if largest >= 10 ** u[1]), (None, 0))
    return unit, [Number(_rounded(Fraction(number, 10**power))) for number in numbers]


def _rounded(number: Fraction) -> Decimal:
    """Round to three digits; whole numbers of more digits stay."""
    exact = Decimal(number.numerator) / Decimal(number.denominator)
    places = max(0, DIGITS - 1 - exact.adjusted()) if exact else 0
    return round_half_away(exact, places)


def _comparisons(found: Caches) -> Iterator[doc.Sentence]:
    """Say how the caches compare, each sentence where it is so."""
    own, full = found.own_kind, found.kind(kinds.MULTI_HEAD)
    longest = found.lengths[-1]
    least = min(found.kinds, key=lambda kind: kind.of(longest))
    for smaller in {own.name: own, least.name: least}.values():
        if smaller.of(longest) < full.of(longest):
            times = _times(Fraction(full.of(longest), smaller.of(longest)))
            yield (
                f"For {_tokens(longest)}, a multi-head cache has {times} times as many bytes as "
                f"{_whose(smaller.name, found)}.",
            )
    latent = [kind for kind in found.kinds if kind.name == kinds.LATENT]
    if latent and found.widths:
        pair = sum(kind.per_token for kind in found.kinds if kind.name == kinds.MULTI_QUERY)
        heads = _times(Fraction(latent[0].per_token, pair))
        yield (f"The latent cache has as many numbers as the keys and values of {heads} heads.",)
    fixed = found.kind(kinds.STATE)
    least_tokens = fixed.of(1) // full.per_token + 1
    yield (
        f"The state has {fixed.of(1) * found.bytes_of_number:,} bytes at any length. A multi-head "
        f"cache has more from {_tokens(least_tokens)} on.",
    )
    if found.context is not None and found.context < longest:
        yield (
            f"This model can read at most {_tokens(found.context)}; the caches of more tokens "
            "only show how they would grow.",
        )


def _times(ratio: Fraction) -> str:
    """`3,125`, `2.25`, or `about 5.33`."""
    exact = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    rounded = round_half_away(exact, 0 if exact > LARGE else 2)
    if Fraction(rounded) != ratio:
        return f"about {rounded:,}"
    return f"{int(ratio):,}" if ratio.denominator == 1 else f"{rounded.normalize():,f}"


def _whose(name: str, found: Caches) -> str:
    if name == found.own:
        return "this model's own"
    return {kinds.STATE: "a state", kinds.SHARED: "one that layers share"}.get(
        name, f"a {name} one"
    )


# --- how they are computed -----------------------------------------------------------------------


def _computed(found: Caches) -> Iterator[doc.Block]:
    yield doc.Paragraph(("The sizes of the layers with attention:",))
    yield doc.Table.of(("symbol", "here", "meaning"), _symbols(found))
    what = "The numbers as a formula, and the bytes:"
    if len(found.layers) > 1 or found.widths is None:
        what = (
            "Where heads or layers differ, the formula applies to those that are alike, and the "
            "products are added. The numbers as a formula, and the bytes:"
        )
    yield doc.Paragraph((what,))
    rows = [(kind.name, kind.formula or NONE, worked(kind, found)) for kind in found.kinds]
    yield doc.Table.of(("cache", "formula", "bytes"), rows, found.kinds.index(found.own_kind))
    yield from doc.paragraphs(*_assumptions(found))
    own, longest = found.own_kind, found.lengths[-1]
    if own.per_token and all(part.window is None and not part.fixed for part in own.parts):
        each, whole = (own.per_token * found.bytes_of_number * n for n in (1, longest))
        yield doc.Paragraph(
            (f"For this model: {each:,} bytes × {_tokens(longest)} = {whole:,} bytes.",)
        )
    if found.encoder:
        yield doc.Paragraph((_of_encoder(found.encoder, found.bytes_of_number),))


def _symbols(found: Caches) -> Iterator[tuple[str | Expression, str, str]]:
    layers, names = found.layers, {kind.name for kind in found.kinds}
    yield kinds.L, " + ".join(str(each.number) for each in layers), "layers"
    yield kinds.H, _several(len(each.heads) for each in layers), "heads"
    if kinds.GROUPED in names or any(map(has_groups, layers)):
        groups = _several(groups_of(each) or 0 for each in layers)
        yield kinds.G, groups, "heads with keys and values of their own, in groups"
    yield kinds.D_K, _several(d_k for each in layers for d_k, _ in each.heads), "numbers of a key"
    yield kinds.D_V, _several(d_v for each in layers for _, d_v in each.heads), "numbers of a value"
    if kinds.LATENT in names:
        rows = [latent_widths(each) for each in layers]
        yield kinds.D_C, _several(row[0] for row in rows), "numbers of a latent vector"
        if any(len(row) > 1 for row in rows):
            shared = _several(sum(row[1:]) for row in rows)
            yield kinds.D_R, shared, "numbers of the rotary key that heads share"


def worked(kind: CacheKind, found: Caches) -> str:
    """`2 × 12 layers × 12 heads × 64 × 2 bytes = 36,864 bytes`, for each way to grow."""
    ways: dict[tuple[int | None, bool], list[CachedNumbers]] = {}
    for part in kind.parts:
        ways.setdefault((part.window, part.fixed), []).append(part)
    size = found.bytes_of_number
    return "; ".join(
        f"{_sum(parts)} × {count(size, 'byte')} = "
        f"{sum(part.number for part in parts) * size:,} bytes{_growth(window, fixed=fixed)}"
        for (window, fixed), parts in ways.items()
    )


def _sum(parts: list[CachedNumbers]) -> str:
    written = " + ".join(part.written for part in parts)
    return written if len(parts) == 1 else f"({written})"


def _growth(window: int | None, *, fixed: bool) -> str:
    if fixed:
        return " at any length"
    if window is None:
        return ""
    return f" for each of the last {_tokens(window)}"


def _assumptions(found: Caches) -> Iterator[doc.Sentence]:
    """Say which sizes are not the model's own."""
    assumed = {kind.name for kind in found.kinds if kind.assumed}
    if kinds.GROUPED in assumed:
        others = [each for each in found.layers if not has_groups(each)]
        sizes = _several(len(each.heads) // (groups_of(each) or 1) for each in others)
        yield (f"Grouped: where the model has no groups, {sizes} heads share keys and values.",)
    if kinds.LATENT in assumed:
        widths = [each.heads[0][0] for each in found.layers if not each.in_place]
        up = ", rounded up" if any(width % 2 for width in widths) else ""
        yield (
            *("Latent: where the model has no latent vectors, ", kinds.D_C, " is 4 ", kinds.D_K),
            *(" and ", kinds.D_R, " is half of ", kinds.D_K, f"{up}, as in DeepSeek-V2 (2024)."),
        )
    if kinds.WINDOWED in assumed:
        window = _tokens(kinds.USUAL_WINDOW)
        yield (f"Windowed: the model has no window; here it is {window}, as in Mistral 7B (2023).",)
    if any(kind.name == kinds.SHARED for kind in found.kinds):
        odd = "; the last of an odd number has its own" * any(e.number % 2 for e in found.layers)
        yield (
            f"Shared layers: two layers at a time read the same keys and values{odd} (cross-layer "
            "attention, Brandon et al. 2024).",
        )
    sums = "; with a normalizer, it also keeps the sum of its keys"
    more = sums * any(each.keeps_sums for each in found.layers)
    yield (
        "State: each head adds its tokens up in one matrix, as linear attention and the delta rule "
        f"do{more}.",
    )


def _of_encoder(numbers: CachedNumbers, size: int) -> str:
    return (
        f"Cross-attention keeps the keys and values of the encoder's tokens besides: "
        f"{numbers.written} × {count(size, 'byte')} = {numbers.number * size:,} bytes for each, "
        "whatever the decoder reads."
    )


def _tokens(number: int) -> str:
    return f"{number:,} token{'s' * (number != 1)}"


def _several(found: Iterable[int]) -> str:
    """`64`, or `64 or 128` where layers or heads differ."""
    return " or ".join(f"{size:,}" for size in sorted(set(found)))
