"""A text that a beam search finds, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracer.decoder.beams import (
    BEFORE,
    CANDIDATES,
    LOGARITHMS,
    SCORES,
    BeamTurn,
    Candidate,
    Searched,
)
from tracer.decoder.forward import Trace
from tracer.formula import expression as ex
from tracer.lesson import document as doc, entries
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.lines import Writer
from tracer.names import count

MOST_ROWS = 24
"""So many candidates are shown; of more, the best ones."""

KEPT, FINISHED, DROPPED = "kept", "finished", "–"

SCORES_OF_TEXTS: doc.Sentence = (
    "Each word that may come next makes a candidate. Its score is the sum of the logarithms of the "
    "probabilities of all words after the start, which is the logarithm of their product: the "
    "larger the score, the more probable the text.",
)
SCORE_PER_WORD: doc.Sentence = (
    "A further word never raises a score, because the logarithm of a probability is not positive. "
    "To compare texts of different lengths, the score of a finished text is divided by the number "
    "of its words.",
)


def beams_text(found: Searched, *, worked: bool, full: bool = True) -> doc.Document:
    """The text and the finished texts; then each turn with its candidates and what is kept.

    With `worked`, each turn has every step of the passes over its texts.
    """
    first = found.turns[0].beams[0].trace
    sections: list[doc.Section] = []
    teachers: list[Teacher] = []
    for number, turn in enumerate(found.turns, 1):
        blocks = tuple(_turn(found, turn, full=full and number == 1))
        if worked:
            sections.append(doc.Section(None, f"Turn {number}", ()))
            sections += _passes(turn, teachers, full=full)
            sections.append(doc.Section(None, "Scores", blocks, part="Scores"))
        else:
            sections.append(doc.Section(None, f"Turn {number}", blocks))
    sections.append(doc.Section(None, "Choosing the text", tuple(_choice(found, full=full))))
    return doc.Document(first.name, first.scenario.title, tuple(_answer(found)), tuple(sections))


def _answer(found: Searched) -> Iterator[doc.Block]:
    scenario = found.turns[0].beams[0].trace.scenario
    start = scenario.written(found.start)
    text = scenario.written(found.finished[0].words)
    yield doc.Paragraph(("After ", doc.Name(start), ", the model writes ", doc.Name(text), "."))
    yield doc.Paragraph(
        (
            f"A beam search has found this text. It keeps at most {count(found.width, 'text')} in "
            "each turn. The finished texts, the best first:",
        )
    )
    rows = [
        (scenario.written(each.words), _score(each), str(len(each.words)), _mean(each))
        for each in found.finished
    ]
    header = ("text", "score", "words", "score / words")
    yield doc.Table.of(header, rows, 0, is_whole=True)
    yield doc.Paragraph(_ending(found))


def _ending(found: Searched) -> doc.Sentence:
    """Say why the search ends."""
    after = count(len(found.turns), "turn")
    if found.limited:
        return (f"The search stops at the limit of {after}.",)
    if found.stopped is None:
        return (f"The search ends after {after}: no text is left that could go on.",)
    none = "no text that could go on has a larger score per word than any of these"
    return (f"The search ends after {after}: {none}.",)


def _score(candidate: Candidate) -> ex.Number:
    beam = candidate.beam
    return entries.number(beam.trace.pencil, beam.scores, (0, candidate.column))


def _mean(candidate: Candidate) -> ex.Number:
    assert candidate.mean is not None
    return entries.number(candidate.beam.trace.pencil, candidate.mean.output, ())


def _turn(found: Searched, turn: BeamTurn, *, full: bool) -> Iterator[doc.Block]:
    """The candidates of a turn, which are kept or finished, and their worked scores."""
    scenario = turn.beams[0].trace.scenario
    several = len(turn.beams) > 1
    if full:
        yield doc.Paragraph(SCORES_OF_TEXTS)
    texts = (scenario.written((*found.start, *beam.words)) for beam in turn.beams)
    if several:
        yield doc.Paragraph((f"The model reads {len(turn.beams)} texts:",))
        traces = (beam.trace for beam in turn.beams)
        scores = (entries.number(trace.pencil, trace[BEFORE.name], ()) for trace in traces)
        rows = zip(map(str, range(1, len(turn.beams) + 1)), texts, scores, strict=True)
        yield doc.Table.of(("text", "words so far", "score"), rows, is_whole=True)
    else:
        yield doc.Paragraph(("The model reads ", *map(doc.Name, texts), "."))
    rows_shown = _rows(turn)
    yield _table(turn, rows_shown)
    if left := turn.candidates - len(rows_shown):
        others = "1 other candidate has" if left == 1 else f"{left:,} other candidates have"
        yield doc.Paragraph((f"{others} no larger score.",))
    yield from _lines(turn)
    if found.limited and turn is found.turns[-1]:
        n = len(turn.finished)
        best = "the best text is" if n == 1 else f"the {n} best texts are"
        yield doc.Paragraph((f"This is the last turn, so {best} finished.",))


def _rows(turn: BeamTurn) -> list[Candidate]:
    """All candidates, or of many the best ones; the best first."""
    if turn.candidates > MOST_ROWS:
        return list(turn.best)
    every = [Candidate(beam, i) for beam in turn.beams for i in range(len(beam.continuations))]
    return sorted(every, key=lambda each: each.order, reverse=True)


def _table(turn: BeamTurn, candidates: list[Candidate]) -> doc.Table:
    finished, kept = {each.key for each in turn.finished}, {each.key for each in turn.kept}
    rows: list[tuple[str | doc.Cell, ...]] = []
    several = len(turn.beams) > 1
    for each in candidates:
        what = FINISHED if each.key in finished else KEPT if each.key in kept else DROPPED
        pencil, at = each.beam.trace.pencil, (0, each.column)
        values = (each.beam.trace[role.name] for role in (CANDIDATES, LOGARITHMS))
        p, ln = (entries.number(pencil, value, at) for value in values)
        text = (str(turn.beams.index(each.beam) + 1),) if several else ()
        score = (_score(each),) if SCORES.name in each.beam.trace.values else ()
        rows.append((*text, each.word, p, ln, *score, what))
    first = ("text",) * several
    last = ("score",) * (SCORES.name in turn.beams[0].trace.values)
    return doc.Table.of(
        (*first, "next word", "p", "ln p" if last else "ln p = score", *last, ""), rows
    )


def _lines(turn: BeamTurn) -> Iterator[doc.Block]:
    """The logarithms of the candidates that are kept or finished, and their scores."""
    chosen = {each.key for each in (*turn.kept, *turn.finished)}
    logarithms, scores = [], []
    for each in (each for each in turn.best if each.key in chosen):
        trace = each.beam.trace
        writer = _writer(trace)
        number = f"text {turn.beams.index(each.beam) + 1}, " if len(turn.beams) > 1 else ""
        label, at = f"{number}{each.word}", (0, each.column)
        logarithms.append(doc.Line(label, writer.chain(trace.by_address[LOGARITHMS.name], at)))
        if SCORES.name in trace.values:
            scores.append(doc.Line(label, writer.chain(trace.by_address[SCORES.name], at)))
    yield doc.Paragraph(("The logarithm of the next word's probability:",))
    yield doc.Working(tuple(logarithms))
    if scores:
        yield doc.Paragraph(("It is added to the score of the words before it:",))
        yield doc.Working(tuple(scores))


def _writer(trace: Trace) -> Writer:
    """Write the lines of scores, in which no symbol occurs."""
    return Writer(LessonContext(trace, len(trace.tokens) - 1, {}))


def _choice(found: Searched, *, full: bool) -> Iterator[doc.Block]:
    """The means of the finished texts, and which is the largest."""
    scenario = found.turns[0].beams[0].trace.scenario
    if full:
        yield doc.Paragraph(SCORE_PER_WORD)
    every = [each for turn in found.turns for each in turn.finished]
    lines = [line for each in every for line in _line_of_mean(each)]
    yield doc.Working(tuple(lines))
    best = doc.Name(scenario.written(found.finished[0].words))
    largest = " has the largest score per word" if len(every) > 1 else " is the only finished text"
    yield doc.Paragraph((best, f"{largest}, so it is the result."))
    if found.stopped:
        text = doc.Name(scenario.written(found.stopped.words))
        yield doc.Paragraph(
            ("The best text that could go on, ", text, ", has no larger score per word:")
        )
        yield doc.Working(tuple(_line_of_mean(found.stopped)))


def _line_of_mean(each: Candidate) -> Iterator[doc.Line]:
    """The score of a candidate, divided by the number of its words."""
    assert each.mean is not None
    trace = each.beam.trace
    writer = _writer(replace(trace, records=(*trace.records, each.mean)))
    yield doc.Line(trace.scenario.written(each.words), writer.chain(each.mean, ()))


def _passes(turn: BeamTurn, teachers: list[Teacher], *, full: bool) -> Iterator[doc.Section]:
    """Every step of the passes of a turn."""
    for beam in turn.beams:
        trace = beam.passed
        teacher = teachers[0].of_another_pass(trace) if teachers else Teacher(trace, full=full)
        teachers.append(teacher)
        says = ("The model reads ", doc.Name(trace.scenario.written(trace.tokens)), ".")
        yield doc.Section(None, "A pass", (doc.Paragraph(says),), part="Pass")
        yield from (teacher.section(step) for step in steps(trace.records))
