"""What each layer would predict if it were the last, and from when on it is the final word."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.dataclass import frozen
from tracer.decoder.forward import Trace
from tracer.decoder.lens_of_rows import lens_of_rows
from tracer.decoder.roles import PREDICTION, PROBABILITIES, Place
from tracer.decoder.value import Value
from tracer.formula.expression import Number, Symbol
from tracer.formula.numbers import trimmed
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.symbols import symbols
from tracer.scenario.layers import Layer

MOST_TOKENS = 6
"""The most columns of words; of more tokens, the last ones are shown."""


@frozen
class LensWord:
    """The word that a layer would predict after a token, and its probability."""

    word: str
    probability: Number


def percent(share: Number) -> str:
    """45.1 %: a share of a hundred, without zeros that say nothing."""
    return f"{trimmed(share.value * 100):f} %"


def lens_words(ctx: LessonContext, tokens: Sequence[int]) -> list[list[LensWord]]:
    """The words after each layer, in a row for each layer, of tokens that are counted from 0."""
    layers = range(1, ctx.layers + 1)
    if ctx.value(Place(1, "lens"), PREDICTION) is None:  # the pass has not recorded the lens
        words, shares = lens_of_rows(ctx.trace, tokens)
        read = [_word(ctx, words, shares, row) for row in range(words.shape[0])]
        return [read[i : i + len(tokens)] for i in range(0, len(read), len(tokens))]
    return [[_recorded(ctx, layer, token) for token in tokens] for layer in layers]


def _recorded(ctx: LessonContext, layer: int, token: int) -> LensWord:
    place = Place(layer, "lens")
    words, shares = ctx.value(place, PREDICTION), ctx.value(place, PROBABILITIES)
    assert words is not None and shares is not None
    return _word(ctx, words, shares, words.row(token, len(ctx.names)))


def _word(ctx: LessonContext, words: Value, shares: Value, row: int) -> LensWord:
    column = shares.axes[1].labels.index(words.numbers[row])
    return LensWord(str(words.numbers[row]), ctx.number(shares, row, column))


def lens(trace: Trace, token: int) -> doc.Document:
    """The words of all layers, for the tokens up to the followed one (counted from 0)."""
    ctx = LessonContext(trace, token, symbols(trace.records))
    tokens = range(max(0, token + 1 - MOST_TOKENS), token + 1)
    seen = lens_words(ctx, tokens)
    layers = range(1, len(seen) + 1)
    names = tuple(ctx.names[token] for token in tokens)
    words = tuple(tuple(each.word for each in row) for row in seen)
    shares = doc.Matrix(
        Symbol("p"),
        tuple(f"layer {layer}" for layer in layers),
        names,
        tuple(tuple(each.probability for each in row) for row in seen),
        None,
        doc.Figure(
            f"{ctx.trace.name}.lens", "The word that each layer would predict", ("", "after")
        ),
        words,
    )
    rows = ((str(layer), *said) for layer, said in zip(layers, words, strict=True))
    blocks: tuple[doc.Block, ...] = (
        doc.Paragraph((why(ctx),)),
        doc.Table.of(("layer", *names), rows, ctx.layers - 1),
        doc.Paragraph(("The probability of its word:",)),
        shares,
        *doc.paragraphs(since_when(ctx, [row[-1].word for row in seen])),
    )
    section = doc.Section(None, "What each layer would predict", blocks)
    return doc.Document(trace.name, trace.scenario.title, (), (section,), whole=True)


def why(ctx: LessonContext) -> str:
    """Say what the lens reads, and why it can if all sub-layers add to one vector."""
    read = "The logit lens treats the output of each layer as if it were that of the last one."
    if not all(_only_adds(layer) for layer in ctx.tower.layers):
        return read
    return (
        "Every layer adds to the same vector, so the vector can be read before the last layer. "
        f"{read} This shows in which layer a word appears."
    )


def _only_adds(layer: Layer) -> bool:
    parts = [p for p in (layer.attention, layer.cross_attention, layer.ffn) if p]
    norms = [layer.norm_of(part) for part in parts]
    added = all(part.residual for part in parts)
    return added and all(norm is None or norm.placement == "pre" for norm in norms)


def since_when(ctx: LessonContext, words: Sequence[str]) -> doc.Sentence | None:
    """Say from which layer on the final word is predicted, if not by all layers."""
    others = [layer for layer, word in enumerate(words, 1) if word != words[-1]]
    since = max(others, default=0) + 1
    if since == 1 or ctx.is_padding:
        return None
    word = doc.Name(words[-1])
    if since == len(words):
        return ("Only the last layer predicts ", word, " after ", ctx.name, ".")
    return (f"From layer {since} on, every layer predicts ", word, " after ", ctx.name, ".")
