"""Merges learned from the counts of words: what is counted, and what is merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracer.decoder.roles import CORPUS, CORPUS_MERGES, CORPUS_PAIRS
from tracer.formula.expression import Symbol
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import RoleText, Step, StepKind
from tracer.lesson.steps.tokenization import BETWEEN, MOST_ROWS, shortened
from tracer.names import count
from tracer.tokenization.learning import LearnedMerge

MOST_MERGES, MOST_PAIRS = 8, 8
"""How many merges are shown with their counts, and how many pairs of each."""


def _learning(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """The words and their counts; each merge with the counts of the pairs; all merges."""
    scenario = ctx.trace.scenario
    tokenization, corpus = scenario.tokenization, scenario.corpus
    assert tokenization and corpus
    learned = tokenization.learned
    words = tuple(corpus)
    rows = [
        (shortened(word), str(number), _spelled(tuple(word))) for word, number in corpus.items()
    ]
    blocks: list[doc.Block] = [_table(("word", "count", "symbols"), rows)]
    for rank, merge in enumerate(learned[:MOST_MERGES], 1):
        blocks += _merge(rank, merge, words)
    if len(learned) > 1:
        blocks.append(doc.Paragraph(("The merges in the order in which they are learned:",)))
        of_all = [
            (str(rank), *map(shortened, (*merge.pair, "".join(merge.pair))), str(merge.count))
            for rank, merge in enumerate(learned, 1)
        ]
        blocks.append(_table(("rank", "left", "right", "joined", "count"), of_all))
    return [*blocks, doc.Paragraph(_in_numbers(words, learned))]


def _merge(rank: int, merge: LearnedMerge, words: Sequence[str]) -> Iterator[doc.Block]:
    """The counts of the pairs, the largest first, and the words that change."""
    counts = sorted(merge.counts.items(), key=lambda each: -sum(each[1]))
    left, right = (doc.Name(shortened(symbol)) for symbol in merge.pair)
    times = f", which are neighbors {count(merge.count, 'time')}."
    yield doc.Paragraph((f"Merge {rank} joins ", left, " and ", right, times, *_tie(merge)))
    rows = [(_spelled(pair), _sum(each)) for pair, each in counts[:MOST_PAIRS]]
    of_many = "" if len(rows) == len(counts) else f", the {len(rows)} largest of {len(counts)}"
    yield doc.Paragraph((f"The counts of the pairs{of_many}:",))
    yield doc.Table.of(("pair", "count"), rows, 0)
    changed = [
        (shortened(word), _spelled(before), _spelled(after))
        for word, before, after in zip(words, merge.before, merge.after, strict=True)
        if before != after
    ]
    yield _table(("word", "before", "after"), changed)


def _tie(merge: LearnedMerge) -> doc.Sentence:
    """Say which pair is taken, if several are the most frequent."""
    alike = sum(sum(each) == merge.count for each in merge.counts.values())
    return (f" Of {alike} pairs with this count, it is the first in the corpus.",) * (alike > 1)


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> doc.Table:
    """A table of the first rows; a last row says how many more there are."""
    left_out = len(rows) - MOST_ROWS
    more = [("…", f"{left_out} more", *[""] * (len(header) - 2))] if left_out > 0 else []
    return doc.Table.of(header, [*rows[:MOST_ROWS], *more])


def _sum(counts: Sequence[int]) -> str:
    """The sum of the counts of words, worked: 10 + 5 = 15."""
    total = str(sum(counts))
    return f"{' + '.join(map(str, counts))} = {total}" if 1 < len(counts) <= MOST_PAIRS else total


def _spelled(symbols: Sequence[str]) -> str:
    return shortened(BETWEEN.join(symbols))


def _in_numbers(words: Sequence[str], learned: Sequence[LearnedMerge]) -> doc.Sentence:
    """Say how many symbols there are before and after."""
    characters = dict.fromkeys("".join(words))
    symbols = {**characters, **dict.fromkeys("".join(merge.pair) for merge in learned)}
    made = count(len(symbols) - len(characters), "merged symbol")
    return (f"The corpus has {count(len(characters), 'character')}; the merges add {made}.",)


LEARNED_MERGES_STEP = StepKind(
    "learned_merges",
    "Learning the merges",
    "pairs of neighbors, counted in a corpus and merged",
    (
        "Each word of the corpus is split into characters. Every pair of neighbors is counted, in "
        "each word as often as the word occurs. The most frequent pair is merged into one symbol "
        "in all words; then the pairs are counted again.",
    ),
    {
        CORPUS: RoleText(Symbol("corpus")),
        CORPUS_PAIRS: RoleText(Symbol("pairs")),
        CORPUS_MERGES: RoleText(Symbol("merges")),
    },
    gradient=None,
    sign=None,
    outcome=_learning,
)

KINDS = (LEARNED_MERGES_STEP,)
