"""What a sweep finds: the places ranked from both ends, and the effects in the order of layers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tracer.decoder.forward import Trace
from tracer.decoder.patches import Site, Source
from tracer.decoder.roles import Place, SubLayer
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.formula.numbers import round_half_away
from tracer.lesson import document as doc
from tracer.lesson.texts.head_maps import head_maps
from tracer.lesson.texts.picture import NAMES

MOST_EFFECTS = 20
"""The most rows of a ranking: half of them from each end; the others are in one sentence."""
EFFECT_DECIMALS = 3

TITLES: dict[Source, str] = {
    "second pass": "What restores the second run's answer",
    "zeros": "What zeros do to the answer",
    "means": "What means do to the answer",
}
NUMBERS: dict[Source, str] = {
    "second pass": "the second's numbers at one place",
    "zeros": "zeros at one place",
    "means": "the mean over its tokens in each row at one place",
}


@dataclass(frozen=True)
class RankedPlace:
    """A place of a sweep as a row of the ranking; its first number is the effect, or the mean."""

    site: Site
    name: str
    numbers: tuple[ex.Number, ...]

    @property
    def value(self) -> Value:
        """The value that is patched."""
        return self.site.value

    @property
    def effect(self) -> ex.Number:
        """The number by which the places are ranked."""
        return self.numbers[0]


def effect_number(share: float) -> ex.Number:
    """Return an effect as it is printed."""
    return ex.Number(round_half_away(Decimal(repr(share)), EFFECT_DECIMALS))


def each_row(source: Source, what: str = "a run of its own") -> str:
    """Return the sentence that says what each row of a ranking is."""
    return f"Each row is {what}: the first with {NUMBERS[source]}. "


def ranking(
    header: Sequence[str], places: Sequence[RankedPlace], what: str = "effect"
) -> Iterator[doc.Block]:
    """Yield the places with the largest and with the smallest numbers; `header` names these."""
    half, count = MOST_EFFECTS // 2, len(places)
    rest = places[half:-half] if count > MOST_EFFECTS else ()
    rows: list[tuple[str | ex.Number, ...]] = [
        (str(rank), *place.numbers, place.name)
        for rank, place in enumerate(places, 1)
        if not rest or not half < rank <= count - half
    ]
    yield doc.Table.of(("rank", *header, "patched"), rows)
    if len(rest) == 1:
        yield doc.Paragraph((f"The {what} of the other place is ", rest[0].effect, "."))
    elif rest:
        others = f"The {what}s of the other {len(rest)} places range from "
        yield doc.Paragraph((others, rest[-1].effect, " to ", rest[0].effect, "."))


def in_order(
    places: Sequence[RankedPlace], found: Trace, labels: Sequence[str], what: str = "effect"
) -> Iterator[doc.Block]:
    """Yield the numbers in the order of computation: heat maps, and bars for whole sub-layers.

    `found` is the first pass, with `labels` for its tokens. A heat map has a row for each layer,
    and a column for each head or for each token.
    """
    order = {address: i for i, address in enumerate(found.values)}
    ordered = sorted(
        places, key=lambda each: (order[each.site.value.address], each.site.token or 0)
    )
    of_heads = {each.value.place: each.effect for each in ordered if each.value.place.head}
    yield from head_maps(of_heads, ex.Symbol(what), found.name, f"The {what}s of the heads")
    of_layers = [each for each in ordered if each.value.place.layer and not each.value.place.head]
    tokens = sorted({each.site.token for each in of_layers if each.site.token is not None})
    if len(tokens) > 1:
        chosen = {token: labels[token] for token in tokens}
        yield from _token_map(of_layers, chosen, found.name, what)
    elif len(of_layers) > 1:
        kinds = {each.value.place.sub_layer for each in of_layers if not tokens}
        bars = tuple(doc.Bar(_label(each.value.place, kinds), each.effect) for each in of_layers)
        title = f"The {what}s of the {'FFNs' if kinds == {'ffn'} else 'layers'}"
        yield doc.Paragraph((f"{title}, in their order:",))
        yield doc.Bars(bars, doc.Figure(f"{found.name}.layers", title))


def _label(place: Place, kinds: Collection[SubLayer | None]) -> str:
    """`layer 3`, or `layer 3, cross-attention` where there are several kinds of sub-layers."""
    sub_layer = f", {NAMES[place.sub_layer]}" if place.sub_layer and len(kinds) > 1 else ""
    return f"{'encoder, ' * place.encoder}layer {place.layer}{sub_layer}"


def _token_map(
    places: Sequence[RankedPlace], tokens: Mapping[int, str], name: str, what: str
) -> Iterator[doc.Block]:
    """The numbers of the tokens' rows: a row for each layer, a column for each token."""
    numbers = {(each.value.place.layer, each.site.token): each.effect for each in places}
    layers = sorted({layer for layer, _ in numbers if layer})
    scale = max(numbers.values(), key=lambda number: abs(number.value))
    title = f"The {what}s of the tokens' rows after each layer"
    yield doc.Paragraph((f"{title}:",))
    yield doc.Matrix(
        ex.Symbol(what),
        tuple(map(str, layers)),
        tuple(tokens.values()),
        tuple(tuple(numbers[layer, token] for token in tokens) for layer in layers),
        None,
        doc.Figure(f"{name}.layers-tokens", title, ("layer", ""), scale),
    )
