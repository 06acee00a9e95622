"""Texts that two models write together, or that a beam search finds, as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from tracer.data.as_json import MOST_PROBABLE, header, plain_data, values_of
from tracer.data.quote import printed
from tracer.decoder.beams import CANDIDATES, LOGARITHMS, BeamTurn, Candidate, Searched
from tracer.decoder.forward import Trace
from tracer.decoder.shares import Overlap, Shares
from tracer.decoder.speculation import Check, Draft, Last, Speculated
from tracer.decoder.value import Index, Value
from tracer.errors import strict_json


def speculated(found: Speculated, *, worked: bool) -> str:
    """Return the rounds: drafted words, checks, and the target's own word.

    Probabilities are those that words are drawn from: rounded, with a sum of 1. `data` is the
    number, `printed` as the text prints it. `common` is min(p, q), `left` is p - min(p, q), and
    `acceptance` is the sum of `common` over all words. With `worked`, each pass has its values.
    """
    drafts = [draft for each in found.rounds for draft in each.drafts]
    rounds = [
        {
            "input": list(each.text),
            "drafted": [_draft(draft, worked) for draft in each.drafts],
            "checks": [_check(check) for check in each.checks],
            "last": _last(each.last) if each.last else None,
            "written": list(each.written),
            **_pass(each.target, worked),
        }
        for each in found.rounds
    ]
    return strict_json(
        {
            **header(found.rounds[0].target),
            "draft": drafts[0].guess.trace.name if drafts else None,
            "passes": {"target": len(rounds), "draft": len(drafts)},
            "rounds": rounds,
            "text": list(found.text),
        }
    )


def searched(found: Searched, *, worked: bool) -> str:
    """Return the turns of a beam search, and the finished texts, the best first.

    Each turn has its best candidates, the best first; `mean` is the score divided by the number
    of words. With `worked`, each pass has its values.
    """
    turns = [
        {
            "beams": [
                {"input": [*found.start, *beam.words], **_pass(beam.passed, worked)}
                for beam in turn.beams
            ],
            "candidates": [_candidate(each, turn) for each in turn.best],
            "all_candidates": turn.candidates,
        }
        for turn in found.turns
    ]
    finished = [
        {
            "words": list(each.words),
            **_number(each.beam.trace, each.beam.scores, (0, each.column), "score"),
            **(_number(each.beam.trace, each.mean.output, (), "mean") if each.mean else {}),
        }
        for each in found.finished
    ]
    first = header(found.turns[0].beams[0].trace)
    ends = {"finished": finished, "text": list(found.text)}
    return strict_json({**first, "beams": found.width, "turns": turns, **ends})


def _candidate(each: Candidate, turn: BeamTurn) -> dict[str, Any]:
    trace, at = each.beam.trace, (0, each.column)
    kept, finished = ({c.key for c in some} for some in (turn.kept, turn.finished))
    return {
        "beam": turn.beams.index(each.beam) + 1,
        "word": each.word,
        **_number(trace, trace[CANDIDATES.name], at, "probability"),
        **_number(trace, trace[LOGARITHMS.name], at, "logarithm"),
        **_number(trace, each.beam.scores, at, "score"),
        "kept": each.key in kept,
        "finished": each.key in finished,
    }


def _number(trace: Trace, value: Value, at: Index, name: str) -> dict[str, Any]:
    """A number, and as `printed_NAME` how the text prints it."""
    number = plain_data(value.read(at) if at else value.numbers[()])
    return {name: number, f"printed_{name}": printed(trace, value, at)}


def _pass(trace: Trace, worked: bool) -> dict[str, Any]:
    return {"values": values_of(trace, trace.records, None)} if worked else {}


def _drawn(draw: Decimal | None) -> dict[str, Any]:
    """The random number; nothing where the most probable word is taken."""
    return {} if draw is None else {"draw": plain_data(draw)}


def _draft(draft: Draft, worked: bool) -> dict[str, Any]:
    return {
        "word": draft.word,
        **_drawn(draft.draw),
        **_shares(draft.guess.shares, draft.word),
        **_pass(draft.guess.trace, worked),
    }


def _check(check: Check) -> dict[str, Any]:
    overlap = check.overlap
    return {
        "word": check.draft.word,
        "predicted": check.guess.likeliest,
        "accepted": check.accepted,
        **_drawn(check.draw),
        **(_overlap(overlap, check.draft.word) if overlap else {}),
    }


def _overlap(overlap: Overlap, word: str) -> dict[str, Any]:
    columns = {"p": overlap.p.of, "q": overlap.q.of, "common": overlap.common, "left": overlap.left}
    return {
        "acceptance": plain_data(overlap.alpha),
        "probabilities": [
            {"word": each, **{name: plain_data(of(each)) for name, of in columns.items()}}
            for each in _first(overlap.words, word)
        ],
    }


def _last(last: Last) -> dict[str, Any]:
    return {"word": last.word, **_drawn(last.draw), **_shares(last.guess.shares, last.word)}


def _shares(shares: Shares | None, word: str) -> dict[str, Any]:
    return {} if shares is None else {"probabilities": _listed(shares.numbers, word)}


def _listed(numbers: Mapping[str, Decimal], word: str) -> list[dict[str, Any]]:
    return [
        {"word": each, "data": plain_data(numbers[each]), "printed": str(numbers[each])}
        for each in _first(numbers, word)
        if each in numbers
    ]


def _first(words: Iterable[str], word: str) -> Sequence[str]:
    """The first words, and one that is not among them."""
    every = list(words)
    return list(dict.fromkeys((*every[:MOST_PROBABLE], word)))
