"""What each layer would predict if it were the last, and from when on it is the final word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.decoder.forward import Trace
from tracer.decoder.lens_of_rows import layer_ends, lens_of_rows
from tracer.decoder.word_path import WordPath
from tracer.formula.expression import Number, Symbol
from tracer.formula.numbers import trimmed
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.texts.word_path import claims, curve, ends, path_section, printed
from tracer.scenario.layers import Layer

MOST_TOKENS = 6
"""The most columns of words; of more tokens, the last ones are shown."""


@dataclass(frozen=True)
class LensWord:
    """The word that a layer would predict after a token, and its probability."""

    word: str
    probability: Number


def percent(share: Number) -> str:
    """45.1 %: a share of a hundred, without zeros that say nothing."""
    return f"{trimmed(share.value * 100):f} %"


def lens_words(ctx: LessonContext, tokens: Sequence[int]) -> list[list[LensWord]]:
    """The words after each layer, in a row for each layer, of tokens that are counted from 0."""
    rows = [(value, token) for value in layer_ends(ctx.trace) for token in tokens]
    read = [
        LensWord(row.leader, printed(ctx, row.probability(row.leader_column)))
        for row in lens_of_rows(ctx.trace, rows)
    ]
    return [read[i : i + len(tokens)] for i in range(0, len(read), len(tokens))]


def lens(trace: Trace, path: WordPath) -> doc.Document:
    """Where a word leads, the words of all layers up to its token, and its path in numbers."""
    ctx, token = LessonContext(trace, path.token, symbols(trace.records)), path.token
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
            f"{ctx.trace.name}.lens", "The word that each layer would predict", ("", ctx.after)
        ),
        words,
    )
    rows = ((str(layer), *said) for layer, said in zip(layers, words, strict=True))
    blocks: tuple[doc.Block, ...] = (
        doc.Paragraph((why_lens_reads(ctx),)),
        doc.Table.of(("layer", *names), rows, ctx.layers - 1),
        doc.Paragraph(("The probability of its word:",)),
        shares,
        *doc.paragraphs(since_which_layer(ctx, [row[-1].word for row in seen])),
    )
    section = doc.Section(None, "What each layer would predict", blocks)
    sections = (section, path_section(ctx, path))
    answer = (*doc.paragraphs(ends(ctx, path), *claims(ctx, path)), *curve(ctx, path))
    return doc.Document(trace.name, trace.scenario.title, answer, sections, whole=True)


def why_lens_reads(ctx: LessonContext) -> str:
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


def since_which_layer(ctx: LessonContext, words: Sequence[str]) -> doc.Sentence | None:
    """Say from which layer on the final word is predicted, if not by all layers."""
    others = [layer for layer, word in enumerate(words, 1) if word != words[-1]]
    since = max(others, default=0) + 1
    if since == 1 or ctx.is_padding:
        return None
    word, at = doc.Name(words[-1]), f" {ctx.after} "
    if since == len(words):
        return ("Only the last layer predicts ", word, at, ctx.name, ".")
    return (f"From layer {since} on, every layer predicts ", word, at, ctx.name, ".")
